"""The elementwise mathematics of compiled loops: errors in units of the last place, and NumPy's special cases."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pullback.backend.native import build, toolchain
from pullback.errors import NoCompiler

try:
    COMPILER = toolchain.find()
except NoCompiler:
    pytest.skip("no C compiler", allow_module_level=True)

Array = np.ndarray[Any, Any]
# More digits than double has, where the machine has them; else NumPy's double is the reference, with its own error.
WIDE = np.longdouble if np.finfo(np.longdouble).nmant >= 63 else np.float64
SLACK = 0.0 if np.finfo(WIDE).nmant > 52 else 1.0
SEED = 20240517
NEAR = 2.0**27  # PB_TRIG_MAX

# name: NumPy's function, the bound in ulp for double (what was found, and some room)
UNARY: dict[str, tuple[Callable[..., Array], float]] = {
    "exp": (np.exp, 1.3),
    "log": (np.log, 1.0),
    "tanh": (np.tanh, 2.8),
    "log1p": (np.log1p, 1.0),
    "expm1": (np.expm1, 1.5),
    "sqrt": (np.sqrt, 0.5),
    "exp2": (np.exp2, 1.8),
    "log2": (np.log2, 1.0),
    "log10": (np.log10, 1.0),
    "sinh": (np.sinh, 2.6),
    "cosh": (np.cosh, 1.8),
    "sin": (np.sin, 1.0),
    "cos": (np.cos, 1.0),
    "tan": (np.tan, 2.4),
    "sin_near": (np.sin, 1.0),
    "cos_near": (np.cos, 1.0),
    "tan_near": (np.tan, 2.4),
}
UNARY_FLOAT: dict[str, tuple[Callable[..., Array], float]] = {
    "expf": (np.exp, 1.3),
    "logf": (np.log, 1.0),
    "tanhf": (np.tanh, 2.8),
    "log1pf": (np.log1p, 1.0),
    "expm1f": (np.expm1, 1.5),
    "sqrtf": (np.sqrt, 0.5001),
    "sinf": (np.sin, 0.6),
    "cosf": (np.cos, 0.6),
    "sin_nearf": (np.sin, 0.6),
    "cos_nearf": (np.cos, 0.6),
}
BINARY: dict[str, tuple[Callable[..., Array], float]] = {"pow": (np.power, 1.8)}
BINARY_FLOAT: dict[str, tuple[Callable[..., Array], float]] = {"powf": (np.power, 0.7)}
CALLS_THE_LIBRARY = {"sin", "cos", "tan", "sinf", "cosf"}  # for far angles: not vectorised


def source() -> str:
    """One loop a function."""
    lines = ['#include "pullback.h"', '#include "maths.h"']
    for ctype, names in (("double", UNARY), ("float", UNARY_FLOAT)):
        lines += [
            f"PB_EXPORT void {name}_loop(const {ctype} *restrict x, {ctype} *restrict y, int64_t n) "
            f"{{ for (int64_t i = 0; i < n; i++) y[i] = pb_{name}(x[i]); }}"
            for name in names
        ]
    for ctype, names in (("double", BINARY), ("float", BINARY_FLOAT)):
        lines += [
            f"PB_EXPORT void {name}_loop(const {ctype} *restrict a, const {ctype} *restrict b, {ctype} *restrict y, "
            f"int64_t n) {{ for (int64_t i = 0; i < n; i++) y[i] = pb_{name}(a[i], b[i]); }}"
            for name in names
        ]
    return "\n".join(lines) + "\n"


# Old instruction sets are tried too: without fma the functions take other paths.
FLAGS = {"native": ()} | ({"baseline": ("-march=x86-64",)} if "-march=native" in COMPILER.native else {})


@pytest.fixture(scope="module", params=FLAGS)
def library(request: pytest.FixtureRequest) -> ctypes.CDLL:
    return ctypes.CDLL(str(build.shared_library(source(), flags=FLAGS[request.param], name="maths")))


def run(library: ctypes.CDLL, name: str, *arguments: Array) -> Array:
    operands = [np.ascontiguousarray(a) for a in arguments]
    result = np.empty_like(operands[0])
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*operands, result)]
    getattr(library, f"{name}_loop")(*pointers, ctypes.c_int64(result.size))
    return result


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


def pairs(dtype: type, count: int = 20000) -> tuple[Array, Array]:
    """Bases and exponents: of all sizes, results within the range, bases near one, integers."""
    rng = np.random.default_rng(SEED)
    values = points(dtype)
    limit = np.log(float(np.finfo(dtype).max))
    near_one = 1 + rng.uniform(-1, 1, count) * np.exp(rng.uniform(np.log(np.finfo(dtype).eps), -1, count))
    near_one = near_one.astype(dtype).astype(float)
    with np.errstate(all="ignore"):
        wild = rng.uniform(-1.1, 1.1, count) * limit / np.log(np.abs(near_one))
    wild[~np.isfinite(wild)] = 1.0
    bases = [
        rng.choice(values, count),
        np.abs(rng.choice(values, count)),
        np.exp(rng.uniform(-limit, limit, count)),
        near_one,
        -rng.integers(0, 60, count),
    ]
    exponents = [
        rng.choice(values, count),
        rng.choice(values, count),
        rng.uniform(-2, 2, count),
        wild,
        rng.integers(-25, 25, count),
    ]
    with np.errstate(all="ignore"):
        return np.concatenate(bases).astype(dtype), np.concatenate(exponents).astype(dtype)


def special_pairs(dtype: type) -> tuple[Array, Array]:
    values = special(dtype)
    return np.repeat(values, values.size), np.tile(values, values.size)


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


def check(library: ctypes.CDLL, name: str, arguments: tuple[Array, ...], true: Array, bound: float) -> None:
    found = run(library, name, *arguments)
    errors = ulps(found, true)
    worst = int(np.argmax(errors))
    where = ", ".join(repr(a[worst]) for a in arguments)
    assert errors[worst] <= bound, (
        f"{name}({where}): {found[worst]!r} for {true[worst]!r}, {errors[worst]} ulp"
    )


def trigonometric(name: str, x: Array) -> Array:
    """The points where an inline circular function is right: near angles, and what is no number."""
    return x[(np.abs(x) <= NEAR) | ~np.isfinite(x)] if "_near" in name else x


@pytest.mark.parametrize("name", UNARY)
def test_double(library: ctypes.CDLL, name: str) -> None:
    function, bound = UNARY[name]
    x = trigonometric(name, points(np.float64))
    with np.errstate(all="ignore"):
        true = function(x.astype(WIDE))
    check(library, name, (x,), true, bound + SLACK)


@pytest.mark.parametrize("name", UNARY_FLOAT)
def test_float(library: ctypes.CDLL, name: str) -> None:
    function, bound = UNARY_FLOAT[name]
    x = trigonometric(name, points(np.float32))
    with np.errstate(all="ignore"):
        true = function(x.astype(np.float64))
    check(library, name, (x,), true, bound)


@pytest.mark.parametrize("name", BINARY)
def test_double_of_two(library: ctypes.CDLL, name: str) -> None:
    function, bound = BINARY[name]
    a, b = pairs(np.float64)
    with np.errstate(all="ignore"):
        true = function(a.astype(WIDE), b.astype(WIDE))
    check(library, name, (a, b), true, bound + SLACK)


@pytest.mark.parametrize("name", BINARY)
def test_special_pairs(library: ctypes.CDLL, name: str) -> None:
    """Against double: the library's long functions have errors of their own in such places."""
    function, bound = BINARY[name]
    a, b = special_pairs(np.float64)
    with np.errstate(all="ignore"):
        check(library, name, (a, b), function(a, b), bound + 1)


@pytest.mark.parametrize("name", BINARY_FLOAT)
def test_float_of_two(library: ctypes.CDLL, name: str) -> None:
    function, bound = BINARY_FLOAT[name]
    a, b = map(np.concatenate, zip(pairs(np.float32), special_pairs(np.float32), strict=True))
    with np.errstate(all="ignore"):
        true = function(a.astype(np.float64), b.astype(np.float64))
    check(library, name, (a, b), true, bound)


def vectorised(flags: tuple[str, ...], folder: Path) -> Iterator[str]:
    """The functions whose loops gcc says it vectorises."""
    text = source()
    (folder / "maths.c").write_text(text)
    headers = Path(build.__file__).parent / "c"
    command = [
        *COMPILER.command,
        *COMPILER.flags,
        *flags,
        "-fopt-info-vec",
        "-I",
        str(headers),
        "maths.c",
        "-o",
        "m.so",
    ]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stderr
    lines = text.splitlines()
    for number in re.findall(r"^maths\.c:(\d+):.*loop vectorized", said, re.MULTILINE):
        name = re.search(r"(\w+)_loop", lines[int(number) - 1])
        assert name is not None
        yield name[1]


@pytest.mark.skipif("gcc" not in COMPILER.command[0] and "(Debian" not in COMPILER.version, reason="asks gcc")
@pytest.mark.parametrize("flags", [("-mavx2", "-mfma"), ("-march=x86-64",), ("-march=x86-64-v4",)], ids=str)
def test_loops_are_vectorised(flags: tuple[str, ...], tmp_path: Path) -> None:
    if "-march=native" not in COMPILER.native or "x86" not in toolchain.cpu().splitlines()[0]:
        pytest.skip("names instruction sets of x86")
    every = {*UNARY, *UNARY_FLOAT, *BINARY, *BINARY_FLOAT}
    assert every - set(vectorised(flags, tmp_path)) == CALLS_THE_LIBRARY
