"""Loops of the functions of `maths.h`, compiled; points where they are tried; errors in units of the last place."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from pullback.backend.native import build, toolchain
from pullback.errors import BuildFailed, NoCompiler

Array = np.ndarray[Any, Any]
SEED = 20240517
CTYPES = {
    "float64": "double",
    "float32": "float",
    "complex128": "double _Complex",
    "complex64": "float _Complex",
}


class Loop(NamedTuple):
    """One function over arrays: a C expression of `a`, `b`, `c`, its dtypes."""

    expression: str
    arguments: tuple[str, ...]
    result: str


def source(loops: Mapping[str, Loop], headers: tuple[str, ...] = ("maths.h",)) -> str:
    """A C text with one line a loop."""
    lines = [*(f'#include "{header}"' for header in ("pullback.h", *headers))]
    for name, loop in loops.items():
        pointers = [f"const {ctype(dtype)} *restrict {'pqr'[i]}" for i, dtype in enumerate(loop.arguments)]
        values = [f"{ctype(dtype)} {'abc'[i]} = {'pqr'[i]}[i];" for i, dtype in enumerate(loop.arguments)]
        lines.append(
            f"PB_EXPORT void {name}_loop({', '.join(pointers)}, {ctype(loop.result)} *restrict y, int64_t n) "
            f"{{ for (int64_t i = 0; i < n; i++) {{ {' '.join(values)} y[i] = {loop.expression}; }} }}"
        )
    return "\n".join(lines) + "\n"


def ctype(dtype: str) -> str:
    return CTYPES.get(dtype, f"{dtype}_t")


@lru_cache(maxsize=16)
def compiled(text: str, flags: tuple[str, ...]) -> ctypes.CDLL:
    return ctypes.CDLL(str(build.shared_library(text, flags=flags, name="maths")))


def run(library: ctypes.CDLL, name: str, loop: Loop, *arguments: Array) -> Array:
    operands = [
        np.ascontiguousarray(a, dtype=dtype) for a, dtype in zip(arguments, loop.arguments, strict=True)
    ]
    result = np.empty(operands[0].shape, loop.result)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*operands, result)]
    getattr(library, f"{name}_loop")(*pointers, ctypes.c_int64(result.size))
    return result


def instruction_sets() -> dict[str, tuple[str, ...]]:
    """Flags to try: what this machine has; on x86 its oldest set too, where the functions take other paths."""
    try:
        toolchain.find()
    except NoCompiler:
        return {}
    old = ("-march=x86-64", "-O2")
    try:
        build.shared_library("int nothing;\n", flags=old)
    except BuildFailed:
        return {"native": ()}
    return {"native": (), "baseline": old}


# -- points --


def special(dtype: type) -> Array:
    """Zeros, infinities, NaN, the ends of the range, places where functions overflow or change their formula."""
    info = np.finfo(dtype)
    ends = [info.max, info.tiny, info.smallest_subnormal, info.eps, info.eps / 2, info.tiny * 4]
    places = [
        0.3466,
        0.5,
        0.70710678,
        0.7854,
        1,
        1.41421356,
        1.5708,
        2,
        3,
        4,
        5,
        7,
        10,
        15,
        20,
        22,
        25,
        40,
        50,
        60,
    ]
    double = [
        708.3964,
        709.7827,
        710.4758,
        710.6,
        711,
        712,
        745.1332,
        746,
        748,
        1021,
        1022,
        1023,
        1024,
        1074,
        1075,
    ]
    single = [87.3365, 88.7228, 89, 89.416, 90, 103.9721, 104, 106, 126, 127, 128, 149, 150]
    powers = [
        2.0**k
        for k in (-60, -54, -53, -29, -28, -27, -25, -13, -12, 24, 26, 27, 30, 40, 52, 53, 54, 63, 64, 70)
    ]
    values = np.array([0.0, np.inf, *ends, *places, *double, *single, *powers], dtype=dtype)
    with np.errstate(all="ignore"):
        around = [values, np.nextafter(values, dtype(np.inf)), np.nextafter(values, dtype(0))]
    positive = np.concatenate([*around, np.array([np.nan], dtype=dtype)])
    return np.concatenate([positive, -positive])


def points(dtype: type, count: int = 6000) -> Array:
    """Values of all exponents, of the usual sizes, and near one and zero; last the special ones."""
    rng = np.random.default_rng(SEED)
    whole = np.int64 if dtype is np.float64 else np.int32
    bits = rng.integers(np.iinfo(whole).min, np.iinfo(whole).max, 4 * count, dtype=whole).view(dtype)
    usual = [rng.uniform(-size, size, count) for size in (0.4, 1, 2, 10, 30, 100, 760, 1e4, 1e7)]
    spread = np.exp(rng.uniform(-40, 40, 4 * count)) * rng.choice([-1, 1], 4 * count)
    ones = 1 + rng.uniform(-1, 1, 4 * count) * np.exp(rng.uniform(-37, 0, 4 * count))
    steps = np.arange(1, count) * np.pi / 4
    rest = np.concatenate([*usual, spread, ones, -ones, steps]).astype(dtype)
    return np.concatenate([bits, rest, special(dtype)])


# -- errors --


def ulps(found: Array, true: Array) -> Array:
    """The errors in units of the last place of the true result. A wrong special result (NaN, infinity, the sign of
    zero) counts as infinitely many."""
    dtype = found.dtype.type
    info = np.finfo(dtype)
    with np.errstate(all="ignore"):
        rounded = true.astype(dtype)
        unit = np.spacing(np.minimum(np.abs(rounded), info.max)).astype(true.dtype)
        error = np.abs(found.astype(true.dtype) - true) / unit
        edge = np.abs(true) > float(info.max) * (
            1 - 4 * float(info.eps)
        )  # an error of an ulp decides if it overflows
        edge &= np.isinf(found) & (np.sign(found) == np.sign(true))
    same = (found == rounded) & (np.signbit(found) == np.signbit(rounded))
    number = np.isfinite(found) & np.isfinite(rounded)
    number &= ~((found == 0) & (rounded == 0) & (np.signbit(found) != np.signbit(rounded)))
    error = np.where(number, error, np.inf)
    exact = (np.isnan(found) & np.isnan(rounded)) | edge | (same & ~np.isfinite(found))
    return np.where(exact, 0.0, error).astype(float)
