"""Sample calls of every operation that has a style of its own: (function, arguments, options).

Ufuncs are sampled from their signature by the test.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

Sample = tuple[Any, tuple[Any, ...], dict[str, Any]]

V = np.array([0.5, 1.5, 2.5])
W = np.array([2.0, -1.0, 0.25])
N = np.array([2, 0, 1])
B = np.array([True, False, True])
M = np.arange(6.0).reshape(2, 3) + 1
T = np.arange(24.0).reshape(2, 3, 4) + 1
S = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
SS = np.stack([S, 2 * S])
C = M + 1j
V32 = V.astype(np.float32)
M32 = M.astype(np.float32)
FORTRAN = np.asfortranarray(T)
STRIDED = np.arange(48.0).reshape(2, 3, 8)[:, :, ::2]
EMPTY = np.zeros((0, 3))
ONE = np.ones((1, 3))
ZERO_D = np.array(1.5)


def samples() -> Iterator[Sample]:
    """Every sample call."""
    yield from _calls()


def call(fn: Any, *args: Any, **options: Any) -> Sample:
    """One sample call."""
    return fn, args, options


def _calls() -> Iterator[Sample]:
    yield from _reductions()
    yield from _shaping()
    yield from _joining()
    yield from _creation()
    yield from _selection()
    yield from _products()
    yield from _linalg()
    yield from _elementwise()


def _reductions() -> Iterator[Sample]:
    plain = (
        np.sum,
        np.prod,
        np.mean,
        np.var,
        np.std,
        np.max,
        np.min,
        np.amax,
        np.amin,
        np.ptp,
        np.any,
        np.all,
        np.nansum,
        np.nanprod,
        np.nanmean,
        np.nanvar,
        np.nanstd,
        np.nanmax,
        np.nanmin,
        np.argmax,
        np.argmin,
        np.nanargmax,
        np.nanargmin,
        np.median,
        np.nanmedian,
        np.average,
        np.count_nonzero,
    )
    for fn in plain:
        for a in (V, M, T, FORTRAN, STRIDED, ZERO_D, V32, N, B):
            if fn is np.ptp and a is B:
                continue
            yield call(fn, a)
        for a in (M, T, FORTRAN, M32):
            yield call(fn, a, axis=0)
            yield call(fn, a, axis=-1)
            if fn not in (np.median, np.nanmedian):
                yield call(fn, a, axis=1, keepdims=True)
        if fn not in (np.argmax, np.argmin, np.nanargmax, np.nanargmin):
            yield call(fn, T, axis=(0, 2))
            yield call(fn, FORTRAN, axis=(0, 1))
    for fn in (np.sum, np.prod, np.mean):
        yield call(fn, M, dtype=np.float32)
        yield call(fn, M, axis=0, where=np.array([[True, False, True]]))
        yield call(fn, [1.0, 2.0])
        yield call(fn, C)
        yield call(fn, 2.0)
    yield call(np.sum, M, keepdims=True)
    yield call(np.var, M, axis=1, ddof=1)
    yield call(np.max, M, axis=0, initial=3.0)
    yield call(np.average, M, axis=0, weights=np.array([1.0, 2.0]))
    yield call(np.average, M, axis=0, returned=True)
    for fn in (np.quantile, np.nanquantile):
        yield call(fn, M, 0.5)
        yield call(fn, M, [0.25, 0.5], axis=1)
        yield call(fn, M, 0.5, axis=0, keepdims=True)
    for fn in (np.percentile, np.nanpercentile):
        yield call(fn, M, 30.0, axis=0)
    for fn in (np.cumsum, np.cumprod, np.nancumsum, np.nancumprod):
        for a in (V, M, T, FORTRAN, N, V32, ZERO_D):
            yield call(fn, a)
        yield call(fn, T, axis=1)
        yield call(fn, FORTRAN, axis=0)
    if hasattr(np, "cumulative_sum"):  # NumPy 2.1
        yield call(np.cumulative_sum, M, axis=1)
        yield call(np.cumulative_prod, V)
        yield call(np.cumulative_sum, V, include_initial=True)
    for a in (V, M, T, FORTRAN, N):
        yield call(np.diff, a)
        yield call(np.diff, a, n=2)
        yield call(np.diff, a, axis=0)
    yield call(np.diff, V, prepend=0.0)
    yield call(np.ediff1d, V)
    yield call(np.ediff1d, M, to_end=1.0)
    yield call(np.gradient, V)
    yield call(np.gradient, M)
    yield call(np.gradient, M, axis=0)
    yield call(np.gradient, V, 0.5)
    for options in ({}, {"dx": 0.5}, {"x": V}, {"axis": 0}):
        yield call(np.trapezoid, M if "axis" not in options else T, **options)


def _shaping() -> Iterator[Sample]:
    for a in (T, FORTRAN, STRIDED):
        yield call(np.reshape, a, (4, 6))
        yield call(np.reshape, a, -1)
        yield call(np.reshape, a, (2, -1))
        yield call(np.reshape, a, (6, 2, -1))
        yield call(np.reshape, a, (2, 3, 1, -1))
        yield call(np.reshape, a, (24,))
        yield call(np.reshape, a, (4, 6), order="F")
        yield call(np.ravel, a)
        yield call(np.ravel, a, order="F")
        yield call(np.transpose, a)
        yield call(np.transpose, a, (1, 0, 2))
        yield call(np.transpose, a, (0, 1, 2))
        yield call(np.matrix_transpose, a)
        yield call(np.linalg.matrix_transpose, a)
        yield call(np.swapaxes, a, 0, -1)
        yield call(np.moveaxis, a, 0, -1)
        yield call(np.moveaxis, a, (0, 1), (1, 2))
        yield call(np.rollaxis, a, 2)
        yield call(np.rollaxis, a, 0, 3)
        yield call(np.flip, a)
        yield call(np.flip, a, 1)
        yield call(np.fliplr, a)
        yield call(np.flipud, a)
        for k in (0, 1, 2, 3):
            yield call(np.rot90, a, k)
        yield call(np.rot90, a, 1, (1, 2))
        yield call(np.roll, a, 1)
        yield call(np.roll, a, (1, 2), axis=(0, 1))
        yield call(np.expand_dims, a, 0)
        yield call(np.expand_dims, a, (0, -1))
        yield call(np.squeeze, a)
        for fn in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
            yield call(fn, a)
        yield call(np.tile, a, 2)
        yield call(np.tile, a, (2, 1, 1, 1))
        yield call(np.repeat, a, 2)
        yield call(np.repeat, a, 2, axis=1)
        yield call(np.repeat, a, [1, 2, 0], axis=1)
        yield call(np.resize, a, (3, 5))
        yield call(np.diagonal, a)
        yield call(np.diagonal, a, 1, 1, 2)
        yield call(np.linalg.diagonal, a)
        yield call(np.trace, a)
        yield call(np.linalg.trace, a)
        yield call(np.triu, a)
        yield call(np.tril, a, -1)
        yield call(np.split, a, 3, axis=1)
        yield call(np.split, a, [1], axis=2)
        yield call(np.array_split, a, 3, axis=2)
        yield call(np.hsplit, a, 3)
        yield call(np.vsplit, a, 2)
        yield call(np.dsplit, a, 2)
    for a in (ONE, V, ZERO_D, EMPTY):
        yield call(np.reshape, a, -1)
        yield call(np.ravel, a)
        yield call(np.squeeze, a)
        yield call(np.expand_dims, a, 0)
        yield call(np.atleast_2d, a)
        yield call(np.atleast_3d, a)
        yield call(np.tile, a, (2, 2))
        yield call(np.repeat, a, 3)
        yield call(np.transpose, a)
    for a in (2.0, np.float64(2.0), np.float32(2.0), ZERO_D):
        yield call(np.reshape, a, ())
        yield call(np.squeeze, a)
        yield call(np.transpose, a)
        yield call(np.ravel, a)
        yield call(np.moveaxis, a, (), ())
    yield call(np.squeeze, ONE, axis=0)
    yield call(np.reshape, EMPTY, (3, 0))
    if hasattr(np, "unstack"):  # NumPy 2.1
        yield call(np.unstack, M)
    yield call(np.broadcast_to, V, (4, 3))
    yield call(np.broadcast_to, 2.0, (4, 3))
    yield call(np.broadcast_arrays, V, M)
    yield call(np.broadcast_shapes, (3,), (2, 1))
    for k in (0, 1, -1):
        yield call(np.diag, V, k)
        yield call(np.diag, M, k)
        yield call(np.diagflat, V, k)
    yield call(np.diag, S)
    yield call(np.diagflat, M)
    yield call(np.trace, S)
    yield call(np.trace, S.astype(int))
    yield call(np.triu, V)
    yield call(np.hsplit, V, 3)
    yield call(np.trim_zeros, V)


def _joining() -> Iterator[Sample]:
    for a in (
        V,
        T,
        FORTRAN,
        STRIDED,
        N,
        ZERO_D,
        2.0,
        3,
        [1.0, 2.0],
        [[1, 2], [3, 4]],
        [V, V],
        [V[0], 2.0],
        (V, W),
    ):
        for fn in (np.array, np.asarray, np.asanyarray, np.copy, np.ascontiguousarray, np.asfortranarray):
            yield call(fn, a)
    for fn in (np.array, np.asarray):
        yield call(fn, M, dtype=np.float32)
        yield call(fn, M, np.float64)
    yield call(np.array, V, ndmin=2)
    yield call(np.array, V, copy=None)
    yield call(np.asarray_chkfinite, V)
    if hasattr(np, "astype"):
        yield call(np.astype, M, np.float32)
        yield call(np.astype, M, np.float64, copy=False)
    yield call(np.concatenate, (V, W))
    yield call(np.concatenate, [M, M], axis=1)
    yield call(np.concatenate, (M, ONE), axis=0)
    yield call(np.concatenate, (M, V), axis=None)
    yield call(np.concatenate, [[V[0]], W])
    yield call(np.concatenate, (FORTRAN, FORTRAN), axis=0)
    yield call(np.concatenate, (V, N, V32))
    yield call(np.concatenate, M)
    yield call(np.stack, (V, W))
    yield call(np.stack, (V, W), axis=1)
    yield call(np.stack, [M, M], axis=-1)
    yield call(np.stack, (FORTRAN, FORTRAN), axis=2)
    yield call(np.stack, M)
    yield call(np.hstack, (V, W))
    yield call(np.hstack, [M, M])
    yield call(np.hstack, (V[0], 2.0))
    yield call(np.vstack, (V, W))
    yield call(np.vstack, (M, V))
    yield call(np.vstack, M)
    yield call(np.dstack, (M, M))
    yield call(np.dstack, (V, V))
    yield call(np.dstack, (T, T))
    yield call(np.column_stack, (V, W))
    yield call(np.column_stack, (V, S))
    yield call(np.append, V, 2.0)
    yield call(np.append, M, ONE, axis=0)
    yield call(np.block, [[S, S], [S, S]])
    yield call(np.block, [V, W])
    yield call(np.block, [[M], [V]])
    yield call(np.delete, V, 1)
    yield call(np.delete, M, [0, 1], axis=1)
    yield call(np.insert, V, 1, 2.0)
    yield call(np.insert, M, 1, 2.0, axis=1)


def _creation() -> Iterator[Sample]:
    for fn in (np.zeros, np.ones, np.empty):
        for shape in (3, (2, 3), (), (0, 3)):
            yield call(fn, shape)
        yield call(fn, 3, dtype=int)
        yield call(fn, (2, 3), np.float32)
    for fn in (np.zeros_like, np.ones_like, np.empty_like):
        for a in (V, FORTRAN, STRIDED, N, 2.0, 3, [1, 2], ZERO_D):
            yield call(fn, a)
        yield call(fn, V, dtype=complex)
    yield call(np.full, (2, 3), 1.5)
    yield call(np.full, 3, 1)
    yield call(np.full, 3, np.float32(1))
    yield call(np.full, (2, 3), V)
    yield call(np.full, 3, 1, dtype=float)
    yield call(np.full_like, M, 2)
    yield call(np.eye, 3)
    yield call(np.eye, 3, 4, dtype=int)
    yield call(np.identity, 3)
    yield call(np.tri, 3)
    for args in ((3,), (3.0,), (1, 5), (0.0, 1.0, 0.25), (5, 0, -1), (np.int32(3),)):
        yield call(np.arange, *args)
    yield call(np.arange, 3, dtype=float)
    for fn in (np.linspace, np.logspace, np.geomspace):
        yield call(fn, 1.0, 3.0, 4)
        yield call(fn, V, 3.0, 4)
        yield call(fn, 1, 3)
    yield call(np.linspace, 0.0, 1.0, 5, retstep=True)
    yield call(np.linspace, V, V + 1, 4, axis=1)
    yield call(np.meshgrid, V, np.arange(4.0))
    yield call(np.meshgrid, V, np.arange(4.0), indexing="ij")
    yield call(np.meshgrid, V, np.arange(4.0), sparse=True)
    yield call(np.indices, (2, 3))
    yield call(np.triu_indices, 3)
    yield call(np.tril_indices, 3)
    yield call(np.triu_indices_from, S)
    yield call(np.tril_indices_from, S)
    yield call(np.diag_indices, 3)
    yield call(np.unravel_index, N, (2, 3))
    yield call(np.unravel_index, 4, (2, 3))
    yield call(np.ravel_multi_index, (np.array([0, 1]), np.array([1, 2])), (2, 3))
    for fn in (np.hanning, np.hamming, np.bartlett, np.blackman):
        yield call(fn, 4)
    yield call(np.kaiser, 4, 1.0)
    yield call(np.fft.fftfreq, 4)
    yield call(np.fft.rfftfreq, 4)


def _selection() -> Iterator[Sample]:
    for a in (V, M, FORTRAN):
        yield call(np.take, a, N)
        yield call(np.take, a, 1)
        yield call(np.take, a, N[:2], axis=-1)
        yield call(np.take, a, 0, axis=0)
        yield call(np.sort, a)
        yield call(np.sort, a, axis=None)
        yield call(np.sort, a, axis=0)
        yield call(np.argsort, a)
        yield call(np.argsort, a, axis=None)
        yield call(np.argsort, a, axis=0)
        yield call(np.partition, a, 1)
        yield call(np.argpartition, a, 1)
        if a.ndim > 1:
            yield call(np.nonzero, a)
        yield call(np.argwhere, a)
        yield call(np.flatnonzero, a)
        yield call(np.unique, a)
        yield call(np.pad, a, 1)
        yield call(np.pad, a, 2, mode="edge")
        yield call(np.size, a)
        yield call(np.ndim, a)
    yield call(np.pad, M, ((0, 1), (2, 0)))
    yield call(np.size, M, 1)
    yield call(np.take_along_axis, M, np.array([[0, 1], [1, 2]]), 1)
    yield call(np.take_along_axis, V, N, None)
    yield call(np.select, [V > 1, V > 0], [V, W], 0.0)
    yield call(np.choose, np.array([0, 1, 0]), [V, W])
    yield call(np.compress, B, V)
    yield call(np.compress, B, M, axis=1)
    yield call(np.extract, B, V)
    yield call(np.lexsort, (V, W))
    yield call(np.searchsorted, V, W)
    yield call(np.searchsorted, V, 1.0)
    yield call(np.digitize, W, V)
    yield call(np.unique, V, return_inverse=True, return_counts=True)
    yield call(np.bincount, N)
    yield call(np.bincount, N, weights=V)
    yield call(np.isin, V, W)
    for fn in (np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d):
        yield call(fn, V, W)
    yield call(np.interp, W, V, W)
    yield call(np.interp, 1.0, V, W)
    yield call(np.histogram, V, 4)
    yield call(np.lib.stride_tricks.sliding_window_view, V, 2)
    yield call(np.lib.stride_tricks.sliding_window_view, M, 2, axis=1)


def _products() -> Iterator[Sample]:
    for a, b in (
        (V, W),
        (M, V),
        (M, M.T),
        (T, M.T[:2].T.copy().repeat(2, 1)[:, :4].T),
        (T, np.ones(4)),
        (2.0, M),
        (V, 3.0),
    ):
        yield call(np.dot, a, b)
    for a, b in ((V, W), (M, V), (M, M), (T, np.ones(4)), (2.0, M)):
        yield call(np.inner, a, b)
    yield call(np.dot, V32, V)
    yield call(np.dot, V32, V32)
    yield call(np.dot, T, np.ones((5, 4, 2)))
    yield call(np.matmul, M, M.T)
    yield call(np.matmul, V, W)
    yield call(np.matmul, SS, S)
    yield call(np.matmul, SS, V)
    yield call(np.matmul, V, SS)
    yield call(np.outer, V, W)
    yield call(np.outer, M, 2.0)
    yield call(np.vdot, V, W)
    yield call(np.vdot, C, C)
    yield call(np.vecdot, M, V)
    if hasattr(np, "matvec"):  # NumPy 2.2
        yield call(np.matvec, SS, V)
        yield call(np.vecmat, V, SS)
    yield call(np.tensordot, M, M, 2)
    yield call(np.tensordot, T, np.ones((4, 2)), 1)
    yield call(np.tensordot, T, M, ([0, 1], [0, 1]))
    yield call(np.tensordot, T, V, (1, 0))
    yield call(np.kron, V, W)
    yield call(np.kron, M, V)
    yield call(np.kron, M, S)
    yield call(np.cross, V, W)
    yield call(np.cross, SS, V)
    for text, operands in (
        ("ij,jk->ik", (M, S)),
        ("ii->i", (S,)),
        ("ii", (S,)),
        ("ij->ji", (M,)),
        ("ij,ij->", (M, M)),
        ("i,j", (V, W)),
        ("...j,j", (T, np.ones(4))),
        ("ij->", (M,)),
        ("bij,bj->bi", (SS, np.ones((2, 3)))),
        ("i,i,i->i", (V, V, V)),
    ):
        yield call(np.einsum, text, *operands)
    yield call(np.linalg.multi_dot, [M, S, V])
    yield call(np.linalg.vecdot, M, M)
    yield call(np.linalg.matmul, M, S)
    yield call(np.linalg.outer, V, W)
    yield call(np.linalg.tensordot, M, M)
    yield call(np.linalg.cross, V, W)
    for mode in ("full", "same", "valid"):
        yield call(np.convolve, V, np.ones(2), mode)
        yield call(np.correlate, V, np.ones(2), mode)
    yield call(np.polyval, V, W)
    yield call(np.polyval, V, 0.7)
    yield call(np.polyval, V, M)
    yield call(np.vander, V)
    yield call(np.vander, V, 2)
    yield call(np.polyadd, V, W)
    yield call(np.polysub, V, W)
    yield call(np.polymul, V, W)
    yield call(np.polyder, V)
    yield call(np.polyint, V)


def _linalg() -> Iterator[Sample]:
    for a in (S, SS, S.astype(np.float32), np.asfortranarray(S), S.T @ S, S.astype(int)):
        for fn in (
            np.linalg.inv,
            np.linalg.det,
            np.linalg.slogdet,
            np.linalg.cholesky,
            np.linalg.pinv,
            np.linalg.eigh,
            np.linalg.eigvalsh,
            np.linalg.svd,
            np.linalg.svdvals,
            np.linalg.qr,
            np.linalg.matrix_norm,
            np.linalg.matrix_rank,
            np.linalg.cond,
            np.linalg.eig,
            np.linalg.eigvals,
        ):
            yield call(fn, a)
        for n in (0, 1, 2, 3, -1):
            yield call(np.linalg.matrix_power, a, n)
    yield call(np.linalg.solve, S, V)
    yield call(np.linalg.solve, S, M.T)
    yield call(np.linalg.solve, SS, M.T)
    yield call(np.linalg.solve, S.astype(np.float32), V)
    yield call(np.linalg.solve, S.astype(np.float32), V32)
    for fn in (np.linalg.svd, np.linalg.qr, np.linalg.pinv):
        yield call(fn, M)
        yield call(fn, M.T)
    yield call(np.linalg.svd, M, full_matrices=False)
    yield call(np.linalg.svd, M, compute_uv=False)
    yield call(np.linalg.qr, M, "r")
    yield call(np.linalg.qr, M.T, "complete")
    yield call(np.linalg.lstsq, M.T, V)
    for options in (
        {},
        {"ord": 1},
        {"ord": np.inf, "axis": 1},
        {"axis": 0},
        {"axis": 1, "keepdims": True},
        {"keepdims": True},
        {"ord": "fro"},
        {"axis": (0, 1)},
    ):
        yield call(np.linalg.norm, M, **options)
    yield call(np.linalg.norm, V)
    yield call(np.linalg.norm, V32)
    yield call(np.linalg.norm, T, axis=(0, 2))
    yield call(np.linalg.vector_norm, M, axis=1)
    for fn in (np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft):
        yield call(fn, V)
        yield call(fn, T, axis=1)
        yield call(fn, V, 4)
    yield call(np.fft.fft, V32)
    for fn in (
        np.fft.fft2,
        np.fft.ifft2,
        np.fft.fftn,
        np.fft.ifftn,
        np.fft.rfft2,
        np.fft.rfftn,
        np.fft.irfft2,
        np.fft.irfftn,
    ):
        yield call(fn, T)
    yield call(np.fft.fftshift, M)
    yield call(np.fft.ifftshift, M, 1)
    yield call(np.linalg.tensorinv, np.eye(4).reshape(2, 2, 2, 2))
    yield call(np.linalg.tensorsolve, np.eye(4).reshape(2, 2, 4), np.ones((2, 2)))


def _elementwise() -> Iterator[Sample]:
    for a in (V, M, FORTRAN, STRIDED, ZERO_D, V32, 2.0, np.float32(2.0), C, N, 3):
        for fn in (np.real, np.imag, np.angle, np.sinc, np.nan_to_num, np.round, np.around):
            yield call(fn, a)
        for fn in (np.isreal, np.iscomplex):
            yield call(fn, a)
        if a is not C:
            for fn in (np.i0, np.fix, np.isposinf, np.isneginf):
                yield call(fn, a)
        yield call(np.real_if_close, a)
        yield call(builtins.abs, a)
    yield call(np.unwrap, V)
    yield call(np.nan_to_num, V, copy=False)
    yield call(np.round, V, 1)
    for a in (V, V32, M, FORTRAN, 2.0, np.float32(2.0), N):
        yield call(np.clip, a, 0, 1)
        yield call(np.clip, a, 0.5, 1.5)
        yield call(np.clip, a, None, 1.5)
    yield call(np.clip, V, W, 3.0)
    if hasattr(np, "unstack"):  # NumPy 2.1 gave np.clip these names
        yield call(np.clip, V, min=0.5)
    yield call(np.clip, V32, W, 3.0)
    yield call(np.where, B, V, W)
    yield call(np.where, B, V, 0.0)
    yield call(np.where, B, V32, 0.0)
    yield call(np.where, True, 1.0, 0)
    yield call(np.where, B, 1, 0)
    yield call(np.where, M > 2, V, 0)
    yield call(np.where, FORTRAN > 2, FORTRAN, 0.0)
    yield call(np.isclose, V, W)
    for fn in (np.allclose, np.array_equal, np.array_equiv, np.shares_memory, np.may_share_memory):
        yield call(fn, V, W)
    for fn in (np.isscalar, np.isrealobj, np.iscomplexobj, np.iterable):
        yield call(fn, V)
    yield call(np.can_cast, np.float32, np.float64)
    yield call(np.issubdtype, np.float32, np.floating)
    yield call(builtins.divmod, 2.5, 2.0)
    yield call(builtins.divmod, V, 2.0)
    yield from _math()


def _math() -> Iterator[Sample]:
    two = ("atan2", "copysign", "fmod", "hypot", "nextafter", "pow", "remainder")
    for name in dir(math):
        fn = getattr(math, name)
        if name.startswith("_") or not callable(fn) or name in ("sumprod", "fma"):
            continue
        if name in two or name == "isclose":
            yield call(fn, 0.5, 2.0)
        elif name in ("comb", "perm", "gcd", "lcm"):
            yield call(fn, 5, 2)
        elif name in ("factorial", "isqrt"):
            yield call(fn, 5)
        elif name == "ldexp":
            yield call(fn, 0.5, 3)
        elif name == "dist":
            yield call(fn, [0.5], [1.0])
        elif name in ("fsum", "prod"):
            yield call(fn, [0.5, 1.5])
        else:
            yield call(fn, 1.5 if name == "acosh" else 0.5)
