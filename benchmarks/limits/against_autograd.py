"""Ten plain functions, their gradients by generated code and by autograd, in one run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy

import pullback as pb
from benchmarks.limits.measure import Line, side_by_side

SIZES = (10, 1_000, 100_000)


def functions(np: Any) -> dict[str, Callable[..., Any]]:
    """The ten functions over one NumPy or another; each takes two vectors."""

    def squares(x, y):
        return np.sum(x * x)

    def logistic(x, y):
        return np.mean(np.log(1.0 + np.exp(-x * y)))

    def gaussian(x, y):
        return np.sum(np.exp(-0.5 * (x - y) ** 2))

    def tanh_layer(x, y):
        return np.sum(np.tanh(x * y + 0.1))

    def rosenbrock(x, y):
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    def log_sum_exp(x, y):
        top = np.max(x)
        return top + np.log(np.sum(np.exp(x - top)))

    def cosine(x, y):
        return np.dot(x, y) / np.sqrt(np.dot(x, x) * np.dot(y, y))

    def variance(x, y):
        centred = x - np.mean(x)
        return np.sum(centred * centred) / len(x)

    def waves(x, y):
        return np.sum(np.sin(x) * np.cos(y) + np.sin(2.0 * x))

    def hinge(x, y):
        return np.sum(np.maximum(0.0, 1.0 - x * y))

    return {
        f.__name__: f
        for f in (
            squares, logistic, gaussian, tanh_layer, rosenbrock, log_sum_exp, cosine, variance, waves, hinge,
        )
    }  # fmt: skip


def ratios() -> Iterator[Line]:
    """autograd's time over ours, for each function and size."""
    import autograd
    import autograd.numpy

    theirs, ours = functions(autograd.numpy), functions(numpy)
    for n in SIZES:
        x = numpy.linspace(0.1, 1.9, n)
        y = numpy.where(numpy.arange(n) % 3 == 0, 1.0, -1.0)
        for name in ours:
            fast, slow = pb.value_and_grad(ours[name]), autograd.value_and_grad(theirs[name])
            numpy.testing.assert_allclose(fast(x, y)[1], slow(x, y)[1], rtol=1e-9, atol=1e-12)
            ratio = side_by_side(functools.partial(slow, x, y), functools.partial(fast, x, y))
            target = 5.0 if n == 10 else 1.0
            yield Line(f"autograd over pullback: {name}, n = {n:,}", ratio, "x", target, at_least=True)
