"""What the reverse sweep knew of its values, taken out again: the backend has no need of it.

%h_bar.1: f64[3] = known(%h_bar, f64[3])        every read of %h_bar.1 reads %h_bar, which is f64[3] where it is made
"""

from __future__ import annotations

from dataclasses import replace

from pullback.ir import core_ops as core
from pullback.ir.nodes import Block, Call, Function, Var
from pullback.passes.rewrite import Rewriter
from pullback.styles.style import Array, Axis


def drop_known(function: Function) -> Function:
    """The function without `known`."""
    return _DropKnown().function(function)


class _DropKnown(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self.better: dict[Var, Array] = {}  # what is known of values that the block makes

    def block(self, block: Block) -> Block:
        """A block; what it knows of a value is as true where the block makes the value."""
        outer, self.better = self.better, {}
        made = {t for stmt in block.stmts if isinstance(stmt, Call) for t in stmt.targets}
        for stmt in block.stmts:
            value = stmt.args[0] if isinstance(stmt, Call) and stmt.op is core.known else None
            if isinstance(value, Var) and value in made and isinstance(stmt, Call):
                self._learn(value, stmt.targets[0])
        out = super().block(block)
        self.better = outer
        return out

    def _learn(self, value: Var, known: Var) -> None:
        more = _both(self.better.get(value, value.style), known.style)
        if more is not None and more != value.style:
            self.better[value] = more

    def call(self, call: Call) -> Call | None:
        """A value is what it was before more was known of it."""
        if call.op is core.known:
            self.mapping[call.targets[0]] = call.args[0]
            return None
        if not any(t in self.better for t in call.targets):
            return call
        targets = tuple(Var(t.hint, self.better[t]) if t in self.better else t for t in call.targets)
        self.mapping.update((a, b) for a, b in zip(call.targets, targets, strict=True) if a is not b)
        return replace(call, targets=targets)


def _both(a: object, b: object) -> Array | None:
    """What two styles say of one array."""
    if not isinstance(a, Array) or not isinstance(b, Array):
        return None
    axes = a.axes if b.axes is None else b.axes
    if a.axes is not None and b.axes is not None:
        if len(a.axes) != len(b.axes):
            return None
        axes = tuple(map(_better, a.axes, b.axes))
    dtype = a.dtype if b.dtype is None else b.dtype
    return Array(dtype, axes, a.contiguous or b.contiguous, b.kind if a.dtype is None else a.kind)


def _better(a: Axis, b: Axis) -> Axis:
    return a if isinstance(a, int) else b
