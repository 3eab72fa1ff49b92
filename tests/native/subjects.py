"""Entries written by hand, and both bridges that call them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from pullback.backend.native import build, toolchain
from pullback.backend.native.bridge import bind_with, extension, foreign
from pullback.backend.native.interface import Interface
from pullback.errors import NativeError, NoCompiler

F8, I8, B1, C16 = (np.dtype(name) for name in ("f8", "i8", "?", "c16"))

HEAD = """#include "pullback.h"
#include <stdlib.h>
#define ENTRY(name) PB_EXPORT int32_t name(pb_host *host, const pb_arg *in, pb_arg *out)
#define AT(arg, type, i) (*(type *)((arg).a.data + (i) * (arg).a.strides[0]))
#define FAIL(code, place) return host->error = (code), host->line = (place), 1
"""


def need_compiler() -> None:
    """Skip the module if there is no compiler."""
    try:
        toolchain.find()
    except NoCompiler:
        pytest.skip("no C compiler", allow_module_level=True)


@lru_cache(maxsize=1)
def binders() -> dict[str, Any]:
    """The bridges that this machine has."""
    found: dict[str, Any] = {"ctypes": foreign.Bound}
    try:
        found["extension"] = extension.binder(extension.load())
    except NativeError:
        if toolchain.python_headers():
            raise
    return found


def bound(
    bridge: str, text: str, interface: Interface, threads: int = 0, failed: Any = None
) -> Callable[..., Any]:
    """An entry, from the text after `HEAD`, by one of the bridges."""
    if bridge not in binders():
        pytest.skip("Python's headers are not here")
    return bind_with(binders()[bridge], build.shared_library(HEAD + text), interface, threads, failed)
