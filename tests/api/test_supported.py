"""The table of what is supported and what is refused, in the README: each row by programs."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import math
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import pullback as pb

README = Path(__file__).parents[2] / "README.md"
X = np.array([0.5, -1.25, 2.0])
OUTSIDE = np.zeros(3)


def test_rows() -> None:
    rows = re.findall(r"^\| \*\*(.+?)\*\* \|", README.read_text(), re.MULTILINE)
    assert rows == [*SUPPORTED], "a row of the README without programs, or the other way round"
    assert set(REFUSED) == set(SUPPORTED)


def statements(x):
    first, *rest = x
    s = 0.0
    for v in rest:
        if v > 5:
            continue
        s += v * first
    else:
        s *= 2
    n = 0
    while True:
        n += 1
        if (t := s * n) > 3.1 or n > 4:
            break
    match n:
        case 1 | 2:
            s = s + 1
        case _:
            s = s * 2
    assert n > 0, f"{n} turns"
    with np.errstate(all="ignore"):
        s = s / 3
    print(end="")
    return s + t if n else s


class Rows:
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return iter(self.rows)


def loops(x):
    s = 0.0
    for i, (a, b) in enumerate(zip(x, reversed(x), strict=False)):
        s += a * b * i
    for key, v in {"a": x[0], "bc": x[1]}.items():
        s += v * len(key)
    for a in Rows(x):
        s += a**2
    while s > 1.5:
        s /= 2
    return s + sum(v * v for v in x if v > 0) + max([abs(v) for v in x])


def writes(x):
    y, z = x.copy(), np.zeros((2, 3))
    y[1:] += y[:-1]
    y[y > 1.1] *= 2
    y[[0, 0]] = [y[1], y[2]]
    np.multiply(y, x, out=z[0])
    np.add.at(z, ([0, 0], [1, 1]), y[:2])
    z.T[2, 1] = y[0]
    row = z[1]
    row[0] = x[0] ** 2
    y.sort()
    np.copyto(z[1], y, where=y > 0)
    y[::-1] -= x
    return np.sum(z * z) + y @ y


class Gain:
    def __init__(self, k):
        self.k = k

    def apply(self, x):
        return self.k * x

    @property
    def twice(self):
        return 2 * self.k


class Shifted(Gain):
    def apply(self, x):
        return super().apply(x) + x

    def __call__(self, x):
        return self.apply(x)


@functools.lru_cache
def squared(a):
    return a * a


def calls(x, k):
    gain = Shifted(k)

    def inner(v, *more, w=1.0, **named):
        return v * k * w + sum(more) + named["q"]

    bound = functools.partial(inner, w=k)
    total = gain(x).sum() + gain.twice + bound(x[0], x[1], q=x[2]) + squared(x[1])
    return total + sum(map(lambda v: v * k, x)) + functools.reduce(lambda a, b: a * b, x) + math.sin(x[0])


def newton(x, y):
    better = y - (y * y - x) / (2 * y)
    return better if abs(better - y) < 1e-12 else newton(x, better)


def even(x, n):
    return x if n == 0 else odd(x * x, n - 1)


def odd(x, n):
    return 2 * x if n == 0 else even(x + 1, n - 1)


def tree_sum(tree, x):
    return tree_sum(tree[0], x) + tree_sum(tree[1], 1.5 * x) if isinstance(tree, tuple) else tree * x


def recursion(x, n):
    return newton(x, 1.0) + even(x, n) + tree_sum((1.0, (2.0, 3.0)), x)


class Pair(NamedTuple):
    a: float
    b: np.ndarray


@dataclasses.dataclass
class Record:
    a: float
    b: np.ndarray


def data(pair, record, nested):
    grown = []
    for i in range(3):
        grown.append(pair.a * pair.b[i] * record.b[i])
    grown.pop()
    sums = collections.defaultdict(float)
    sums["k"] += record.a
    last = collections.deque(maxlen=2)
    last.append(pair.b)
    nested["u"][0][0] = 2.0
    record.a *= 2
    return sum(grown) + sums["k"] * last[0].sum() + (nested["u"][0] ** 2).sum() * nested["u"][1][0] + record.a


def numpy_functions(x):
    a = np.outer(x, x) + 3 * np.eye(3)
    draws = np.random.default_rng(0).normal(size=3)
    return (
        np.interp(0.3, [0, 1, 2], x)
        + np.einsum("i,ij,j", x, a, x)
        + np.linalg.slogdet(a)[1]
        + np.linalg.solve(a, x).sum()
        + np.median(x)
        + (np.abs(np.fft.rfft(x)) ** 2).sum()
        + np.where(x > 0, np.hypot(x, 1), np.expm1(x)).sum()
        + np.concatenate([x, np.cumsum(x), np.sort(x)[:2]]).std()
        + draws @ x
    )


def derivatives(x, z):
    return np.sum(np.abs(z) ** 2) * np.sum(x * x) + np.real(np.exp(z)).sum()


SUPPORTED: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "Statements": (statements, (X,)),
    "Loops": (loops, (X,)),
    "Writes": (writes, (X,)),
    "Calls": (calls, (X, 2.0)),
    "Recursion": (recursion, (1.1, 3)),
    "Data": (data, (Pair(1.5, X), Record(2.0, X + 1), {"u": [X + 2, (2.0, 3)]})),
    "NumPy": (numpy_functions, (X,)),
    "Derivatives": (derivatives, (X, np.array([1 + 2j, 3 - 1j]))),
}


@pytest.mark.parametrize("row", SUPPORTED)
def test_supported(row: str) -> None:
    f, args = SUPPORTED[row]
    pb.check_gradients(f, *args)


def trying(x):
    try:
        return x.sum()
    finally:
        pass


def suppressing(x):
    with contextlib.suppress(ValueError):
        return x.sum()


def to_global(x):
    global OUTSIDE
    OUTSIDE = x
    return x.sum()


def inner_class(x):
    class Local:
        pass

    return x.sum()


def matching(x):
    match [1, 2]:
        case [a, *_]:
            return x.sum() * a
    return x.sum()


def generating(x):
    def items():
        yield x[0]

    return sum(items())


def storing_outside(x):
    OUTSIDE[:] = x
    return OUTSIDE.sum()


def one_or_the_other(x):
    a, b = x.copy(), x.copy()
    c = a if x[0] > 0 else b
    c[0] = 3.0
    return a.sum() * b.sum() * c.sum()


def flat(x):
    y = x.copy()
    y.flat[0] = 1.0
    return y.sum()


def strided(x):
    return np.lib.stride_tricks.as_strided(x, (2, 2), (8, 8)).sum()


def nditer(x):
    return sum(v for v in np.nditer(x))


def viewed(x):
    return x.view(np.int64).sum() * x[0]


def compiled_code(x):
    return x.sum() * zlib.crc32(x)


def push(items, x):
    if x > 10.0:
        return 0.0
    items.append(x)
    return push(items, 2 * x)


def growing_recursion(x):
    items: list[Any] = []
    push(items, x[0])
    return sum(items)


def set_of_active(x):
    return sum({x[0], x[1]})


REFUSED: dict[str, list[tuple[Callable[..., Any], Any]]] = {
    "Statements": [(f, X) for f in (trying, suppressing, to_global, inner_class, matching)],
    "Loops": [(generating, X)],
    "Writes": [(f, X) for f in (storing_outside, one_or_the_other, flat, strided, nditer, viewed)],
    "Calls": [(compiled_code, X)],
    "Recursion": [(growing_recursion, X)],
    "Data": [(set_of_active, X), (np.sum, np.array([1.0, "a"], dtype=object))],
    "NumPy": [
        (lambda x: np.poly(x).sum(), X),
        (lambda x: np.linalg.lstsq(np.outer(x, x), x, rcond=None)[0].sum(), X),
    ],
    "Derivatives": [(lambda x: pb.grad(lambda y: y**3)(x), 2.0), (lambda x: 2.0 * x, 3)],
}


@pytest.mark.parametrize(
    ("f", "arg"),
    [pytest.param(*case, id=f"{row}-{i}") for row in REFUSED for i, case in enumerate(REFUSED[row])],
)
def test_refused(f: Any, arg: Any) -> None:
    with pytest.raises(pb.PullbackError, match="way out: "):
        pb.grad(f)(arg)


def test_a_write_that_cannot_be_followed_is_an_alias_error() -> None:
    with pytest.raises(pb.AliasError, match="may share memory with `b`, by the path taken"):
        pb.grad(one_or_the_other)(X)
