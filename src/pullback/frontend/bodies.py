"""Bodies of user functions, desugared once, and the frames in which they are interpreted.

In: a function object, or a definition nested in a body.  Out: a `Body` (desugared node, liveness, places), cached by
the function's code or by the node.  A `Frame` is one activation of a body; its names have their own keys in the state.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from pullback.errors import Loc
from pullback.frontend.desugar import desugar
from pullback.frontend.liveness import Liveness, free_names
from pullback.frontend.refusals import refuse
from pullback.frontend.source import FunctionSource, source_of
from pullback.frontend.trees import children, kinds, walk


class Body:
    """A desugared definition.  `source` gives places; `node` ends in the only return."""

    def __init__(self, node: ast.FunctionDef | ast.Lambda, source: FunctionSource, name: str) -> None:
        self.source = source
        found = kinds(node)
        self.node = desugar(node, source, found)
        if ast.GeneratorExp in found:
            mark_generators(self.node)
        self._has_walrus = ast.NamedExpr in found
        self.name = name

    @cached_property
    def liveness(self) -> Liveness:
        """Live names at each statement."""
        return Liveness(self.node)

    @cached_property
    def locals(self) -> frozenset[str]:
        """The names that the body binds, parameters included."""
        return frozenset(bound_names(self.node, self._has_walrus))

    @cached_property
    def size(self) -> int:
        """The number of its statements, nested ones included."""
        return sum(isinstance(n, ast.stmt) for n in ast.walk(self.node)) - 1

    @property
    def is_prelude(self) -> bool:
        """A function of the library's own: its places are the caller's, and calls of it may be nested in it."""
        return self.source.file in _PRELUDE

    def loc(self, node: ast.AST) -> Loc:
        """The place of a node of this body."""
        return self.source.loc(node)


_PRELUDE = frozenset(
    str(Path(__file__).with_name("library") / name) for name in ("prelude.py", "prelude_classes.py")
)
_bodies: dict[CodeType, tuple[FunctionSource, Body]] = {}


def body_of(fn: FunctionType) -> Body:
    """The body of a function object, from its verified source."""
    source = source_of(fn)
    known = _bodies.get(fn.__code__)
    if known is not None and known[0].node is source.node:
        return known[1]
    if isinstance(source.node, ast.AsyncFunctionDef):
        refuse("async", source.loc(source.node))
    node = _explicit_super(source.node) if "__class__" in fn.__code__.co_freevars else source.node
    body = Body(node, source, fn.__name__)
    _bodies[fn.__code__] = (source, body)
    return body


class _Super(ast.NodeTransformer):
    """`super()` as `super(__class__, self)`, which names what it reads."""

    def __init__(self, first: str) -> None:
        self.first = first

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            node.args = [
                ast.copy_location(ast.Name(name, ast.Load()), node) for name in ("__class__", self.first)
            ]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node  # has a first argument of its own

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node


def _explicit_super(node: ast.FunctionDef | ast.Lambda) -> ast.FunctionDef | ast.Lambda:
    positional = [*node.args.posonlyargs, *node.args.args]
    if not positional:
        return node
    copied = copy.deepcopy(node)
    copied = _Super(positional[0].arg).generic_visit(copied)  # type: ignore[assignment]
    return copied


def bound_names(node: ast.FunctionDef, walrus: bool = True) -> set[str]:
    """The names bound in a function: its parameters and what its statements bind (expressions only by `walrus`)."""
    found = {a.arg for a in parameters(node.args)}
    pending: list[ast.AST] = list(node.body)
    while pending:
        current = pending.pop()
        if isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(current.name)
        elif isinstance(current, ast.Lambda):
            continue
        elif isinstance(current, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            pending += [n for n in walk(current) if isinstance(n, ast.NamedExpr)]
        elif isinstance(current, ast.Name):
            if isinstance(current.ctx, ast.Store | ast.Del):
                found.add(current.id)
        elif isinstance(current, ast.Import | ast.ImportFrom):
            found |= {(a.asname or a.name).split(".")[0] for a in current.names}
        elif walrus or not isinstance(current, ast.expr) or _is_target(current):
            pending += children(current)
    return found


def _is_target(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)


def mark_generators(node: ast.AST) -> None:
    """Mark the generator expressions that are consumed where they stand: nothing they read can change meanwhile."""
    for parent in walk(node):
        for child in _consumed(parent):
            if isinstance(child, ast.GeneratorExp):
                child.at_once = True  # type: ignore[attr-defined]


def _consumed(parent: ast.AST) -> list[ast.expr]:
    match parent:
        case ast.Call():
            return [*parent.args, *(k.value for k in parent.keywords)]
        case ast.Starred():
            return [parent.value]
        case ast.comprehension():
            return [parent.iter]
        case ast.Compare():
            return parent.comparators
        case ast.Assign(targets=[ast.Tuple() | ast.List()]):
            return [parent.value]
        case ast.For() if isinstance(parent.iter, ast.GeneratorExp):
            return [] if _touched(parent.body) & _names(parent.iter) else [parent.iter]
    return []


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in walk(node) if isinstance(n, ast.Name)}


def _touched(body: list[ast.stmt]) -> set[str]:
    """The names that statements bind, store into, or call a method of."""
    found: set[str] = set()
    for node in walk(*body):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Subscript | ast.Attribute):
            if isinstance(node.ctx, ast.Store):
                found |= _names(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found |= _names(node.func)
    return found


def parameters(args: ast.arguments) -> Iterable[ast.arg]:
    """The parameters of a definition in order."""
    yield from args.posonlyargs
    yield from args.args
    if args.vararg is not None:
        yield args.vararg
    yield from args.kwonlyargs
    if args.kwarg is not None:
        yield args.kwarg


@dataclass(eq=False, slots=True)
class Frame:
    """One activation of a body.

    `number` tells its names apart; `parent` is the frame whose names it sees (a nested function's); `fn` is
    the function object, for what comes from outside (a rule's expression has `globals` instead).
    """

    body: Body
    number: int
    parent: Frame | None = None
    fn: Any = None  # a FunctionType
    globals: Mapping[str, Any] | None = None
    stmt: ast.stmt | None = None
    hidden: list[set[str]] = field(default_factory=list)  # names of comprehensions that are being evaluated
    tests: int = 0  # how many run-time branches are open around the call
    kinds: Any = None  # what tells the signature of this call from another's
    who: Any = None  # the function that is called, the same in each of its frames
    kept: bool = False  # a function defined in it may outlive it

    def key(self, name: str) -> str:
        """The name's key in the state."""
        return name if self.number == 0 else f"{name}@{self.number}"

    def around(self) -> set[str]:
        """The keys of names that the rest of the current statement or what follows may read."""
        if self.stmt is None:
            return set()
        live = self.body.liveness
        names = live.before(self.stmt) | live.after(self.stmt)
        return {self.key(n) for n in names} | {self.key(n) for scope in self.hidden for n in scope}

    def following(self) -> set[str]:
        """The keys of names that what follows the current statement may read."""
        if self.stmt is None:
            return set()
        names = self.body.liveness.after(self.stmt)
        return {self.key(n) for n in names} | {self.key(n) for scope in self.hidden for n in scope}


def captured(node: ast.FunctionDef | ast.Lambda) -> set[str]:
    """The names that a nested definition takes from outside."""
    return free_names(node)
