"""What a call gives besides results: the mark of a miss, and the exceptions of an entry's error codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn, TypeAlias

from pullback.backend.native.interface import ERRORS, HOST_ERROR, Interface
from pullback.errors import CompilerError, add_place


class Miss:
    """The type of `MISS`: an argument is not what the interface says."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISS"


MISS: Final = Miss()

# What is called with (code, line, detail, message, pending) where an entry fails; what it returns is the call's result.
Failed: TypeAlias = Callable[[int, int, Sequence[int], str | None, BaseException | None], Any]


def fail(
    interface: Interface,
    code: int,
    line: int,
    detail: Sequence[int],
    message: str | None,
    pending: BaseException | None,
) -> NoReturn:
    """Raise what an entry's error code says, with the user's line.  `pending` is what an operation raised."""
    error = (
        pending if code == HOST_ERROR and pending is not None else _error(interface, code, detail, message)
    )
    if 0 <= line < len(interface.places):
        add_place(error, interface.places[line], interface.name)
    raise error


def _error(interface: Interface, code: int, detail: Sequence[int], message: str | None) -> Exception:
    kind = ERRORS.get(code)
    if kind is None:
        return CompilerError(f"the compiled function {interface.name} ended with the unknown error {code}")
    if message is None and kind is IndexError:
        index, axis, length = detail[:3]
        message = f"index {index} is out of bounds for axis {axis} with size {length}"
    return kind(message) if message else kind()
