"""A C module as a function: compiled (or found in the cache), loaded, and given the parameters of its function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pullback.backend.native import bridge
from pullback.backend.native.build import shared_library
from pullback.backend.native.driver import driver
from pullback.backend.native.emit.module import Native


def load(
    native: Native,
    *,
    threads: int = 0,
    failed: Callable[..., Any] | None = None,
    any_float: bool = False,
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The function of a module, which returns MISS for arguments that its entry does not take; and the entry.

    threads    the most it may use; 0 is all cores
    failed     see `bridge.bind`
    any_float  floats may be Python's or NumPy's, whichever the entry takes

    Raises NoCompiler or BuildFailed.
    """
    library = shared_library(native.source, name=native.interface.name)
    entry = bridge.bind(library, native.interface, threads=threads, failed=failed)
    function = driver(native, entry, any_float)
    return (_without_warnings(function) if native.hosted else function), entry


def _without_warnings(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function in which NumPy warns no more than C does: what it computes there may be of the reverse sweep."""

    def called(*args: Any, **keywords: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args, **keywords)

    return called
