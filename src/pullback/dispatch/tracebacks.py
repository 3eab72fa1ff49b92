"""Short tracebacks: an error of this package shows the user's own frames, then what it says.

What raises it is some forty frames down in the compiler, of no use to the user.  PULLBACK_TRACEBACK=full keeps them; a
CompilerError, which tells of a defect, always does.
"""

from __future__ import annotations

import functools
import os
import sysconfig
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import ParamSpec, TypeVar

from pullback.errors import CompilerError, PullbackError

P = ParamSpec("P")
R = TypeVar("R")

PACKAGE = str(Path(__file__).parent.parent)
_OURS = (PACKAGE + os.sep, "<pullback", sysconfig.get_paths()["stdlib"] + os.sep)


def shortened(error: PullbackError) -> PullbackError:
    """An error to be raised again by the frame that caught it, without the frames of this package."""
    caught = error.__traceback__
    below = None if caught is None else caught.tb_next  # `raise` enters the catching frame anew
    if isinstance(error, CompilerError) or os.environ.get("PULLBACK_TRACEBACK") == "full":
        return error.with_traceback(below)
    cause = error.__cause__
    if cause is None:
        error.__suppress_context__ = True
    else:
        cause.__traceback__ = _users(cause.__traceback__)
    return error.with_traceback(_users(below))


def brief(function: Callable[P, R]) -> Callable[P, R]:
    """A function of the public interface, whose errors have short tracebacks."""

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except PullbackError as error:
            raise shortened(error)  # noqa: B904 - it is the same error

    return called


def _users(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of this package and of Python's library, which it calls."""
    kept = []
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(_OURS):
            kept.append(traceback)
        traceback = traceback.tb_next
    made: TracebackType | None = None
    for entry in reversed(kept):
        made = TracebackType(made, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return made
