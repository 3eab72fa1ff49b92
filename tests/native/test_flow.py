"""Control flow and values in C: what meets at joins, lists, names that may not be bound, Python's numbers.

Expected values are plain NumPy's, expected gradients central differences.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.native.subjects import need_compiler

import pullback as pb
from pullback.backend.native import bridge
from pullback.backend.native.build import shared_library
from pullback.backend.native.emit.module import Native

need_compiler()

X = np.array([0.3, -0.7, 1.1, 0.4, 0.9])


def compiled(fn: Callable[..., Any], *args: Any) -> tuple[Native, Callable[..., Any], Any]:
    """The entry of value and gradient by the first parameter, and the values that it takes."""
    gradient = pb.differentiable(fn)._gradient((0,))
    variant, values = gradient.find(gradient.bind(args, {}))
    native = variant.compiled.native("value_and_grad")
    run = bridge.bind(shared_library(native.source, flags=("-O1",)), native.interface)
    return native, run, values


def differences(fn: Callable[..., Any], x: Any, *others: Any) -> Any:
    """The gradient by the first parameter, by central differences."""
    out = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = 1e-6
        out[i] = (fn(x + step, *others) - fn(x - step, *others)) / 2e-6
    return out


def check(fn: Callable[..., Any], *args: Any) -> None:
    """The compiled value is NumPy's and the gradient that of differences."""
    _, run, values = compiled(fn, *args)
    value, bar = run(*values)[:2]
    np.testing.assert_allclose(value, fn(*args), rtol=1e-13)
    np.testing.assert_allclose(bar, differences(fn, *args), rtol=2e-8, atol=2e-8)


def sums_and_unbound(x: Any) -> Any:
    total = sum([v * v for v in x])  # an int before the first item
    for i in range(1, 4):
        if x[i] > 0.5:
            found = x[i] * i
            break
    else:
        found = x[0]
    for v in x:
        if v > 0:
            seen = v * 2.0
    best = 0
    for k in range(len(x)):
        best = max(best, k) if x[k] > 0 else best
    return total * found + i * x[0] + seen * best


def until_it_settles(x: Any) -> Any:
    y, change, limit = x.copy(), 1, 0.01
    while change > limit and (change < 10.0 or limit < 0):
        old = np.sum(y)
        y = y * 0.5 + x * x
        change = np.abs((np.sum(y) - old) / old)
    return np.sum(y * x)


def swaps_and_zips(x: Any) -> Any:
    a, b, c = x[0], x[1], x[2]
    for i, u in enumerate(x):
        a, b, c = b, c, a * u + x[-1 - i] * (i + 1)
    low, high = 0.0, 1.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        if middle * middle * 2.0 > 1.0 + 0.0 * a:
            high = middle
        else:
            low = middle
    p, q = x.copy(), 2.0 * x
    for _ in range(3):
        p, q = q * 0.5, p + q
    return a * b + c * high + np.sum(p * q)


def lists_of_numbers(x: Any) -> Any:
    window: list[Any] = []
    total = 0.0
    for i in range(len(x)):
        window.append(x[i] ** 2)
        if len(window) > 2:
            window = window[1:]
        total += window[-1] * window[0] * (i + 1)
    arrays = [x[i] * x for i in range(len(x))]
    for a in reversed(arrays):
        total += np.sum(a * x)
    arrays[1] = arrays[0] * 2.0
    total += np.sum(arrays[1] * arrays[-1])
    weights = [0.5, 1.5, 2.5]
    for i in range(len(x)):
        total += weights[i % 3] * x[i]
    return total


def python_numbers(x: Any) -> Any:
    n = int(np.abs(x[0]) * 10 + 0.5) % 3 + 2
    q, r = divmod(n * 7, 3)
    y = float(x[1])
    with np.errstate(all="ignore"):
        z = abs(y) ** 1.5 + math.exp(-y) * math.cos(y) + math.floor(2.5) + round(2.5)
    assert n > 0, "never"
    if n > 100:
        raise ValueError(f"too many: {n}")
    w = 0.0
    for k in range(4):
        w += x[k] * 2**k / math.factorial(k) + x[k] * (k // 2 - k % 2)
    return z * w + n * x[2] + q * x[3] - min(r, n) * x[4] + (w if 2**n < 3 * n else -w)


def _tree(x: Any, depth: int) -> Any:
    """Recursion whose pullbacks have boxes in what they save."""
    if depth == 0 or len(x) < 2:
        return np.sum(x * x)
    half = len(x) // 2
    left = _tree(x[:half], depth - 1)
    return left * np.sin(_tree(x[half:], depth - 1)) + x[0]


def _sorted(y: Any, n: int) -> Any:
    if n < 2:
        return y
    for i in range(n - 1):
        if y[i] > y[i + 1]:
            y[i], y[i + 1] = y[i + 1], y[i]
    return _sorted(y, n - 1)


def of_functions(x: Any) -> Any:
    y = x.copy()
    y = _sorted(y, len(y))
    total = y[-1] * 3.0 + y[0] * y[1]
    for k in range(1, 3):
        total = total + _tree(x * k, k)
    return total


@pytest.mark.parametrize(
    "fn", [of_functions, sums_and_unbound, until_it_settles, swaps_and_zips, lists_of_numbers, python_numbers]
)
def test_program(fn: Callable[..., Any]) -> None:
    check(fn, X)


def of_integers(x: Any, n: int) -> Any:
    total = 1
    for k in range(n):
        total = total * (k + 10)
    return x[0] * float(total % 7) + x[1] * float(total)


def test_large_integers_are_left() -> None:
    """Python's integers have no bound: beyond 64 bits the entry is left with an error."""
    check(of_integers, X, 5)
    _, run, values = compiled(of_integers, X, 5)
    with pytest.raises(OverflowError):
        run(values[0], 60)


def unbound(x: Any, n: int) -> Any:
    for i in range(n):
        y = x[i]
    return y * y


def test_a_name_that_is_not_bound_is_left() -> None:
    _, run, values = compiled(unbound, X, 3)
    assert run(*values)[0] == X[2] ** 2
    with pytest.raises(UnboundLocalError):
        run(values[0], 0)


def divided(x: Any, n: int) -> Any:
    if n < 0:
        raise ValueError("negative")
    return x[0] * (6 / n) + x[1] * (7 // n)


def test_exceptions_are_left() -> None:
    _, run, values = compiled(divided, X, 3)
    assert run(*values)[0] == divided(X, 3)
    for n in (0, -1):
        with pytest.raises(Exception):  # noqa: B017  of any kind: the NumPy target then raises the right one
            run(values[0], n)


def deep(x: Any, n: int) -> Any:
    if n == 0:
        return x[0]
    return deep(x, n - 1) * 0.999 + x[1]


def test_deep_recursion_is_left() -> None:
    """Long before the stack ends."""
    _, run, values = compiled(deep, X, 20)
    np.testing.assert_allclose(run(*values)[0], deep(X, 20), rtol=1e-13)
    with pytest.raises(Exception, match="recursion"):
        run(values[0], 10**7)
    np.testing.assert_allclose(run(*values)[0], deep(X, 20), rtol=1e-13)
