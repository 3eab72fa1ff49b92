"""`pullback.compile`: what its modules are and do."""

from __future__ import annotations

import numpy as np
import pytest

import pullback as pb

RATE = 0.5


def loss(w, x, y, scale=2.0):
    r = np.tanh(x @ w) - y
    return RATE * scale * np.sum(r * r) / len(y)


SIGNATURE = "w: f8[n], x: f8[k, n], y: f8[k], scale: float"
W, X, Y = np.array([0.5, -1.0]), np.array([[1.0, 2.0], [0.5, -1.0], [0.0, 1.0]]), np.zeros(3)


def test_same_numbers_as_in_the_process() -> None:
    made = pb.compile(loss, SIGNATURE).load()
    value, w_bar = made.loss_value_and_grad(W, X, Y)
    expected, expected_bar = pb.value_and_grad(loss)(W, X, Y)
    assert value == expected and type(value) is type(expected)
    assert w_bar.tobytes() == expected_bar.tobytes()


def test_wrong_arguments() -> None:
    fn = pb.compile(loss, SIGNATURE).load().loss_value_and_grad
    with pytest.raises(TypeError, match=r"was compiled for x: float64\[k, n\], got float32\[3, 2\]"):
        fn(W, X.astype(np.float32), Y)
    with pytest.raises(ValueError, match="one length k of x and y, got 3 and 2"):
        fn(W, X, Y[:2])
