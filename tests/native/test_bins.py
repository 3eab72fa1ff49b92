"""Places in sorted arrays, histograms, triangles, masks of several axes: results are NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.native.entries import entry, module_of, same
from tests.native.subjects import need_compiler

import pullback as pb

need_compiler()
RNG = np.random.default_rng(5)


def places(x: Any, keys: Any, key: float) -> Any:
    left, right = np.searchsorted(x, keys), np.searchsorted(x, keys, side="right")
    return left, right, np.searchsorted(x, x[1:-1], "left"), np.searchsorted(x, x[0] * 0.5), left + right


@pytest.mark.parametrize("n", [2, 3, 8, 33])
def test_places_in_a_sorted_vector(n: int) -> None:
    x = np.sort(np.round(RNG.standard_normal(n), 1))
    keys = np.concatenate([x, RNG.standard_normal(19), [np.nan, np.inf, -np.inf, 0.0, -0.0]])
    run = entry(places, x, keys, 0.5)
    assert not module_of(places, x, keys, 0.5).hosted
    holes = np.concatenate([x[2:], [np.inf, np.nan]])
    for a in (x, np.repeat(x, 2)[::2], np.zeros(n), holes, np.full(n, np.nan)):
        same(run(a, keys, 0.5), places(a, keys, 0.5))
        same(run(a, keys[::-1], 0.5), places(a, keys[::-1], 0.5))


def counted(x: Any, w: Any, n: int) -> Any:
    count, edges = np.histogram(x, n)
    return count, edges, np.histogram(x, bins=n, weights=w)[0], np.histogram(x)[1]


def test_histograms() -> None:
    x, w = RNG.standard_normal(500), RNG.standard_normal(500)
    run = entry(counted, x, w, 7)
    assert not module_of(counted, x, w, 7).hosted
    for items in (x, np.round(x, 1), np.full(500, 0.25), x[::-1], np.arange(500.0), x * 1e-300, x * 1e200):
        for n in (1, 7, 100):
            got, wanted = run(items, w, n), counted(items, w, n)
            for k in (0, 1, 3):
                same(got[k], wanted[k])
            np.testing.assert_allclose(got[2], wanted[2], atol=1e-12)
    for odd in (np.full(500, np.inf), np.where(x > 0, x, np.nan)):
        with pytest.raises(ValueError):
            run(odd, w, 7)
    with pytest.raises(ValueError):
        run(x, w, 0)


def triangles(a: Any, k: int) -> Any:
    return np.triu(a), np.tril(a), np.triu(a, 1), np.tril(a, k), np.triu(a.T, k=k)


@pytest.mark.parametrize("shape", [(3, 5), (4, 4), (5, 2), (0, 3)])
def test_triangles(shape: tuple[int, int]) -> None:
    a = RNG.standard_normal(shape)
    run = entry(triangles, a, 2)
    for k in (-9, -2, 0, 1, 3, 9):
        same(run(a, k), triangles(a, k))
        same(run(a[::-1], k), triangles(a[::-1], k))


def masked(a: Any, m: Any, i: Any) -> Any:
    b = a.copy()
    b[m] = b[m] * 2.0
    b[i] += 1.0
    c = a.T.copy()
    c[m.T] += 3.0
    return b, c, a[m], a[i], a[m[0].any() + 0 * i, i[::-1]], np.sum(a[m])


@pytest.mark.parametrize("n,density", [(3, 0.5), (40, 0.01), (40, 0.99), (150, 0.3)])
def test_masks_and_indices(n: int, density: float) -> None:
    a = RNG.standard_normal((n, n))
    i = np.array([0, 2, -1, 1], dtype=np.int32)
    m = RNG.random((n, n)) < density
    run = entry(masked, a, m, i)
    for other in (m, np.zeros_like(m), np.ones_like(m), m.T, m[::-1]):
        same(run(a, other, i)[:5], masked(a, other, i)[:5])
        same(run(np.asfortranarray(a), other, i)[:5], masked(np.asfortranarray(a), other, i)[:5])
    with pytest.raises(IndexError):
        run(a, m, i * n)


def picked(x: Any, i: Any, w: Any) -> Any:
    y = x[i] * w
    z = np.zeros_like(x)
    z[i] += y
    return np.sum(z * z) + np.sum(x[x > 0] ** 2)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_gradients_through_indices_of_every_dtype(dtype: str) -> None:
    x, i, w = RNG.standard_normal(9), np.array([3, 0, 8, 5]).astype(dtype), RNG.standard_normal(4)
    got = pb.grad(picked, target="native")(x, i, w)
    wanted = np.where(x > 0, 2 * x, 0.0)
    wanted[i] += 2 * x[i] * w * w
    np.testing.assert_allclose(got, wanted, rtol=1e-13)
    with pytest.raises(IndexError):
        pb.grad(picked, target="native")(x, i * 0 + np.array(9, dtype), w)
