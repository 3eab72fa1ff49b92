"""The bound that memory sets: a loop in C that reads the arguments once and writes what has the gradient's size."""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pullback.bench.peers.base import NoVersion, Program, Result
from pullback.bench.peers.compiled import call_of, library
from pullback.bench.peers.in_c import C
from pullback.bench.suite import Kernel

TEXT = """#include <stdint.h>

double sweep(int64_t n, int64_t threads, {parameters})
{{
    double total = 0.0;
#pragma omp parallel for simd if (parallel : threads > 1 && n > 20000) num_threads(threads) schedule(static) \\
    reduction(+ : total)
    for (int64_t i = 0; i < n; i++) {{
        double sum = {sum};
        total += sum;
        {writes}
    }}
    return total;
}}
"""


def text(reads: int, writes: int) -> str:
    """The C of a loop over so many arrays; what it writes is no copy, lest the compiler call memcpy for it."""
    parameters = [f"const double *x{k}" for k in range(reads)] + [f"double *y{k}" for k in range(writes)]
    return TEXT.format(
        parameters=", ".join(parameters),
        sum=" + ".join(f"x{k}[i]" for k in range(reads)),
        writes=" ".join(f"y{k}[i] = 0.5 * sum;" for k in range(writes)),
    )


class Memory(C):
    """For kernels whose SWEEP is true: what no program that computes the value and the gradient can be faster than."""

    name = "memory"
    differentiates = False

    def _program(self, kernel: Kernel, args: tuple[Any, ...], buffers: Mapping[str, Any]) -> Program:
        arrays = {
            name: value
            for name, value in zip(kernel.parameters, args, strict=True)
            if isinstance(value, np.ndarray) and value.dtype == np.float64
        }
        written = [name for name in kernel.wrt if name in arrays]
        if not kernel.sweep or not written or len({array.shape for array in arrays.values()}) != 1:
            raise NoVersion
        reads = [np.ascontiguousarray(array) for array in arrays.values()]
        arguments: list[Any] = [ctypes.c_int64(reads[0].size), ctypes.c_int64(self.threads), *reads]
        places = range(len(arguments), len(arguments) + len(written))
        outputs = {place: arrays[name] for place, name in zip(places, written, strict=True)}
        reused = {p: buffers[name] for p, name in zip(places, written, strict=True) if name in buffers}
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "sweep.c"
            source.write_text(text(len(reads), len(written)), encoding="utf-8")
            loaded, remark = library(source)
        call = call_of(loaded.sweep, [*arguments, *(None for _ in written)], outputs, reused)
        return Program(call, _unpack, remark)


def _unpack(found: Sequence[Any]) -> Result:
    return Result(found[0], [list(found[1])])
