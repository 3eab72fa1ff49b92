"""From Python to a compiled entry: arguments checked and passed, results and errors brought back."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

from pullback.backend.native.bridge.raising import MISS, Failed, fail
from pullback.backend.native.interface import Interface
from pullback.backend.native.process import patient_threads
from pullback.errors import BuildFailed, NativeError

__all__ = ["MISS", "bind", "kind"]

Kind = Literal["extension", "ctypes"]
Binder = Callable[[int, Interface, int, object, Failed], Callable[..., Any]]


def bind(
    library: Path, interface: Interface, *, threads: int = 0, failed: Failed | None = None
) -> Callable[..., Any]:
    """The entry of a library as a callable: of one object for each argument, it returns the tuple of results.

    If an argument is not what the interface says it returns `MISS`, and nothing has happened.  An error of the entry is
    raised with the user's line; or `failed(code, line, detail, message, pending)` says what is returned instead.
    `threads` is the most it may use; 0 is all cores.  Its attribute `calls` counts how often the entry has been run;
    `into(buffers, *args)` is a call in which the entry's new arrays, results or not, may be those of a tuple: arrays in
    C order that share nothing with the arguments or one another.
    """
    return bind_with(_bridge()[1], library, interface, threads, failed)


def kind() -> Kind:
    """By which bridge compiled entries are called."""
    return _bridge()[0]


def bind_with(
    binder: Binder, library: Path, interface: Interface, threads: int = 0, failed: Failed | None = None
) -> Callable[..., Any]:
    """The entry of a library as a callable of one of the bridges."""
    try:
        with patient_threads():
            loaded = ctypes.PyDLL(str(library))
        address = ctypes.cast(getattr(loaded, interface.name), ctypes.c_void_p).value
    except (OSError, AttributeError) as error:
        raise BuildFailed(f"a compiled library cannot be loaded: {error}") from error
    assert address is not None
    return binder(address, interface, threads, loaded, failed or partial(fail, interface))


@lru_cache(maxsize=1)
def _bridge() -> tuple[Kind, Binder]:
    """The bridge of this process: with Python's headers if they are there and the compiler takes them."""
    try:
        from pullback.backend.native.bridge import extension

        return "extension", extension.binder(extension.load())
    except NativeError:
        from pullback.backend.native.bridge.foreign import Bound

        return "ctypes", Bound
