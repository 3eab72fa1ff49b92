"""Loops, lowered to a fixpoint of carried values, their styles, and the partition of names into storages.

A round lowers the body from an assumed head and lets the state at its end meet the head (carried.py), until they agree.
A loop whose values change kind after one iteration is peeled once, under the test that it runs at all; one whose index
is needed at compile time, or that runs over things of different structure, is unrolled.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pullback.errors import UnsupportedError
from pullback.frontend.branches import NOTHING, Branches
from pullback.frontend.carried import LoopMerge, Plan, carried_style, map_state
from pullback.frontend.joins import is_datum
from pullback.frontend.library import iteration
from pullback.frontend.machine import Unreachable, Unroll
from pullback.frontend.trees import walk
from pullback.frontend.values import (
    ArrayCell,
    ArrayRef,
    CellRef,
    FrozenRef,
    IterValue,
    Known,
    ListCell,
    Num,
    State,
    Value,
)
from pullback.ir.nodes import UNDEF, Block, Const, For, Operand, Range, Stmt, Var, While
from pullback.ir.walk import substitute, substitute_stmt
from pullback.styles.style import PY_INT, Scalar, fresh_dim, numeric

MAX_ROUNDS = 12
MAX_UNROLL = 64

Step = Callable[
    [], Operand | None
]  # lowers one iteration; the flag at its end, None where it is certainly true


class Unsettled(Exception):
    """Values change kind from one iteration to the next."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A loop lowered: its carried values and its body."""

    params: tuple[Var, ...]
    inits: tuple[Operand, ...]
    body: Block
    yields: tuple[Operand, ...]
    results: tuple[Var, ...]
    go: Operand | None
    dropped: dict[Var, Operand]  # parameters that turned out not to change


class Loops(Branches):
    """Lowers loops."""

    def do_For(self, stmt: ast.For) -> None:
        """`for target in iterable`."""
        value = self.evaluate(stmt.iter)
        self.temps[self.base :] = [value]  # what it was made from, a loop need not keep
        it = iteration.needed(self, value, "for")
        cell = self.cell(value) if isinstance(value, CellRef) else None

        def body(item: Value) -> Operand | None:
            self.assign(stmt.target, item)
            self.execute(stmt.body)
            if cell is not None and not self.state.dead:
                self._check_length(value, cell)
            return self._go(stmt)

        self.for_loop(stmt, it, body)

    def _check_length(self, value: Value, before: Any) -> None:
        now = self.cell(value)
        if isinstance(before, ListCell) and isinstance(now, ListCell) and len(before.items) == len(now.items):
            return
        if type(now) is type(before) and not isinstance(now, ListCell):
            return
        self.refuse("a list grows or shrinks while a loop runs over it", "loop over a copy: list(items)")

    def do_While(self, stmt: ast.While) -> None:
        """`while test`."""

        def test() -> Known | Operand:
            found = self.test(self.evaluate(stmt.test))
            del self.temps[self.base :]
            return found

        def body() -> Operand | None:
            self.execute(stmt.body)
            return self._go(stmt)

        self._while(stmt, test, body, peel=True)

    def _go(self, node: ast.For | ast.While) -> Operand | None:
        """The flag at the end of an iteration: None where it is certainly true."""
        name = getattr(node, "go", None)
        if name is None or self.state.dead:
            return None
        assert self.frame is not None
        found = self.test(self.state.names[self.frame.key(name)])
        if isinstance(found, Known):
            return None if found.obj else Const(False)
        return found

    # --------------------------------------------------------------------------------------------- counted loops

    def for_loop(
        self, node: ast.For, it: IterValue, body: Callable[[Value], Operand | None], *, peel: bool = True
    ) -> None:
        """Lower a loop over an iterator: `body(item)` for each item."""
        length = it.length if isinstance(it.length, int) else None
        if length == 0:
            return
        if (
            length is not None
            and it.range_ is None
            and length <= MAX_UNROLL
            and self._must_unroll(it, length)
        ):
            self._unroll(it, body, 0, length)
            return
        before, held = self.state.fork(), list(self.temps)
        token = object()
        if length is not None and length <= MAX_UNROLL:
            self.unrollable.append(token)
        try:
            self._counted(node, it, body, token, peel)
        except Unroll as need:
            if need.token is not token or length is None:
                raise
            self.state, self.temps[:] = before, held
            self._unroll(it, body, 0, length)
        finally:
            if token in self.unrollable:
                self.unrollable.remove(token)

    def _counted(
        self, node: ast.For, it: IterValue, body: Callable[[Value], Operand | None], token: object, peel: bool
    ) -> None:
        index = Var(_target_hint(node) if it.range_ is not None else "i", PY_INT)
        self.claimed.add(index)
        self.sources[index] = frozenset({token})
        start, stop, step = it.range_ or (
            Const(0),
            Const(it.length) if isinstance(it.length, int) else it.length,
            Const(1),
        )

        def one() -> Operand | None:
            return body(Num(index) if it.range_ is not None else it.item(Num(index)))

        def emit(loop: Carried) -> None:
            self.builder.add(
                For(
                    (index,),
                    (Range(start, stop, step),),
                    loop.params,
                    loop.inits,
                    loop.body,
                    loop.yields,
                    loop.results,
                    loop.go,
                    self.builder.loc,
                )
            )

        def peeled() -> None:
            self._peel_for(node, it, (start, stop, step), body)

        certain = isinstance(it.length, int) and it.length > 0
        self._settle(node, one, emit, peeled if peel else None, certain)

    def _must_unroll(self, it: IterValue, length: int) -> bool:
        """Items that are not numbers or rows of one array: each iteration is its own code."""
        kept = self.state.fork()
        with self.block():
            items = [it.item(Known(i)) for i in range(length)]
        self.state = kept
        simple = all(isinstance(x, Num) or (isinstance(x, Known) and is_datum(x.obj)) for x in items)
        numbers = {type(numeric(self.style(x))) for x in items} == {Scalar} if simple else False
        rows = all(isinstance(x, ArrayRef) and x.path for x in items)
        return not (numbers or rows) or length <= 1

    def _unroll(self, it: IterValue, body: Callable[[Value], Operand | None], i: int, length: int) -> None:
        for number in range(i, length):
            go = body(it.item(Known(number)))
            if isinstance(go, Const) or self.state.dead:
                return
            if go is not None:
                self._if_going(go, partial(self._unroll, it, body, number + 1, length))
                return

    def _if_going(self, go: Operand, rest: Callable[[], None]) -> None:
        self.branch(go, _valueless(rest), _valueless(lambda: None), self._loop_keys(None)[0])

    def _peel_for(
        self,
        node: ast.For,
        it: IterValue,
        bounds: tuple[Operand, Operand, Operand],
        body: Callable[[Value], Operand | None],
    ) -> None:
        """`if the loop runs at all: the first iteration; the loop over the rest`."""
        start, stop, step = (self.wrap(b) for b in bounds)
        if not (isinstance(step, Known) and step.obj != 0):
            raise Unsettled

        def first() -> None:
            go = body(start if it.range_ is not None else it.item(Known(0)))
            if self.state.dead or isinstance(go, Const):
                return
            if go is None:
                rest()
            else:
                self._if_going(go, rest)

        def rest() -> None:
            second = self.operand(self.operator("+", start, step, hint="second"))
            length = it.length - 1 if isinstance(it.length, int) else it.length
            item = it.item if it.range_ is None else lambda index: index
            remaining = IterValue(length, item, (second, bounds[1], bounds[2]), over=it.over)
            again = body if it.range_ is not None else lambda index: body(it.item(index))
            if length != 0:
                self.for_loop(node, remaining, again, peel=False)

        runs = self.test(self.operator("<" if step.obj > 0 else ">", start, stop, hint="runs"))
        if isinstance(runs, Known):
            if runs.obj:
                first()
            return
        self.branch(runs, _valueless(first), _valueless(lambda: None), self._loop_keys(None)[0])

    # ----------------------------------------------------------------------------------------------- while loops

    def _while(  # noqa: C901 (its parts are callbacks of the rounds)
        self, node: ast.While, test: Callable[[], Known | Operand], body: Step, peel: bool
    ) -> None:
        if self._never_runs(test):
            return
        condition: list[tuple[Block, Operand]] = []

        def one() -> Operand | None:
            head = self.state
            self.state = head.fork()
            with self.block() as stmts:
                found = test()
            if self._has_written(head):
                self.refuse(
                    "the test of a `while` writes to an array", "write to it in the loop's body", node
                )
            self.state = head
            operand: Operand = Const(bool(found.obj)) if isinstance(found, Known) else found
            condition[:] = [(Block(tuple(stmts)), operand)]
            return body()

        def emit(loop: Carried) -> None:
            block, operand = condition[0]
            mapping = loop.dropped
            block = Block(tuple(substitute_stmt(s, mapping) for s in block.stmts)) if mapping else block
            self.builder.add(
                While(
                    loop.params,
                    loop.inits,
                    block,
                    substitute(operand, mapping),
                    loop.body,
                    loop.yields,
                    loop.results,
                    loop.go,
                    self.builder.loc,
                )
            )

        def peeled() -> None:
            found = test()
            if isinstance(found, Known):
                first()
            else:
                self.branch(found, _valueless(first), _valueless(lambda: None), self._loop_keys(None)[0])

        def first() -> None:
            go = body()
            if self.state.dead or isinstance(go, Const):
                return
            if go is None:
                rest()
            else:
                self._if_going(go, rest)

        def rest() -> None:
            self._while(node, test, body, peel=False)

        self._settle(node, one, emit, peeled if peel else None, certain=False)

    def _has_written(self, before: State) -> bool:
        now = self.state.cells
        return any(
            now.get(n) is not c for n, c in before.cells.items() if n in now and isinstance(c, ArrayCell)
        )

    def _never_runs(self, test: Callable[[], Known | Operand]) -> bool:
        kept = self.state.fork()
        with self.block():
            found = test()
        self.state = kept
        return isinstance(found, Known) and not found.obj

    # ------------------------------------------------------------------------------------------------- the rounds

    def _settle(
        self,
        node: ast.For | ast.While,
        one: Step,
        emit: Callable[[Carried], None],
        peeled: Callable[[], None] | None,
        certain: bool,
    ) -> None:
        """Find the carried values and emit the loop; peel it where that fails and may help."""
        before, held, loc = self.state.fork(), list(self.temps), self.builder.loc
        with self.builder.block() as stmts:
            try:
                failure = self._try_to_settle(node, one, emit, certain, peeled is not None)
            finally:
                self.builder.loc = loc
        if failure is None:
            for stmt in stmts:
                self.builder.add(stmt)
            return
        if peeled is None:
            raise failure
        self.state, self.temps[:] = before, held
        try:
            peeled()
        except (UnsupportedError, Unsettled):
            if isinstance(failure, UnsupportedError):
                raise failure from None
            raise

    def _try_to_settle(
        self,
        node: ast.For | ast.While,
        one: Step,
        emit: Callable[[Carried], None],
        certain: bool,
        may_peel: bool,
    ) -> UnsupportedError | Unsettled | None:
        try:
            self._rounds(node, one, emit, certain, may_peel)
        except (UnsupportedError, Unsettled) as failure:
            return failure
        return None

    def _rounds(
        self,
        node: ast.For | ast.While,
        one: Step,
        emit: Callable[[Carried], None],
        certain: bool,
        may_peel: bool,
    ) -> None:
        keys, at_head = self._loop_keys(node)
        plan = Plan(self.state.fork(), {}, fresh_dim().sym, at_head, certain, next(self._ids))
        self._guess(plan, node)
        held = list(self.temps)
        for plan.round in range(MAX_ROUNDS):
            self.state, self.temps[:] = plan.head.fork(), list(held)
            with self.block() as stmts:
                try:
                    go = one()
                except Unreachable:
                    go, self.state.dead = None, True
            end = self.state
            if end.dead:
                self._emit_dead(plan, stmts, go, emit)
                return
            merge = LoopMerge(self, plan, end, stmts, keys)
            head, _ = merge.run(held)
            if merge.unsettled and may_peel:
                raise Unsettled
            if not merge.changed:
                self.state, self.temps[:] = head, held
                self._emit(merge.inits, merge.yields, stmts, go, emit)
                return
            plan.head, plan.inits = head, merge.inits
            self.claimed.update(merge.inits)
        self.refuse(
            "the compiler finds no fixed structure for the values that this loop carries",
            "bind them before the loop to what they are in it",
            node,
        )

    def _emit_dead(
        self, plan: Plan, stmts: list[Stmt], go: Operand | None, emit: Callable[[Carried], None]
    ) -> None:
        """A body that always raises: nothing is carried on."""
        self.state = plan.head
        self._emit(plan.inits, {p: p for p in plan.inits}, stmts, go, emit)

    def _emit(
        self,
        inits: dict[Var, Operand],
        yields: dict[Var, Operand],
        stmts: list[Stmt],
        go: Operand | None,
        emit: Callable[[Carried], None],
    ) -> None:
        """The loop; what turned out not to change is taken from outside."""
        same: dict[Var, Operand] = {p: inits[p] for p, end in yields.items() if end is p}
        kept = [p for p in inits if p not in same]
        body = Block(tuple(substitute_stmt(s, same) for s in stmts) if same else tuple(stmts))
        results = {p: Var(p.hint, p.style) for p in kept}
        self.claimed.update(results.values())
        emit(
            Carried(
                tuple(kept),
                tuple(inits[p] for p in kept),
                body,
                tuple(substitute(yields[p], same) for p in kept),
                tuple(results.values()),
                None if go is None else substitute(go, same),
                same,
            )
        )
        after: dict[Var, Operand] = {**same, **results}
        dead = self.state.dead
        self.state = map_state(self.state, lambda x: substitute(x, after))
        self.state.dead = dead

    def _loop_keys(self, node: ast.AST | None) -> tuple[set[str], frozenset[str]]:
        """The keys of the names that live at the loop's head or after it, and of those that live at its head."""
        frame = self.frames[-1]
        if isinstance(node, ast.stmt) and node is frame.stmt:
            head = {frame.key(n) for n in frame.body.liveness.loop_head(node)}
            outside = set().union(*[f.around() for f in self.frames[:-1]])
            outside |= {frame.key(n) for scope in frame.hidden for n in scope}
            return head | outside | frame.following(), frozenset(head | outside)
        keys = self.keys_around()
        if isinstance(frame.stmt, ast.For | ast.While):
            keys |= {frame.key(n) for n in frame.body.liveness.loop_head(frame.stmt)}
        return keys, frozenset(keys)

    def _guess(self, plan: Plan, node: ast.AST) -> None:
        """Names that the body assigns, and storages that it plainly writes, are carried from the first round on."""
        frame = self.frames[-1]
        for name in self._assigned(node):
            key = frame.key(name)
            value = plan.head.names.get(key)
            if value is None or key not in plan.at_head or name.startswith("."):
                continue
            if isinstance(value, ArrayRef) and value.cell in plan.head.cells:
                cell = plan.head.cells[value.cell]
                assert isinstance(cell, ArrayCell)
                if not (isinstance(cell.operand, Var) and cell.operand in plan.inits):
                    param = self._parameter_for(plan, cell.operand, name)
                    plan.head.cells[value.cell] = ArrayCell(param, cell.param)
            elif isinstance(value, Num):
                plan.head.names[key] = Num(self._parameter_for(plan, value.operand, name))
            elif isinstance(value, Known) and type(value.obj) in (int, float, complex):
                plan.head.names[key] = Num(self._parameter_for(plan, Const(value.obj), name))
            elif isinstance(value, FrozenRef) and not (
                isinstance(value.operand, Const) and value.operand.value is UNDEF
            ):
                plan.head.names[key] = FrozenRef(self._parameter_for(plan, value.operand, name), value.cells)

    def _parameter_for(self, plan: Plan, init: Operand, hint: str) -> Var:
        param = Var(hint, carried_style(init))
        plan.inits[param] = init
        self.claimed.add(param)
        return param

    def _assigned(self, node: ast.AST) -> Sequence[str]:
        """The names that a loop assigns, or whose elements it assigns."""
        table = self._assigned_in
        if id(node) not in table:
            table[id(node)] = (node, tuple(_assigned(node)))
        return table[id(node)][1]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._assigned_in: dict[int, tuple[ast.AST, tuple[str, ...]]] = {}


def _valueless(body: Callable[[], None]) -> Callable[[], Value]:
    def run() -> Value:
        body()
        return NOTHING

    return run


def _target_hint(node: ast.For) -> str:
    return node.target.id.lstrip(".") if isinstance(node.target, ast.Name) else "i"


def _assigned(node: ast.AST) -> dict[str, None]:
    found: dict[str, None] = {}
    for inner in walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            found[inner.id] = None
        elif isinstance(inner, ast.Subscript | ast.Attribute) and isinstance(inner.ctx, ast.Store):
            base: ast.expr = inner
            while isinstance(base, ast.Subscript | ast.Attribute):
                base = base.value
            if isinstance(base, ast.Name):
                found[base.id] = None
    return found
