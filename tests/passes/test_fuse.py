"""Fusion: how many kernels, what is in them, what stays outside."""

from __future__ import annotations

from collections.abc import Callable
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
    assert len(kernels(fn, X, single=False)) == 2


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
