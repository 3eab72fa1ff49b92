"""Functions compiled apart, differentiated: each call of one becomes a call of its primal and one of its pullback.

A callee's primal returns its results, then its residuals; its pullback takes the residuals and the cotangents of
the results, and returns those of the operands that are active at the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pullback.ir.builder import Builder
from pullback.ir.callee import Callee, operation
from pullback.ir.nodes import FRESH, Call, Operand, Stmt, Var
from pullback.styles.style import Anything, differentiable
from pullback.transform.choose import Choices
from pullback.transform.cotangents import bar_hint, bar_style, exact


class Sweeping(Protocol):
    """The reverse sweep, as far as a call of a callee needs it."""

    builder: Builder
    chosen: Choices

    def is_active(self, operand: Operand) -> bool: ...

    def zero(self, var: Var) -> Operand: ...

    def accumulate(self, operand: Operand, bar: Operand | None) -> None: ...


def pull_back_callee(
    sweep: Sweeping, call: Call, callee: Callee, bars: Sequence[Operand | None]
) -> list[Stmt]:
    """Emit the call of a pullback and accumulate into the operands; returns the call of the primal."""
    active = {i: x for i, x in enumerate(call.args) if isinstance(x, Var) and sweep.is_active(x)}
    pair = sweep.chosen.pair(callee, tuple(active))
    saved = Var(f"{callee.name}_residuals", Anything())
    primal = operation(
        pair.primal,
        [*(t.style for t in call.targets), saved.style],
        len(call.args),
        fresh=call.op.alias == FRESH,
        effect=call.op.effect,
    )
    seeds = [
        exact(sweep.builder, target, sweep.zero(target)) if bar is None else bar
        for target, bar in zip(call.targets, bars, strict=True)
        if differentiable(target.style)
    ]
    styles = [bar_style(x.style) for x in active.values()]
    pullback = operation(pair.pullback, styles, len(seeds) + 1, fresh=True)
    hints = tuple(bar_hint(x) for x in active.values())
    operand_bars = sweep.builder.call_many(pullback, (saved, *seeds), {}, hints)
    for operand, bar in zip(active.values(), operand_bars, strict=True):
        sweep.accumulate(operand, bar)
    return [Call((*call.targets, saved), primal, call.args, loc=call.loc)]
