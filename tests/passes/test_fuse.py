"""Fusion: how many kernels, what is in them, what stays outside."""

from __future__ import annotations

import runpy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.ir.nodes import Function
from pullback.passes.bufferize import bufferize
from pullback.passes.fuse import Fused, fuse, kernels_of

X = np.linspace(0.1, 1.0, 12)


def joint(fn: Callable[..., Any], *args: Any) -> Function:
    """The bufferised gradient function."""
    wrt = tuple(i for i, arg in enumerate(args) if isinstance(arg, np.ndarray))
    gradient = pb.differentiable(fn)._gradient(wrt)
    variant, _ = gradient.find(gradient.bind(args, {}))
    (function,) = variant.compiled.gradient_functions("joint")
    return bufferize(function).function


def kernels(fn: Callable[..., Any], *args: Any, single: bool = True) -> tuple[Fused, ...]:
    return kernels_of(fuse(joint(fn, *args), single=single))


def sum_of_sines(x: Any) -> Any:
    return np.sum(np.sin(x - 1))


def chain(x: Any) -> Any:
    return np.sum(((x + 1) * 2 - 3) ** 2 / 4)


@pytest.mark.parametrize("fn", [sum_of_sines, chain])
def test_a_chain_is_one_kernel_forward_and_one_backward(fn: Callable[..., Any]) -> None:
    assert len(kernels(fn, X)) == 1
    assert len(kernels(fn, X, single=False)) <= 1


def test_a_kernel_is_named_after_what_it_makes() -> None:
    (found,) = kernels(chain, X)
    assert found.name == "fused_x_bar"
    assert found.loc.text.strip().startswith("return np.sum(")
    assert "np.sum" in found.operations
    assert found.space == ("n",)


def softmax(x: Any) -> Any:
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum((e / np.sum(e, axis=1, keepdims=True)) ** 2)


def test_a_reduction_splits_the_chain_that_reads_it() -> None:
    for found in kernels(softmax, X.reshape(3, 4)):
        made = set()
        for stmt in found.kernel.function.body.stmts:
            operands = {x for x in stmt.args if x in made}
            assert not operands
            if stmt.op.name in ("np.sum", "np.max"):
                made.update(stmt.targets)


def shifted(x: Any) -> Any:
    a = x * 1.0
    a[1:] = a[:-1] * 2.0
    return np.sum(a * a)


def test_a_store_that_may_overlap_what_is_read_stays_apart() -> None:
    for found in kernels(shifted, X):
        assert not {"store", "*"} <= set(found.operations)


def same_places(x: Any) -> Any:
    a = np.zeros(len(x))
    a[1:] = x[1:]
    a[1:] = a[1:] * x[:-1] + 1.0
    return np.sum(a)


def test_a_store_where_its_value_is_read_goes_along() -> None:
    assert any({"store", "*", "+"} <= set(found.operations) for found in kernels(same_places, X))


def unrolled(count: int) -> str:
    """A chain of so many links in a module of its own."""
    lines = ["import numpy as np", "def chain(x):", "    y = x"]
    lines += [f"    y = np.sin(y * {k + 1}.5) + x" for k in range(count)]
    return "\n".join([*lines, "    return np.sum(y)", ""])


def test_operations_grow_with_the_chain_and_kernels_do_not(tmp_path: Path) -> None:
    found = []
    for count in (10, 20, 40):
        path = tmp_path / f"chain{count}.py"
        path.write_text(unrolled(count))
        namespace = runpy.run_path(str(path))
        (kernel,) = kernels(namespace["chain"], X)
        found.append(len(kernel.operations))
    assert found[2] - found[1] == 2 * (found[1] - found[0])
    assert found[2] < 12 * 40


def many(x: Any, a: Any) -> Any:
    r = np.tanh(a * x + 1.0) * np.exp(-x * x) / (1.0 + x * x)
    return np.sum(r * r) + np.max(r)


def warned(x: Any) -> Any:
    r = np.log(x) * 2.0 + x * x - 1.0
    return np.sum(np.sqrt(r * r + 1.0) * r)


@pytest.mark.parametrize("n", [1, 5, 32_768, 40_001, 100_000])
def test_blocks_give_what_plain_expressions_do(n: int) -> None:
    x = np.cos(np.arange(float(n))) * 2.0
    value, (x_bar, a_bar) = pb.value_and_grad(many, argnums=(0, 1))(x, 1.5)
    plain, (x_plain, a_plain) = pb.value_and_grad(many, argnums=(0, 1), readable=True)(x, 1.5)
    np.testing.assert_allclose(value, plain, rtol=1e-12)
    np.testing.assert_allclose(x_bar, x_plain, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(a_bar, a_plain, rtol=1e-10)


def test_blocks_of_rows() -> None:
    def rows(m: Any, v: Any) -> Any:
        r = (np.sin(m * v) + m * m) / (2.0 + np.cos(v))
        return np.sum(r * r * r) + np.sum(np.exp(-r) * r)

    for shape in ((40_000, 3), (3, 40_000), (500, 100)):
        m = np.cos(np.arange(float(np.prod(shape)))).reshape(shape)
        for given in (m, np.asfortranarray(m), m[::-1]):
            v = np.arange(1.0, shape[1] + 1)
            value, bars = pb.value_and_grad(rows, argnums=(0, 1))(given, v)
            plain, expected = pb.value_and_grad(rows, argnums=(0, 1), readable=True)(given, v)
            np.testing.assert_allclose(value, plain, rtol=1e-12)
            for bar, want in zip(bars, expected, strict=True):
                np.testing.assert_allclose(bar, want, rtol=1e-10, atol=1e-11)


def test_the_forward_half_of_a_kernel_warns_as_numpy_does_and_the_reverse_half_does_not() -> None:
    x = np.ones(50_000)
    x[41_000] = 0.0
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in log"):
        pb.grad(warned)(x)
    x[41_000] = 2.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pb.grad(warned)(x)


def test_lengths_that_do_not_broadcast_raise_what_numpy_raises() -> None:
    def apart(x: Any, y: Any) -> Any:
        r = np.sin(x * y) + x * y + np.cos(x) * y * y
        return np.sum(r * r + np.exp(r) * r)

    x, y = np.ones(50_000), np.ones(8_192)
    with pytest.raises(ValueError, match="broadcast"):
        pb.grad(apart)(x, y)
    assert pb.grad(apart)(x, np.ones(1)).shape == (50_000,)


def test_readable_source_has_plain_expressions() -> None:
    gradient = pb.value_and_grad(many)
    assert "in_blocks" in gradient.source(X, 1.5)
    assert "in_blocks" not in gradient.source(X, 1.5, readable=True)
    assert "in_blocks" not in pb.value_and_grad(many, readable=True).source(X, 1.5)
    assert "in_blocks" not in pb.differentiable(readable=True)(many).source(X, 1.5)
    assert "in_blocks" not in pb.compile(many, "x: f8[n], a: float", readable=True).source


def test_a_module_ahead_of_time_has_its_kernels() -> None:
    module = pb.compile(many, "x: f8[n], a: float")
    assert "def in_blocks(" in module.source
    x = np.cos(np.arange(50_000.0))
    value, x_bar = module.load().many_value_and_grad(x, 1.5)
    plain, expected = pb.value_and_grad(many, readable=True)(x, 1.5)
    np.testing.assert_allclose(value, plain, rtol=1e-12)
    np.testing.assert_allclose(x_bar, expected, rtol=1e-12, atol=1e-15)


def test_explain_lists_kernels() -> None:
    found = pb.value_and_grad(many).explain(X, 1.5)
    assert sum(f.operations.count("np.tanh") for f in found.blocks) == 1
    assert all(f.space == ("n",) and f.line for f in found.blocks)
    assert found.blocks[0].name in str(found)
    assert found.as_dict()["blocks"][0]["name"] == found.blocks[0].name
