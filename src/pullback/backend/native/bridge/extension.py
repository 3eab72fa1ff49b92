"""The bridge with Python's headers: `extension.c`, compiled once for this Python on this machine, and loaded."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Sequence
from functools import partial
from importlib.machinery import ExtensionFileLoader
from importlib.resources import files
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from pullback.backend.native import build, toolchain
from pullback.backend.native.bridge.raising import MISS, Failed
from pullback.backend.native.bridge.threads import LIMITS
from pullback.backend.native.interface import (
    KINDS,
    ArgSpec,
    Interface,
    ResultSpec,
    ScalarSpec,
    code_of,
)
from pullback.errors import BuildFailed, NativeError

NAME = "pullback_bridge"
_ARRAY = len(KINDS)  # after the kinds of numbers
_FLAGS = ("-O2", "-fvisibility=hidden", *toolchain.SHARED)
_LOOSE = (
    ("-undefined", "dynamic_lookup") if sys.platform == "darwin" else ()
)  # the symbols are the interpreter's


def load() -> ModuleType:
    """The extension, compiled if it must be; `NativeError` where it cannot serve."""
    headers = toolchain.python_headers()
    if not headers or sys.platform == "win32" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise NativeError(
            "the bridge is not compiled: Python's headers are missing, or it is no Python for it"
        )
    compiler = toolchain.find()
    flags = (*_FLAGS, *_LOOSE, *(f"-I{folder}" for folder in headers))
    library = build.compiled(_text(), flags, (), compiler, NAME)
    try:
        module = _load(library)
    except (ImportError, OSError) as error:
        raise BuildFailed(f"the compiled bridge cannot be loaded: {error}") from error
    set_threads = partial(_set_threads, module)
    set_threads()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=set_threads)
    return module


def _text() -> str:
    """The text of the extension; it names the Python and the NumPy that it is compiled for."""
    made_for = f"{sys.version} {sysconfig.get_config_var('SOABI')}, NumPy {np.__version__}".replace("\n", " ")
    text = (files("pullback.backend.native.bridge") / "extension.c").read_text(encoding="utf-8")
    return f"/* {made_for} */\n{text}"


def _load(library: Path) -> ModuleType:
    loader = ExtensionFileLoader(NAME, str(library))
    spec = spec_from_file_location(NAME, library, loader=loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def _set_threads(module: ModuleType) -> None:
    """Tell how many threads calls may use: fewer in a fork."""
    module.set_threads(LIMITS.usual, LIMITS.most)


def binder(module: ModuleType) -> Callable[[int, Interface, int, object, Failed], Callable[..., Any]]:
    """The function that makes callables with the extension."""

    def bind(
        address: int, interface: Interface, threads: int, keep: object, failed: Failed
    ) -> Callable[..., Any]:
        operations = tuple(
            (operation.fn, _packed(operation.args), _packed(operation.results))
            for operation in interface.operations
        )
        bound: Callable[..., Any] = module.bind(
            address,
            interface.name,
            _packed(interface.args),
            _packed(interface.results),
            operations,
            threads,
            keep,
            MISS,
            failed,
        )
        return bound

    return bind


def _packed(specs: Sequence[ArgSpec | ResultSpec]) -> tuple[tuple[object, ...], ...]:
    """Specs as the extension reads them; the numbers of equal axes become 0, 1, ..."""
    numbers: dict[int, int] = {-1: -1}
    packed: list[tuple[object, ...]] = []
    for spec in specs:
        if isinstance(spec, ScalarSpec):
            packed.append((KINDS.index(spec.kind), spec.code, 0, False, (), ()))
        else:
            ones = tuple(-1 if one is None else int(one) for one in spec.ones)
            equal = tuple(numbers.setdefault(number, len(numbers) - 1) for number in spec.equal)
            packed.append((_ARRAY, code_of(spec.dtype), spec.rank, spec.writes, ones, equal))
    return tuple(packed)
