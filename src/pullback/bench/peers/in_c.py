"""Gradients written by hand in C: what a good programmer's fused loops take.

`in_c/<kernel>.c` defines `double value_and_grad(...)`, which returns the value.  Its parameters are told by their
names:

    x           the argument x: a number, or where x is an array, a pointer to its elements (in C order)
    x_0, x_1    the lengths of the axes of the array x
    x_bar       where the gradient with respect to x goes: a pointer, also where x is a number
    threads     how many threads it may use
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pullback.bench.errors import BenchError
from pullback.bench.peers.base import NoVersion, Peer, Program, Result, flat
from pullback.bench.peers.compiled import call_of, compiler, compiler_version, library
from pullback.bench.suite import Kernel

TYPES: dict[str, tuple[Any, str]] = {
    "double": (ctypes.c_double, "float64"),
    "float": (ctypes.c_float, "float32"),
    "int64_t": (ctypes.c_int64, "int64"),
    "int32_t": (ctypes.c_int32, "int32"),
}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
HEAD = re.compile(r"\bdouble\s+value_and_grad\s*\(([^)]*)\)")
PARAMETER = re.compile(r"(?:const\s+)?(\w+)\s*(\*?)\s*(?:const\s+|restrict\s+)?(\w+)")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a C function."""

    name: str
    type: str
    pointer: bool


def prototype(text: str) -> list[Parameter]:
    """The parameters of `value_and_grad` in a C text.  Raises BenchError."""
    head = HEAD.search(COMMENT.sub(" ", text))
    if head is None:
        raise BenchError("it defines no `double value_and_grad(...)`", hint="see benchmarks/README.md")
    found = []
    for words in head[1].split(","):
        parts = PARAMETER.fullmatch(words.strip())
        if parts is None or parts[1] not in TYPES:
            raise BenchError(f"parameter `{' '.join(words.split())}`: its type is none of {', '.join(TYPES)}")
        found.append(Parameter(parts[3], parts[1], bool(parts[2])))
    return found


class C(Peer):
    """`value_and_grad` of the suite's `in_c/`, compiled by the system's compiler, called through ctypes."""

    name = "c"
    module = "numpy"
    compiles = False  # the compiler's time is no part of any time
    reference = True

    @property
    def way_out(self) -> str:
        """It comes with the system."""
        return "install a C compiler, or set CC"

    def installed(self) -> bool:
        """Whether there is a compiler."""
        return compiler() is not None

    def version(self) -> str:
        """The compiler's."""
        return f"({compiler_version()})"

    def start(self, threads: int) -> None:
        """Nothing to import."""
        self.threads = threads

    def program(self, kernel: Kernel, args: tuple[Any, ...], seeds: Sequence[Any]) -> Program:
        """A call into fresh arrays."""
        return self._program(kernel, args, {})

    def reusing(
        self, kernel: Kernel, args: tuple[Any, ...], seeds: Sequence[Any], buffers: Mapping[str, Any]
    ) -> Program:
        """A call into the buffers."""
        return self._program(kernel, args, buffers)

    def _program(self, kernel: Kernel, args: tuple[Any, ...], buffers: Mapping[str, Any]) -> Program:
        path = kernel.folder / "in_c" / f"{kernel.name}.c"
        if not path.is_file():
            raise NoVersion
        if not kernel.scalar:
            raise BenchError("a version in C is for kernels that have a loss")
        return _bound(kernel, args, buffers, path, self.threads)


def _bound(
    kernel: Kernel, args: tuple[Any, ...], buffers: Mapping[str, Any], path: Path, threads: int
) -> Program:
    """The function with its arguments."""
    values = dict(zip(kernel.parameters, args, strict=True))
    parameters = prototype(path.read_text(encoding="utf-8"))
    bars = {f"{name}_bar": name for name in kernel.wrt}
    places = {p.name: k for k, p in enumerate(parameters)}
    for name in bars:
        if name not in places:
            raise BenchError(f"value_and_grad has no parameter {name}")
    arguments = [None if p.name in bars else _argument(p, values, threads) for p in parameters]
    for name in bars:
        _require_dtype(parameters[places[name]], np.asarray(values[bars[name]]), pointer=True)
    outputs = {places[name]: np.asarray(values[bars[name]]) for name in bars}
    reused = {places[name]: buffers[bars[name]] for name in bars if bars[name] in buffers}
    loaded, remark = library(path)
    call = call_of(loaded.value_and_grad, arguments, outputs, reused)
    return Program(call, lambda found: Result(found[0], [flat(found[1])]), remark)


def _argument(parameter: Parameter, values: Mapping[str, Any], threads: int) -> Any:
    """What ctypes passes for a parameter that is no output."""
    name, axis = parameter.name, re.fullmatch(r"(\w+)_(\d)", parameter.name)
    kind = TYPES[parameter.type][0]
    if name in values:
        value = np.asarray(values[name])
        if value.ndim:
            _require_dtype(parameter, value, pointer=True)
            return np.ascontiguousarray(value)
        _require_dtype(parameter, value, pointer=False)
        return kind(value.item())
    if name == "threads":
        return kind(threads)
    if axis is not None and axis[1] in values and int(axis[2]) < np.ndim(values[axis[1]]):
        return kind(np.shape(values[axis[1]])[int(axis[2])])
    raise BenchError(f"value_and_grad has a parameter {name}, which is nothing of the kernel")


def _require_dtype(parameter: Parameter, value: Any, pointer: bool) -> None:
    if parameter.pointer != pointer or TYPES[parameter.type][1] != value.dtype.name:
        star = "*" if parameter.pointer else ""
        raise BenchError(
            f"value_and_grad has `{parameter.type} {star}{parameter.name}`, the kernel a {value.dtype} "
            f"{'array' if value.ndim else 'number'}"
        )
