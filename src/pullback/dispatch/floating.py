"""Whether NumPy's settings for floating-point errors let compiled code serve a call.

Compiled code never warns of a division by zero, an overflow or an invalid value, and never calls what was set for them.
So where the caller has set one of them to anything but "ignore" or "warn", NumPy serves; and it serves for good where
warnings were errors when compiled code was to take over.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

_UNTOLD = frozenset({"ignore", "warn"})


def _setting() -> Callable[[], Any]:
    """What gives the settings of this thread as one object, as long as they stay what they are."""
    try:
        from numpy._core.umath import _extobj_contextvar
    except ImportError:  # another NumPy: they are asked for one by one
        return object
    get: Callable[[], Any] = _extobj_contextvar.get
    return get


class Known:
    """The last settings that were seen to be quiet."""

    __slots__ = ("setting",)

    def __init__(self) -> None:
        self.setting: Any = None


setting = _setting()
known = Known()


def warnings_are_errors() -> bool:
    """Whether a RuntimeWarning is an error, whatever it says and wherever it comes from."""
    for action, message, category, module, line in warnings.filters:
        if message is None and module is None and not line and issubclass(RuntimeWarning, category):
            return action == "error"
    return False


def quiet() -> bool:
    """Whether no floating-point error is more than a warning."""
    now = setting()
    if now is known.setting:
        return True
    if not _UNTOLD.issuperset(np.geterr().values()):
        return False
    known.setting = now
    return True
