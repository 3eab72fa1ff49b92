"""Functions of numbers at each element (`np.vectorize`, `pb.broadcast`, comprehensions): C loops, as NumPy has them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.native.against import LAYOUTS, Both, laid_out, single
from tests.native.subjects import need_compiler

import pullback as pb
from pullback.backend.native.emit.errors import Untaken
from pullback.errors import UnsupportedError
from pullback.ir.interp import run
from pullback.ir.kernel import kernel_of
from pullback.ir.mapped import mapped_of
from pullback.ir.nodes import Call
from pullback.ir.walk import statements
from pullback.passes.lengths import assume_lengths
from pullback.passes.mapping import map_loops

need_compiler()
X = np.array([-1.3, -0.3, 0.2, 0.9, 1.7, 2.6, -2.2])
ODD = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0])
Y = np.array([0.5, -0.7, 1.1])


def newton(x: Any) -> Any:
    y = x * x + 1.0
    for _ in range(8):
        y = y - (y * y - 2.0 - x * x) / (2.0 * y)
    return y


def huber(r: Any) -> Any:
    if r < -1.0:
        return -r - 0.5
    elif r > 1.0:
        return r - 0.5
    return 0.5 * r * r


def escape(c: Any) -> Any:
    z, n = c, 0
    while z * z < 4.0 and n < 20:
        z = z * z + c
        n += 1
    return z * n


def series(x: Any) -> Any:
    term = out = 1.0
    for k in range(1, 9):
        term = term * x / k
        out += term
        if abs(term) < 1e-3:
            break
    return out


def pair(a: Any, b: Any) -> Any:
    if a > b:
        return math.sin(a) * b
    return math.exp(b - a) * a


def masked(x: Any) -> Any:
    return math.log(x) * x if x > 0 else 0.0


def whole(k: Any) -> Any:
    return k * k % 7


def of_one(x: Any, y: Any) -> Any:
    return np.sum(np.vectorize(newton)(x) * x)


def of_a_difference(x: Any, y: Any) -> Any:
    return np.sum(pb.broadcast(huber, x - 0.3) ** 2)


def of_while(x: Any, y: Any) -> Any:
    return np.sum(np.vectorize(escape)(x / 4.0))


def of_two_shapes(x: Any, y: Any) -> Any:
    return np.sum(pb.broadcast(pair, x[:, None], y) * y)


def of_a_mask(x: Any, y: Any) -> Any:
    return np.sum(np.vectorize(masked)(x))


def with_a_number(x: Any, y: Any) -> Any:
    return np.sum(pb.broadcast(pair, y[0], x)) + np.sum(pb.broadcast(pair, x, 0.25))


def with_what_is_outside(x: Any, y: Any) -> Any:
    scale = y[1] * 2.0

    def f(v: Any) -> Any:
        return v * scale if v > scale else scale**2

    return np.sum(np.vectorize(f)(x))


def before_a_sum(x: Any, y: Any) -> Any:
    z = pb.broadcast(series, x)
    return np.max(z / np.sum(z)) + np.sum(np.exp(z - np.max(z)))


def after_another(x: Any, y: Any) -> Any:
    return np.sum(np.vectorize(huber)(np.vectorize(series)(x)) * np.vectorize(newton)(x))


def of_a_matrix(x: Any, y: Any) -> Any:
    m = x[:, None] * y
    return np.sum(np.sum(np.vectorize(huber)(m.T), axis=0) ** 2) + np.sum(pb.broadcast(series, m)[1:, ::2])


def in_a_loop(x: Any, y: Any) -> Any:
    for _ in range(3):
        x = np.vectorize(huber)(x) + y[0] * x
    return np.sum(x * x)


def of_integers(x: Any, y: Any) -> Any:
    k = np.arange(len(x))
    return np.sum(np.vectorize(whole)(k) * x)


def comprehension(x: Any, y: Any) -> Any:
    return np.sum(np.array([newton(v) * y[0] for v in x]) * x)


def two_lists(x: Any, y: Any) -> Any:
    first, second = [], []
    z = x * 2.0
    for i in range(len(x)):
        first.append(huber(x[i]) * z[i])
        second.append(masked(z[i]) * y[1] + np.sum(y * y))
    return np.sum(np.array(first) * np.array(second))


def scanned(x: Any, y: Any) -> Any:
    def f(v: Any) -> Any:
        history = [v]
        for k in range(4):
            history.append(math.tanh(history[-1]) + history[k] * 0.5)
        return history[-1] * history[1]

    return np.sum(np.vectorize(f)(x))


PROGRAMS: tuple[Callable[..., Any], ...] = (
    of_one, of_a_difference, of_while, of_two_shapes, of_a_mask, with_a_number, with_what_is_outside, before_a_sum,
    after_another, of_a_matrix, in_a_loop, of_integers, comprehension, two_lists, scanned,
)  # fmt: skip
programs = pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled quickly."""
    monkeypatch.setenv("PULLBACK_CFLAGS", os.environ.get("PULLBACK_CFLAGS", "-O0"))


@cache
def both_of(program: Callable[..., Any]) -> Both:
    """A program by both targets, compiled once."""
    return Both(program, (0, 1))


def mapped(program: Callable[..., Any], *args: Any) -> int:
    """How many functions of numbers the native version of a program has."""
    variant = both_of(program).entry(args)[0].variant
    body = variant.compiled.native("value_and_grad").function.body
    kernels = [kernel_of(s) for s in statements(body) if isinstance(s, Call)]
    inner = [s for k in kernels if k is not None for s in statements(k.function.body)]
    return sum(isinstance(s, Call) and mapped_of(s) is not None for s in inner)


@programs
def test_as_numpy(program: Callable[..., Any]) -> None:
    both = both_of(program)
    assert both.compare((X, Y)) == ""
    for layout in LAYOUTS.values():
        assert both.compare((X, Y), layout) == ""
    for args in (single((X, Y)), (np.zeros(0), Y), (np.zeros(1), Y), (ODD, Y)):
        try:
            both.compare(args)
        except (Untaken, UnsupportedError):
            assert args[0].dtype == np.float32  # what a branch gives may then be of another dtype


@programs
def test_is_mapped(program: Callable[..., Any]) -> None:
    assert mapped(program, X, Y) >= 1


@programs
def test_means_the_same(program: Callable[..., Any]) -> None:
    variant = both_of(program).entry((X, Y))[0].variant
    function = map_loops(variant.compiled.lowered.function)
    assert function is not variant.compiled.lowered.function
    (value,) = run(assume_lengths(function), (X, Y))
    assert np.isclose(value, program(X, Y), rtol=1e-13)


@programs
def test_differences(program: Callable[..., Any]) -> None:
    entry = both_of(program).entry((X, Y))[0]
    _, gradients = entry.run(X, Y)
    for k, gradient in enumerate(gradients):
        for i in range(len(gradient)):
            ends = []
            for step in (1e-6, -1e-6):
                args = laid_out((X, Y), np.copy)
                args[k][i] += step
                ends.append(program(*args))
            assert abs(gradient[i] - (ends[0] - ends[1]) / 2e-6) < 1e-6 * max(1.0, abs(gradient[i]))


def test_one_loop_for_value_and_gradient() -> None:
    """The function and its reverse are one kernel, and nothing of the tape is an array."""
    variant = Both(of_one, (0,)).entry((X, Y))[0].variant
    kernels = [
        kernel_of(s)
        for s in statements(variant.compiled.native("value_and_grad").function.body)
        if isinstance(s, Call)
    ]
    assert len([k for k in kernels if k is not None]) == 1


def test_errors_are_numpys_with_the_line() -> None:
    def logarithm(x: Any) -> Any:
        return math.log(x)

    def loss(x: Any) -> Any:
        return np.sum(np.vectorize(logarithm)(x))

    gradient = pb.value_and_grad(loss, target="native")
    large = np.linspace(1.0, 2.0, 100_000)
    value, _ = gradient(large)
    assert np.isclose(value, np.sum(np.log(large)))
    large[70_000] = -1.0
    with pytest.raises(ValueError) as caught:
        gradient(large)
    assert "test_elementwise.py" in "".join(getattr(caught.value, "__notes__", [])) or caught.traceback
    large[70_000] = 1.0
    assert np.isclose(gradient(large)[0], np.sum(np.log(large)))


def test_the_same_bits_for_any_number_of_threads() -> None:
    def loss(x: Any, c: Any) -> Any:
        return np.sum(pb.broadcast(lambda v: series(v) * c if v < c else newton(v), x))

    x = np.sin(np.arange(200_000.0))
    found = [pb.value_and_grad(loss, (0, 1), target="native", threads=n)(x, 0.3) for n in (1, 2, 4)]
    for value, (x_bar, c_bar) in found[1:]:
        assert value == found[0][0] and c_bar == found[0][1][1]
        assert x_bar.tobytes() == found[0][1][0].tobytes()


def raising(x: Any) -> Any:
    def f(v: Any) -> Any:
        if v > 100.0:
            raise ValueError("too large")
        return v * v

    return np.sum(np.vectorize(f)(x))


def recursive(x: Any) -> Any:
    def power(v: Any, n: Any) -> Any:
        return 1.0 if n == 0 else v * power(v, n - 1)

    return np.sum(np.vectorize(lambda v: power(v, 3))(x))


def of_neighbours(x: Any) -> Any:
    return np.sum(np.array([x[i] * x[i - 1] for i in range(len(x))]))


def with_the_number_of_an_element(x: Any) -> Any:
    return np.sum(np.array([v * i for i, v in enumerate(x)]))


def with_vectors(x: Any) -> Any:
    return np.sum(np.vectorize(lambda v: np.sum(np.sin(x * v)))(x))


def of_a_prefix(x: Any) -> Any:
    return np.sum(np.array([x[i] ** 2 for i in range(3)]))


def kept_as_a_list(x: Any) -> Any:
    found = [huber(v) for v in x]
    return np.sum(np.array(found)) * found[0] + len(found)


@pytest.mark.parametrize(
    "program",
    (
        raising,
        recursive,
        of_neighbours,
        with_the_number_of_an_element,
        with_vectors,
        of_a_prefix,
        kept_as_a_list,
    ),
    ids=lambda f: f.__name__,
)
def test_other_loops_are_as_numpy(program: Callable[..., Any]) -> None:
    assert Both(program, (0,)).compare((X,)) == ""


def test_raise_of_the_user() -> None:
    with pytest.raises(ValueError, match="too large"):
        pb.value_and_grad(raising, target="native")(np.array([1.0, 200.0]))
