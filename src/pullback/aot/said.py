"""Values as the header of a module says them: short, and the same in every process."""

from __future__ import annotations

from enum import Enum
from reprlib import Repr
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from pullback.frontend.environment import Path


class _Said(Repr):
    """`repr`, cut short; sets in order, no addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxlong = self.maxother = 80
        self.maxtuple = self.maxlist = self.maxdict = self.maxfrozenset = 8

    def repr_instance(self, x: Any, level: int) -> str:
        """What is no container and no text."""
        if is_plain(x):
            return repr(x)
        if isinstance(x, np.ndarray):
            return f"{x.dtype}[{', '.join(map(str, x.shape))}]"
        return f"of class {type(x).__name__}"


_SAID = _Said()


def value_text(path: Path, value: Any) -> str:
    """A value from outside, for the header."""
    return f"{place_text(path)}: {_SAID.repr(value)}"


def place_text(path: Path) -> str:
    """Where a value from outside is found."""
    if path.kind == "object":
        return f"`{path}`"
    return f"`{path}` of `{getattr(path.fn, '__name__', path.name)}`"


def member_text(path: Path, value: Any) -> list[str]:
    """What was taken from a class for its instances, for the header."""
    if not isinstance(path.fn, type) or not path.steps or path.steps[-1][0] != "attr":
        return []
    if is_plain(value):
        return [value_text(path, value)]
    return [f"`{path}`: its code"] if isinstance(value, FunctionType | MethodType | property) else []


def is_plain(value: Any) -> bool:
    """Whether a value is data of which its text says everything."""
    if isinstance(value, tuple | frozenset):
        return all(map(is_plain, value))
    plain = type(value) in (str, bytes, bool, int, float, complex, range, slice)
    return plain or value is None or isinstance(value, Enum | np.generic | np.dtype)
