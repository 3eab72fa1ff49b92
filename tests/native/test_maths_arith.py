"""Remainders, comparisons, integers and complex numbers of compiled loops: the same as NumPy's, bit for bit where NumPy
defines the bits."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

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

FLAGS = instruction_sets()
if not FLAGS:
    pytest.skip("no C compiler", allow_module_level=True)

FLOATS = {"float64": "", "float32": "f"}
ONE: dict[str, Callable[..., Array]] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "fabs": np.fabs,
    "square": np.square,
    "reciprocal": np.reciprocal,
    "sign": np.sign,
    "spacing": np.spacing,
    "deg2rad": np.deg2rad,
    "rad2deg": np.rad2deg,
}
TWO: dict[str, Callable[..., Array]] = {
    "maximum": np.maximum,
    "minimum": np.minimum,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "copysign": np.copysign,
    "heaviside": np.heaviside,
    "fmod": np.fmod,
    "remainder": np.remainder,
    "floor_divide": np.floor_divide,
    "nextafter": np.nextafter,
}
NEAR: dict[str, Callable[..., Array]] = {
    "fmod_near": np.fmod,
    "remainder_near": np.remainder,
    "floor_divide_near": np.floor_divide,
}
POWERS = (*range(-3, 8), -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5)  # as literals: products and roots

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
INTEGER_ONE: dict[str, Callable[..., Array]] = {
    "negative": np.negative,
    "absolute": np.absolute,
    "sign": np.sign,
    "square": np.square,
}
INTEGER_TWO: dict[str, Callable[..., Array]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "floor_divide": np.floor_divide,
    "remainder": np.remainder,
    "fmod": np.fmod,
    "left_shift": np.left_shift,
    "right_shift": np.right_shift,
    "power": np.power,
    "gcd": np.gcd,
    "lcm": np.lcm,
}

COMPLEX_ONE: dict[str, Callable[..., Array]] = {
    "conj": np.conj,
    "cneg": np.negative,
    "csquare": np.square,
    "creciprocal": np.reciprocal,
    "cexp": np.exp,
    "clog": np.log,
    "csqrt": np.sqrt,
    "csin": np.sin,
    "ccos": np.cos,
    "ctan": np.tan,
    "csinh": np.sinh,
    "ccosh": np.cosh,
    "ctanh": np.tanh,
}
COMPLEX_TO_REAL: dict[str, Callable[..., Array]] = {
    "cabs": np.abs,
    "carg": np.angle,
    "real": np.real,
    "imag": np.imag,
}
COMPLEX_TWO: dict[str, Callable[..., Array]] = {
    "cadd": np.add,
    "csub": np.subtract,
    "cmul": np.multiply,
    "cdiv": np.divide,
    "cpow": np.power,
}
PARTS = {"complex128": "float64", "complex64": "float32"}


def power_name(n: float) -> str:
    return f"power_{n}".replace("-", "m").replace(".", "_")


def float_loops() -> dict[str, Loop]:
    loops = {}
    for dtype, suffix in FLOATS.items():
        for name in ONE:
            loops[name + suffix] = Loop(f"pb_{name}{suffix}(a)", (dtype,), dtype)
        for name in (*TWO, *NEAR):
            loops[name + suffix] = Loop(f"pb_{name}{suffix}(a, b)", (dtype,) * 2, dtype)
        for n in POWERS:
            loops[power_name(n) + suffix] = Loop(f"pb_pow{suffix}(a, {float(n)})", (dtype,), dtype)
        loops[f"nan_to_num{suffix}"] = Loop(f"pb_nan_to_num{suffix}(a, 1, 2, 3)", (dtype,), dtype)
    return loops


def integer_loops() -> dict[str, Loop]:
    one = {f"{n}_{d}": Loop(f"pb_{n}_{d}(a)", (d,), d) for n in INTEGER_ONE for d in INTEGERS}
    one |= {f"{f}_to_{d}": Loop(f"pb_to_{d}(a)", (f,), d) for f in FLOATS for d in INTEGERS}
    return one | {f"{n}_{d}": Loop(f"pb_{n}_{d}(a, b)", (d, d), d) for n in INTEGER_TWO for d in INTEGERS}


def complex_loops() -> dict[str, Loop]:
    loops = {}
    for (dtype, part), suffix in zip(PARTS.items(), ("", "f"), strict=True):
        for name in COMPLEX_ONE:
            loops[name + suffix] = Loop(f"pb_{name}{suffix}(a)", (dtype,), dtype)
        for name in COMPLEX_TO_REAL:
            loops[name + suffix] = Loop(f"pb_{name}{suffix}(a)", (dtype,), part)
        for name in COMPLEX_TWO:
            loops[name + suffix] = Loop(f"pb_{name}{suffix}(a, b)", (dtype, dtype), dtype)
    return loops


FLOAT_LOOPS = float_loops()
OTHER_LOOPS = integer_loops() | complex_loops()


@pytest.fixture(scope="module", params=FLAGS)
def floats(request: pytest.FixtureRequest) -> ctypes.CDLL:
    return compiled(source(FLOAT_LOOPS), FLAGS[request.param])


@pytest.fixture(scope="module")
def others() -> ctypes.CDLL:
    """Integers and complex numbers: the same on all instruction sets."""
    return compiled(source(OTHER_LOOPS), ("-O1",))


def same(found: Array, true: Array, zeros: bool = True) -> Array:
    """Where two arrays have the same numbers, the same zeros if asked; all NaN are one."""
    equal = found == true
    if zeros:
        equal &= np.signbit(found) == np.signbit(true)
    return np.asarray(equal | (np.isnan(found) & np.isnan(true)))


def assert_same(name: str, arguments: tuple[Array, ...], found: Array, true: Array, good: Array) -> None:
    worst = int(np.argmin(good))
    where = ", ".join(repr(a[worst]) for a in arguments)
    assert good.all(), f"{name}({where}): {found[worst]!r} for {true[worst]!r}"


def float_pairs(dtype: type) -> tuple[Array, Array]:
    """All sizes, like sizes, whole multiples and their neighbours, special values by special values."""
    rng = np.random.default_rng(SEED)
    values, ends = points(dtype, 2000), special(dtype)
    some = rng.choice(values, 20000)
    whole = rng.integers(-50, 50, 20000).astype(dtype)
    with np.errstate(all="ignore"):
        multiples = some * whole
        tenths = (rng.integers(-99, 99, 20000) / 10).astype(dtype)
        a = [
            some,
            some * rng.uniform(-9, 9, 20000).astype(dtype),
            multiples,
            np.nextafter(multiples, dtype(0)),
        ]
        b = [rng.choice(values, 20000), some, some, some]
        a += [tenths, np.repeat(ends, ends.size)]
        b += [rng.permutation(tenths), np.tile(ends, ends.size)]
    return np.concatenate(a), np.concatenate(b)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ONE)
def test_float_of_one(floats: ctypes.CDLL, name: str, dtype: str) -> None:
    x = points(np.dtype(dtype).type, 2000)
    with np.errstate(all="ignore"):
        true = ONE[name](x)
    found = run(floats, name + FLOATS[dtype], FLOAT_LOOPS[name + FLOATS[dtype]], x)
    assert_same(name, (x,), found, true, same(found, true, zeros=name != "sign"))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", TWO)
def test_float_of_two(floats: ctypes.CDLL, name: str, dtype: str) -> None:
    a, b = float_pairs(np.dtype(dtype).type)
    with np.errstate(all="ignore"):
        true = TWO[name](a, b)
    found = run(floats, name + FLOATS[dtype], FLOAT_LOOPS[name + FLOATS[dtype]], a, b)
    ties = name in ("maximum", "minimum", "fmax", "fmin")  # which of two zeros, NumPy leaves open
    assert_same(name, (a, b), found, true, same(found, true, zeros=not ties))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", NEAR)
def test_remainders_of_near_numbers(floats: ctypes.CDLL, name: str, dtype: str) -> None:
    a, b = float_pairs(np.dtype(dtype).type)
    limit, tiny, huge = (2.0**52, 2.0**-900, 2.0**900) if dtype == "float64" else (2.0**23, 0.0, np.inf)
    with np.errstate(all="ignore"):
        inside = (np.abs(a.astype(float) / b) < limit) & (np.abs(b) > tiny) & (np.abs(b) < huge)
    a, b = a[inside], b[inside]
    found = run(floats, name + FLOATS[dtype], FLOAT_LOOPS[name + FLOATS[dtype]], a, b)
    with np.errstate(all="ignore"):
        true = NEAR[name](a, b)
    assert_same(name, (a, b), found, true, same(found, true))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", POWERS)
def test_powers_that_are_literals(floats: ctypes.CDLL, n: float, dtype: str) -> None:
    x = points(np.dtype(dtype).type, 2000)
    name = power_name(n) + FLOATS[dtype]
    wide = np.longdouble if dtype == "float64" else np.float64
    with np.errstate(all="ignore"):
        true = np.power(x.astype(wide), np.full(x.shape, n, wide))  # a single 0.5 may mean the root
        errors = ulps(run(floats, name, FLOAT_LOOPS[name], x), true)
    assert errors.max() <= 4, x[np.argmax(errors)]


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_to_num(floats: ctypes.CDLL, dtype: str) -> None:
    x = special(np.dtype(dtype).type)
    name = f"nan_to_num{FLOATS[dtype]}"
    found = run(floats, name, FLOAT_LOOPS[name], x)
    np.testing.assert_array_equal(found, np.nan_to_num(x, nan=1, posinf=2, neginf=3))


def integers(dtype: str) -> tuple[Array, Array]:
    """The ends of the range and small numbers, by each other; numbers of all sizes by small ones."""
    info = np.iinfo(dtype)
    rng = np.random.default_rng(SEED)
    ends = [info.min, info.min + 1, info.max, info.max - 1, info.max // 2]
    small = [n for n in range(-70, 70) if n >= info.min]
    few = np.array(ends + small, dtype)
    many = rng.integers(info.min, info.max, 5000, dtype=dtype, endpoint=True)
    a = np.concatenate([np.repeat(few, few.size), many, many])
    b = np.concatenate([np.tile(few, few.size), rng.permutation(many), rng.choice(few, 5000)])
    return a, b


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", [*INTEGER_ONE, *INTEGER_TWO])
def test_integers(others: ctypes.CDLL, name: str, dtype: str) -> None:
    a, b = integers(dtype)
    if name == "power":
        a, b = a[b >= 0], b[b >= 0]  # NumPy raises ValueError for the others
    with np.errstate(all="ignore"):
        true = INTEGER_ONE[name](a) if name in INTEGER_ONE else INTEGER_TWO[name](a, b)
    key = f"{name}_{dtype}"
    found = run(others, key, OTHER_LOOPS[key], *((a,) if name in INTEGER_ONE else (a, b)))
    assert_same(key, (a, b), found, true, found == true)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("float_dtype", FLOATS)
def test_floats_become_integers(others: ctypes.CDLL, float_dtype: str, dtype: str) -> None:
    """As NumPy does it where the number has a place; the smallest number where int32 or int64 has none."""
    info = np.iinfo(dtype)
    x = np.concatenate(
        [points(np.dtype(float_dtype).type, 2000), np.arange(-300, 300, 0.25, dtype=float_dtype)]
    )
    ends = np.array([info.min, info.max, info.max // 2], float_dtype)
    x = np.concatenate([x, *(np.nextafter(ends, ends.dtype.type(to)) for to in (-np.inf, np.inf)), ends])
    name = f"{float_dtype}_to_{dtype}"
    found = run(others, name, OTHER_LOOPS[name], x)
    with np.errstate(all="ignore"):
        inside = (np.trunc(x) >= info.min) & (np.trunc(x) < float(info.max) + 1)  # exact, or rounds to it
        true = x.astype(dtype)
    assert_same(name, (x[inside],), found[inside], true[inside], found[inside] == true[inside])
    if dtype in ("int32", "int64"):
        assert (found[~inside] == info.min).all()


# -- complex numbers --


def complex_points(dtype: str) -> Array:
    """Parts of usual sizes, and zeros, infinities and NaN by each other."""
    rng = np.random.default_rng(SEED)
    usual = [rng.normal(0, size, 500) + 1j * rng.normal(0, size, 500) for size in (0.1, 1, 3)]
    parts = np.array([0.0, -0.0, 1, -1, 0.5, 2, np.inf, -np.inf, np.nan])
    grid = np.empty((parts.size, parts.size), complex)
    grid.real, grid.imag = parts[:, None], parts
    return np.concatenate([*usual, grid.ravel()]).astype(dtype)


def agree(found: Array, true: Array) -> Array:
    """Same special parts, else within a few ulp of the larger part. (The sign of a zero part may come from a sum in
    another order.)"""
    eps = 16 * np.finfo(true.dtype).eps
    with np.errstate(all="ignore"):
        close = np.abs(found - true) <= eps * np.abs(true)
    return close | (same(found.real, true.real, False) & same(found.imag, true.imag, False))


def check_complex(library: ctypes.CDLL, name: str, function: Callable[..., Any], *arguments: Array) -> None:
    with np.errstate(all="ignore"):
        true = function(*arguments)
    found = run(library, name, OTHER_LOOPS[name], *arguments)
    assert_same(name, arguments, found, true, agree(found, true))


@pytest.mark.parametrize("dtype", PARTS)
@pytest.mark.parametrize("name", [*COMPLEX_ONE, *COMPLEX_TO_REAL])
def test_complex_of_one(others: ctypes.CDLL, name: str, dtype: str) -> None:
    function = (COMPLEX_ONE | COMPLEX_TO_REAL)[name]
    suffix = "" if dtype == "complex128" else "f"
    check_complex(others, name + suffix, function, complex_points(dtype))


@pytest.mark.parametrize("dtype", PARTS)
@pytest.mark.parametrize("name", COMPLEX_TWO)
def test_complex_of_two(others: ctypes.CDLL, name: str, dtype: str) -> None:
    z = complex_points(dtype)
    ends = z[-81:]
    rng = np.random.default_rng(SEED)
    whole = rng.integers(-6, 7, 1500).astype(dtype)
    a = np.concatenate([z[:1500], np.repeat(ends, 81), z[:1500]])
    b = np.concatenate([rng.permutation(z[:1500]), np.tile(ends, 81), whole])
    suffix = "" if dtype == "complex128" else "f"
    check_complex(others, name + suffix, COMPLEX_TWO[name], a, b)
