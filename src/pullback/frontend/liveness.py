"""Which names are live where, in a desugared function.

In: a `FunctionDef` from `desugar`.  Out: `Liveness`, asked by statement (by identity).  A name is live at a point if
its present value may be read later.  What a nested function or lambda captures stays live from there to the end, since
the closure reads the variable and not a copy.  One walk up (what each statement reads and surely binds) and one down.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pullback.frontend.trees import children, walk

_EMPTY: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Effect:
    """What a statement does to names: reads before binding, surely binds, captures in closures."""

    reads: set[str] = field(default_factory=set)
    binds: set[str] = field(default_factory=set)
    captures: set[str] = field(default_factory=set)


class Liveness:
    """Live names before and after each statement, and at the head of each loop."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self._effects: dict[int, _Effect] = {}
        self._bodies: dict[int, _Effect] = {}
        self._before: dict[int, frozenset[str]] = {}
        self._after: dict[int, frozenset[str]] = {}
        self._heads: dict[int, frozenset[str]] = {}
        self._function = function  # keeps the statements, whose ids are the keys
        self._summary(function.body)
        self._block(function.body, _EMPTY, _EMPTY)

    def before(self, stmt: ast.stmt) -> frozenset[str]:
        """The names live before a statement."""
        return self._before[id(stmt)]

    def after(self, stmt: ast.stmt) -> frozenset[str]:
        """The names live after a statement."""
        return self._after[id(stmt)]

    def loop_head(self, stmt: ast.stmt) -> frozenset[str]:
        """The names live at the head of a loop: before each iteration and after the last."""
        return self._heads[id(stmt)]

    # up: summaries

    def _summary(self, stmts: Sequence[ast.stmt]) -> _Effect:
        total = _Effect()
        for stmt in reversed(stmts):
            one = self._effect(stmt)
            total.reads -= one.binds
            total.reads |= one.reads
            total.binds |= one.binds
            total.captures |= one.captures
        return total

    def _effect(self, stmt: ast.stmt) -> _Effect:
        effect = _own(stmt)
        if isinstance(stmt, ast.If):
            then, orelse = self._summary(stmt.body), self._summary(stmt.orelse)
            effect.reads |= then.reads | orelse.reads
            effect.binds |= then.binds & orelse.binds
            effect.captures |= then.captures | orelse.captures
        elif isinstance(stmt, ast.With):
            body = self._summary(stmt.body)
            effect.reads |= body.reads - effect.binds
            effect.binds |= body.binds
            effect.captures |= body.captures
        elif isinstance(stmt, ast.For | ast.While):
            body = self._summary(stmt.body)
            body.reads -= effect.binds  # the loop's target
            self._bodies[id(stmt)] = body
            effect = _Effect(effect.reads | body.reads, set(), effect.captures | body.captures)
        self._effects[id(stmt)] = effect
        return effect

    # down: live sets

    def _block(self, stmts: Sequence[ast.stmt], after: frozenset[str], captured: frozenset[str]) -> None:
        """Record the block's statements.  `captured`: the names captured before it."""
        known = [captured]
        for stmt in stmts:
            more = self._effects[id(stmt)].captures
            known.append(known[-1] if more <= known[-1] else known[-1] | more)
        live = after | known[-1]
        for position in range(len(stmts) - 1, -1, -1):
            live = self._statement(stmts[position], live, known[position])

    def _statement(self, stmt: ast.stmt, after: frozenset[str], captured: frozenset[str]) -> frozenset[str]:
        effect = self._effects[id(stmt)]
        before = after if after.isdisjoint(effect.binds) else after - effect.binds
        missing = (effect.reads | captured) - before
        before = before | missing if missing else before
        self._before[id(stmt)] = before
        self._after[id(stmt)] = after
        inner = captured | effect.captures if effect.captures else captured
        if isinstance(stmt, ast.If):
            self._block(stmt.body, after, captured)
            self._block(stmt.orelse, after, captured)
        elif isinstance(stmt, ast.With):
            self._block(stmt.body, after, captured)
        elif isinstance(stmt, ast.For | ast.While):
            tests = _own(stmt).reads if isinstance(stmt, ast.While) else set()
            head = after | self._bodies[id(stmt)].reads | tests | inner
            self._heads[id(stmt)] = head
            go = getattr(stmt, "go", None)
            self._block(stmt.body, head | {go} if go else head, inner)
        return before


def _own(stmt: ast.stmt) -> _Effect:
    """The effect of a statement without its inner statements."""
    effect = _Effect()
    if isinstance(stmt, ast.FunctionDef):
        effect.captures |= free_names(stmt)
        effect.reads |= effect.captures - {stmt.name}
        for expr in [*stmt.decorator_list, *_defaults(stmt.args)]:
            _visit(expr, effect)
        effect.binds.add(stmt.name)
        return effect
    if isinstance(stmt, ast.Import | ast.ImportFrom):
        effect.binds |= {(a.asname or a.name).split(".")[0] for a in stmt.names}
        return effect
    if isinstance(stmt, ast.AugAssign) and isinstance(stmt.target, ast.Name):
        effect.reads.add(stmt.target.id)
    for child in children(stmt):
        if not isinstance(child, ast.stmt):
            _visit(child, effect)
    if isinstance(stmt, ast.AnnAssign) and stmt.value is None:
        effect.binds.clear()
    return effect


def _visit(node: ast.AST, effect: _Effect) -> None:
    """Add the reads, bindings and captures of an expression."""
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, ast.Name):
            (effect.reads if isinstance(current.ctx, ast.Load) else effect.binds).add(current.id)
        elif isinstance(current, ast.Lambda):
            names = free_names(current)
            effect.captures |= names
            effect.reads |= names
            pending += _defaults(current.args)
        elif isinstance(current, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            _comprehension(current, effect)
        elif isinstance(current, ast.NamedExpr):
            pending.append(current.value)  # perhaps not evaluated, so not surely bound
        else:
            pending += children(current)


def _comprehension(
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, effect: _Effect
) -> None:
    """The first iterable is read outside, the rest inside, where the targets are bound."""
    inner = _Effect()
    for child in children(node):
        if child is not node.generators[0]:
            _visit(child, inner)
    first = node.generators[0]
    _visit(first.target, inner)
    for test in first.ifs:
        _visit(test, inner)
    effect.reads |= inner.reads - inner.binds
    effect.captures |= inner.captures - inner.binds
    _visit(first.iter, effect)


def _defaults(args: ast.arguments) -> list[ast.expr]:
    return [*args.defaults, *(d for d in args.kw_defaults if d is not None)]


def free_names(node: ast.FunctionDef | ast.Lambda) -> set[str]:
    """The names that a nested function takes from outside (conservative: globals are among them)."""
    args = node.args
    bound = {a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs]}
    bound |= {a.arg for a in (args.vararg, args.kwarg) if a is not None}
    body: Iterable[ast.AST] = node.body if isinstance(node, ast.FunctionDef) else [node.body]
    reads: set[str] = set()
    pending: list[ast.AST] = list(body)
    outer: set[str] = set()
    while pending:
        current = pending.pop()
        if isinstance(current, ast.FunctionDef):
            bound.add(current.name)
            reads |= free_names(current)
            pending += [*current.decorator_list, *_defaults(current.args)]
        elif isinstance(current, ast.Nonlocal | ast.Global):
            outer |= set(current.names)
        elif isinstance(current, ast.stmt):
            effect = _own(current)
            reads |= effect.reads
            bound |= effect.binds | _named(current)
            pending += _inner_statements(current)
        else:
            effect = _Effect()
            _visit(current, effect)
            reads |= effect.reads
            bound |= {n.target.id for n in walk(current) if isinstance(n, ast.NamedExpr)}
    return (reads - bound) | outer


def _named(stmt: ast.stmt) -> set[str]:
    """The names bound by walrus in a statement."""
    return {
        n.target.id
        for child in children(stmt)
        if not isinstance(child, ast.stmt)
        for n in walk(child)
        if isinstance(n, ast.NamedExpr)
    }


def _inner_statements(stmt: ast.stmt) -> list[ast.AST]:
    """The statements directly inside (of `match` cases and `try` handlers too: nested functions are not desugared)."""
    found: list[ast.AST] = []
    pending = children(stmt)
    while pending:
        child = pending.pop()
        if isinstance(child, ast.stmt):
            found.append(child)
        elif isinstance(child, ast.match_case | ast.ExceptHandler):
            pending += children(child)
    return found
