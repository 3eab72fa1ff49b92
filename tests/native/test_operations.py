"""Operations on arrays inside compiled entries: results, shapes, dtypes and errors are NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.native.entries import entry, module_of, same
from tests.native.subjects import need_compiler

need_compiler()
A = np.linspace(-1.0, 2.0, 12).reshape(3, 4)
RNG = np.random.default_rng(0)


def layouts(a: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """The same values in other layouts: reversed, in Fortran's order, every second item of something larger."""
    spread = np.full([2 * n for n in a.shape], 7, a.dtype)
    every = tuple([slice(None, None, 2)] * a.ndim)
    spread[every] = a
    backwards = a[tuple([slice(None, None, -1)] * a.ndim)].copy()[tuple([slice(None, None, -1)] * a.ndim)]
    return [a, np.asfortranarray(a), spread[every], backwards]


def by_numpy(a: Any, v: Any, n: int, z: float) -> Any:
    q, r = np.linalg.qr(a)
    return (
        np.sort(a, axis=1), np.argsort(v), np.median(a), np.einsum("ij,j->i", a, v), q, r, np.linalg.svd(a)[1],
        np.cumsum(a, axis=0), np.std(a, axis=0), np.interp(z, v, v * 2.0), np.histogram(v, bins=3)[0],
        np.pad(v, 1), np.linspace(z, 2.0, n), np.array([z, z * 2.0]), np.fft.fft(v), a.T @ a, n * 2, np.tile(a, (2, 1)),
    )  # fmt: skip


def test_operations_of_numpy() -> None:
    args = (A, np.array([0.5, 1.0, 1.5, 4.0]), 5, 0.25)
    run = entry(by_numpy, *args)
    for a in layouts(A):
        for v in layouts(args[1]):
            same(run(a, v, 5, 0.25), by_numpy(a, v, 5, 0.25))


def test_operations_of_numpy_are_listed() -> None:
    names = [name for name, _ in module_of(by_numpy, A, A[0], 5, 0.25).hosted]
    assert "np.sort" in names and "np.linalg.qr" in names


def test_errors_of_numpy_are_raised_with_their_place() -> None:
    def solved(a: Any, b: Any) -> Any:
        return np.sum(np.linalg.solve(a, b))

    run = entry(solved, np.eye(3), np.ones(3))
    assert run(np.eye(3), np.ones(3)) == 3.0
    with pytest.raises(np.linalg.LinAlgError) as caught:
        run(np.zeros((3, 3)), np.ones(3))
    assert "np.linalg.solve" in caught.value.__notes__[0]


def complex_chain(z: Any, w: Any, k: Any) -> Any:
    """A kernel of which C has no loop runs statement by statement."""
    y = np.power(z, w) * z + k
    y[1:] = y[:-1] * 2.0
    return y, np.sum(y), np.cumsum(np.sinc(np.abs(y)) + 1.0)


def test_kernels_that_c_has_no_loop_for() -> None:
    z = np.array([1 + 1j, 2.0, -1j, 0.5])
    run = entry(complex_chain, z, z, 2)
    same(run(z, z[::-1], 2), complex_chain(z, z[::-1], 2))


def comparisons(n: int, m: int, a: Any, u: Any) -> Any:
    return n < m, n == m, bool(n >= 1), a > n, u < 200, u == 3, min(n, m, 7), max(n, m)


def test_comparisons_of_integers() -> None:
    a, u = np.array([1.0, 5.0]), np.array([1, 3, 250], np.uint8)
    run = entry(comparisons, 2, 3, a, u)
    for n, m in ((2, 3), (3, 2), (2**62, -(2**62)), (4, 4)):
        same(run(n, m, a, u), comparisons(n, m, a, u))
