"""Branches: both sides are lowered from a copy of the state, and the two states meet."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pullback.frontend.calls import Calls
from pullback.frontend.joins import Meeting
from pullback.frontend.names import Mixed
from pullback.frontend.values import ArrayRef, CellRef, FrozenRef, FunctionValue, GrowingCell, Known, ListCell, Num, State, Value
from pullback.ir import core_ops as core
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Block, If, Operand, Stmt, Var
from pullback.styles.join import join
from pullback.styles.style import numeric


@dataclass(slots=True)
class _Side:
    """One branch: its statements, and the state at its end (dead where it raises)."""

    stmts: list[Stmt]
    state: State


@dataclass(slots=True)
class _Results:
    """The results of an If, one for each pair of differing operands."""

    yields: tuple[list[Operand], list[Operand]] = field(default_factory=lambda: ([], []))
    vars: list[Var] = field(default_factory=list)
    _known: dict[tuple[int, int], Var] = field(default_factory=dict)

    def leaf(self, place: tuple[Any, ...], a: Operand, b: Operand) -> Operand:
        """The result that stands for `a` on one side and `b` on the other."""
        key = (id(a), id(b))
        if key not in self._known:
            var = Var(_hint(place, a, b), join(numeric(style_of(a)), numeric(style_of(b))))
            self._known[key] = var
            self.vars.append(var)
            self.yields[0].append(a)
            self.yields[1].append(b)
        return self._known[key]


def shown_name(place: tuple[Any, ...]) -> str:
    """A place of the state, for messages."""
    return f"`{str(place[1]).partition('@')[0].lstrip('.')}`" if place[0] == "name" else "a value"


def _hint(place: tuple[Any, ...], a: Operand, b: Operand) -> str:
    """The user's name for a joined value."""
    if place[0] == "name" and len(place) == 2:
        return str(place[1]).partition("@")[0].lstrip(".") or "t"
    for operand in (a, b):
        if isinstance(operand, Var) and operand.hint != "t":
            return operand.hint
    return "t"


class Branches(Calls):
    """Lowers branches."""

    def do_If(self, stmt: ast.If) -> None:
        """`if`."""
        test = self.test(self.evaluate(stmt.test))
        self.branch(test, lambda: self.execute(stmt.body), lambda: self.execute(stmt.orelse))

    def branch(self, test: Known | Operand, then: Callable[[], None], orelse: Callable[[], None], extra: Sequence[str] = ()) -> None:
        """Lower `if test: then() else: orelse()` from the present state."""
        if isinstance(test, Known):
            (then if test.obj else orelse)()
            return
        before = self.state
        sides = [self._side(before, body) for body in (then, orelse)]
        loc = self.builder.loc
        if any(s.state.dead for s in sides):
            self._one_way(test, sides)
            return
        results = _Results()
        meeting = Meeting(
            sides[0].state, sides[1].state, results.leaf,
            lambda side, value: self._read_on(sides[side], value),
            lambda meeting, place, a, b: self._mismatch(meeting, sides, results, place, a, b),
            lambda: next(self._ids),
        )  # fmt: skip
        self.state = meeting.run([*self.reachable_keys(), *extra])
        meeting.keep_cells(before.cells)
        self.note_frozen()
        self.builder.add(
            If(
                test, Block(tuple(sides[0].stmts)), tuple(results.yields[0]),
                Block(tuple(sides[1].stmts)), tuple(results.yields[1]), tuple(results.vars), loc,
            )
        )  # fmt: skip

    def _side(self, before: State, body: Callable[[], None]) -> _Side:
        self.state = before.fork()
        with self.block() as stmts:
            body()
        return _Side(stmts, self.state)

    def _one_way(self, test: Operand, sides: Sequence[_Side]) -> None:
        """A side that raises has no successor: what the other does simply follows."""
        dead = 0 if sides[0].state.dead else 1
        live = sides[1 - dead]
        blocks = [Block(()), Block(())]
        blocks[dead] = Block(tuple(sides[dead].stmts))
        self.builder.add(If(test, blocks[0], (), blocks[1], (), (), self.builder.loc))
        for stmt in live.stmts:
            self.builder.add(stmt)
        self.state = live.state

    def _read_on(self, side: _Side, value: Value) -> Operand:
        """A value as an operand at the end of a branch."""
        kept, self.state = self.state, side.state
        try:
            with self.block() as more:
                operand = self.operand(value)
            side.stmts += more
            return operand
        finally:
            self.state = kept

    def _mismatch(
        self, meeting: Meeting, sides: Sequence[_Side], results: _Results, place: tuple[Any, ...], a: Value | None, b: Value | None
    ) -> Value | None:
        """Values of different structure: run-time lists of different length, else an object of which nothing is known."""
        if a is None or b is None:
            return a if b is None else b  # a function or module bound on one path: it is what it is
        values = (a, b)
        if all(isinstance(v, CellRef) for v in values):
            cells = [s.state.cells[v.cell] for s, v in zip(sides, values, strict=True)]  # type: ignore[union-attr]
            if all(isinstance(c, ListCell | GrowingCell) for c in cells):
                operands = [self._as_list(s, v) for s, v in zip(sides, values, strict=True)]
                shares = [c.shares if isinstance(c, GrowingCell) else frozenset[int]() for c in cells]
                joined = results.leaf(place, *operands)
                return meeting.add_cell(GrowingCell(joined, frozenset().union(*shares)))
        if all(isinstance(v, Known | Num | ArrayRef | FrozenRef) for v in values):
            operands = [self._read_on(s, v) for s, v in zip(sides, values, strict=True)]
            joined = results.leaf(place, *operands)
            if all(isinstance(v, Known | Num) for v in values):
                return Num(joined)
            return FrozenRef(joined, self.cells_of([a, b]))
        return Known(Mixed(f"{shown_name(place)} has a different structure on the two paths that meet above"))

    def _as_list(self, side: _Side, value: Value) -> Operand:
        kept, self.state = self.state, side.state
        try:
            with self.block() as more:
                operand = self.operand(value)
                if not isinstance(operand, Var):
                    operand = self.builder.call(core.make_list, operand, hint="items")
            side.stmts += more
            return operand
        finally:
            self.state = kept

    def reachable_keys(self) -> list[str]:
        """The keys of the names that may be read later: those live after the present statement (around it in the
        calling frames, and where an expression is being evaluated), and those that live closures read."""
        keys: set[str] = set()
        for frame in self.frames:
            keys |= frame.around()
        names = self.state.names
        pending = [names[k] for k in keys if k in names]
        while pending:
            value = pending.pop()
            if isinstance(value, FunctionValue):
                more = self.closure_keys(value) - keys
                keys |= more
                pending += [names[k] for k in more if k in names]
        return sorted(keys)

    def note_frozen(self) -> None:
        """Remember the storages that frozen references are concerned with."""
        for value in self.state.names.values():
            if isinstance(value, FrozenRef):
                self.risky |= value.cells

    def choose(self, test: Value, then: Callable[[], Value], orelse: Callable[[], Value]) -> Value:
        """A conditional expression: bound to a name of its own in both branches."""
        condition = self.test(test)
        if isinstance(condition, Known):
            return then() if condition.obj else orelse()
        key = f".choice{next(self._numbers)}"

        def binding(body: Callable[[], Value]) -> Callable[[], None]:
            def run() -> None:
                self.state.names[key] = body()

            return run

        self.branch(condition, binding(then), binding(orelse), extra=[key])
        return self.state.names.pop(key) if not self.state.dead else Known(None)
