"""Programs as C: the gradient of the entry is that of the NumPy target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.backend.native.bridge import bind
from pullback.backend.native.build import shared_library
from pullback.backend.native.emit.module import emit_native
from pullback.passes import optimize
from pullback.passes.lengths import assume_lengths
from pullback.transform.choose import Choices
from pullback.transform.gradient import joint


def chain(x: Any, b: Any) -> Any:
    return np.sum(np.tanh(x * b) * np.exp(-x * x) / (1 + x * x))


def stencil(x: Any, b: Any) -> Any:
    y = x.copy()
    for _ in range(3):
        y[1:-1] = (y[:-2] + y[1:-1] + y[2:]) / 3.0
        y[1:] += y[:-1] * b
    return np.sum(y * y)


def rows(x: Any, b: Any) -> Any:
    total = 0.0
    for i in range(len(x) - 1):
        if x[i] > 0.3:
            total = total + x[i] * x[i + 1]
        elif x[i] > -2.0:
            total = total - b * x[i]
    return total


def saved(x: Any, b: Any) -> Any:
    h = x
    for _ in range(4):
        h = np.tanh(b * h + x)
    return np.sum(h)


def means(x: Any, b: Any) -> Any:
    return np.mean(x * b) + np.sum(x) * np.mean(x)


def spread(x: Any, b: Any) -> Any:
    return np.sum((np.ones((len(x), 2)) * x[:, None] * b) ** 2)


def neighbours(x: Any, b: Any) -> Any:
    return np.sum(x[:-1] * x[1:]) + np.sum(x * x) * b


def transposed(x: Any, b: Any) -> Any:
    w = x[:, None] * np.ones(3)
    for _ in range(3):
        w = np.tanh(w * b)
        w = w / (9.0 + np.sum(w, axis=1, keepdims=True))
        w = w.T
        w = (w * b + 1.0).T
    return np.sum(w * w)


def root(x: Any, b: Any) -> Any:
    return np.sum(np.copysign(b, x**0.5))


def powers(x: Any, b: Any) -> Any:
    return np.sum(x**3 + b * x**2 - x**-1 + np.power(x, 5) + b**x)


def compiled(fn: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The value and the gradient from C."""
    gradient = pb.differentiable(fn)._gradient((0, 1))
    variant, values = gradient.find(gradient.bind(args, {}))
    primal = optimize(assume_lengths(variant.compiled.lowered.function))
    native = emit_native(optimize(joint(primal, variant.compiled.request, Choices("default"))))
    return tuple(bind(shared_library(native.source), native.interface)(*values))


@pytest.mark.parametrize("fn", [chain, stencil, rows, saved, means, spread, neighbours, transposed, powers])
@pytest.mark.parametrize("n", [5, 3000])
def test_gradient(fn: Callable[..., Any], n: int) -> None:
    args = (np.linspace(-1.0, 1.2, n), 0.7)
    value, *bars = compiled(fn, args)
    assert np.isclose(value, fn(*args), rtol=1e-13, atol=0)
    _, expected = pb.value_and_grad(fn, argnums=(0, 1))(*args)
    for got, wanted in zip(bars, expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-13 * np.max(np.abs(wanted)))


def test_the_power_of_a_half_is_the_root() -> None:
    """It keeps the sign of zero, which `np.power` does not."""
    args = (np.array([-0.0, 0.0, 4.0, -0.0, -0.0]), 3.0)
    assert compiled(root, args)[0] == root(*args) == -3.0


def test_parameters_may_have_names_that_c_has_another_use_for() -> None:
    def f(out: Any, host: Any, double: Any, fail: Any, n: Any) -> Any:
        return np.sum(out * host * double) * fail + n

    args = (np.arange(3.0), np.ones(3), np.full(3, 2.0), 1.5, 2.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PULLBACK_TARGET", raising=False)
        got = pb.value_and_grad(f, (0, 1, 2, 3, 4), target="native")(*args)
        wanted = pb.value_and_grad(f, (0, 1, 2, 3, 4), target="numpy")(*args)
    assert got[0] == wanted[0]
    for a, b in zip(got[1], wanted[1], strict=True):
        assert np.array_equal(a, b)
