"""The programs whose generated source is kept in `generated/`: one for each thing worth looking at.

The generated comments name lines of this file: after a change run `pytest tests/golden --update-golden`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[int, ...]]] = {}


def example(*args: Any, wrt: tuple[int, ...] = (0,)) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a program with its arguments."""

    def enter(fn: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[fn.__name__] = (fn, args, wrt)
        return fn

    return enter


def line(n: int) -> np.ndarray:
    """Numbers from 0.2 to 1.4."""
    return np.linspace(0.2, 1.4, n)


def grid(rows: int, columns: int) -> np.ndarray:
    """The same, in rows."""
    return line(rows * columns).reshape(rows, columns)


@example(line(3), grid(4, 3), line(4), wrt=(0,))
def loss(w, x, y):
    r = np.tanh(x @ w) - y
    return np.sum(r * r) / len(y)


@example(grid(3, 3), line(3), line(3), 4, wrt=(0, 1, 2))
def energy(W, b, x, n):
    h = x
    for t in range(n):
        h = np.tanh(W @ h + b)
    return np.sum(h * h)


@example(line(5))
def sum_of_squares(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] ** 2
    return s


@example(line(6), 0.7, wrt=(0, 1))
def recurrence(x, a):
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = a * y[i - 1] + x[i]
    return np.sum(y * y)


@example(grid(3, 3) + 3 * np.eye(3))
def cholesky_trace(A):
    n = A.shape[0]
    L = np.zeros((n, n))
    for j in range(n):
        d = A[j, j] - np.sum(L[j, :j] * L[j, :j])
        L[j, j] = np.sqrt(d)
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - np.sum(L[i, :j] * L[j, :j])) / L[j, j]
    return np.sum(L * L[0])


@example(1.3)
def branch(x):
    if x > 1.0:
        return np.sin(x) * x
    return x * x


@example(line(5), 1.0)
def stop_early(x, limit):
    s = 0.0
    for v in x:
        s += v * v
        if s > limit:
            break
    return s


@example(2.0)
def newton_root(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


@example(line(6))
def write_slices(x):
    y = x.copy()
    y[1:] += x[:-1] ** 2
    y[::2] *= 3.0
    return np.sum(y * x)


@example(grid(4, 4), 0.1, 3, wrt=(0, 1))
def diffuse(u, k, steps):
    u = u.copy()
    for t in range(steps):
        u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


@example(grid(3, 4), line(4), 2.0, wrt=(0, 1, 2))
def affine(x, b, c):
    return np.sum(np.exp(x * b + c))


@example(grid(3, 4), np.array([0, 2, 1]))
def log_likelihood(scores, labels):
    shifted = scores - np.max(scores, axis=1, keepdims=True)
    log_total = np.log(np.sum(np.exp(shifted), axis=1))
    return np.mean(log_total - shifted[np.arange(len(labels)), labels])


@example(line(5), np.array([0, 3, 3, 1]))
def gather(x, index):
    return np.sum(np.sin(x[index]) * np.arange(4.0))


@example(line(4))
def strong_zero(x):
    return np.sum(np.where(x > 0.5, np.sqrt(x), 0.0))


@example(line(4), 3)
def grow_list(x, n):
    states = []
    for k in range(n):
        x = np.sin(x) * 2.0
        states.append(x)
    return np.sum(states[-1] * states[0])


@example({"w": line(3), "b": 0.5}, grid(2, 3))
def layer(params, x):
    return np.sum(np.maximum(x @ params["w"] + params["b"], 0.0))


def rotate(x, y, angle):
    c, s = np.cos(angle), np.sin(angle)
    return c * x - s * y, s * x + c * y


@example(0.3, line(3), wrt=(0, 1))
def with_helper(angle, points):
    x, y = rotate(points, points**2, angle)
    return np.sum(x * y)


@example(line(3), line(4), wrt=(0, 1))
def join(a, b):
    both = np.concatenate([a, b * b])
    return np.sum(both[1:] * both[:-1])


@example(grid(3, 3))
def statistics(x):
    centred = x - np.mean(x, axis=0)
    return np.sum(np.var(x, axis=0) * np.prod(centred + 2.0, axis=0))


@example(line(3) * (1 + 2j))
def spectrum_power(z):
    return np.sum(np.abs(z * np.exp(0.5j * z)) ** 2)
