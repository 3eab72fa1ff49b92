"""The reverse of a function of numbers that is evaluated at each element: its pair, again at each element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from pullback.ir.builder import Builder
from pullback.ir.mapped import Mapped, pullback_operation
from pullback.ir.nodes import Call, Operand, Var
from pullback.styles.style import Scalar, numeric
from pullback.transform.choose import Choices
from pullback.transform.cotangents import bar_hint


class Sweeping(Protocol):
    """The reverse sweep, as far as a mapped function needs it."""

    builder: Builder
    chosen: Choices

    def is_active(self, operand: Operand) -> bool: ...


def pull_back_mapped(
    sweep: Sweeping, call: Call, mapped: Mapped, bar: Operand, contribute: Callable[[Operand, Operand], None]
) -> None:
    """Emit the cotangent of each active operand, and contribute it.

    The pair's primal runs again beside its pullback.  Where the value itself is computed in the same loop, targets
    run it once for both (backend/native/emit/mapped.py).
    """
    active = {i: x for i, x in enumerate(call.args) if isinstance(x, Var) and sweep.is_active(x)}
    pair = sweep.chosen.pair(mapped.callee, tuple(active))
    for number, (i, operand) in enumerate(active.items()):
        tree = mapped.callee.body().params[i].tree
        style = numeric(tree.style) if isinstance(tree, Var) else None
        assert isinstance(style, Scalar)
        op = pullback_operation(mapped.callee, pair.primal, pair.pullback, number, style)
        contribute(operand, sweep.builder.call(op, *call.args, bar, hint=bar_hint(operand)))
