"""Products with strong zeros: plain in compiled code as long as that shows in no gradient, then spelled out."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from tests.native.subjects import need_compiler
from tests.native.test_target import promotion_of

import pullback as pb
from pullback.dispatch import promotion

need_compiler()


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PULLBACK_TARGET", raising=False)


def rooted(x: Any, w: Any) -> Any:
    """The derivative of the root is infinite at 0, where the weight is to be 0."""
    return np.sum(np.sqrt(x) * w)


def in_a_loop(x: Any, w: float) -> Any:
    total = 0.0
    for i in range(len(x)):
        part = np.sqrt(x[i]) * w
        total = total + (part if x[i] > 0.0 else 0.0 * part)
    return total


def test_a_zero_times_infinity_is_zero() -> None:
    gradient = pb.value_and_grad(rooted, (0, 1), target="native")
    w = np.array([2.0, 0.0, 4.0])
    for x, wanted in (([1.0, 4.0, 0.25], [1.0, 0.0, 4.0]), ([1.0, 0.0, 0.25], [1.0, 0.0, 4.0])):
        for _ in range(3):
            value, (x_bar, w_bar) = gradient(np.array(x), w)
            assert value == np.sum(np.sqrt(x) * w)
            np.testing.assert_array_equal(x_bar, wanted)
            np.testing.assert_array_equal(w_bar, np.sqrt(x))
        found = promotion_of(gradient, np.array(x), w)
        assert (found.status, found.guarded) == ("native", 0.0 in x)


def test_a_number_that_is_not_finite() -> None:
    gradient = pb.value_and_grad(in_a_loop, (0, 1), target="native")
    x = np.array([1.0, 0.0, 4.0])
    for _ in range(2):
        _, (x_bar, w_bar) = gradient(x, 2.0)
        np.testing.assert_array_equal(x_bar, [1.0, 0.0, 0.5])
        assert w_bar == 3.0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_gradient_that_is_infinite_is_given_as_such(dtype: str) -> None:
    gradient = pb.value_and_grad(lambda x: np.sum(np.sqrt(x) * x[::-1]), target="native")
    x = np.array([4.0, 0.0], dtype)
    for _ in range(3):
        value, x_bar = gradient(x)
        assert value == 0.0
        np.testing.assert_array_equal(x_bar, np.array([0.0, np.inf], dtype), strict=True)
    assert promotion_of(gradient, x).status == "native"


def test_into_arrays_of_the_callers() -> None:
    function = pb.differentiable(target="native")(rooted)
    w, x = np.array([2.0, 0.0]), np.array([1.0, 0.0])
    for _ in range(3):
        out = np.full(2, np.nan)
        _, x_bar = function.value_and_grad(x, w, out=out)
        assert x_bar is out
        np.testing.assert_array_equal(out, [1.0, 0.0])


def test_auto_spells_them_out_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promotion, "ENOUGH", 0.0)
    monkeypatch.setattr(promotion, "SLOWER", 1e9)
    gradient = pb.value_and_grad(rooted)
    x, w = np.array([1.0, 0.0, 0.25]), np.array([2.0, 0.0, 4.0])
    end = time.monotonic() + 60.0
    while time.monotonic() < end:
        _, x_bar = gradient(x, w)
        np.testing.assert_array_equal(x_bar, [1.0, 0.0, 4.0])
        found = promotion_of(gradient, x, w)
        if found.guarded and found.run is not None:
            break
    assert (found.status, found.guarded) == ("native", True)


def test_a_mask_of_comparisons() -> None:
    """Truth values and small integers computed of comparisons, as numbers, in single and double precision."""

    def masked(x: Any, y: Any) -> Any:
        steps = (x > y).astype(np.int8) + (x >= 0) - (y == 0).astype(np.int16) * 3
        return np.sum(x * steps * (x < 2) + (x > y) * y)

    for dtype in ("float32", "float64"):
        x, y = (np.array(v, dtype) for v in ([1.0, -2.0, 3.0, 0.0, np.nan], [0.0, -2.0, 1.0, 2.0, 1.0]))
        for found, wanted in zip(
            pb.value_and_grad(masked, (0, 1), target="native")(x, y)[1],
            pb.value_and_grad(masked, (0, 1), target="numpy")(x, y)[1],
            strict=True,
        ):
            np.testing.assert_array_equal(found, wanted, strict=True)
