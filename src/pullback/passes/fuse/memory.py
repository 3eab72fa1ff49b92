"""Which values share memory, and where in it they lie."""

from __future__ import annotations

from pullback.analysis.affine import Integers
from pullback.analysis.places import Places
from pullback.ir import core_ops as core
from pullback.ir.nodes import Call, Function, Operand, Stmt, Var
from pullback.ir.paths import same_path
from pullback.ir.walk import statements, variables_in
from pullback.passes.buffers.deaths import reads
from pullback.passes.buffers.decide import shares_of
from pullback.passes.buffers.regions import FOREIGN, NOTHING, READ_ONLY
from pullback.passes.fuse.members import is_basic_step

Place = tuple[Var, tuple[Operand, ...]]
_NOT_OURS = frozenset((FOREIGN, READ_ONLY))
_IN_PLACE = frozenset({core.store, core.add_at, core.accumulate})


class Memory:
    """The buffers of a bufferised function's values.  Parameters' buffers are not among them: nothing writes those."""

    def __init__(self, function: Function) -> None:
        self._places: Places | None = None
        self._function = function
        self._shares = shares_of(function)
        self._made = {t: s for s in statements(function.body) if isinstance(s, Call) for t in s.targets}

    def of(self, var: Var) -> frozenset[int]:
        """The regions that a value may lie in or hold, of those that may be written."""
        return self._shares.get(var, NOTHING).all() - _NOT_OURS

    def own(self, operand: Operand) -> frozenset[int]:
        """The regions of the buffer of an array, or of a list itself."""
        return (
            self._shares.get(operand, NOTHING).own if isinstance(operand, Var) else frozenset()
        ) - _NOT_OURS

    def read(self, stmt: Stmt) -> frozenset[int]:
        """The regions that a statement may read, or hand on."""
        return frozenset().union(*(self.of(v) for v in variables_in(reads(stmt))))

    def written(self, stmt: Stmt) -> frozenset[int]:
        """The regions that a call writes."""
        if isinstance(stmt, Call) and stmt.op.writes and stmt.args:
            return self.own(stmt.args[0])
        return frozenset()

    def place(self, var: Var, *steps: Operand) -> Place:
        """Where a path leads: the first version of the array that it leads into, and the whole path."""
        path: tuple[Operand, ...] = steps
        while True:
            call = self._made.get(var)
            if call is None or not call.args or not isinstance(call.args[0], Var):
                return var, path
            if call.op is core.load and all(map(is_basic_step, call.args[1:])):
                path = (*call.args[1:], *path)
            elif call.op not in _IN_PLACE:
                return var, path
            var = call.args[0]

    def same_place(self, a: Place, b: Place) -> bool:
        """Whether two places are one for certain."""
        return a[0] is b[0] and same_path(a[1], b[1])

    def apart(self, a: Place, b: Place) -> bool:
        """Whether two places share nothing for certain: they are parts of one array that do not meet."""
        if a[0] is not b[0] or not a[1] or not b[1]:
            return False
        if self._places is None:
            self._places = Places(Integers(self._function))
        return self._places.apart(self._places.windows(a[1]), self._places.windows(b[1]))
