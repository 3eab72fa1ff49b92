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
        np.sort(a, axis=1), np.argsort(v), np.median(a), np.einsum("ij,j->i", a, v), q, r,
        np.linalg.svd(a)[1],
        np.cumsum(a, axis=0), np.std(a, axis=0), np.interp(z, v, v * 2.0), np.histogram(v, bins=3)[0],
        np.pad(v, 1), np.linspace(z, 2.0, n), np.array([z, z * 2.0]), np.fft.fft(v), a.T @ a, n * 2,
        np.tile(a, (2, 1)),
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


def selected(a: Any, i: Any, j: Any, m: Any, r: Any, n: int) -> Any:
    return (
        a[i], a[:, i], a[i, j], a[i, 1:], a[:, i, None], a[n, i], a[i, n], a[i[:, None], j], a[m], a[m, 1:], a[r],
        a[:, r[0]], a[r[:, 1], n], a[None, i, ..., 1], a[[0, 2, n]], a[(1, -1), (0, n)], a[m][[0, -1]], a[i][:, ::-1],
        a[..., j], a[~m, 0], a[np.nonzero(m)[0]], a[i.astype(np.int8)], a[i > 0], a[:0][i[:0]],
    )  # fmt: skip


I, J, M = np.array([2, -1, 0]), np.array([1, 3, -4]), np.array([True, False, True])
R = A > 0.5


def test_items_selected_by_arrays() -> None:
    run = entry(selected, A, I, J, M, R, 1)
    for a, r in zip(layouts(A), layouts(R), strict=True):
        same(run(a, I[::-1], J, M, r, 1), selected(a, I[::-1], J, M, r, 1))
        same(run(a, I, J, ~M, ~r, -2), selected(a, I, J, ~M, ~r, -2))
    x = np.arange(60.0).reshape(3, 4, 5) * (1 + 2j)
    k = np.array([1, 2, -2], np.int32)
    m = np.arange(12).reshape(3, 4) % 3 == 0
    m2 = np.arange(20).reshape(4, 5) % 3 == 0
    run = entry(cube_, x, k, k - 1, m, m2, 2)
    for y in layouts(x):
        same(run(y, k, k - 1, m, m2, 2), cube_(y, k, k - 1, m, m2, 2))


def cube_(x: Any, i: Any, j: Any, m: Any, q: Any, n: int) -> Any:
    return (
        x[i, :, j], x[:, i, j], x[i, j], x[0, :, j], x[:, n, j], x[i, None, j], x[m], x[:, q], x[m, 0], x[..., i, :],
        x[i, 1:, n], x[1, ..., i], x[:, i[:, None], j],
    )  # fmt: skip


def written(a: Any, v: Any, i: Any, m: Any, which: int) -> Any:
    b = a.copy()
    if which == 0:
        b[i] = v
    elif which == 1:
        b[i] += v
    elif which == 2:
        b[m] = 7.0
    elif which == 3:
        b[:, i] *= 2.0
    elif which == 4:
        np.add.at(b, i, v)
    elif which == 5:
        b[i, 1:] = b[0, :-1]
    elif which == 6:
        b[m, ::2] += v[::2]
    elif which == 7:
        b[1:] = b[:-1]
    elif which == 8:
        b[:, ::-1] = b
    elif which == 9:
        b[:] = v[None]
    elif which == 10:
        b[1] = b[:, :1].T[0, 0]
    elif which == 11:
        b[i] = b[i[::-1]]
    elif which == 12:
        b.T[1:] += b.T[:-1]
    elif which == 13:
        b[1:, 1:] -= b[:-1, :-1]
    elif which == 14:
        b[i, i] = v[:3]
    elif which == 15:
        b[b > 0.0] = b[b > 0.0] * 3.0
    elif which == 16:
        b[-1] = b[which - 16]
    return b


def test_arrays_stored_and_added() -> None:
    v, i = np.array([1.0, -2.0, 3.0, 0.5]), np.array([2, 0, 2])
    run = entry(written, A, v, i, M, 0)
    for which in range(17):
        for a in layouts(A):
            same(run(a, v[::-1], i, M, which), written(a, v[::-1], i, M, which))
    same(run(A[:2], v, i[:0], M[:2], 0), written(A[:2], v, i[:0], M[:2], 0))


def test_indices_out_of_bounds() -> None:
    def picked(a: Any, i: Any, b: Any) -> Any:
        c = b.copy()
        c[i] += 1.0
        return a[i], c

    run = entry(picked, A[0], I, A[1])
    same(run(A[0], I, A[1]), picked(A[0], I, A[1]))
    for bad in (4, -5, 2**62, -(2**63)):
        with pytest.raises(IndexError):
            run(A[0], np.array([0, bad]), A[1])


def converted(f: Any, k: Any, z: Any, b: Any, u: Any) -> Any:
    """Stores convert, sums are taken in the wider dtype."""
    k2, f2, z2, b2, u2 = k.copy(), f.copy(), z.copy(), b.copy(), u.copy()
    k2[1:] = f[1:]
    f2[::-1] += k
    z2[:] += f
    b2[:] = k
    u2[:2] = k[1:3]
    u2[[0, 0, 1]] += u[:3]
    z2.real[1:] = f[:-1]
    z2.imag = f
    return k2, f2, z2, b2, u2, z.real, z.imag[::-1], np.flip(z, 0)


def test_stores_convert() -> None:
    k = np.array([3, 0, 200, 5])
    args = (np.array([1.5, -2.5, 3.0, 1e3], np.float32), k, k * 1j + 1.0, k > 1, k.astype(np.uint8))
    run = entry(converted, *args)
    same(run(*args), converted(*args))


def joined(a: Any, v: Any, w: Any, k: Any, n: int, z: float) -> Any:
    return (
        np.array([z, n, 2.0]), np.array([[z, 1.0], [v[0], n]]), np.array([1, n, 3]),
        np.array([v, w * 2.0]), np.array(a),
        np.concatenate([v, w, v[:0]]), np.concatenate((a, a[:1] * 2.0)),
        np.concatenate([a, a[:, ::2]], axis=1),
        np.concatenate([v, k], axis=-1), np.stack([v, w]), np.stack([v, w], axis=1),
        np.stack([a, a], axis=-1),
        np.hstack([v, w[1:]]), np.hstack((a, a)), np.vstack([v, w]), np.vstack((a, a[1:])),
        np.vstack([a, v[None]]),
        np.array([[True, n > 2]]), np.array([k, k]), np.array([1.0, 2.0, 3.0]),
        np.array([z], dtype=np.float32),
    )  # fmt: skip


def test_arrays_joined() -> None:
    v, w, k = np.array([1.0, -2.0, 3.0, 0.5]), np.array([2.0, 4.0, -1.0, 0.0]), np.array([3, 1, 2])
    run = entry(joined, A, v, w, k, 2, 0.5)
    for a, v2 in zip(layouts(A), layouts(v), strict=True):
        same(run(a, v2, w[::-1], k, 4, 0.25), joined(a, v2, w[::-1], k, 4, 0.25))


def scanned(a: Any, v: Any, k: Any, n: int, z: float) -> Any:
    return (
        np.cumsum(v), np.cumsum(a, axis=0), np.cumsum(a, axis=-1), np.cumprod(v), np.cumprod(a, axis=1),
        np.cumsum(k),
        np.cumsum(v[:0]), np.argmax(v), np.argmin(v), np.argmax(k), np.argmin(k[::-1]), np.outer(v, v),
        np.outer(v[:0], v),
        np.outer(k, v), np.outer(a[0], a[:, 0]), np.arange(n), np.arange(1, n), np.arange(n, 0, -2),
        np.arange(z, 3.0, 0.3),
        np.arange(3.0), np.arange(z, 2.0), np.eye(n), np.eye(n, 2), np.identity(n),
        np.eye(3, dtype=np.int64), np.cumsum(v > 0),
    )  # fmt: skip


def test_scans_and_ranges() -> None:
    v, k = np.array([1.0, -2.0, 3.0, 3.0]), np.array([3, 1, 3])
    run = entry(scanned, A, v, k, 2, 0.5)
    for a, u in zip(layouts(A), layouts(v), strict=True):
        same(run(a, u, k, 4, 0.25), scanned(a, u, k, 4, 0.25))
    u = np.array([1.0, np.nan, 3.0, np.nan])
    same(run(A, u, k, 0, -0.7), scanned(A, u, k, 0, -0.7))
    with pytest.raises(ValueError):
        entry(lambda x: np.argmax(x), v)(v[:0])


def alone(z: Any, w: Any, x: Any, k: Any) -> Any:
    y = np.exp(z) / w + np.sqrt(z) ** 2 - np.abs(w) * np.sin(z)
    return (
        y,
        np.log(z),
        z**3,
        np.tanh(w),
        1.0 / z,
        k << 2,
        k >> 1,
        np.gcd(k, 4),
        np.fmod(k, 2),
        np.sum(x, axis=(0, 2)),
    )


def test_complex_and_integer_loops() -> None:
    z, w = np.array([1 + 1j, 2.0, -1j, 0.5]), np.array([2 - 1j, 1j, -3.0, 1e-3])
    x, k = np.arange(24.0).reshape(2, 3, 4), np.array([7, -6, 4])
    native = module_of(alone, z, w, x, k)
    assert not native.hosted
    run = entry(alone, z, w, x, k)
    same(run(z, w[::-1], x.T.copy().T, k), alone(z, w[::-1], x, k))


def columns(p: Any, v: Any) -> Any:
    x, y = p[:, 0:1], p[:, 1:2].T
    return x.T - x, (x - y) * v, p[-1:] * v[0:1], x * p


def test_slices_of_one_item_are_broadcast() -> None:
    p, v = np.arange(9.0).reshape(3, 3) ** 2, np.array([1.0, -1.0, 2.0])
    run = entry(columns, p, v)
    same(run(p, v), columns(p, v))


def cut_one(p: Any, v: Any) -> Any:
    total = np.zeros((3, 3))
    for i in range(3):
        total += p * v[:, i : i + 1]
        total += p[i : 1 + i] * v
    return total


def test_a_slice_of_one_item_at_a_place_told_at_run_time_is_broadcast() -> None:
    p, v = np.arange(9.0).reshape(3, 3) ** 2, np.arange(9.0).reshape(3, 3) + 0.5
    run = entry(cut_one, p, v)
    same(run(p, v), cut_one(p, v))
