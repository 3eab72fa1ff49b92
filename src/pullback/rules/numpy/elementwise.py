"""Partials of the elementwise functions, a line each.

Every expression is one that stays right in the extreme spots: no overflow on the way, no cancellation
near zero, a finite value where the derivative is finite.  A mask counts as a number (`x == y` is 0 or 1)
and keeps float32 what it is.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs
# Rule functions are text in the language that we compile: their operands are of any style.

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from pullback.rules.kinds import case
from pullback.rules.registry import row, rule

V = np.array([1.5, -0.5, 2.0])
W = np.array([0.5, 1.0, -2.0])


def shared(name: str, other: str = "") -> tuple[Any, ...]:
    """A ufunc and the function of `math` of the same meaning, where this Python has it."""
    of_math = getattr(math, other or name, None)
    return (getattr(np, name),) if of_math is None else (getattr(np, name), of_math)


# ------------------------------------------------------------------------------------------------- arithmetic

row(np.add, "x, y", x="1", y="1", hop="H1", holomorphic=True)
row(np.subtract, "x, y", x="1", y="-1", hop="H1", holomorphic=True)
row(np.multiply, "x, y", x="y", y="x", hop="H1", holomorphic=True)
row(np.divide, "x, y", x="1 / y", y="-out / y", hop="H1", holomorphic=True, domain=("real", "nonzero"))
row(np.negative, "x", x="-1", hop="H1", holomorphic=True)
row(np.positive, "x", x="1", hop="H1", holomorphic=True)
row(np.square, "x", x="2 * x", hop="H1", holomorphic=True)
row(np.reciprocal, "x", x="-out * out", holomorphic=True, domain="nonzero")

# x ** 0 is constant, at 0 too: the exponent y - 1 becomes 0 there; 0 ** y is constant in y
row(
    (np.power, np.float_power, math.pow),
    "x, y",
    x="y * x ** (y - (y != 0))",
    y="out * np.log(x + (x == 0))",
    holomorphic=True,
    domain=("positive", "real"),
)
row(
    (np.power, np.float_power, math.pow),
    "x, y",
    x="1 if y == 1 else 0.0 if y == 0 else 2 * x if y == 2 else 3 * (x * x) if y == 3 else"
    " 0.5 / out if y == 0.5 else -out * out if y == -1 else y * x ** (y - 1)",
    holomorphic=True,
    when=("any", "static number"),
    domain=("positive", "real"),
)
row((np.remainder,), "x, y", x="1", y="-np.floor_divide(x, y)", domain=("left", "divisor"))
row(shared("fmod"), "x, y", x="1", y="-np.rint((x - out) / y)", domain=("left", "divisor"))
row(math.remainder, "x, y", x="1", y="-np.rint((x - out) / y)", domain=("left", "divisor"))
row(shared("ldexp"), "x, n", x="np.ldexp(1.0, n)", domain=("real", "integer"))
row(shared("copysign"), "x, y", x="np.sign(x) * np.copysign(1.0, y)", y="0", domain="nonzero")
row(shared("nextafter"), "x, y", x="1", y="0")
row(np.heaviside, "x, y", x="0", y="x == 0", domain="nonzero")

# ---------------------------------------------------------------------------- exponentials, logarithms, roots

row(shared("exp"), "x", x="out", holomorphic=True)
row(shared("exp2"), "x", x="out * 0.6931471805599453", holomorphic=True)
row(shared("expm1"), "x", x="out + 1", holomorphic=True)
row(np.log, "x", x="1 / x", holomorphic=True, domain="positive")
row(shared("log2"), "x", x="1.4426950408889634 / x", holomorphic=True, domain="positive")
row(shared("log10"), "x", x="0.4342944819032518 / x", holomorphic=True, domain="positive")
row(shared("log1p"), "x", x="1 / (1 + x)", holomorphic=True, domain="positive")
row(
    math.log,
    "x, base=None",
    x="1 / x if base is None else 1 / (x * np.log(base))",
    base="0.0 if base is None else -out / (base * np.log(base))",
    domain="positive",
)
row(shared("sqrt"), "x", x="0.5 / out", holomorphic=True, domain="positive")
row(shared("cbrt"), "x", x="1 / (3 * out * out)", domain="nonzero")
# where both are -inf so is the result: no mass, no slope
row(
    np.logaddexp,
    "x, y",
    x="np.exp(x - np.where(out == -np.inf, 0, out))",
    y="np.exp(y - np.where(out == -np.inf, 0, out))",
)
row(
    np.logaddexp2,
    "x, y",
    x="np.exp2(x - np.where(out == -np.inf, 0, out))",
    y="np.exp2(y - np.where(out == -np.inf, 0, out))",
)

# ----------------------------------------------------------------------------------------------- trigonometry

row(shared("sin"), "x", x="np.cos(x)", holomorphic=True)
row(shared("cos"), "x", x="-np.sin(x)", holomorphic=True)
row(shared("tan"), "x", x="1 + out * out", holomorphic=True, domain="unit")
row(shared("arcsin", "asin"), "x", x="1 / np.sqrt((1 - x) * (1 + x))", holomorphic=True, domain="unit")
row(shared("arccos", "acos"), "x", x="-1 / np.sqrt((1 - x) * (1 + x))", holomorphic=True, domain="unit")
row(shared("arctan", "atan"), "x", x="1 / (1 + x * x)", holomorphic=True)
row(
    shared("arctan2", "atan2"),
    "y, x",
    y="x / np.hypot(x, y) / np.hypot(x, y)",
    x="-y / np.hypot(x, y) / np.hypot(x, y)",
    domain="nonzero",
)
row(shared("hypot"), "x, y", x="x / (out + (out == 0))", y="y / (out + (out == 0))", domain="nonzero")
row(shared("sinh"), "x", x="np.cosh(x)", holomorphic=True)
row(shared("cosh"), "x", x="np.sinh(x)", holomorphic=True)
row(shared("tanh"), "x", x="1 - out * out", holomorphic=True)
row(shared("arcsinh", "asinh"), "x", x="1 / np.hypot(1, x)")
row(np.arcsinh, "x", x="1 / np.sqrt(1 + x * x)", holomorphic=True, when="complex")
row(
    shared("arccosh", "acosh"),
    "x",
    x="1 / (np.sqrt(x - 1) * np.sqrt(x + 1))",
    holomorphic=True,
    domain="above one",
)
row(shared("arctanh", "atanh"), "x", x="1 / ((1 - x) * (1 + x))", holomorphic=True, domain="unit")
row((np.deg2rad, np.radians, math.radians), "x", x="0.017453292519943295", domain="real")
row((np.rad2deg, np.degrees, math.degrees), "x", x="57.29577951308232", domain="real")
row(math.erf, "x", x="1.1283791670955126 * np.exp(-x * x)")
row(math.erfc, "x", x="-1.1283791670955126 * np.exp(-x * x)")


def sinc_slope(x, out):
    """(cos(pi x) - sinc(x)) / x, by its series where that cancels."""
    small = np.abs(x) < 0.1
    t = (np.pi * x) ** 2
    series = np.pi**2 * x * (-1 / 3 + t * (1 / 30 + t * (-1 / 840 + t * (1 / 45360 - t / 3991680))))
    return np.where(small, series, (np.cos(np.pi * x) - out) / np.where(small, 1, x))


row(np.sinc, "x", x="sinc_slope(x, out)")

# ----------------------------------------------------------------------------------------- choosing, rounding

row((np.absolute, np.fabs, math.fabs, builtins.abs), "x", x="np.sign(x)", domain="nonzero")


def above(x, y):
    """2 where x > y, 1 where equal, else 0; of arrays in bytes, which cost little."""
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return (x > y).astype(np.int8) + (x >= y).astype(np.int8)
    return 1 * (x > y) + (x >= y)


def part(halves, n, out):
    """Whole numbers as shares of `n`, in the precision of the result."""
    if isinstance(out, np.ndarray) and out.dtype != np.float64:
        return out.dtype.type(1 / n) * halves
    return 1 / n * halves


row(
    np.maximum,
    "x, y",
    x="part(above(x, y), 2, out)",
    y="part(above(y, x), 2, out)",
    domain=("left", "right"),
    selects=True,
)
row(
    np.minimum,
    "x, y",
    x="part(above(y, x), 2, out)",
    y="part(above(x, y), 2, out)",
    domain=("left", "right"),
    selects=True,
)
# the one that is not NaN is taken
row(
    (np.fmax, np.fmin),
    "x, y",
    x="(x == out) - 0.5 * (x == y)",
    y="(y == out) - 0.5 * (x == y)",
    domain=("left", "right"),
    selects=True,
)
row(np.nan_to_num, "x, copy=True, nan=0.0, posinf=None, neginf=None", x="np.isfinite(x)")
row((np.real, np.conjugate), "x", x="1", hop="H1", when="real")


def as_array(x):
    """A list as the array that NumPy takes it for."""
    if isinstance(x, (list, tuple)):
        return np.array(x)
    return x


def conj(x):
    """The conjugate of what is complex; a list as the array that NumPy takes it for."""
    array = as_array(x)
    if np.iscomplexobj(array):
        return np.conjugate(array)
    return array


def bound(by_position, by_name):
    """A bound of `np.clip`, in its older or its newer spelling."""
    return by_name if by_position is None else by_position


def within(a, low, high, out):
    """How much of the derivative is the value's own."""
    if low is None and high is None:
        return 1
    if low is None:
        return part(above(high, a), 2, out)
    if high is None:
        return part(above(a, low), 2, out)
    return part(above(a, low) * above(high, a), 4, out)


def low_binds(a, low, high, out):
    """How much is the lower bound's: the upper one has the last word."""
    if high is None:
        return part(above(low, a), 2, out)
    return part(above(low, a) * above(high, low), 4, out)


def high_binds(a, low, high, out):
    """How much is the upper bound's."""
    if low is None:
        return part(above(a, high), 2, out)
    return part(above(np.maximum(a, low), high), 2, out)


row(
    np.clip,
    "a, a_min=None, a_max=None, min=None, max=None",
    a="within(a, bound(a_min, min), bound(a_max, max), out)",
    a_min="low_binds(a, a_min, bound(a_max, max), out)",
    a_max="high_binds(a, bound(a_min, min), a_max, out)",
    min="low_binds(a, min, bound(a_max, max), out)",
    max="high_binds(a, bound(a_min, min), max, out)",
    selects=True,
    cases=(
        case(V, 0.0, 1.0, wrt=(0,)),
        case(V, W, 1.25, wrt=(0, 1, 2)),
        case(V, None, 1.0, wrt=(0, 2)),
        case(V, 0.25, None, wrt=(0, 1)),
        case(V, 2.5, 1.0, wrt=(0, 1, 2)),
    ),
)


@rule(np.where, wrt="x, y", hop="H3", linear="x, y")
def where(condition, x, y, *, out, out_bar):
    """Each place's cotangent goes to the value that was taken."""
    return np.where(condition, out_bar, 0), np.where(condition, 0, out_bar)


@rule((np.divmod, builtins.divmod), wrt="x, y")
def divmod_(x, y, *, out, out_bar):
    """The quotient is piecewise constant, the remainder x - quotient * y."""
    if out_bar[1] is None:
        return None, None
    return out_bar[1], -out[0] * out_bar[1]


@rule((np.modf, math.modf))
def modf(x, *, out, out_bar):
    """The fraction moves with x, the integer part does not."""
    if out_bar[0] is None:
        return None
    return out_bar[0]


@rule((np.frexp, math.frexp))
def frexp(x, *, out, out_bar):
    """The mantissa is x / 2 ** exponent."""
    if out_bar[0] is None:
        return None
    return np.ldexp(out_bar[0], -out[1])


@rule(np.unwrap, linear="p")
def unwrap(p, discont=None, axis=-1, *, period=6.283185307179586, out, out_bar):
    """Whole periods are added."""
    return out_bar
