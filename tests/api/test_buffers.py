"""`out=`: gradients in the caller's arrays, on both targets."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.backend.native import bridge, toolchain
from pullback.errors import ArgumentError, NoCompiler

try:
    toolchain.find()
    TARGETS = ["numpy", "native"]
except NoCompiler:
    TARGETS = ["numpy"]
X = np.linspace(-1.0, 1.0, 6)
Y = np.linspace(0.5, 2.0, 6)


@pytest.fixture(params=TARGETS)
def target(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.delenv("PULLBACK_TARGET", raising=False)
    return request.param


def product(x: Any, y: Any, c: Any = 1.0) -> Any:
    return np.sum(x * y * y) * c


def test_one_gradient(target: str) -> None:
    out = np.full(6, np.nan)
    both = pb.value_and_grad(product, target=target)
    value, bar = both(X, Y, out=out)
    assert bar is out and np.isclose(value, product(X, Y))
    np.testing.assert_allclose(out, Y * Y)
    assert pb.grad(product, target=target)(X, Y + 1, out=out) is out
    np.testing.assert_allclose(out, (Y + 1) ** 2)
    assert pb.differentiable(target=target)(product).value_and_grad(X, Y, out=out)[1] is out
    np.testing.assert_allclose(out, Y * Y)
    fresh = both(X, Y, out=None)[1]
    assert fresh is not out and np.array_equal(fresh, out)


@pytest.mark.parametrize("given", [(True, True), (True, False), (False, True), (False, False)])
def test_some_of_several(target: str, given: tuple[bool, bool]) -> None:
    """Buffers of one shape: each takes its own gradient, and what has no buffer is in none."""
    buffers = tuple(np.full(6, np.nan) if wanted else None for wanted in given)
    grad = pb.grad(product, (0, 1, 2), target=target)
    for _ in range(2):
        bars = grad(X, Y, 3.0, out=(*buffers, None))
        for bar, buffer in zip(bars, buffers, strict=False):
            assert buffer is None or bar is buffer
        assert buffers[0] is None or not np.shares_memory(bars[1], buffers[0])
        assert buffers[1] is None or not np.shares_memory(bars[0], buffers[1])
        np.testing.assert_allclose(bars[0], 3 * Y * Y)
        np.testing.assert_allclose(bars[1], 6 * X * Y)
        assert np.isclose(bars[2], np.sum(X * Y * Y))


def test_structures(target: str) -> None:
    params = {"w": X, "b": 0.5, "n": 2}
    out = {"w": np.empty(6), "b": None, "n": None}
    grad = pb.grad(lambda p, x: np.sum(np.tanh(p["w"] * x + p["b"])), target=target)
    wanted = grad(params, Y)
    found = grad(params, Y, out=out)
    assert found["w"] is out["w"] and list(found) == list(wanted) and found["n"] is None
    np.testing.assert_allclose(found["w"], wanted["w"], rtol=1e-13)
    assert np.isclose(found["b"], wanted["b"])


def test_what_else_is_returned_is_in_no_buffer(target: str) -> None:
    both = pb.value_and_grad(lambda x: (np.sum(x * x), x * 3.0), has_aux=True, target=target)
    out = np.empty(6)
    (_, aux), bar = both(X, out=out)
    assert bar is out and not np.shares_memory(aux, out)
    np.testing.assert_allclose(aux, 3 * X)
    np.testing.assert_allclose(out, 2 * X)


def test_large_arrays_are_written_in_place() -> None:
    """Nothing of the gradient's size is made."""
    if "native" not in TARGETS:
        pytest.skip("no C compiler")
    x, out = np.linspace(0, 1, 50_000), np.empty(50_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PULLBACK_TARGET", raising=False)
        grad = pb.grad(lambda x: np.sum(np.tanh(x) * x), target="native")
        grad(x, out=out)
        tracemalloc.start()
        assert grad(x, out=out) is out
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert bridge.kind() != "extension" or peak < out.nbytes / 2
    np.testing.assert_allclose(out, np.tanh(x) + x / np.cosh(x) ** 2, rtol=1e-12)


def test_a_parameter_of_that_name_is_the_functions_own(target: str) -> None:
    grad = pb.grad(lambda x, out: np.sum(x * out), target=target)
    np.testing.assert_allclose(grad(X, out=Y), Y)
    grad = pb.grad(lambda x, **others: np.sum(x * others["out"]), target="numpy")
    np.testing.assert_allclose(grad(X, out=Y), Y)


READ_ONLY = np.empty(6)
READ_ONLY.setflags(write=False)


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty(5), "shape"),
        (np.empty(6, np.float32), "dtype float32"),
        (np.empty(12)[::2], "not in C order"),
        (READ_ONLY, "read-only"),
        ([0.0] * 6, "is a list"),
        (X, "shares memory with the argument `x`"),
        (X[::1], "shares memory with the argument `x`"),
    ],
)
def test_what_is_no_buffer(target: str, out: Any, message: str) -> None:
    before = X.copy()
    with pytest.raises(ArgumentError, match=message):
        pb.grad(product, target=target)(X, Y, out=out)
    assert np.array_equal(X, before)


def test_buffers_of_several_that_do_not_fit(target: str) -> None:
    grad = pb.grad(product, (0, 1, 2), target=target)
    one = np.empty(6)
    for out, message in [
        (one, "there are 3 gradients"),
        ((one, None), "there are 3 gradients"),
        ((one, one, None), "`x` and `y` share memory"),
        ((one, None, np.empty(())), "`c` is no array"),
    ]:
        with pytest.raises(ArgumentError, match=message):
            grad(X, Y, 1.0, out=out)
