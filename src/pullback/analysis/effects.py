"""Whether running a function twice can be told from running it once.

Checks that raise cannot: they do so both times or never.  Nor can the scope of a setting (`with np.errstate`), which
says how the statements in it run and is no effect by itself.  Printing, warnings, random draws and calls of which
nothing is known can.
"""

from __future__ import annotations

from pullback.ir import core_ops as core
from pullback.ir.callee import callee_of, reachable
from pullback.ir.nodes import Call, Const, Function
from pullback.ir.walk import statements

_REPEATABLE = frozenset({core.raise_, core.assert_, core.begin_reverse, core.enter, core.leave})


def has_visible_effects(function: Function) -> bool:
    """Whether a function, or one that it calls, does more than compute and check."""
    functions = [function, *(c.body() for c in reachable([function]))]
    return any(
        isinstance(s, Call) and s.op.effect and not _repeatable(s)
        for f in functions
        for s in statements(f.body)
    )


def _repeatable(call: Call) -> bool:
    if call.op is core.call_effect:
        return _makes_exception(call)
    return call.op in _REPEATABLE or callee_of(call) is not None


def _makes_exception(call: Call) -> bool:
    made = call.args[0].value if call.args and isinstance(call.args[0], Const) else None
    return isinstance(made, type) and issubclass(made, BaseException)
