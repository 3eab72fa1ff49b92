"""Products of vectors, matrices and stacks of them, and sums of products: results are NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.native.entries import entry, module_of
from tests.native.subjects import need_compiler

import pullback as pb

need_compiler()
RNG = np.random.default_rng(3)


def products(a: Any, b: Any, u: Any, v: Any) -> Any:
    return a @ b, u @ v, a @ v, u @ a, a.T @ a, np.dot(a, b), b.T @ v, a @ b @ a


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "complex64"])
@pytest.mark.parametrize("m,n", [(3, 3), (1, 4), (17, 6), (40, 5), (0, 3), (300, 2)])
def test_of_matrices_and_vectors(dtype: str, m: int, n: int) -> None:
    def made(*shape: int) -> Any:
        x = RNG.standard_normal(shape)
        return (x + 1j * RNG.standard_normal(shape) if dtype[0] == "c" else x).astype(dtype)

    args = made(m, m), made(m, m), made(m), made(m)
    native = module_of(products, *args)
    assert not [name for name, _ in native.hosted if name not in ("np.matmul", "@", "np.dot")]
    run = entry(products, *args)
    for a in (
        args[0],
        np.asfortranarray(args[0]),
        np.repeat(args[0], 2, axis=1)[:, ::2],
        args[0][::-1, ::-1],
    ):
        close(run(a, *args[1:]), products(a, *args[1:]), dtype)


def close(got: Any, wanted: Any, dtype: str) -> None:
    bound = 1e-4 if dtype in ("float32", "complex64") else 1e-12
    for x, y in zip(got, wanted, strict=True):
        assert np.shape(x) == np.shape(y) and np.asarray(x).dtype == np.asarray(y).dtype
        np.testing.assert_allclose(x, y, rtol=bound, atol=bound * np.max(np.abs(y), initial=1.0))


def stacks(p: Any, q: Any, w: Any) -> Any:
    return (
        p @ w, p @ q, np.matmul(p, q[0]), np.swapaxes(p, 1, 2) @ p, p[:1] @ q,
        np.tensordot(p, q, axes=((0, 2), (0, 1))), np.tensordot(p, w, axes=1), np.tensordot(w, w.T, axes=0),
        np.einsum("abc,acd->abd", p, q), np.einsum("abc,acd->db", p, q), np.einsum("ab,cd -> dacb", w, w),
    )  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_of_stacks(dtype: str, n: int) -> None:
    p, q, w = (RNG.standard_normal(s).astype(dtype) for s in ((n, 3, 7), (n, 7, 4), (7, 2)))
    assert not module_of(stacks, p, q, w).hosted
    run = entry(stacks, p, q, w)
    close(run(p, q, w), stacks(p, q, w), dtype)
    turned = np.asfortranarray(p)
    close(run(turned, q[:, ::-1], w), stacks(turned, q[:, ::-1], w), dtype)


def windows(image: Any, weights: Any) -> Any:
    """Windows of an image summed up with weights, as a network does."""
    k = weights.shape[0]
    total = 0.0
    for i in range(image.shape[1] - k + 1):
        part = image[:, i : i + k, :, None] * weights[None]
        total = total + np.sum(np.sum(part, axis=(1, 2)) ** 2)
    return total


def windows_bar(image: Any, weights: Any) -> Any:
    out = np.zeros_like(weights)
    k = weights.shape[0]
    for i in range(image.shape[1] - k + 1):
        part = image[:, i : i + k]
        out += 2 * np.einsum("akc,as->kcs", part, np.einsum("akc,kcs->as", part, weights))
    return out


@pytest.mark.parametrize("shape", [(2, 7, 3, 2, 5), (3, 9, 1, 4, 1), (1, 4, 2, 3, 9), (9, 5, 4, 2, 17)])
def test_a_kernel_of_sums_of_products(shape: tuple[int, ...]) -> None:
    n, rows, c, k, s = shape
    image, weights = RNG.standard_normal((n, rows, c)), RNG.standard_normal((k, c, s))
    gradient = pb.grad(windows, argnums=1, target="native")
    np.testing.assert_allclose(gradient(image, weights), windows_bar(image, weights), rtol=1e-12, atol=1e-11)


def weighed(x: Any, w: Any, mask: Any) -> Any:
    y = np.sum(x[:, :, None] * w[None, :, :], axis=1)
    return np.sum(np.where(mask, y, 0.0))


def test_a_cotangent_of_zero_is_stronger_than_infinity() -> None:
    x, w = np.ones((2, 3)), np.arange(12.0).reshape(3, 4)
    x[0, 1] = np.inf
    mask = np.array([[False] * 4, [True] * 4])
    _, (x_bar, w_bar) = pb.value_and_grad(weighed, argnums=(0, 1), target="native")(x, w, mask)
    np.testing.assert_allclose(w_bar, np.ones((3, 4)))
    np.testing.assert_allclose(x_bar, [[0.0] * 3, w.sum(axis=1)])


def fills(x: Any, y: Any) -> Any:
    return np.sum(x) * np.sum(x[0] * 2.0) + np.sum((x.T @ y) + 1.0) + np.sum(x + np.tanh(y[0]))


def test_cotangents_that_are_one_number_are_not_summed() -> None:
    x, y = RNG.standard_normal((4, 3)), RNG.standard_normal(4)
    value, (x_bar, y_bar) = pb.value_and_grad(fills, argnums=(0, 1), target="native")(x, y)
    assert value == pytest.approx(fills(x, y), rel=1e-13)
    np.testing.assert_allclose(y_bar, x.sum(axis=1) + np.eye(4)[0] * 12 / np.cosh(y[0]) ** 2, rtol=1e-12)
    rows = np.sum(x[0] * 2.0) + np.outer(np.eye(4)[0], np.full(3, 2.0 * np.sum(x)))
    np.testing.assert_allclose(x_bar, rows + y[:, None] + 1.0, rtol=1e-12)
