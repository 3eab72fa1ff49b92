"""A C text becomes a library, or an error that says why not."""

from __future__ import annotations

import ctypes

import pytest

from pullback.backend.native import build, toolchain
from pullback.errors import NoCompiler

try:
    toolchain.find()
except NoCompiler:
    pytest.skip("no C compiler", allow_module_level=True)


def test_a_text_is_built_once() -> None:
    text = '#include "pullback.h"\nPB_EXPORT int32_t twice(int32_t x) { return 2 * x; }\n'
    library = build.shared_library(text)
    assert ctypes.CDLL(str(library)).twice(21) == 42
    assert build.shared_library(text) == library
