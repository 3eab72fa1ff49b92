"""`debug=True`, and differentiable functions used inside others."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pullback as pb
from pullback.dispatch.debug import describe, mismatch
from pullback.errors import DebugError
from pullback.styles.style import PY_FLOAT, Anything, Array, ListOf, Scalar, Static, Tup, fresh_dim

X = np.array([1.0, -2.0, 3.0])
F8, F4 = np.dtype(np.float64), np.dtype(np.float32)
VECTOR = Array(F8, (fresh_dim(True),), True)


@pb.differentiable(debug=True)
def careful(x, k):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            total = total + k * x[i] ** 2
    return total


def test_a_good_program_gives_the_same_numbers() -> None:
    value, bar = careful.value_and_grad(X, 2.0)
    assert value == 20.0
    assert_allclose(bar, [4.0, 0.0, 12.0])
    _, pullback = careful.vjp(X, 2.0)
    assert_allclose(pullback(1.0)[0], [4.0, 0.0, 12.0])


def test_the_first_value_that_is_not_finite() -> None:
    @pb.differentiable(debug=True)
    def f(x):
        y = x - 1.0
        z = np.log(y)
        return np.sum(z * y)

    with np.errstate(all="ignore"), pytest.raises(DebugError, match=r"first value.*`z`") as info:
        f.grad(np.array([1.0, 2.0]))
    assert "z = np.log(y)" in str(info.value)


def test_the_first_cotangent_that_is_not_finite() -> None:
    @pb.differentiable(debug=True)
    def f(x):
        y = np.sqrt(x)
        return np.sum(y)

    with pytest.raises(DebugError, match="first cotangent") as info:
        f.grad(np.array([0.0, 2.0]))
    assert "y = np.sqrt(x)" in str(info.value)


def test_values_that_nothing_uses_may_be_anything() -> None:
    @pb.differentiable(debug=True)
    def f(x):
        return np.sum(np.where(x > 0, np.sqrt(x), 0.0))

    with np.errstate(all="ignore"):
        assert_allclose(f.grad(np.array([4.0, 0.0, -1.0])), [0.25, 0.0, 0.0])


@pytest.mark.parametrize(
    ("style", "good", "bad"),
    [
        (PY_FLOAT, 1.0, np.float64(1.0)),
        (PY_FLOAT, 1.0, 1),
        (PY_FLOAT, 1.0, X),
        (Scalar(F8), np.float64(1.0), 1.0),
        (Scalar(F4), np.float32(1.0), np.float64(1.0)),
        (Scalar(None, None), 3, "text"),
        (VECTOR, X, X.astype(F4)),
        (VECTOR, X, X[:1]),
        (VECTOR, X, X[::2]),
        (VECTOR, X, X[None]),
        (VECTOR, X, 3.0),
        (Array(F8, (1, 3)), X[None], X[:, None]),
        (Array(None, None), X[None], "text"),
        (Tup((PY_FLOAT, VECTOR)), (1.0, X), (1.0, 2.0)),
        (Tup((PY_FLOAT,)), (1.0,), 1.0),
        (ListOf(PY_FLOAT), [1.0, None], [1]),
        (Static("a"), "a", 3),
    ],
)
def test_values_against_styles(style: Any, good: Any, bad: Any) -> None:
    assert mismatch(style, good) == ""
    assert mismatch(style, bad) != ""
    assert describe(style)


def test_anything_fits_anything() -> None:
    assert mismatch(Anything(), object()) == ""


# ----------------------------------------------------------------------------------- differentiable inside the others


@pb.differentiable
def square(x):
    return x * x


class Spring:
    def __init__(self, k: Any) -> None:
        self.k = k

    @pb.differentiable
    def energy(self, x):
        return 0.5 * self.k * square(x)

    @pb.differentiable
    def total(self, xs):
        s = 0.0
        for i in range(len(xs)):
            s = s + self.energy(xs[i])
        return s


def test_a_differentiable_function_inside_another() -> None:
    assert pb.grad(lambda x: square(x) * 3.0)(2.0) == 12.0


def test_a_differentiable_method_inside_another() -> None:
    spring = Spring(4.0)
    assert_allclose(spring.total.grad(X), 4.0 * X)
    assert pb.grad(lambda s, x: s.energy(x))(spring, 2.0).k == 2.0
    assert pb.grad(lambda x: spring.energy(x))(2.0) == 8.0


@dataclasses.dataclass(frozen=True)
class Circle:
    r: float

    @property
    def area(self):
        return 3.0 * self.r**2


def test_a_frozen_dataclass_with_a_property() -> None:
    assert pb.grad(lambda c: c.area)(Circle(2.0)) == Circle(12.0)


def test_settings_of_numpy_end_with_a_failing_call() -> None:
    def f(x):
        with np.errstate(all="raise"):
            return np.sum(x @ np.ones(3))

    before = np.geterr()
    with pytest.raises(ValueError):
        pb.grad(f)(np.ones(5))
    assert np.geterr() == before


def test_cotangents_own_their_memory() -> None:
    def sums(x: Any, parts: dict[str, Any]) -> Any:
        return np.sum(x) * 2 + np.sum(parts["a"]) + np.sum(x[0] * parts["b"])

    fn = pb.differentiable(debug=True)(sums)
    args = (np.ones(3), {"a": np.ones(2), "b": np.ones(2)})
    _, joint = pb.value_and_grad(fn, argnums=(0, 1))(*args)
    _, pullback = pb.vjp(fn, *args, argnums=(0, 1))
    for bars in (joint, pullback(1.0)):
        for bar in (bars[0], *bars[1].values()):
            bar += 1.0
