"""What calling a compiled gradient costs: the wrapper, element loops, in-place algorithms."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import pullback as pb
from benchmarks.limits.measure import Line, best


def h1(x: Any) -> Any:
    return x + 1.0


def h2(x: Any) -> Any:
    return h1(x) * 2.0


def h3(x: Any) -> Any:
    return h2(x) - 3.0


def h4(x: Any) -> Any:
    return h3(x) * x


def h5(x: Any) -> Any:
    return h4(x) + x


def with_helpers(a: Any, b: Any, c: Any, s: Any, t: Any) -> Any:
    return np.sum(h5(a) * b + c * s) + t


def call_overhead() -> Iterator[Line]:
    """A cached call against the generated function itself."""
    args = (np.ones(3), np.ones(3), np.ones(3), 0.5, 2.0)
    argnums = (0, 1, 2, 3, 4)
    namespace: dict[str, Any] = {}
    exec(pb.differentiable(with_helpers).source(*args, argnums=argnums, form="joint"), namespace)
    inner = namespace["with_helpers_value_and_grad"]
    gradient = pb.value_and_grad(with_helpers, argnums=argnums)
    gradient(*args)
    whole, bare = [], []
    for _ in range(400):  # in turns, each so short that some are left alone
        whole.append(best(lambda: gradient(*args), budget=0.003, rounds=1))
        bare.append(best(lambda: inner(*args), budget=0.003, rounds=1))
    yield Line("cached call over the generated function", 1e6 * (min(whole) - min(bare)), "us", 4)


def sum_of_squares(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s += x[i] ** 2
    return s


def cholesky_sum(A: Any) -> Any:
    n = A.shape[0]
    L = np.zeros((n, n))
    for j in range(n):
        L[j, j] = np.sqrt(A[j, j] - L[j, :j] @ L[j, :j])
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - L[i, :j] @ L[j, :j]) / L[j, j]
    return np.sum(L)


def recurrence(x: Any, a: Any) -> Any:
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = a * y[i - 1] + x[i]
    return np.sum(y)


def loops() -> Iterator[Line]:
    """Element loops stay linear."""
    gradient = pb.grad(sum_of_squares)
    yield from _growth(
        "s += x[i] ** 2", gradient, lambda n: (np.linspace(0.0, 1.0, n),), 100_000, 1_000_000, 12
    )
    small, large = (_peak(lambda n=n: gradient(np.linspace(0.0, 1.0, n))) for n in (100_000, 1_000_000))
    yield Line(
        "s += x[i] ** 2: memory, n = 1e6 over 1e5",
        large / small,
        "x",
        12,
        note=f"{large / 1e6:.0f} bytes an item",
    )
    yield from _growth("Cholesky by hand", pb.grad(cholesky_sum), _definite, 200, 400, 10)
    gradient = pb.grad(recurrence, argnums=(0, 1))
    yield from _growth(
        "y[i] = a*y[i-1] + x[i]", gradient, lambda n: (np.linspace(0.0, 1.0, n), 0.5), 10_000, 100_000, 12
    )
    for fn, args in [
        (sum_of_squares, (np.ones(9),)),
        (cholesky_sum, _definite(4)),
        (recurrence, (np.ones(9), 0.5)),
    ]:
        copies = [c for c in pb.differentiable(fn).explain(*args).copies if "before the loop" not in c.reason]
        note = "; ".join(map(str, copies))
        yield Line(f"copies of arrays in the loops of {fn.__name__}", len(copies), "", 0, note=note)


def _growth(
    name: str,
    gradient: Callable[..., Any],
    make: Callable[[int], tuple[Any, ...]],
    small: int,
    large: int,
    bound: float,
) -> Iterator[Line]:
    seconds = {}
    for n in (small, large):
        args = make(n)
        gradient(*args)
        seconds[n] = best(lambda args=args: gradient(*args), rounds=3)  # type: ignore[misc]
    yield Line(f"{name}: time, n = {large:g} over {small:g}", seconds[large] / seconds[small], "x", bound)


def _definite(n: int) -> tuple[Any, ...]:
    a = np.random.default_rng(0).normal(size=(n, n))
    return (a @ a.T + n * np.eye(n),)


def _peak(call: Callable[[], Any]) -> int:
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak
