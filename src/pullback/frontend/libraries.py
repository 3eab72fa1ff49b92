"""Functions of installed libraries: their source is looked into, but its lines mean nothing to the user."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import FunctionType

from pullback.errors import Loc, NoRuleError, PullbackError, SourceError, UnsupportedError

_OURS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")


@lru_cache(maxsize=4096)
def is_library(file: str) -> bool:
    """Whether a file belongs to an installed package (but this one) or to Python itself."""
    path = os.path.abspath(file)
    return not path.startswith(_OURS) and any(path.startswith(folder) for folder in _folders())


@lru_cache(maxsize=1)
def _folders() -> tuple[str, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    found = {sysconfig.get_path(name) for name in names}
    return tuple(sorted(os.path.join(os.path.abspath(folder), "") for folder in found if folder))


@contextmanager
def entered(fn: FunctionType, call: Loc) -> Iterator[None]:
    """What is refused inside a library's function is refused where the user calls it."""
    try:
        yield
    except (UnsupportedError, SourceError) as error:
        name = fn.__qualname__
        raise NoRuleError(
            f"`{name}` of {fn.__module__.partition('.')[0]} has no rule, and its source cannot be followed: "
            f"{_cause(error)}",
            loc=call,
            hint=f"give `{name}` a rule with pb.row, pb.rule or pb.opaque, or write out what it computes",
        ) from error


def _cause(error: PullbackError) -> str:
    return f"{error.reason} ({error.loc})" if error.loc is not None else error.reason
