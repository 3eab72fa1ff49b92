"""Opaque rules: a callable that returns (value, pullback) is called in the forward sweep, its pullback in the reverse.

Both are effects of the IR: called once, in order, never looked into.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pullback.errors import Loc
from pullback.ir import core_ops as core
from pullback.ir.builder import Builder
from pullback.ir.nodes import Call, Const, Operand, Stmt, Var
from pullback.ir.walk import variables
from pullback.rules.kinds import Opaque
from pullback.styles.style import Anything, Array
from pullback.transform.cotangents import bar_hint, distribute, fit


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
        *_item(both, 0, out, call.loc),
        Call((pullback,), core.list_get, (both, Const(1)), loc=call.loc),
    ]
    bars = sweep.builder.call(core.call_effect, pullback, out_bar, hint=f"{out.hint}_bars")
    _share_out(sweep, call.args, bars)
    return forward


def _share_out(sweep: Sweeping, operands: Sequence[Operand], bars: Var) -> None:
    """Fit each cotangent (the only one comes bare) to its operand at run time: nothing is known of its style."""
    for i, operand in enumerate(operands):
        if not any(sweep.is_active(v) for v in variables(operand)):
            continue
        hint = bar_hint(operand) if isinstance(operand, Var) else "items_bar"
        bar = Var(hint, Array(None, None))
        if len(operands) == 1:
            sweep.builder.add(Call((bar,), core.same, (bars,), loc=sweep.builder.loc))
        else:
            for stmt in _item(bars, i, bar, sweep.builder.loc):
                sweep.builder.add(stmt)
        for var, part in distribute(sweep.builder, operand, bar):
            if sweep.is_active(var):
                sweep.accumulate(var, fit(sweep.builder, part, var))


def _item(items: Var, i: int, var: Var, loc: Loc) -> tuple[Stmt, ...]:
    """`var` as an item of a tuple of which nothing is known."""
    item = Var(var.hint, Anything())
    get = Call((item,), core.list_get, (items, Const(i)), loc=loc)
    return get, Call((var,), core.known, (item, Const(var.style)), loc=loc)
