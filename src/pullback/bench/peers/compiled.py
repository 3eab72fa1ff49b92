"""C files compiled by the system's compiler, and their functions called with NumPy's arrays."""

from __future__ import annotations

import atexit
import ctypes
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pullback.bench.errors import BenchError

FLAGS = ("-std=gnu11", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-shared")
PATIENCE = 120.0  # seconds of a compilation


def compiler() -> list[str] | None:
    """The command of the C compiler: that of CC, else the first that there is."""
    command = shlex.split(os.environ.get("CC", ""))
    candidates = [command] if command else [["cc"], ["gcc"], ["clang"]]
    return next((c for c in candidates if shutil.which(c[0])), None)


def compiler_version() -> str:
    """What the compiler says that it is."""
    command = compiler()
    if command is None:
        return "none"
    told = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=PATIENCE)
    line = (told.stdout or told.stderr).split("\n")[0]
    return re.sub(r" ?\([^)]*\)", "", line).strip() or command[0]


def library(source: Path) -> tuple[ctypes.CDLL, str]:
    """A C file as a loaded library, and a remark.  Raises BenchError with the compiler's first error."""
    command = compiler()
    if command is None:
        raise BenchError("no C compiler", hint="install one, or set CC")
    folder = tempfile.mkdtemp(prefix="pullback-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    target = str(Path(folder) / f"{source.stem}.so")
    remark = ""
    for extra in (["-fopenmp"], []):
        arguments = [*command, *FLAGS, *extra, str(source), "-o", target, "-lm"]
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode == 0:
            return ctypes.CDLL(target), remark
        remark = "compiled without OpenMP: on one thread"
    raise BenchError(f"{command[0]}: {_first_error(done.stderr, source)}")


def _first_error(text: str, source: Path) -> str:
    """The compiler's first complaint, without the file's folder."""
    lines = [line.replace(f"{source.parent}{os.sep}", "") for line in text.splitlines()]
    return next((line for line in lines if "error" in line), "it failed without a word")


def _address(array: Any) -> Any:
    """What a C function takes a fresh array as: much cheaper than `array.ctypes`, which empty ones need."""
    if array.size:
        return ctypes.byref(ctypes.c_char.from_buffer(array))
    return ctypes.c_void_p(array.ctypes.data)


def call_of(
    function: Any, arguments: Sequence[Any], outputs: Mapping[int, Any], buffers: Mapping[int, Any]
) -> Callable[[], tuple[float, list[Any]]]:
    """A call of a C function that returns a double: its value, and the outputs in order of their places.

    arguments  arrays in C order, and numbers as ctypes has them; anything where an output goes
    outputs    for the place of each: an array of the shape and dtype that a fresh one is to have
    buffers    for some of these places: the array to write into each time, in place of a fresh one
    """
    function.restype = ctypes.c_double
    given = [ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else a for a in arguments]
    kept = [buffers.get(place) for place in outputs]
    for place, buffer in buffers.items():
        given[place] = ctypes.c_void_p(buffer.ctypes.data)
    fresh = [
        (k, place, like.shape, like.dtype)
        for k, (place, like) in enumerate(outputs.items())
        if kept[k] is None
    ]
    empty = np.empty

    def call(alive: Any = arguments) -> tuple[float, list[Any]]:  # C has only addresses of the arguments
        made = kept.copy()
        for k, place, shape, dtype in fresh:
            made[k] = array = empty(shape, dtype)
            given[place] = _address(array)
        return function(*given), made

    return call
