"""The elementwise mathematics of compiled loops: errors in units of the last place, and NumPy's special cases."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.native.maths_loops import (
    SEED,
    Array,
    Loop,
    compiled,
    instruction_sets,
    points,
    run,
    source,
    special,
    ulps,
)

from pullback.backend.native import build, toolchain

FLAGS = instruction_sets()
if not FLAGS:
    pytest.skip("no C compiler", allow_module_level=True)

# More digits than double has, where the machine has them; else NumPy's double is the reference, with its own error.
WIDE = np.longdouble if np.finfo(np.longdouble).nmant >= 63 else np.float64
SLACK = 0.0 if np.finfo(WIDE).nmant > 52 else 1.0
NEAR = 2.0**27  # PB_TRIG_MAX

# name: NumPy's function, the bound in ulp for double and for float (what was found, and some room)
UNARY: dict[str, tuple[Callable[..., Array], float, float]] = {
    "exp": (np.exp, 1.3, 1.3),
    "log": (np.log, 1.0, 1.0),
    "tanh": (np.tanh, 2.8, 2.8),
    "log1p": (np.log1p, 1.1, 1.1),
    "expm1": (np.expm1, 1.5, 1.5),
    "sqrt": (np.sqrt, 0.51, 0.51),
    "exp2": (np.exp2, 1.8, 0.51),
    "log2": (np.log2, 1.0, 0.51),
    "log10": (np.log10, 1.0, 0.51),
    "sinh": (np.sinh, 2.6, 0.51),
    "cosh": (np.cosh, 1.8, 0.51),
    "sin": (np.sin, 4.0, 4.0),
    "cos": (np.cos, 4.0, 4.0),
    "tan": (np.tan, 4.0, 4.0),
    "sin_near": (np.sin, 3.2, 0.52),
    "cos_near": (np.cos, 3.2, 0.52),
    "tan_near": (np.tan, 2.4, 0.51),
    "arcsin": (np.arcsin, 1.8, 0.51),
    "arccos": (np.arccos, 1.3, 0.51),
    "arctan": (np.arctan, 2.1, 0.51),
    "cbrt": (np.cbrt, 0.6, 0.51),
    "arcsinh": (np.arcsinh, 2.2, 0.51),
    "arccosh": (np.arccosh, 2.6, 0.51),
    "arctanh": (np.arctanh, 2.2, 0.51),
}
BINARY: dict[str, tuple[Callable[..., Array], float, float]] = {
    "pow": (np.power, 1.8, 0.6),
    "arctan2": (np.arctan2, 2.2, 0.51),
    "hypot": (np.hypot, 1.4, 0.51),
    "logaddexp": (np.logaddexp, 2.2, 0.51),
    "logaddexp2": (np.logaddexp2, 2.5, 0.51),
}
FAR = {"sin", "cos", "tan", "sinf", "cosf", "tanf"}  # vectorised only if the library is
LOOPS = {
    f"{name}{suffix}": Loop(f"pb_{name}{suffix}({text})", (dtype,) * arity, dtype)
    for names, text, arity in ((UNARY, "a", 1), (BINARY, "a, b", 2))
    for name in names
    for dtype, suffix in (("float64", ""), ("float32", "f"))
}
LOOPS |= {
    f"pow_{i}": Loop(f"pb_pow(a, {n})", ("float64",), "float64") for i, n in enumerate((3.0, -1.5))
}  # made of products
TEXT = source(LOOPS)


@pytest.fixture(scope="module", params=FLAGS)
def library(request: pytest.FixtureRequest) -> ctypes.CDLL:
    return compiled(TEXT, FLAGS[request.param])


def pairs(dtype: type, count: int = 20000) -> tuple[Array, Array]:
    """Two arguments: of all sizes, of like sizes, with powers within the range, bases near one, integers."""
    rng = np.random.default_rng(SEED)
    values = points(dtype)
    limit = np.log(float(np.finfo(dtype).max))
    near_one = 1 + rng.uniform(-1, 1, count) * np.exp(rng.uniform(np.log(np.finfo(dtype).eps), -1, count))
    near_one = near_one.astype(dtype).astype(float)
    some = rng.choice(values, count)
    with np.errstate(all="ignore"):
        wild = rng.uniform(-1.1, 1.1, count) * limit / np.log(np.abs(near_one))
        wild[~np.isfinite(wild)] = 1.0
        two = [
            (some, rng.choice(values, count)),
            (np.abs(some), rng.choice(values, count)),
            (some, some * rng.uniform(-3, 3, count)),
            (some, some + rng.uniform(-40, 40, count)),
            (np.exp(rng.uniform(-limit, limit, count)), rng.uniform(-2, 2, count)),
            (near_one, wild),
            (-rng.integers(0, 60, count), rng.integers(-25, 25, count)),
        ]
        return np.concatenate([a for a, _ in two]).astype(dtype), np.concatenate([b for _, b in two]).astype(
            dtype
        )


def special_pairs(dtype: type) -> tuple[Array, Array]:
    values = special(dtype)
    return np.repeat(values, values.size), np.tile(values, values.size)


def check(library: ctypes.CDLL, name: str, arguments: tuple[Array, ...], true: Array, bound: float) -> None:
    found = run(library, name, LOOPS[name], *arguments)
    errors = ulps(found, true)
    if "logaddexp" in name:  # a sum that cancels: an error of either term counts by its own size, as in NumPy
        with np.errstate(all="ignore"):
            size = np.max(np.abs(arguments), axis=0)
            errors *= np.where(np.isfinite(errors) & (size > np.abs(true)), np.abs(true) / size, 1.0).astype(
                float
            )
    worst = int(np.argmax(errors))
    where = ", ".join(repr(a[worst]) for a in arguments)
    assert errors[worst] <= bound, (
        f"{name}({where}): {found[worst]!r} for {true[worst]!r}, {errors[worst]} ulp"
    )


def near(name: str, x: Array) -> Array:
    """The points where an inline circular function is right: near angles, and what is no number."""
    return x[(np.abs(x) <= NEAR) | ~np.isfinite(x)] if "_near" in name else x


@pytest.mark.parametrize("name", UNARY)
def test_double(library: ctypes.CDLL, name: str) -> None:
    function, bound, _ = UNARY[name]
    x = near(name, points(np.float64))
    with np.errstate(all="ignore"):
        true = function(x.astype(WIDE))
    check(library, name, (x,), true, bound + SLACK)


@pytest.mark.parametrize("name", UNARY)
def test_float(library: ctypes.CDLL, name: str) -> None:
    function, _, bound = UNARY[name]
    x = near(name, points(np.float32))
    with np.errstate(all="ignore"):
        true = function(x.astype(np.float64))
    check(library, f"{name}f", (x,), true, bound)


@pytest.mark.parametrize("name", BINARY)
def test_double_of_two(library: ctypes.CDLL, name: str) -> None:
    function, bound, _ = BINARY[name]
    a, b = pairs(np.float64)
    with np.errstate(all="ignore"):
        true = function(a.astype(WIDE), b.astype(WIDE))
    check(library, name, (a, b), true, bound + SLACK)


@pytest.mark.parametrize("name", BINARY)
def test_special_pairs(library: ctypes.CDLL, name: str) -> None:
    """Against double: the library's long functions have errors of their own in such places."""
    function, bound, _ = BINARY[name]
    a, b = special_pairs(np.float64)
    with np.errstate(all="ignore"):
        check(library, name, (a, b), function(a, b), bound + 1)


@pytest.mark.parametrize("name", BINARY)
def test_float_of_two(library: ctypes.CDLL, name: str) -> None:
    function, _, bound = BINARY[name]
    a, b = map(np.concatenate, zip(pairs(np.float32), special_pairs(np.float32), strict=True))
    with np.errstate(all="ignore"):
        true = function(a.astype(np.float64), b.astype(np.float64))
    check(library, f"{name}f", (a, b), true, bound)


def vectorised(flags: tuple[str, ...], folder: Path) -> Iterator[str]:
    """The functions whose loops gcc says it vectorises."""
    compiler = toolchain.find()
    (folder / "maths.c").write_text(TEXT)
    headers = Path(build.__file__).parent / "c"
    ask = ["-fopt-info-vec", "-I", str(headers), "maths.c", "-o", "maths.so"]
    command = [*compiler.command, *compiler.flags, *flags, *ask]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stderr
    lines = TEXT.splitlines()
    for number in re.findall(r"^maths\.c:(\d+):.*loop vectorized", said, re.MULTILINE):
        name = re.search(r"(\w+)_loop", lines[int(number) - 1])
        assert name is not None
        yield name[1]


def is_gcc() -> bool:
    macros = subprocess.run(
        [*toolchain.find().command, "-dM", "-E", "-x", "c", "-"], input="", capture_output=True, text=True
    ).stdout
    return "__GNUC__" in macros and "__clang__" not in macros


@pytest.mark.skipif("baseline" not in FLAGS or not is_gcc(), reason="asks gcc, for instruction sets of x86")
@pytest.mark.parametrize(
    "flags",
    [
        ("-mavx2", "-mfma"),
        pytest.param(("-march=x86-64",), marks=pytest.mark.slow),
        pytest.param(("-march=x86-64-v4",), marks=pytest.mark.slow),
    ],
    ids=" ".join,
)
def test_loops_are_vectorised(flags: tuple[str, ...], tmp_path: Path) -> None:
    assert LOOPS.keys() - set(vectorised(flags, tmp_path)) == (set() if toolchain.find().mvec else FAR)
