"""What has been made of a function, kept among the function's attributes: it lives as long as the function does."""

from __future__ import annotations

from types import FunctionType
from typing import Any


class Kept:
    """Things made of a function in a state (`mark`).  Pickled as nothing, where a tool pickles functions whole."""

    __slots__ = ("made", "mark")

    def __init__(self, *mark: Any) -> None:
        self.mark = mark
        self.made: dict[Any, Any] = {}

    def __reduce__(self) -> Any:
        return Kept, ()

    def __deepcopy__(self, memo: dict[int, Any]) -> Kept:
        return Kept()

    def holds(self, mark: tuple[Any, ...]) -> bool:
        """Whether it was made of this function, in this state."""
        return len(self.mark) == len(mark) and all(a is b for a, b in zip(self.mark, mark, strict=True))


def kept_by(fn: FunctionType, name: str, *state: Any) -> dict[Any, Any]:
    """What is kept under a name of a function; empty where the function or the state is another by now.

    A wrapper made with `functools.wraps` has copied the attributes of what it wraps.
    """
    found = vars(fn).get(name)
    if not isinstance(found, Kept) or not found.holds((fn, *state)):
        found = vars(fn)[name] = Kept(fn, *state)
    return found.made
