"""Gradients through the library's programs, against differences."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.frontend import library_programs as programs

import pullback as pb
from differences import float_leaves, is_float, numerical_gradients, seed_for
from programs import leaves


def numbers(value: Any) -> list[Any]:
    """The leaves of a value; none where it holds something that is no number."""
    try:
        found = leaves(value)
    except TypeError:
        return []
    plain = all(isinstance(leaf, np.ndarray | np.generic | int | float | complex) for leaf in found)
    return found if plain else []


def has_derivative(fn: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    """Whether a program takes and returns floating-point numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = fn(*copy.deepcopy(args))
    return any(is_float(a) for a in args if isinstance(a, np.ndarray | float)) and any(
        map(is_float, numbers(value))
    )


ROWS = [
    pytest.param(fn, args, id=f"{fn.__name__.replace('<lambda>', 'row')}-{fn.__code__.co_firstlineno}")
    for name, group in programs.GROUPS.items()
    if name != "steps"
    for fn, args in group
    if has_derivative(fn, args)
]


@pytest.mark.parametrize(("fn", "args"), ROWS)
def test_gradient(fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
    wrt = tuple(i for i, a in enumerate(args) if isinstance(a, np.ndarray | float) and is_float(a))
    code = fn.__code__
    single = "float32" in code.co_names or "f4" in code.co_consts or np.asarray(args[0]).dtype == np.float32
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seed = seed_for(fn(*copy.deepcopy(args)))
        _, pullback = pb.vjp(fn, *copy.deepcopy(args), argnums=wrt)
        gradients = pullback(seed)
        expected = numerical_gradients(fn, args, wrt, seed)
    for i, gradient, wanted in zip(wrt, gradients, expected, strict=True):
        for g, w in zip(float_leaves(args[i], gradient), wanted, strict=True):
            assert np.asarray(g).dtype == np.asarray(args[i]).dtype
            allowed = (1e-2 if single else 1e-6) * max(1.0, float(np.max(np.abs(w), initial=0.0)))
            np.testing.assert_allclose(g, w, rtol=0, atol=allowed)


SINGLE = np.array([0.5, -0.25, 2.0], np.float32)


@pytest.mark.parametrize(
    "fn",
    [
        lambda a: np.r_[a, 1.0],
        lambda a: np.r_[0, a[0], a, a[1] * 2.0],
        lambda a: np.linspace(a[0], 1, 3),
        lambda a: np.linspace(0.0, a[1], 3),
        lambda a: np.linspace(a, 1.0, 3),
        lambda a: np.diff(a, prepend=0.0, append=1),
        lambda a: np.diff(a, prepend=a[:1]),
    ],
)
def test_numbers_of_python_beside_float32(fn: Any) -> None:
    """The value has NumPy's dtype, the gradient that of the argument."""
    value, pullback = pb.vjp(pb.differentiable(debug=True)(fn), SINGLE)
    expected = fn(SINGLE)
    assert value.dtype == expected.dtype
    np.testing.assert_array_equal(value, expected)
    seed = np.cos(np.arange(value.size)).reshape(value.shape).astype(value.dtype)
    bar = pullback(seed)
    bar = bar[0] if isinstance(bar, tuple) else bar
    assert bar.dtype == np.float32
    moved = [
        (np.sum(seed * fn(SINGLE + d)) - np.sum(seed * fn(SINGLE - d))) / 2 for d in np.eye(3, dtype="f")
    ]
    np.testing.assert_allclose(bar, moved, rtol=1e-5, atol=1e-5)
