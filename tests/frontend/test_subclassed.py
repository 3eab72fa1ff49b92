"""Numbers of classes made from Python's: the value, its type and its dtype are those of the plain function."""

from __future__ import annotations

import enum
import math
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.errors import ArgumentError, UnsupportedError


class Mode(enum.IntEnum):
    ONE = 1
    TWO = 2


class Flag(enum.IntFlag):
    A = 1
    B = 2


class Half(float, enum.Enum):
    VALUE = 0.5


class Metres(float):
    pass


class Count(int):
    pass


class Odd(float):
    def __mul__(self, other):
        return 100.0 * other

    __rmul__ = __mul__


X = np.array([1.0, 2.0, 3.0])
X32 = X.astype(np.float32)
two, metres, count, half, flag, odd = Mode.TWO, Metres(2.0), Count(2), Half.VALUE, Flag.B, Odd(3.0)
fraction, decimal = Fraction(1, 2), Decimal(2)


def carried(x):
    total = two
    for i in range(Mode.TWO):
        total = total + x[i] * metres
    return total * total


def stored(x):
    y = x.copy()
    y[0], y[1] = two, metres * x[1]
    return np.sum(y * y)


PROGRAMS: dict[str, tuple[Callable[..., Any], Any]] = {
    "array * enum": (lambda x: np.sum(x * two), X),
    "float32 array * enum": (lambda x: np.sum(x * two), X32),
    "float * float32 array": (lambda x: np.sum(metres * x), X32),
    "float32 * float": (lambda x: x * metres, np.float32(3.0)),
    "float * float": (lambda x: x * metres, 3.0),
    "float ** enum": (lambda x: x**two, 3.0),
    "enum ** float": (lambda x: two**x, 3.0),
    "enum - float": (lambda x: two - x, 3.0),
    "int subclass": (lambda x: x / count, 3.0),
    "float enum": (lambda x: x * half, 3.0),
    "flag": (lambda x: x * (flag | Flag.A), 3.0),
    "an operator that the class has not": (lambda x: x + odd, 3.0),
    "equal": (lambda x: x * 10 if x == two else x, 2.0),
    "equal, the other way": (lambda x: x * 10 if two == x else x, 2.0),
    "not equal": (lambda x: x * 10 if x != metres else x, 2.0),
    "less": (lambda x: x * 10 if x < two else x, 1.0),
    "more": (lambda x: x * 10 if two < x else x, 3.0),
    "items equal": (lambda x: np.sum(np.where(x == two, x * 5, x)), X),
    "None": (lambda x: x * 10 if x == None else x, 2.0),  # noqa: E711
    "a text": (lambda x: x * 10 if x == "2" else x, 2.0),
    "in": (lambda x: x * 10 if x in (two, 7) else x, 2.0),
    "max": (lambda x: max(x, two) * x, 3.0),
    "sum": (lambda x: sum([x, two, metres]) * x, 2.0),
    "np.maximum": (lambda x: np.sum(np.maximum(x, two)), X32),
    "np.clip": (lambda x: np.sum(np.clip(x, two, 3.0)), X32),
    "np.where": (lambda x: np.sum(np.where(x > 1.5, x, metres)), X32),
    "np.power": (lambda x: np.sum(np.power(x, two)), X),
    "axis": (lambda x: np.sum(np.sum(np.reshape(x, (3, 1)), Mode.ONE) * X), X),
    "index": (lambda x: x[two] ** 2, X),
    "slice": (lambda x: np.sum(x[:two] ** 2), X),
    "carried and counted": (carried, X),
    "stored": (stored, X),
}
JUMPS = ("equal", "equal, the other way", "not equal", "items equal", "in")


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_the_plain_function(name: str) -> None:
    f, x = PROGRAMS[name]
    expected = f(x)
    value, bar = pb.value_and_grad(f)(x)
    assert type(value) is type(expected)
    assert value == expected
    if name in JUMPS:  # linear on each side of a jump: by Euler's theorem the value is x times the gradient
        assert np.sum(bar * x) == expected
        return
    pb.check_gradients(f, x, atol=1e-3 if getattr(x, "dtype", None) == np.float32 else 1e-7)


def test_as_an_argument() -> None:
    def f(x, mode):
        return x * 10.0 if mode == Mode.TWO else x * mode

    gradient = pb.grad(f)
    assert gradient(1.0, Mode.TWO) == 10.0
    assert gradient(1.0, Mode.ONE) == 1.0
    assert gradient(1.0, 2) == 10.0
    assert gradient(1.0, 3) == 3.0


def test_no_gradient_with_respect_to_one() -> None:
    with pytest.raises(ArgumentError, match=r"`x` has no gradient: it is a Metres, a class made from float"):
        pb.grad(lambda x: x * x)(metres)
    assert pb.grad(lambda x: x * x)(float(metres)) == 4.0


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: x * odd, r"`\*` on 3.0: the class Odd defines it"),
        (lambda x: odd * x, r"use the plain number: float\(...\)"),
        (lambda x: x * fraction, r"use a plain number: float\(...\)"),
        (lambda x: x if x == fraction else 0.0, "compare with a plain number"),
        (lambda x: x if x != decimal else 0.0, "compare with a plain number"),
    ],
)
def test_what_cannot_be_followed_is_refused(f: Any, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        pb.grad(f)(2.0)


# ------------------------------------------------------------------------------------- arrays as Python numbers

CONVERSIONS = {
    "math.sin": lambda x: math.sin(x),
    "math.atan2": lambda x: math.atan2(x, 2.0),
    "math.isnan": lambda x: math.isnan(x) * x[0],
    "float": lambda x: float(x),
    "int": lambda x: int(x) * x[0],
    "complex": lambda x: complex(x).real,
    "on one path": lambda x: math.exp(x) if np.size(x) != 1 else np.sum(x),
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_an_array_of_several_is_no_number(name: str) -> None:
    f = CONVERSIONS[name]
    with pytest.raises(TypeError) as plain:
        f(X)
    for call in (pb.grad(f), lambda x: pb.vjp(f, x)):
        with pytest.raises(TypeError) as compiled:
            call(X)
        assert str(compiled.value) == str(plain.value)


@pytest.mark.parametrize("name", CONVERSIONS)
def test_an_array_of_one_is_a_number_where_numpy_takes_it_for_one(name: str) -> None:
    f, x = CONVERSIONS[name], np.array([0.5])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = f(x)
        except TypeError:
            with pytest.raises(TypeError):
                pb.grad(f)(x)
        else:
            assert pb.value_and_grad(f)(x)[0] == expected
    assert pb.grad(lambda x: x.item() * 2.0)(x) == [2.0]


def test_a_function_that_always_raises() -> None:
    def f(x):
        raise LookupError(f"not for {x}")

    with pytest.raises(LookupError, match=r"not for 2\.0"):
        pb.grad(f)(2.0)
    with pytest.raises(LookupError, match=r"not for 2\.0"):
        pb.vjp(f, 2.0)
