"""Loops along one axis where they stand: strides of every kind, places that overlap, views that are not counted, arrays
that loops carry from one iteration to the next.

Expected values are plain NumPy's, expected gradients central differences.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.native.subjects import need_compiler
from tests.native.test_flow import compiled, differences

need_compiler()

A = 0.4 * np.sin(np.arange(36.0) * 1.3 + 0.5).reshape(6, 6)


def columns_and_rows(a: Any) -> Any:
    """Columns of one matrix lie in each other's extent, but have no item in common."""
    b = a * 1.5
    for i in range(1, len(b)):
        b[:, i] += 0.5 * b[:, i - 1]
        b[i, :] -= b[i - 1, :] * b[0, 0]
        b[i, ::2] *= b[::-1, i][::2]
    return np.sum(b * b)


def overlapping(a: Any) -> Any:
    """What is read is written elsewhere by the same statement, forwards and backwards, of rows and of columns."""
    b = a + 0.0
    for i in range(len(b)):
        b[i, 1:] += b[i, :-1] * 0.5
        b[:-1, i] += b[1:, i]
        b[i, ::-1] = b[i] * 2.0
        b[:4, i] -= b[2:, i] * b[0, i]
    return np.sum(b**2)


def of_every_length(a: Any) -> Any:
    """Triangular bounds: from no item to all."""
    total = 0.0
    b = a.copy()
    for i in range(len(b)):
        b[i, :i] *= b[:i, i]
        b[i:, i] += b[i, i] * b[i:, 0]
        row = b[i, :i] * 2.0
        total += np.sum(row * row) + np.max(b[i, : i + 1])
    return total + np.sum(b)


def carried(a: Any) -> Any:
    """Values of the iteration before, and of the one before that, next to new ones."""
    before, now, kept = a[0], a[1] * 1.0, []
    for i in range(6):
        after = now * a[i] + before
        if i % 2:
            kept.append(after)
            before, now = now, after
        else:
            before, now = after, now * 0.5
        after = after * 2.0
        now = now + after[::-1]
    return np.sum(before * now) + sum([np.sum(k * k * now) for k in kept])


def views_of_what_changes(a: Any) -> Any:
    """A view keeps what it shows where its base gets another value, and sees what is written where it does not."""
    b, total = a * 1.0, 0.0
    for i in range(4):
        b[i, 0] = 2.0 * b[i, 1]
        row = b[i]
        total = total + row[0] * row[2]
        b = b * 0.5 + a
        total = total + np.sum(row * b[i + 1])
        part = b[1:, i]
        for _ in range(2):
            b = b + 1.0
            total = total + np.sum(part * b[:5, i])
    return total


def rows_of_lists(a: Any) -> Any:
    """Arrays in lists: those that a loop binds, those that it changes, a list that gets new items meanwhile."""
    rows = [a[i] * (i + 1.0) for i in range(3)]
    total = 0.0
    for row in rows:
        last = row * a[0]
        rows[1] = last
        total = total + np.sum(last * row)
    for row in rows:
        row[1:] += row[:-1]
    best = rows[0]
    for row in rows:
        if row[0] > best[0]:
            best = row
    return total + sum([np.sum(row**2) for row in rows]) + np.sum(best)


def counted_down(a: Any) -> Any:
    """Kernels of functions whose cost is more than that of moving items: packed where they are strided."""
    total = 0.0
    for i in range(len(a) - 1, -1, -1):
        total = total + np.sum(np.exp(a[:, i]) * np.tanh(a[i]))
        total = total * np.mean(a[i, ::2] / (2.0 + a[::2, i] ** 2))
    return total


PROGRAMS = [
    columns_and_rows,
    overlapping,
    of_every_length,
    carried,
    views_of_what_changes,
    rows_of_lists,
    counted_down,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize(
    "layout", [lambda a: a, lambda a: a.T.copy().T, lambda a: np.flip(a).copy()[::-1, ::-1]]
)
def test_programs(program: Callable[..., Any], layout: Callable[[Any], Any]) -> None:
    """Value and gradient, of arguments laid out in three ways."""
    a = layout(A)
    _, run, values = compiled(program, a)
    value, bar = run(*values)[:2]
    wanted = differences(program, a)
    np.testing.assert_allclose(value, program(a), rtol=1e-13)
    np.testing.assert_allclose(bar, wanted, rtol=0, atol=1e-7 * np.max(np.abs(wanted)))


def test_lengths_that_differ_are_left() -> None:
    """Lengths that do not fit leave the entry; one item is not taken for many."""

    def program(a: Any, n: int) -> Any:
        b = a * 1.0
        for i in range(3):
            b[i, :n] *= a[i, 1:3]
        return np.sum(b)

    _, run, values = compiled(program, A, 2)
    np.testing.assert_allclose(run(*values)[0], program(A, 2), rtol=1e-13)
    for n in (1, 3):
        with pytest.raises(ValueError, match=r"length|shape|broadcast"):
            run(A, n)


def test_views_in_loops_are_not_counted() -> None:
    """No reference is taken for a view that only its own iteration reads."""

    def program(a: Any) -> Any:
        b = a * 1.0
        for i in range(len(b)):
            b[i, 1:] *= a[i, :-1]
        return np.sum(b)

    native, _, _ = compiled(program, A)
    entry = native.source[native.source.index("PB_EXPORT") :]
    assert not re.search(r"PB_SET\(\w+, pb_view", entry)
