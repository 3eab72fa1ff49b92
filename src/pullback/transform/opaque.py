"""Opaque rules: a callable that returns (value, pullback) is called in the forward sweep, its pullback in the reverse.

Both are effects of the IR: called once, in order, never looked into.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pullback.ir import core_ops as core
from pullback.ir.builder import Builder
from pullback.ir.nodes import Call, Const, Operand, Stmt, Var
from pullback.rules.kinds import Opaque
from pullback.styles.style import Anything, Array
from pullback.transform.cotangents import bar_hint, fit


class Sweeping(Protocol):
    """The reverse sweep, as far as an opaque rule needs it."""

    builder: Builder

    def is_active(self, operand: Operand) -> bool: ...

    def accumulate(self, operand: Operand, bar: Operand | None) -> None: ...


def opaque_call(sweep: Sweeping, call: Call, rule: Opaque, out_bar: Operand) -> list[Stmt]:
    """Emit the call of the saved pullback; returns the forward statements that make it."""
    (out,) = call.targets
    both = Var(f"{out.hint}_and_pullback", Anything())
    pullback = Var(f"{out.hint}_pullback", Anything())
    fn = (Const(call.op.fn),) if rule.generic else ()
    forward: list[Stmt] = [
        Call((both,), core.call_effect, (Const(rule.call), *fn, *call.args), call.kwargs, call.loc),
        Call((out,), core.list_get, (both, Const(0)), loc=call.loc),
        Call((pullback,), core.list_get, (both, Const(1)), loc=call.loc),
    ]
    bars = sweep.builder.call(core.call_effect, pullback, out_bar, hint=f"{out.hint}_bars")
    _share_out(sweep, call.args, bars)
    return forward


def _share_out(sweep: Sweeping, operands: Sequence[Operand], bars: Var) -> None:
    """Fit each cotangent (the only one comes bare) to its operand at run time: nothing is known of its style."""
    for i, operand in enumerate(operands):
        if not isinstance(operand, Var) or not sweep.is_active(operand):
            continue
        bar = Var(bar_hint(operand), Array(None, None))
        if len(operands) == 1:
            sweep.builder.add(Call((bar,), core.same, (bars,), loc=sweep.builder.loc))
        else:
            sweep.builder.add(Call((bar,), core.list_get, (bars, Const(i)), loc=sweep.builder.loc))
        sweep.accumulate(operand, fit(sweep.builder, bar, operand))
