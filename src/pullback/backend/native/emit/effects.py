"""What does more than compute: exceptions, checks, scopes of NumPy's error handling.

A compiled function has no effects: where an exception would be raised it is left, and NumPy's version raises it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.backend.native.emit.emitter import ASSERTION, FLOATING_POINT, TYPE_ERROR, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import operand_style
from pullback.ir.nodes import Call, Const
from pullback.styles.style import Array, Scalar, Static, Style

NOT_FINITE = "a gradient that is not finite: its products are to be done with strong zeros"
_QUIET = ("ignore", "warn")


def raise_(e: Emitter, call: Call) -> None:
    """`raise error`."""
    e.line(e.fail(TYPE_ERROR, "an exception of the function's own"))


def assert_(e: Emitter, call: Call) -> None:
    """`assert test`."""
    e.check(e.truth(call.args[0]), ASSERTION)


def check_finite(e: Emitter, call: Call) -> None:
    """Leave where a number is not finite: products with strong zeros are to be spelled out."""
    texts = [e.number(x, np.dtype(np.float64)) for x in call.args]
    e.check(" && ".join(f"{x} - {x} == 0" for x in texts), FLOATING_POINT, NOT_FINITE)


def effect(e: Emitter, call: Call) -> None:
    """An exception that is made: where it is raised the function is left, so there is nothing to do."""
    made = call.args[0].value if call.args and isinstance(call.args[0], Const) else None
    if not (isinstance(made, type) and issubclass(made, BaseException)):
        raise Untaken("a call that does more than compute")


def text(e: Emitter, call: Call) -> None:
    """A text that only an exception reads: there is nothing to do where these values can be so written."""
    form, *values = call.args
    samples = [_sample(operand_style(x)) for x in values]
    if not isinstance(form, Const):
        raise Untaken("a text made by a text that is not known")
    try:
        form.value.format(*samples)
    except (TypeError, ValueError, AttributeError, IndexError, KeyError):
        raise Untaken("a text of values that cannot be so written") from None


def _sample(style: Style) -> Any:
    """A value of a style, as far as a format tells values apart."""
    match style:
        case Static(value):
            return value
        case Scalar(dtype, weak) if dtype is not None:
            number = dtype.type(1)
            return number.item() if weak else number
        case Array(dtype, axes) if dtype is not None and axes is not None:
            return np.ones((2,) * len(axes), dtype)
    raise Untaken("a text of these values")


def enter(e: Emitter, call: Call) -> None:
    """`with np.errstate(...)` where nothing is raised or called."""
    manager = call.args[0] if call.args else None
    fn = manager.value if isinstance(manager, Const) else None
    if fn is None or getattr(call.targets[0].style, "value", None) is not None:
        raise Untaken("a `with` of something else than np.errstate")
    values = [*call.args[1:], *(x for _, x in call.kwargs)]
    if fn is not np.errstate or not all(isinstance(x, Const) and x.value in (*_QUIET, None) for x in values):
        raise Untaken("a `with` whose scope raises")


def leave(e: Emitter, call: Call) -> None:
    """The end of such a scope."""
    if isinstance(getattr(call.args[0], "style", None), Static):
        raise Untaken("a `with` of something else than np.errstate")
