"""Arrays made of lists of run-time length: as NumPy makes them, forward and reverse; what differs is left to NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.native.against import Both
from tests.native.subjects import need_compiler

need_compiler()
X = np.linspace(0.3, 2.1, 6)


def numbers(x: Any, n: int) -> Any:
    found = []
    for i in range(n):
        if x[i] > 0.5:
            found.append(x[i] * i)
    return np.sum(np.array(found) ** 2) + 1.0


def integers(x: Any, n: int) -> Any:
    return np.sum(np.array([i * i for i in range(n)]) * x[0])


def rows(x: Any, n: int) -> Any:
    held = [x * k for k in range(n)]
    return np.sum(np.array(held)[:, 1] * 2.0) + np.sum(np.asarray(held) ** 2)


def pairs(x: Any, n: int) -> Any:
    held = [(x[k], x[k] * k) for k in range(n)]
    return np.sum(np.array(held)[:, 1])


def lists_in_lists(x: Any, n: int) -> Any:
    table = np.array([[x[i] * j for j in range(3)] for i in range(n)])
    return np.sum(table * table)


def stacked_along_the_last_axis(x: Any, n: int) -> Any:
    held = [np.sin(x) * k for k in range(n)]
    y = np.stack(held, axis=-1)
    return np.sum(y[2] ** 2) + np.sum(np.stack(held, axis=1)[:, 0])


def joined(x: Any, n: int) -> Any:
    held = [x[: k + 1] * k for k in range(n)]
    return np.sum(np.concatenate(held) ** 2) + np.sum(np.hstack(held) ** 3)


def joined_along_an_axis(x: Any, n: int) -> Any:
    held = [np.ones((2, 3)) * x[k] for k in range(n)]
    y = np.concatenate(held, axis=1)
    return np.sum(y[1, ::2]) + np.sum(np.vstack(held)[2:] ** 2)


def rows_on_rows(x: Any, n: int) -> Any:
    return np.sum(np.vstack([x * k for k in range(n)])[:, 2])


PROGRAMS = (
    numbers, integers, rows, pairs, lists_in_lists, stacked_along_the_last_axis, joined,
    joined_along_an_axis, rows_on_rows,
)  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_numpy(program: Callable[..., Any]) -> None:
    both = Both(program, (0,))
    for n in (1, 2, 5):
        assert both.compare((X, n)) == ""
    both.compare((X, 0))  # what NumPy makes of an empty list may have another rank or dtype, or be an error


def test_differences() -> None:
    run = Both(joined, (0,)).entry((X, 4))[0].run
    _, (gradient,) = run(X, 4)
    for i in range(len(X)):
        step = np.zeros_like(X)
        step[i] = 1e-6
        slope = (joined(X + step, 4) - joined(X - step, 4)) / 2e-6
        assert abs(gradient[i] - slope) < 1e-6 * max(1.0, abs(slope))


def test_items_of_different_lengths_are_left_to_numpy() -> None:
    def ragged(x: Any, n: int) -> Any:
        return np.sum(np.array([x[:k] for k in range(n)]))

    assert "shapes" in Both(ragged, (0,)).compare((X, 3))
