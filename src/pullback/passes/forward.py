"""Loads of what has just been stored, and stores that nobody sees.

    load(store(A, v, i), i)              v                       where v is stored as it is, not cast, not broadcast
    store(store(A, v, i), w, i)          store(A, w, i)          where nobody else reads the array between
    add_at(store(A, 0.0, i), v, i)       store(A, v, i)          cotangents; the sign of a zero may differ

Between the two there may be writes at places that are proved to be others (`analysis/places.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pullback.analysis.affine import Integers
from pullback.analysis.places import Places, stored_as_it_is
from pullback.ir import core_ops as core
from pullback.ir.nodes import Block, Call, Const, Function, Operand, Pack, Var
from pullback.ir.paths import repeats_nothing, same_path
from pullback.ir.walk import block_ends, own_operands, statements, variables_in
from pullback.passes.rewrite import Rewriter

_WRITES = (core.store, core.add_at)


def forward(function: Function) -> Function:
    """The function with values instead of loads of them.

    >>> from pullback.ir.builder import Builder, index_step
    >>> from pullback.ir.nodes import Param
    >>> from pullback.ir.pretty import pretty
    >>> from pullback.passes.dce import dce
    >>> from pullback.styles.style import FLOAT64, Array, Dim, Scalar
    >>> build, a, v = Builder(), Var("A", Array(FLOAT64, (Dim(0),))), Var("v", Scalar(FLOAT64))
    >>> new = build.call(core.store, a, v, index_step(Const(1)), hint="A")
    >>> new = build.call(core.store, new, Const(0.0), index_step(Const(2)), hint="A")
    >>> out = build.call(core.load, new, index_step(Const(1)))
    >>> f = Function("f", (Param("A", a), Param("v", v)), build.finish(), (out,))
    >>> print(pretty(dce(forward(f))), end="")
    primal f(%A: f64[n], %v: f64) -> %v
    """
    ops = {stmt.op for stmt in statements(function.body) if isinstance(stmt, Call)}
    return _Forward(function).function(function) if core.store in ops else function


class _Forward(Rewriter):
    def __init__(self, original: Function) -> None:
        super().__init__()
        self.original = original
        self.places: Places | None = None
        self.made: dict[Var, Call] = {}  # the writes so far, those of blocks around included
        self.here: set[Var] = set()  # what the block that is walked has made
        self.reads: dict[Var, int] = {}
        for stmt in statements(original.body):
            self._count(own_operands(stmt))
            for _, _, ends in block_ends(stmt):
                self._count(ends)
        self._count(original.results)

    def _count(self, operands: object) -> None:
        for var in variables_in(operands):  # type: ignore[arg-type]
            self.reads[var] = self.reads.get(var, 0) + 1

    def block(self, block: Block) -> Block:
        """A block; writes are taken back in the block that makes them only."""
        outer, self.here = self.here, set()
        try:
            return super().block(block)
        finally:
            self.here = outer

    def call(self, call: Call) -> Call | None:
        """A load of what was stored is that; a write that is overwritten, unseen, goes."""
        if call.op is core.load and len(call.args) > 1:
            found = self._stored(call)
            if found is not None:
                self.mapping[call.targets[0]] = found
                return None
        elif call.op in _WRITES and len(call.args) > 2:
            call = self._over(call)
            self.made[call.targets[0]] = call
        self.here.update(call.targets)
        return call

    def _writes(self, array: Operand, steps: tuple[Operand, ...]) -> Iterator[Call]:
        """The writes that led to a version of an array, the last first, up to the first that may touch a place."""
        while isinstance(array, Var) and array in self.made:
            call = self.made[array]
            yield call
            if not self._apart(call.args[2:], steps):
                return
            array = call.args[0]

    def _apart(self, a: tuple[Operand, ...], b: tuple[Operand, ...]) -> bool:
        if self.places is None:
            self.places = Places(Integers(self.original))
        return self.places.apart(self.places.windows(a), self.places.windows(b))

    def _stored(self, load: Call) -> Operand | None:
        """The value that a load reads."""
        array, steps = load.args[0], load.args[1:]
        for call in self._writes(array, steps):
            if same_path(call.args[2:], steps):
                value = call.args[1]
                once = all(isinstance(step, Pack) and repeats_nothing(step) for step in steps)
                kept = call.op is core.store and once and isinstance(value, Var)
                return value if kept and stored_as_it_is(value, load.targets[0].style) else None
        return None

    def _over(self, call: Call) -> Call:
        """A write to a place where what was written before is not seen: the former goes."""
        steps = call.args[2:]
        if not all(isinstance(step, Pack) and repeats_nothing(step) for step in steps):
            return call
        later: Call | None = None
        for write in self._writes(call.args[0], steps):
            (target,) = write.targets
            if target not in self.here or self.reads.get(target) != 1:
                return call
            if not same_path(write.args[2:], steps):
                later = write
                continue
            if call.op is core.add_at:
                if not _clears(write):
                    return call
                call = replace(call, op=core.store)
            if later is None:
                return replace(call, args=(write.args[0], *call.args[1:]))
            self._rebase(later, write.args[0])
            return call
        return call

    def _rebase(self, write: Call, base: Operand) -> None:
        """A write that is in the block already, to another version of its array."""
        made = replace(write, args=(base, *write.args[1:]))
        for k in range(len(self.emitted) - 1, -1, -1):
            if self.emitted[k] is write:
                self.emitted[k] = made
                break
        self.made[made.targets[0]] = made


def _clears(write: Call) -> bool:
    value = write.args[1]
    zero = isinstance(value, Const) and type(value.value) is float and value.value == 0.0
    return write.op is core.store and zero
