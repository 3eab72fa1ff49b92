"""`if` in statements and expressions: one branch where the test is known, else both and a join."""

from __future__ import annotations

import ast
from collections.abc import Callable

from pullback.frontend.apart import Apart
from pullback.frontend.joins import BranchMerge, Side
from pullback.frontend.machine import Unreachable
from pullback.frontend.values import Known, State, Value
from pullback.ir.nodes import Block, If, Operand, Stmt

NOTHING = Known(None)


class Branches(Apart):
    """Lowers branches."""

    def do_If(self, stmt: ast.If) -> None:
        """`if test: ... else: ...`."""
        test = self.test(self.evaluate(stmt.test))
        del self.temps[self.base :]
        if isinstance(test, Known):
            self.execute(stmt.body if test.obj else stmt.orelse)
            return

        def then() -> Value:
            self.execute(stmt.body)
            return NOTHING

        def orelse() -> Value:
            self.execute(stmt.orelse)
            return NOTHING

        self.branch(test, then, orelse, self.keys_after())

    def keys_after(self) -> set[str]:
        """The names that live after the current statement."""
        return self._keys(following=True)

    def keys_around(self) -> set[str]:
        """The names that live while the current statement is evaluated, and after it."""
        return self._keys(following=False)

    def _keys(self, following: bool) -> set[str]:
        keys: set[str] = set()
        for frame in self.frames:
            keys |= frame.following() if following and frame is self.frames[-1] else frame.around()
        return keys

    def choose(self, test: Value, then: Callable[[], Value], orelse: Callable[[], Value]) -> Value:
        """`then() if test else orelse()`."""
        condition = self.test(test)
        if isinstance(condition, Known):
            return then() if condition.obj else orelse()
        return self.branch(condition, then, orelse, self.keys_around())

    def branch(
        self, test: Operand, then: Callable[[], Value], orelse: Callable[[], Value], keys: set[str]
    ) -> Value:
        """Lower both branches and join them; a branch that never ends leaves the other's statements after the `If`."""
        entry, held = self.state, list(self.temps)
        first, one, after_first = self._side(test, entry, held, then)
        second, two, after_second = self._side(test, entry, held, orelse)
        loc = self.builder.loc
        if after_first.dead:
            self.builder.add(If(test, Block(tuple(first)), (), Block(), (), (), loc))
            self._splice(second)
            return two
        if after_second.dead:
            self.builder.add(If(test, Block(), (), Block(tuple(second)), (), (), loc))
            self._splice(first)
            self.state = after_first
            return one
        merge = BranchMerge(self, Side(after_first, first), Side(after_second, second), keys)
        self.state, (value,) = merge.run(held, [(one, two)])
        results = tuple(var for _, _, var in merge.slots)
        then_yields = tuple(a for a, _, _ in merge.slots)
        else_yields = tuple(b for _, b, _ in merge.slots)
        if results or first or second:
            block_a, block_b = Block(tuple(first)), Block(tuple(second))
            self.builder.add(If(test, block_a, then_yields, block_b, else_yields, results, loc))
        self.claimed.update(results)
        return value

    def _side(
        self, test: Operand, entry: State, held: list[Value], body: Callable[[], Value]
    ) -> tuple[list[Stmt], Value, State]:
        """One branch: its statements, its value, the state at its end."""
        self.state = entry.fork()
        self.open_tests.append(test)
        try:
            with self.block() as stmts:
                value = self._reached(body)
        finally:
            self.open_tests.pop()
        self.temps[:] = held
        return stmts, value, self.state

    def _reached(self, body: Callable[[], Value]) -> Value:
        try:
            return body()
        except Unreachable:
            self.state.dead = True
            return NOTHING

    def _splice(self, stmts: list[Stmt]) -> None:
        for stmt in stmts:
            self.builder.add(stmt)
