"""What a reverse sweep does not do: passes over whole arrays that a smaller value, a shape or a sign can save."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
Y = np.array([[1.0, -0.5, 0.0], [2.0, 0.75, 3.0]])
V = np.array([0.3, -0.6, 1.2])


def source(fn: Callable[..., Any], *args: Any, form: str = "joint") -> str:
    """The generated text, after a check of the gradient against differences."""
    pb.check_gradients(fn, *args)
    wrt = tuple(range(len(args)))
    text: str = pb.differentiable(fn).source(*args, argnums=wrt, form=form)
    return text


def scaled_sum(x: Any, y: Any, a: Any) -> Any:
    return np.sum((x * y + x) * a)


def test_a_number_is_multiplied_before_it_is_spread() -> None:
    text = source(scaled_sum, X, Y, 1.5)
    assert "broadcast_to" not in text


def differences_of_rows(x: Any, v: Any) -> Any:
    return np.sum((x - v) ** 2)


def test_a_sum_is_negated_not_what_is_summed() -> None:
    text = source(differences_of_rows, X, V)
    assert "-np.sum(" in text
    assert "np.sum(-" not in text


def jumps(v: Any) -> Any:
    d = v[1:] - v[:-1]
    return np.sum(d * d)


def test_what_is_negated_is_subtracted() -> None:
    text = source(jumps, V)
    assert "v_bar[:-1] -= " in text


def growing_products(x: Any) -> Any:
    total = 0.0
    for i in range(2):
        for j in range(1, 3):
            total = total + np.sum(x[i, :j] * x[1, :j]) ** 2
    return total


def test_a_shape_comes_from_the_operands() -> None:
    text = source(growing_products, X)
    assert "joint_shape(" in text
    assert ").shape" not in text


def weighted_sines(x: Any, y: Any) -> Any:
    return np.sum(np.sin(x) * y)


def test_a_pair_saves_no_shape_that_a_saved_value_has() -> None:
    text = source(weighted_sines, X, Y, form="pair")
    assert ".shape" not in text.split("def weighted_sines_pullback")[0]


def halves_of_rows(x: Any) -> Any:
    state = x.copy()
    total = 0.0
    for i in range(len(state)):
        row = state[i].copy()
        half = 2 * len(row) // 4
        state[i] = np.sin(row)
        total = total + np.sum(row[:half] ** 2) * np.sum(row[half:] ** 2)
    return total + np.sum(state)


def test_lengths_of_parameters_are_not_saved_in_each_iteration() -> None:
    text = source(halves_of_rows, X)
    assert "row_saved" in text
    assert "half_saved" not in text
    assert "n_saved" not in text


def scaled_in_place(x: Any, v: Any) -> Any:
    y = x.copy()
    for i in range(len(y)):
        y[i] = y[i] * v
    y[y > 0] = np.sqrt(y[y > 0])
    return np.sum(y * y)


def test_a_place_is_not_set_to_zero_before_it_is_added_to() -> None:
    text = source(scaled_in_place, X, V)
    assert "y_bar[i] = " in text
    assert "= 0.0" not in text


def added_in_place(x: Any, v: Any) -> Any:
    y = x.copy()
    for i in range(len(y)):
        y[i] += v * i
    return np.sum(y * y)


def test_what_is_added_to_in_place_keeps_its_cotangent() -> None:
    text = source(added_in_place, X, V)
    assert "y_bar[i] = " not in text
    assert "y_bar[i].copy()" not in text


def repeated_places(x: Any) -> Any:
    y = np.zeros(3)
    y[[0, 0, 2]] = x[0]
    y[[0, 0, 2]] = y[[0, 0, 2]] * 2.0
    return np.sum(y**2)


def test_places_that_repeat_are_added_to() -> None:
    source(repeated_places, X)


def moments(x: Any, y: Any) -> Any:
    return np.sum((np.cross(x, y) * 2.0 + x) ** 2)


def test_cotangents_of_unknown_rank_are_not_added_to_zeros() -> None:
    text = source(moments, X, Y)
    assert "np.zeros" not in text


def rectified(x: Any, y: Any) -> Any:
    return np.sum(np.maximum(x, 0) * y) + np.sum(np.clip(x, -0.5, 1)) + np.sum(np.minimum(x, y))


def test_choices_keep_single_precision_and_share_ties() -> None:
    x = np.array([-1.0, 0.0, 0.25, 1.0, -0.5, 2.0], dtype=np.float32)
    y = np.array([1.0, 2.0, 0.25, 4.0, -1.0, 3.0], dtype=np.float32)
    text = pb.differentiable(rectified).source(x, y, argnums=(0, 1), form="joint")
    assert "astype(np.float32)" not in text
    x_bar, y_bar = pb.grad(rectified, argnums=(0, 1))(x, y)
    assert x_bar.dtype == y_bar.dtype == np.float32
    np.testing.assert_array_equal(
        x_bar, [0 + 0 + 1, 1 + 1 + 1, 0.25 + 1 + 0.5, 4 + 0.5 + 1, 0 + 0.5 + 0, 3 + 0 + 1]
    )
    np.testing.assert_array_equal(y_bar, [0, 0, 0.25 + 0.5, 1, 0 + 1, 2])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_extremes_keep_their_precision(dtype: Any) -> None:
    x = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]], dtype=dtype)
    bar = pb.grad(lambda x: np.sum(np.max(x, axis=1) * np.array([2.0, 6.0], dtype=dtype)))(x)
    assert bar.dtype == dtype
    np.testing.assert_array_equal(bar, [[0, 1, 1], [2, 2, 2]])
