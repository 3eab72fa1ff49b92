"""Whether running a function twice can be told from running it once.

Checks that raise cannot: they do so both times or never.  Printing, warnings, random draws and calls of which
nothing is known can.
"""

from __future__ import annotations

from pullback.ir import core_ops as core
from pullback.ir.nodes import Call, Const, Function
from pullback.ir.walk import statements

_REPEATABLE = frozenset({core.raise_, core.assert_, core.begin_reverse})


def has_visible_effects(function: Function) -> bool:
    """Whether a function does more than compute and check."""
    return any(isinstance(s, Call) and s.op.effect and not _repeatable(s) for s in statements(function.body))


def _repeatable(call: Call) -> bool:
    return call.op in _REPEATABLE or (call.op is core.call_effect and _makes_exception(call))


def _makes_exception(call: Call) -> bool:
    made = call.args[0].value if call.args and isinstance(call.args[0], Const) else None
    return isinstance(made, type) and issubclass(made, BaseException)
