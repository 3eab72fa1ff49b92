"""Functions compiled apart, with several values and several cotangents each, in C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.native.against import LAYOUTS, Both
from tests.native.subjects import need_compiler

need_compiler()
X = np.array([0.4, -0.7, 1.3, 0.9])


def power(a: Any, b: Any, n: Any) -> Any:
    return a if n == 0 else b * power(a, b, n - 1)


def of_two_numbers(a: float, b: float, n: int) -> Any:
    return power(a, b, n)


def scaled(x: Any, c: Any, n: Any) -> Any:
    if n == 0:
        return x, c
    y, d = scaled(x * c, c, n - 1)
    return y + x, d * c


def of_an_array_and_a_number(x: Any, c: float, n: int) -> Any:
    y, d = scaled(x, c, n)
    return np.sum(y) * d


@pytest.mark.parametrize("n", (0, 1, 4))
def test_closed_form(n: int) -> None:
    value, gradients = Both(of_two_numbers, (0, 1)).entry((1.5, 0.5, n))[0].run(1.5, 0.5, n)
    assert np.isclose(value, 1.5 * 0.5**n)
    assert np.allclose(gradients, (0.5**n, 1.5 * n * 0.5 ** (n - 1) if n else 0.0))


@pytest.mark.parametrize("program", (of_two_numbers, of_an_array_and_a_number), ids=lambda f: f.__name__)
def test_as_numpy(program: Callable[..., Any]) -> None:
    both = Both(program, (0, 1))
    first = X if program is of_an_array_and_a_number else 1.25
    for n in (0, 3):
        assert both.compare((first, 0.75, n)) == ""
        for layout in LAYOUTS.values():
            assert both.compare((first, 0.75, n), layout) == ""


def test_one_cotangent_of_several() -> None:
    assert Both(of_an_array_and_a_number, (1,)).compare((X, 0.75, 3)) == ""
