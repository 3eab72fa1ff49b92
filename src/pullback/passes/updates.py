"""Stores of a sum with what they overwrite, as additions.

    store(A, load(A, i) + v, i)          add_at(A, v, i)         where i names each place once
    store(A, load(A, i) - v, i)          add_at(A, -v, i)
    add_at(store(A, 0.0, i), v, i)       store(A, v, i)          cotangents; the sign of a zero may differ

The pullback of an addition leaves the cotangent of A as it is, where that of a store has to read it, to clear it and to
add it back.  The numbers are the same: `a - v` is `a + (-v)`, to the last bit.
"""

from __future__ import annotations

from dataclasses import replace

from pullback.ir import core_ops as core
from pullback.ir.builder import infer
from pullback.ir.core_ops import OPERATORS, style_of
from pullback.ir.nodes import Block, Call, Const, Function, Operand, Var
from pullback.ir.paths import repeats_nothing, same_path
from pullback.ir.walk import block_ends, own_operands, statements, variables_in
from pullback.passes.rewrite import Rewriter
from pullback.styles.style import Array, Scalar, numeric


def updates(function: Function) -> Function:
    """The function with additions where stores are nothing else.

    >>> from pullback.ir.builder import Builder, index_step
    >>> from pullback.ir.nodes import Param
    >>> from pullback.ir.pretty import pretty
    >>> from pullback.passes.dce import dce
    >>> from pullback.styles.style import FLOAT64, Dim
    >>> build, a, v = Builder(), Var("A", Array(FLOAT64, (Dim(0),))), Var("v", Scalar(FLOAT64))
    >>> old = build.call(core.load, a, index_step(Const(1)), hint="old")
    >>> new = build.call(core.store, a, build.call(OPERATORS["+"], old, v), index_step(Const(1)), hint="A")
    >>> f = Function("f", (Param("A", a), Param("v", v)), build.finish(), (new,))
    >>> print(pretty(dce(updates(f))), end="")
    primal f(%A: f64[n], %v: f64) -> %A.1
      %A.1: f64[n] = add_at(%A, %v, [1])
    """
    return _Updates(function).function(function)


class _Updates(Rewriter):
    def __init__(self, function: Function) -> None:
        super().__init__()
        self.made: dict[Var, Call] = {}  # in the block that is walked
        self.reads: dict[Var, int] = {}
        for stmt in statements(function.body):
            self._count(own_operands(stmt))
            for _, _, ends in block_ends(stmt):
                self._count(ends)
        self._count(function.results)

    def _count(self, operands: object) -> None:
        for var in variables_in(operands):  # type: ignore[arg-type]
            self.reads[var] = self.reads.get(var, 0) + 1

    def block(self, block: Block) -> Block:
        """A block; only what it makes itself is taken apart."""
        outer, self.made = self.made, {}
        try:
            return super().block(block)
        finally:
            self.made = outer

    def call(self, call: Call) -> Call | None:
        """Turn a store into an addition, or an addition to zeros into a store."""
        if len(call.args) > 2 and call.op in (core.store, core.add_at):
            call = self._store(call) if call.op is core.store else self._add_at(call)
        if len(call.targets) == 1:
            self.made[call.targets[0]] = call
        return call

    def _once(self, operand: Operand) -> Call | None:
        """The call in this block that made an operand which is read here alone."""
        return self.made.get(operand) if isinstance(operand, Var) and self.reads.get(operand) == 1 else None

    def _store(self, call: Call) -> Call:
        base, value, steps = call.args[0], call.args[1], call.args[2:]
        operation = self._once(value)
        if operation is None or operation.op not in (OPERATORS["+"], OPERATORS["-"]):
            return call
        left, right = operation.args
        if operation.op is OPERATORS["+"] and not self._is_read(left, base, steps):
            left, right = right, left
        if not self._is_read(left, base, steps) or not all(map(repeats_nothing, steps)):
            return call
        if not _keeps(left, right, value):
            return call
        if operation.op is OPERATORS["-"]:
            right = self._negative(right, call)
        return replace(call, op=core.add_at, args=(base, right, *steps))

    def _is_read(self, operand: Operand, base: Operand, steps: tuple[Operand, ...]) -> bool:
        """Whether an operand is what stands at the path that is stored to."""
        made = self.made.get(operand) if isinstance(operand, Var) else None
        return (
            made is not None
            and made.op is core.load
            and made.args[0] is base
            and same_path(made.args[1:], steps)
        )

    def _negative(self, operand: Operand, like: Call) -> Operand:
        op = OPERATORS["u-"]
        (style,) = infer(op, (operand,), {})
        var = Var(operand.hint if isinstance(operand, Var) else "t", style)
        self.emitted.append(Call((var,), op, (operand,), (), like.loc))
        return var

    def _add_at(self, call: Call) -> Call:
        base, value, steps = call.args[0], call.args[1], call.args[2:]
        cleared = self._once(base)
        if cleared is None or cleared.op is not core.store or not same_path(cleared.args[2:], steps):
            return call
        zero = cleared.args[1]
        if not isinstance(zero, Const) or type(zero.value) is not float or zero.value != 0.0:
            return call
        if not all(map(repeats_nothing, steps)):
            return call
        return replace(call, op=core.store, args=(cleared.args[0], value, *steps))


def _keeps(place: Operand, more: Operand, total: Operand) -> bool:
    """Whether NumPy can add in place: the sum has the dtype of the place, and no more axes."""
    old, new, added = (numeric(style_of(x)) for x in (place, total, more))
    if not isinstance(old, Scalar | Array) or not isinstance(new, Scalar | Array):
        return False
    if old.dtype is None or old.dtype != new.dtype or old.kind not in "fc":
        return False
    if isinstance(added, Scalar):
        return isinstance(new, type(old))
    if not isinstance(added, Array) or isinstance(old, Scalar):
        return False
    return added.axes is not None and old.axes is not None and len(added.axes) <= len(old.axes)
