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
