"""Loops over slices whose bounds only the run time knows: what becomes one kernel, and that it stays right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from differences import numerical_gradients
from pullback.backend.native.emit.module import emit_native
from pullback.ir.nodes import Call, For, Function
from pullback.ir.slices import slice_lengths
from pullback.ir.walk import statements
from pullback.passes import optimize
from pullback.passes.fuse import Fused, kernels_of
from pullback.passes.lengths import assume_lengths
from pullback.styles.style import Array
from pullback.transform.choose import Choices
from pullback.transform.gradient import joint

RNG = np.random.default_rng(7)
A, B, V = RNG.random((5, 5)) + np.eye(5), RNG.random((5, 3)), RNG.random(6)


def fused(function: Any, *args: Any) -> Function:
    """The gradient of a function as C has it."""
    gradient = pb.differentiable(function)._gradient(tuple(range(len(args))))
    variant, _ = gradient.find(gradient.bind(args, {}))
    primal = optimize(assume_lengths(variant.compiled.lowered.function))
    return emit_native(optimize(joint(primal, variant.compiled.request, Choices("default")))).function


def in_reverse(function: Any, *args: Any) -> list[Fused]:
    """The kernels that add to parts."""
    kernels = kernels_of(fused(function, *args))
    return [k for k in kernels if "add_at" in k.operations and {"*", "scale"} & set(k.operations)]


def check(function: Any, *args: Any) -> None:
    """The gradients of both targets, beside differences."""
    wrt = tuple(range(len(args)))
    wanted = [leaves[0] for leaves in numerical_gradients(function, args, wrt, 1.0)]
    for target in ("numpy", "native"):
        found = pb.grad(function, argnums=wrt, target=target)(*args)
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


def triangular_product(A: Any, B: Any) -> Any:
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    return np.sum(B * B)


def elimination(A: Any) -> Any:
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]
    return np.sum(A * A)


def rank_one(A: Any, B: Any) -> Any:
    for i in range(A.shape[0]):
        for k in range(B.shape[1]):
            A[i, : i + 1] += 1.5 * B[i, k] * B[: i + 1, k]
    return np.sum(A * A)


@pytest.mark.parametrize(
    "function, args, wanted", [(triangular_product, (A, B), 1), (elimination, (A,), 2), (rank_one, (A, B), 2)]
)
def test_products_and_the_additions_of_them_are_one_loop(function: Any, args: Any, wanted: int) -> None:
    found = in_reverse(function, *args)
    assert len(found) == wanted
    for kernel in found:
        made = [x for x in kernel.kernel.function.results if isinstance(x.style, Array)]  # type: ignore[union-attr]
        assert (
            len(made) == kernel.operations.count("add_at") or kernel.kernel.apart
        )  # nothing but what is added to
    check(function, *args)


def test_additions_that_are_apart_are_known_to_be() -> None:
    assert all(kernel.kernel.apart for kernel in in_reverse(elimination, A))


def rows_that_may_be_one(A: Any, V: Any) -> Any:
    k = 1
    for i in range(4):
        V[i] += A[i, :i] @ A[k, :i]
        k = (k + 2) % 5
    return np.sum(V * V)


def test_additions_that_may_meet_are_not() -> None:
    assert not any(kernel.kernel.apart for kernel in in_reverse(rows_that_may_be_one, A, V))
    check(rows_that_may_be_one, A, V)


def one_is_broadcast(A: Any, V: Any) -> Any:
    for i in range(1, 5):
        A[i, :i] += V[:1] * 2.0
        A[:i, i] = V[i : i + 1] * V[0]
        V[:i] *= V[i : i + 1]
    return np.sum(A * A)


def cut_short(A: Any, V: Any) -> Any:
    for i in range(9):  # beyond the end of both
        A[2, : i - 2] *= 1.1
        V[i:] = V[i:] * 0.5 + A[3, 4] * V[i:]
    return np.sum(A * A) + np.sum(V * V)


def from_the_end(A: Any, V: Any) -> Any:
    for i in range(1, 4):
        A[i, -i:] += V[-i:] * V[:i]
        A[i, ::2] *= V[:: 2 + i // 9][: A[i, ::2].shape[0]]
        V[i::-1] = V[i::-1] * A[0, 0]
    return np.sum(A * A) + np.sum(V * V)


def bounds_that_move(A: Any, V: Any) -> Any:
    k = 1
    for i in range(3):
        left = V[:k] * 2.0
        k = k + 1
        A[i, :k] += np.sum(left) * V[:k]
        left = V[:k] * A[i, :k]
        A[i, :k] = left * left
    return np.sum(A * A)


def in_branches(A: Any, V: Any) -> Any:
    for i in range(1, 5):
        if V[i] > 0.5:
            A[i, :i] += V[:i] * 2.0
        else:
            A[:i, i] -= V[:i] * A[i, :i]
        A[i, :i] *= V[:i]
    return np.sum(A * A)


def shifted(A: Any, V: Any) -> Any:
    for i in range(1, 4):
        V[i + 1 :] += V[i:-1] * A[i, i]
        A[i, :i] = A[i - 1, :i] * A[i, 0] + A[i, 1 : i + 1]
    return np.sum(A * A) + np.sum(V * V)


def neighbours_that_meet(A: Any, V: Any) -> Any:
    for i in range(1, 4):
        A[1:4, i] = V[1:4] * A[2:5, i] + A[1:4, i - 1]
        A[i, 1:4] = A[i, 2:5] * V[1:4] + A[i, 0:3] + A[i - 1, 1:4]
        A[i, :i] = A[i, 1 : i + 1] * A[i - 1, :i]
    return np.sum(A * A)


def moves_and_clears(A: Any, V: Any) -> Any:
    for i in range(1, 4):
        A[i, :] = A[i - 1, :]
        A[i - 1, 1:] = 0.0
        V[:i] = A[i, :i] * V[i : 2 * i][: V[:i].shape[0]]
        V[i:] += V[:1]
        V[0] = V[i] * V[i - 1]
    return np.sum(A * A) + np.sum(V * V)


@pytest.mark.parametrize(
    "function",
    [
        one_is_broadcast,
        cut_short,
        from_the_end,
        bounds_that_move,
        in_branches,
        shifted,
        neighbours_that_meet,
        moves_and_clears,
    ],
)
def test_slices_of_every_kind(function: Any) -> None:
    check(function, A, V)


def forward_and_back(A: Any, V: Any) -> Any:
    p, q = np.zeros_like(A), np.zeros_like(A)
    q[1:-1, 0] = V[0]
    for j in range(1, A.shape[1] - 1):
        below = 0.3 * p[1:-1, j - 1] + 4.0
        p[1:-1, j] = V[1] / below
        q[1:-1, j] = (A[1:-1, j] - 0.3 * q[1:-1, j - 1]) / below
    for j in range(A.shape[1] - 2, 0, -1):
        A[1:-1, j] = p[1:-1, j] * A[1:-1, j + 1] + q[1:-1, j]
    return np.sum(A * A)


def test_a_place_that_is_read_and_cleared_and_its_neighbour_are_one_loop() -> None:
    function = fused(forward_and_back, A, V)
    loops = [s for s in function.body.stmts if isinstance(s, For)][2:]
    assert [sum("fused" in s.op.name for s in x.body.stmts if isinstance(s, Call)) for x in loops] == [1, 1]
    check(forward_and_back, A, V)


def too_long(A: Any, V: Any) -> Any:
    for i in range(1, 5):
        A[i, :i] += V[: i + 1] * 2.0
    return np.sum(A)


@pytest.mark.parametrize("target", ["numpy", "native"])
def test_lengths_that_do_not_fit_raise(target: str) -> None:
    with pytest.raises(ValueError, match="broadcast"):
        pb.grad(too_long, argnums=(0, 1), target=target)(A, V)


def named(x: Any, y: Any, i: int, j: int) -> Any:
    a = x[:i], x[0:i], x[:i:1], x[:i][:], x[:j], x[1:i], x[:i:2], x[:i:2], x[:i][:j], x[:i][:j], y[:i]
    return sum(np.sum(v * v) for v in a)


def test_names_of_lengths() -> None:
    gradient = pb.differentiable(named)._gradient((0, 1))
    variant, _ = gradient.find(gradient.bind((V, V, 3, 2), {}))
    function = variant.compiled.lowered.function
    found = slice_lengths(function)
    loads = [s for s in statements(function.body) if isinstance(s, Call) and s.op.name == "load"]
    styles = [found.named(s.targets[0].style, s.args[0], s.args[1:]) for s in loads]
    axes = [style.axes[0] for style in styles if isinstance(style, Array) and style.axes]
    assert len(set(axes)) == 6
