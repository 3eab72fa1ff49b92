"""From Python to a compiled entry: arguments checked and passed, results and errors brought back."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pullback.backend.native.bridge.raising import MISS
from pullback.backend.native.interface import Interface
from pullback.errors import BuildFailed

__all__ = ["MISS", "bind", "kind"]


def bind(library: Path, interface: Interface, *, threads: int = 0) -> Callable[..., Any]:
    """The entry of a library as a callable: of one object for each argument, it returns the tuple of results.

    If an argument is not what the interface says it returns `MISS`, and nothing has happened.  An error of the entry is
    raised with the user's line.  `threads` is the most it may use; 0 is all cores.
    """
    try:
        loaded = ctypes.PyDLL(str(library))
        address = ctypes.cast(getattr(loaded, interface.name), ctypes.c_void_p).value
    except (OSError, AttributeError) as error:
        raise BuildFailed(f"a compiled library cannot be loaded: {error}") from error
    assert address is not None
    from pullback.backend.native.bridge.foreign import Bound

    return Bound(address, interface, threads, loaded)


def kind() -> Literal["extension", "ctypes"]:
    """By which bridge compiled entries are called."""
    return "ctypes"
