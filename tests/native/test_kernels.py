"""Kernels in C: operands of any layout, places that overlap, nothing at all, and any number of threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
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


def chain(x: Any, y: Any) -> Any:
    return np.sum(np.tanh(x) * y * np.exp(-x))


def columns(x: Any, y: Any) -> Any:
    return np.sum(np.sum(x * y, axis=0) ** 2) + np.sum(np.sum(x, axis=1, keepdims=True) * x)


def means(x: Any, y: Any) -> Any:
    return np.mean(x * y) + np.sum(np.mean(x, axis=0) * y[0]) + np.sum(np.mean(y, axis=1) ** 3)


def extremes(x: Any, y: Any) -> Any:
    return np.sum(np.max(x * y, axis=1)) - np.max(y)


def outer(x: Any, y: Any) -> Any:
    return np.sum((x[:, 0][:, None] * y[0][None, :] + x[:, 1][:, None]) ** 2 * y)


def crossed(x: Any, y: Any) -> Any:
    return np.sum((x.T + 1.0) * y.T * x.T) + np.sum(x[::-1, ::-1] * y)


def shifted(x: Any, y: Any) -> Any:
    z = x * y
    z[1:] += z[:-1] * 0.5
    z[:, 1:-1] = z[:, :-2] + z[:, 2:] * z[:, 1:-1]
    z[::2, ::3] = y[::2, ::3]
    z[:-1, 1:] = z[1:, :-1]
    return np.sum(z * z)


def neighbours(x: Any, y: Any) -> Any:
    lap = 4.0 * x[1:-1, 1:-1] - x[2:, 1:-1] - x[:-2, 1:-1] - x[1:-1, 2:] - x[1:-1, :-2]
    return np.sum(lap * lap * y[1:-1, 1:-1])


def vectors(x: Any, y: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        v = x[i] * y[i]
        v[1:] -= v[:-1] * x[i, 1:]
        total = total + np.sum(v * x[:, 0][i]) + np.sum(x[:, 1] * x[::-1, 2])
    return total


def products(x: Any, y: Any) -> Any:
    return (
        np.sum((x @ y.T) ** 2) + np.sum((x.T @ y) * 0.5) + np.sum(x @ y[0] + y @ x[1]) + np.sum(x[:, 0] @ y)
    )


FUNCTIONS = [chain, columns, means, extremes, outer, crossed, shifted, neighbours, vectors, products]


@cache
def _native(fn: Callable[..., Any], dtype: str) -> tuple[Any, Any]:
    x = np.ones((7, 9), dtype)
    gradient = pb.differentiable(fn)._gradient((0, 1))
    variant, _ = gradient.find(gradient.bind((x, x), {}))
    primal = optimize(assume_lengths(variant.compiled.lowered.function))
    native = emit_native(optimize(joint(primal, variant.compiled.request, Choices("default"))))
    return shared_library(native.source), native.interface


def _check(fn: Callable[..., Any], x: Any, y: Any) -> None:
    library, interface = _native(fn, x.dtype.name)
    value, *bars = bind(library, interface)(x, y)
    plain = np.array(x), np.array(y)
    wanted, expected = pb.value_and_grad(fn, argnums=(0, 1))(*plain)
    tolerance = 2e-13 if x.dtype == np.float64 else 2e-5
    assert np.isclose(value, wanted, rtol=tolerance, atol=tolerance * max(1.0, x.size))
    for got, bar in zip(bars, expected, strict=True):
        assert got.dtype == bar.dtype
        np.testing.assert_allclose(
            got, bar, rtol=0, atol=tolerance * max(1.0, np.max(np.abs(bar), initial=0))
        )


def _data(shape: tuple[int, int], seed: int, dtype: str = "float64") -> Any:
    return np.random.default_rng(seed).uniform(-1.0, 1.0, shape).astype(dtype)


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "c": lambda a: a,
    "fortran": np.asfortranarray,
    "steps": lambda a: np.repeat(np.repeat(a, 2, 0), 3, 1)[::2, ::3],
    "backwards": lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
    "columns apart": lambda a: np.repeat(a, 2, 1)[:, ::2],
    "one row": lambda a: np.broadcast_to(a[:1], a.shape),
    "one column": lambda a: np.broadcast_to(a[:, :1], a.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("fn", FUNCTIONS)
def test_layouts(fn: Callable[..., Any], layout: str) -> None:
    for shape in ((7, 9), (33, 70)):
        x, y = _data(shape, 1), _data(shape, 2)
        _check(fn, LAYOUTS[layout](x), y)
        _check(fn, x, LAYOUTS[layout](y))


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_sizes(fn: Callable[..., Any]) -> None:
    for shape in ((3, 3), (5, 2100), (2100, 5), (300, 257)):
        _check(fn, _data(shape, 3), _data(shape, 4))


@pytest.mark.parametrize("fn", [chain, columns, outer, crossed, shifted, neighbours, products])
def test_float32(fn: Callable[..., Any]) -> None:
    _check(fn, _data((40, 33), 5, "float32"), _data((40, 33), 6, "float32"))


@pytest.mark.parametrize("fn", [chain, columns, crossed])
@pytest.mark.parametrize("shape", [(0, 9), (7, 0), (0, 0)])
def test_nothing(fn: Callable[..., Any], shape: tuple[int, int]) -> None:
    _check(fn, _data(shape, 7), _data(shape, 8))


@pytest.mark.parametrize("fn", [chain, columns, means, neighbours])
def test_threads_give_the_same_bits(fn: Callable[..., Any]) -> None:
    x, y = _data((700, 900), 9), _data((700, 900), 10)
    library, interface = _native(fn, "float64")
    one, two, three = (bind(library, interface, threads=k)(x, y) for k in (1, 2, 3))
    for a, b, c in zip(one, two, three, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)


@pytest.mark.parametrize("reduce", [np.max, np.min])
@pytest.mark.parametrize("at", [0, 5, 4000])
def test_extremes_of_nan(reduce: Any, at: int) -> None:
    def fn(x: Any) -> Any:
        return reduce(x) * 1.0

    x = np.linspace(-1.0, 1.0, 4001)
    gradient = pb.differentiable(fn)._gradient((0,))
    variant, _ = gradient.find(gradient.bind((x,), {}))
    primal = optimize(assume_lengths(variant.compiled.lowered.function))
    native = emit_native(optimize(joint(primal, variant.compiled.request, Choices("default"))))
    run = bind(shared_library(native.source), native.interface)
    assert run(x)[0] == reduce(x)
    x[at] = np.nan
    assert np.isnan(run(x)[0])
