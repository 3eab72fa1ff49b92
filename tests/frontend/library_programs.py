"""Small functions that use the library: each is lowered, interpreted and compared with Python, bit for bit.

A row is (function, arguments); `REFUSED` rows must be refused.  Users write such code, so its style is theirs.
"""

# ruff: noqa: B905, SIM115, N802

# ruff: noqa: B905, SIM115, N802

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
import logging
import math
import operator
import random
from collections import namedtuple
from typing import Any

import numpy as np

from pullback import markers as pb

A = np.array([[1.5, -2.0, 0.25], [3.0, 0.5, -1.25]])
B = np.array([[0.5, 1.0, -3.0], [2.0, -0.5, 4.0]])
S = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.25], [0.5, -0.25, 2.0]])
V = np.array([3.0, -1.0, 2.0, 0.5])
W = np.array([0.5, 2.0, -1.0, 4.0])
F32 = np.array([1.5, -2.5, 3.25], dtype=np.float32)
I = np.array([2, 0, 1, 3])
M = np.array([True, False, True, False])
Z = np.array([1.0 + 2.0j, -0.5 - 1.0j, 3.0j])
NC = np.arange(12.0).reshape(3, 4)[:, ::2]

LOGGER = logging.getLogger("pullback.programs")
Point = namedtuple("Point", "x y")

Row = tuple[Any, tuple[Any, ...]]

BUILTINS: list[Row] = [
    (lambda x: len(x) * x[0], (V,)),
    (lambda x: len(x.T), (A,)),
    (lambda x: len([x, x]) + x, (2.0,)),
    (lambda x: sum(x), (V,)),
    (lambda x: sum([x[0], x[1], 2.0]), (V,)),
    (lambda x: sum((v * v for v in x), 1.0), (V,)),
    (lambda x: sum(range(len(x))), (V,)),
    (lambda x: sum(x[i] * i for i in range(len(x))), (V,)),
    (lambda x: sum(x), (A,)),
    (lambda x, y: min(x, y), (2.0, 1.5)),
    (lambda x, y: max(x, y, 0.0), (-2.0, -1.5)),
    (lambda x: max(x), (V,)),
    (lambda x: min(x), (V,)),
    (lambda x: max(len(x), 2), (V,)),
    (lambda x: min([x[0], x[1]], key=lambda v: abs(v)), (V,)),
    (lambda x: max(x[0], x[1], key=lambda v: -v), (V,)),
    (lambda x: max([], default=x), (2.0,)),
    (lambda x: max(float(i) for i in range(3)) + x, (2.0,)),
    (lambda x: abs(x), (-2.5,)),
    (lambda x: abs(x), (V,)),
    (lambda x: abs(x[1]), (V,)),
    (lambda x: abs(x), (-3,)),
    (lambda x: abs(x), (Z,)),
    (lambda x: round(x), (2.6,)),
    (lambda x: pow(x, 3), (1.5,)),
    (lambda x, y: pow(x, y), (V * V, W)),
    (lambda x: any(v > 2.5 for v in x), (V,)),
    (lambda x: all(v > -2.5 for v in x), (V,)),
    (lambda x: any([x > 1.0, x < 0.0]), (0.5,)),
    (lambda x: all([]), (0.5,)),
    (lambda x: [a * b for a, b in zip(x, x[::-1])], (V,)),
    (lambda x, y: [a * b * c for a, b, c in zip(x, y, [1, 2, 3])], (V, W)),
    (lambda x: [i * v for i, v in enumerate(x)], (V,)),
    (lambda x: [i * v for i, v in enumerate([x, x, 2.0], start=2)], (1.5,)),
    (lambda x: [v for v in reversed([x, 2.0, 3.0])], (1.5,)),
    (lambda x: [v * 2 for v in reversed(x)], (V,)),
    (lambda x: [x[i] for i in reversed(range(1, len(x)))], (V,)),
    (lambda x: [x[i] for i in range(len(x) - 1, -1, -2)], (V,)),
    (lambda x: list(map(lambda v: v * v, x)), (V,)),
    (lambda x: list(map(lambda a, b: a * b, [x, x], (1.0, 2.0))), (1.5,)),
    (lambda x: [v for v in map(math.sin, [x, 2 * x])], (1.5,)),
    (lambda x: list(filter(lambda v: v > 0, [x[0], x[1]])), (V,)),
    (lambda x: list(filter(lambda v: v > 0, x)), (V,)),
    (lambda x: sorted([x[2], x[0], x[1]]), (V,)),
    (lambda x: sorted([x[2], x[0], x[1], x[3]], reverse=True), (V,)),
    (lambda x: [x * k for k in sorted({"b": 1, "a": 2})] if False else x, (1.5,)),
    (lambda x: x if isinstance(x, np.ndarray) else 2 * x, (V,)),
    (lambda x: x if isinstance(x, np.ndarray) else 2 * x, (1.5,)),
    (lambda x: 1.0 * isinstance(x, float) + isinstance(x, int), (1.5,)),
    (lambda x: isinstance(x[0], (float, np.floating)), (V,)),
    (lambda x: isinstance((x, x), tuple) and isinstance([x], list), (V,)),
    (lambda x: issubclass(np.float64, float), (V,)),
    (lambda x: type(x) is float, (1.5,)),
    (lambda x: type(x) is np.ndarray, (V,)),
    (lambda x: callable(x) or callable(np.sin), (1.5,)),
    (lambda x: hasattr(x, "shape"), (V,)),
    (lambda x: hasattr(x, "shape"), (1.5,)),
    (lambda x: x.T, (A,)),
    (lambda x: getattr(x, "nothing", 3.0) * x, (1.5,)),
    (lambda x: np.sin(x), (1.5,)),
    (lambda x: list((x, x + 1)), (1.5,)),
    (lambda x: list(x), (V,)),
    (lambda x: tuple([x, x + 1]), (1.5,)),
    (lambda x: dict(a=x, b=2 * x), (1.5,)),
    (lambda x: dict([("a", x), ("b", 2 * x)]), (1.5,)),
    (lambda x: dict({"a": x}, b=2 * x), (1.5,)),
    (lambda x: x[slice(1, 3)], (V,)),
    (lambda x: x[slice(None, None, -1)], (V,)),
    (lambda x: 2 in set([1, 2, 3]), (V,)),
    (lambda x: bool(x > 1.0), (1.5,)),
    (lambda x: str(3) + repr("a"), (1.5,)),
    (lambda x: f"{x:.3f}", (1.5,)),
    (lambda x: format(x, ".2f"), (1.5,)),
    (lambda x: f"{x} and {2}", (1.5,)),
    (lambda x: ", ".join(["a", "b"]), (1.5,)),
]

SCALARS: list[Row] = [
    (lambda x: float(x), (2,)),
    (lambda x: float(x), (2.5,)),
    (lambda x: float(x[0]), (V,)),
    (lambda x: float(x), (np.array(2.5),)),
    (lambda x: float(x), (np.float32(2.5),)),
    (lambda x: int(x), (2.7,)),
    (lambda x: int(x[0]), (V,)),
    (lambda x: complex(x, 2.0), (1.5,)),
    (lambda x: x[1].item() * 2, (V,)),
    (lambda x: x.item(), (np.array([2.5]),)),
    (lambda x: x.item(2), (V,)),
    (lambda x: x.item(1, 2), (A,)),
    (lambda x: x.item((1, 2)), (A,)),
    (lambda x: x.item(4), (A,)),
    (lambda x: np.float32(x) * 2, (1.1,)),
    (lambda x: np.float64(x) * 2, (1.1,)),
    (lambda x: np.int64(x), (3.9,)),
    (lambda x: np.float32(x), (V,)),
    (lambda x: x.dtype.type(2.0) * x, (F32,)),
    (lambda x: math.sin(x) + math.exp(x) * math.sqrt(x), (1.1,)),
    (lambda x: math.sin(x[0]), (V,)),
    (lambda x: math.atan2(x, 2.0) + math.hypot(x, 1.0) + math.log(x, 2), (1.1,)),
    (lambda x: math.floor(x) + math.ceil(x) + math.trunc(x), (1.1,)),
    (lambda x: math.prod([x, 2.0, x]), (1.1,)),
    (lambda x: math.fabs(x) + math.pow(x, 2), (-1.1,)),
    (lambda x: math.isnan(x) or math.isfinite(x), (-1.1,)),
    (lambda x: math.pi * x, (-1.1,)),
    (lambda x: math.gcd(12, 8) * x, (-1.1,)),
    (lambda x: x.real + x.imag, (1.5,)),
    (lambda x: x.real, (1.5 + 2j,)),
    (lambda x: x.conjugate(), (1.5 + 2j,)),
    (lambda x: x[0].conjugate(), (Z,)),
    (lambda x: x[0].sum() + x[0].mean(), (V,)),
    (lambda x: x[0].astype(np.float32), (V,)),
    (lambda x: x[0].shape, (V,)),
    (lambda x: x[0].ndim, (V,)),
]

METHODS: list[Row] = [
    (lambda x: x.sum(), (A,)),
    (lambda x: x.sum(axis=1), (A,)),
    (lambda x: x.sum(0), (A,)),
    (lambda x: x.sum(axis=1, keepdims=True), (A,)),
    (lambda x: x.sum(axis=(0, 1)), (A,)),
    (lambda x: x.sum(dtype=np.float32), (A,)),
    (lambda x: x.sum(where=[True, False, True], axis=1), (A,)),
    (lambda x: x.mean() + x.mean(0), (A,)),
    (lambda x: x.std(ddof=1), (A,)),
    (lambda x: x.var(axis=0), (A,)),
    (lambda x: x.prod(1), (A,)),
    (lambda x: x.max() - x.min(axis=0), (A,)),
    (lambda x: x.argmax() + x.argmin(), (A,)),
    (lambda x: x.argsort(), (V,)),
    (lambda x: x.cumsum(), (A,)),
    (lambda x: x.cumprod(axis=1), (A,)),
    (lambda x: x.clip(-1, 1), (A,)),
    (lambda x: x.clip(min=0.0), (A,)),
    (lambda x: x.take([0, 2]), (V,)),
    (lambda x: x.take([0, 2], axis=1), (A,)),
    (lambda x: x.repeat(2), (V,)),
    (lambda x: x.repeat(2, axis=0), (A,)),
    (lambda x: x.squeeze(), (np.ones((1, 3)),)),
    (lambda x: x.squeeze(0), (np.ones((1, 3)),)),
    (lambda x: x.swapaxes(0, 1), (A,)),
    (lambda x: x.trace(), (S,)),
    (lambda x: x.diagonal(), (S,)),
    (lambda x: x.conj(), (Z,)),
    (lambda x: x.nonzero()[0], (V,)),
    (lambda x: x.any() or x.all(), (A,)),
    (lambda x: (x > 0).any(axis=1), (A,)),
    (lambda x: x.reshape(3, 2), (A,)),
    (lambda x: x.reshape((3, 2)), (A,)),
    (lambda x: x.reshape(-1), (A,)),
    (lambda x: x.reshape(-1, 1), (V,)),
    (lambda x: x.reshape(3, -1, order="F"), (A,)),
    (lambda x: x.reshape(-1), (NC,)),
    (lambda x: x.ravel(), (A,)),
    (lambda x: x.ravel(order="F"), (A,)),
    (lambda x: x.flatten(), (A,)),
    (lambda x: x.flatten("F"), (A,)),
    (lambda x: x.transpose(), (A,)),
    (lambda x: x.transpose(1, 0), (A,)),
    (lambda x: x.transpose((1, 0)), (A,)),
    (lambda x: x.copy(), (A,)),
    (lambda x: x.astype(np.float32), (A,)),
    (lambda x: x.astype(int), (A,)),
    (lambda x: x.astype("float64"), (A,)),
    (lambda x: x.astype(float, copy=False), (A,)),
    (lambda x: x.astype(complex), (A,)),
    (lambda x: x.dot(x), (V,)),
    (lambda x, y: x.T.dot(y), (A, B)),
    (lambda x: x.tolist(), (V,)),
    (lambda x: x.searchsorted(2.0), (np.sort(V),)),
    (lambda x: x.compress([True, False, True], axis=1), (A,)),
    (lambda x: x.T, (A,)),
    (lambda x: x.T, (V,)),
    (lambda x: x.shape, (A,)),
    (lambda x: x.shape[0] * x.shape[-1], (A,)),
    (lambda x: x.ndim + x.size, (A,)),
    (lambda x: x.dtype == np.float64, (A,)),
    (lambda x: x.real, (Z,)),
    (lambda x: x.imag * x.real, (Z,)),
    (lambda x: x.real, (A,)),
    (lambda x: x.imag, (A,)),
    (lambda x: x.nbytes + x.itemsize, (A,)),
    (lambda x: np.ndarray.sum(x), (A,)),
]


def fill_method(x):
    y = x.copy()
    y.fill(2.5)
    return y * x


def fill_view(x):
    y = np.zeros(4)
    y[1:3].fill(x)
    return y


def sort_in_place(x):
    y = x.copy()
    y.sort()
    return y


def sort_axis(x):
    y = x.copy()
    y.sort(axis=0)
    return y


def copyto_plain(x):
    y = np.zeros(4)
    np.copyto(y, x)
    return y


def copyto_scalar(x):
    y = np.zeros((2, 3))
    np.copyto(y[0], x)
    return y


def copyto_mask(x, m):
    y = np.ones(4)
    np.copyto(y, x, where=m)
    return y


def fill_diagonal(x):
    y = np.zeros((3, 3))
    np.fill_diagonal(y, x)
    return y


def fill_diagonal_vector(x):
    y = np.zeros((3, 3))
    np.fill_diagonal(y, x)
    return y


def fill_diagonal_tall(x):
    y = x.copy()
    np.fill_diagonal(y.T, 9.0)
    return y


def put_plain(x):
    y = np.zeros(6)
    np.put(y, [0, 5, 2], x[:3])
    return y


def put_scalar(x):
    y = np.zeros((2, 3))
    np.put(y, [0, -1], x[0])
    return y


def put_repeated(x):
    y = np.zeros((2, 3))
    y.put([0, 4, 1, 3, 2], x[:2])
    return y


def place_some(x):
    y = np.zeros((2, 3))
    np.place(y, y == 0, x)
    return y


def putmask_some(x, m):
    y = np.ones(4)
    np.putmask(y, m, x)
    return y


def putmask_scalar(x, m):
    y = np.ones(4)
    np.putmask(y, m, x[0])
    return y


def add_at(x, i):
    y = np.zeros(4)
    np.add.at(y, i, x)
    return y


def add_at_repeated(x):
    y = np.ones(4)
    np.add.at(y, [0, 0, 1], x[:3])
    return y


def subtract_at(x):
    y = np.ones((2, 3))
    np.subtract.at(y, (0, [0, 1, 0]), x[:3])
    return y


def out_ufunc(x):
    y = np.empty(4)
    np.exp(x, out=y)
    np.multiply(y, 2.0, y)
    return y


def out_returned(x):
    y = np.zeros(4)
    z = np.add(x, 1.0, out=y)
    z[0] = 7.0
    return y


def out_where(x):
    y = np.zeros(4)
    np.sqrt(x, out=y, where=x > 0)
    return y


def out_where_divide(x):
    return np.divide(1.0, x, out=np.zeros_like(x), where=x != 0)


def from_its_class(x):
    y = np.ndarray(4)
    z = np.ndarray((2, 4), dtype=np.float32, order="C")
    y[:] = x
    z[:] = y
    return y * z


def out_tuple(x):
    a, b = np.empty(4), np.empty(4)
    np.modf(x, out=(a, b))
    return a - b


def out_view(x):
    y = np.zeros((2, 4))
    np.sin(x, out=y[1])
    return y


def out_sum(x):
    y = np.zeros(3)
    np.sum(x, axis=0, out=y)
    return y


def out_dot(x):
    y = np.zeros((3, 3))
    np.dot(x.T, x, out=y)
    np.dot(x.T, x, y)
    return y


def out_matmul(x):
    y = np.zeros((3, 3))
    np.matmul(x.T, x, out=y)
    return y


def out_cumsum(x):
    y = np.zeros(4)
    np.cumsum(x, out=y)
    x.cumsum(out=y)
    return y


def out_clip(x):
    y = x.copy()
    np.clip(y, 0.0, 1.0, out=y)
    return y


def out_mean(x):
    y = np.zeros(3)
    x.mean(axis=0, out=y)
    return y


def out_take(x):
    y = np.zeros(2)
    np.take(x, [0, 1], out=y)
    return y


def out_concatenate(x):
    y = np.zeros(8)
    np.concatenate([x, x], out=y)
    return y


def out_float32(x):
    y = np.zeros(4, dtype=np.float32)
    np.multiply(x, x, out=y)
    return y


def accumulate_in_loop(x):
    y = np.zeros(4)
    for i in range(3):
        np.add(y, x[i], out=y)
    return y


MUTATION: list[Row] = [
    (fill_method, (V,)), (fill_view, (1.5,)), (sort_in_place, (V,)), (sort_axis, (A,)), (copyto_plain, (V,)),
    (copyto_scalar, (1.5,)), (copyto_mask, (V, M)), (fill_diagonal, (1.5,)), (fill_diagonal_vector, (V[:3].copy(),)),
    (fill_diagonal_tall, (A,)), (put_plain, (V,)), (put_scalar, (V,)), (put_repeated, (V,)), (place_some, (V,)),
    (putmask_some, (V, M)), (putmask_scalar, (V, M)), (add_at, (V, I)), (add_at_repeated, (V,)), (subtract_at, (V,)),
    (out_ufunc, (V,)), (out_returned, (V,)), (out_where, (V,)), (out_where_divide, (V,)),
    (from_its_class, (V,)),
    (out_view, (V,)), (out_sum, (A,)), (out_dot, (A,)), (out_matmul, (A,)), (out_cumsum, (V,)), (out_clip, (V,)),
    (out_mean, (A,)), (out_take, (V,)), (out_concatenate, (V,)), (out_float32, (V,)), (accumulate_in_loop, (V,)),
]  # fmt: skip


def reshape_view(x):
    y = x.copy()
    z = y.reshape(3, 2)
    z[0] = 9.0
    return y


def reshape_of_transposed(x):
    y = x.copy()
    z = y.T.reshape(-1)
    return z * 2, y


def ravel_view(x):
    y = x.copy()
    y.ravel()[1:4] = 7.0
    return y


def ravel_function(x):
    y = x.copy()
    z = np.ravel(y)
    z[1:4] = 7.0
    return y


def transpose_view(x):
    y = x.copy()
    y.T[0] = 5.0
    z = np.transpose(y)
    z[1, 0] += 2.0
    return y


def swapaxes_view(x):
    y = x.copy()
    y.swapaxes(0, 1)[2] = x[0, 0]
    return y


def moveaxis_view(x):
    y = x.copy()
    z = np.moveaxis(y, 0, -1)
    z[0] = 5.0
    return y


def expand_dims_view(x):
    y = x.copy()
    np.expand_dims(y, 0)[0, 1] = 5.0
    np.expand_dims(y, axis=1)[2] = 6.0
    return y


def squeeze_view(x):
    y = x[None].copy()
    np.squeeze(y, axis=0)[1] = 5.0
    y.squeeze(0)[2] = 6.0
    return y


def flip_view(x):
    y = x.copy()
    np.flip(y)[0] = 5.0
    np.flipud(y)[1] = 6.0
    return y


def real_view(x):
    y = x.copy()
    y.real[0] = 5.0
    np.imag(y)[1] = 6.0
    y.real *= 2.0
    return y


def real_of_real(x):
    y = x.copy()
    y.real[0] = 5.0
    return y


def asarray_alias(x):
    y = x.copy()
    z = np.asarray(y)
    z[0] = 5.0
    np.asarray(y, dtype=float)[1] = 6.0
    return y


def asarray_cast(x):
    y = x.copy()
    z = np.asarray(y, dtype=np.float32)
    z[0] = 5.0
    return y, z


def array_copies(x):
    y = x.copy()
    z = np.array(y)
    z[0] = 5.0
    w = y.flatten()
    w[1] = 6.0
    v = y.astype(float)
    v[2] = 7.0
    return y, z, w, v


def astype_same(x):
    y = x.copy()
    z = y.astype(float, copy=False)
    z[0] = 5.0
    return y


def atleast_alias(x):
    y = x.copy()
    np.atleast_1d(y)[0] = 5.0
    np.atleast_2d(y)[0, 1] = 6.0
    return y


def split_views(x):
    y = x.copy()
    a, b = np.split(y, 2)
    return a * b + y[0]


def rows_alias(x):
    y = x.copy()
    rows = [y[0], y[1]]
    rows[1][2] = 9.0
    return y


def view_of_view(x):
    y = x.copy()
    z = y.T[1:]
    z.reshape(-1)
    z[0, 1] = 4.0
    w = z.T
    w[0] *= 3.0
    return y


def identity_T(x):
    y = x.copy()
    y.T[1] = 4.0
    return y


def out_alias(x):
    y = np.zeros(4)
    z = np.exp(x, out=y)
    z += 1.0
    return y


def overlapping_out(x):
    y = x.copy()
    np.add(y[:-1], y[1:], out=y[1:])
    return y


def copyto_overlap(x):
    y = x.copy()
    np.copyto(y[1:], y[:-1])
    return y


def sort_view(x):
    y = x.copy()
    y[1:].sort()
    return y


def fill_diagonal_view(x):
    y = np.zeros((2, 4, 4))
    np.fill_diagonal(y[1], x)
    return y


def container_out(x):
    d = {"y": np.zeros(4)}
    np.multiply(x, 2.0, out=d["y"])
    d["y"][0] = 3.0
    return d["y"]


VIEWS: list[Row] = [
    (reshape_view, (A,)), (reshape_of_transposed, (A,)), (ravel_view, (A,)), (ravel_function, (A,)),
    (transpose_view, (A,)), (swapaxes_view, (A,)), (moveaxis_view, (A,)), (expand_dims_view, (V,)),
    (squeeze_view, (V,)), (flip_view, (V,)), (real_view, (Z,)), (real_of_real, (V,)), (asarray_alias, (V,)),
    (asarray_cast, (V,)), (array_copies, (V,)), (astype_same, (V,)), (atleast_alias, (V,)), (split_views, (V,)),
    (rows_alias, (A,)), (view_of_view, (A,)), (identity_T, (V,)), (out_alias, (V,)), (overlapping_out, (V,)),
    (copyto_overlap, (V,)), (sort_view, (V,)), (fill_diagonal_view, (V,)), (container_out, (V,)),
]  # fmt: skip


def out_einsum(x):
    y = np.zeros(3)
    np.einsum("ij->j", x, out=y)
    return y, np.einsum("ij,ij->", x, x)


UFUNCS: list[Row] = [
    (out_einsum, (A,)),
    (lambda x: np.add(x, x, dtype=np.float32), (F32,)),
    (lambda x: np.add.reduce(x), (A,)),
    (lambda x: np.add.reduce(x, axis=None), (A,)),
    (lambda x: np.add.reduce(x, axis=1, keepdims=True), (A,)),
    (lambda x: np.multiply.reduce(x), (A,)),
    (lambda x: np.maximum.reduce(x), (A,)),
    (lambda x: np.minimum.reduce(x, axis=1), (A,)),
    (lambda x: np.logical_and.reduce(x > 0), (A,)),
    (lambda x: np.add.accumulate(x), (A,)),
    (lambda x: np.multiply.accumulate(x), (V,)),
    (lambda x, y: np.multiply.outer(x, y), (V, W)),
    (lambda x, y: np.subtract.outer(x, y), (A, W)),
    (lambda x: np.subtract.outer(x, 2.0), (A,)),
    (lambda x: np.sin(x, casting="same_kind"), (A,)),
    (lambda x: np.sum([x, 2 * x]), (1.5,)),
    (lambda x: np.maximum(x, range(4)), (V,)),
]

CREATION: list[Row] = [
    (lambda x: np.array([x, 2 * x]), (1.5,)),
    (lambda x: np.array([[x, 2.0], [0.0, x]]), (1.5,)),
    (lambda x: np.array([x[0], x[1]]), (A,)),
    (lambda x: np.array((x, x)), (V,)),
    (lambda x: np.array([x, 1], dtype=np.float32), (1.5,)),
    (lambda x: np.array(x), (V,)),
    (lambda x: np.array(x), (1.5,)),
    (lambda x: np.array(x, dtype=np.float32), (V,)),
    (lambda x: np.array([v * v for v in x]), (V,)),
    (lambda x: np.array([[a * b for a in x] for b in x]), (V,)),
    (lambda x: np.array(range(len(x))) * x, (V,)),
    (lambda x: np.array([1.0, 2.0, 3.0, 4.0]) * x, (V,)),
    (lambda x: np.array(x, ndmin=2), (V,)),
    (lambda x: np.array(x, copy=False) * 2, (V,)),
    (lambda x: np.asarray(x) * 2, (V,)),
    (lambda x: np.asarray(x), (1.5,)),
    (lambda x: np.asarray([x, x]), (1.5,)),
    (lambda x: np.asarray(x, dtype=np.float32), (V,)),
    (lambda x: np.asarray(x, dtype=float), (V,)),
    (lambda x: np.copy(x), (V,)),
    (lambda x: np.ascontiguousarray(x.T), (A,)),
    (lambda x: np.zeros(3) + x, (1.5,)),
    (lambda x: np.zeros(x.shape) + x, (A,)),
    (lambda x: np.zeros((len(x), 2)), (V,)),
    (lambda x: np.zeros(shape=(2, 2), dtype=np.float32), (V,)),
    (lambda x: np.ones(len(x), dtype=x.dtype) * x, (F32,)),
    (lambda x: np.ones((2, 2)), (V,)),
    (lambda x: np.full(3, x), (1.5,)),
    (lambda x: np.full((2, len(x)), x), (V,)),
    (lambda x: np.full_like(x, 2.0), (V,)),
    (lambda x: np.zeros_like(x) + np.ones_like(x), (V,)),
    (lambda x: np.zeros_like(x, dtype=np.float32), (V,)),
    (lambda x: np.arange(4) * x, (V,)),
    (lambda x: np.arange(0.0, len(x), 1.0) * x, (V,)),
    (lambda x: np.linspace(0.0, x, 5), (1.5,)),
    (lambda x: np.eye(3) * x, (1.5,)),
    (lambda x: np.identity(3) * x, (1.5,)),
    (lambda x: np.meshgrid(x, x)[0], (V,)),
    (lambda x: np.split(x, 2)[1], (V,)),
    (lambda x: sum(np.array_split(x, 2)[0]), (V,)),
    (lambda x: np.atleast_2d(x), (V,)),
    (lambda x: np.atleast_1d(x), (1.5,)),
    (lambda x: np.atleast_3d(x), (A,)),
    (lambda x: np.atleast_2d(x, [x, x])[1], (1.5,)),
    (lambda x: np.shape(x), (A,)),
    (lambda x: np.ndim(x) + np.size(x) + np.size(x, 1), (A,)),
    (lambda x: np.ndim(x), (1.5,)),
    (lambda x: np.shape([x, x]), (1.5,)),
    (lambda x: np.isscalar(x), (1.5,)),
    (lambda x: np.isscalar(x), (A,)),
    (lambda x: np.iscomplexobj(x), (Z,)),
    (lambda x: np.result_type(x, np.float32) == np.float64, (A,)),
    (lambda x: np.finfo(x.dtype).eps * x, (F32,)),
    (lambda x: np.finfo(float).eps * x, (1.5,)),
    (lambda x: np.iinfo(np.int32).max * x, (1.5,)),
    (lambda x: np.issubdtype(x.dtype, np.floating), (F32,)),
    (lambda x: x.astype(np.dtype("f4")), (V,)),
    (lambda x: [x[i] for i in np.ndindex(x.shape)] if False else x, (V,)),
    (lambda x: sum(x[i] for i in np.ndindex(2, 3)), (A,)),
    (lambda x: sum(x[i] for i in np.ndindex(x.shape)), (A,)),
    (lambda x: np.fromiter((v * v for v in x), dtype=float), (V,)),
]


def list_methods(x):
    items = [x, 2.0]
    items.append(x * x)
    items.insert(0, 5.0)
    items.extend([x, 1.0])
    items.extend((3.0,))
    last = items.pop()
    first = items.pop(0)
    items.reverse()
    copy = items.copy()
    items.clear()
    return copy, len(items), first, last


def growing(x):
    items = []
    for i in range(len(x)):
        items.append(x[i] * x[i])
    total = 0.0
    for v in items:
        total = total + v
    return total + len(items) + items[-1]


def growing_pop(x):
    stack = []
    for v in x:
        stack.append(v)
    a = stack.pop()
    b = stack.pop()
    return a * b + len(stack)


def growing_extend(x):
    items = []
    for v in x:
        items.append(v)
    more = []
    for v in x:
        more.append(v * v)
    items.extend(more)
    items.extend([1.0, 2.0])
    return np.array(items)


def rows_in_list(x):
    rows = [r for r in x]
    return rows[0] * rows[1]


def known_list(x):
    names = ["b", "a", "c"]
    names.remove("b")
    return names.index("c") * x + names.count("a"), sorted(names)


def dict_methods(x):
    d = {"a": x, "b": 2.0}
    d["c"] = x * x
    d.update(e=1.0)
    d.update({"f": 2 * x})
    a = d.pop("a")
    z = d.pop("zz", 0.5)
    g = d.get("g", 3.0)
    h = d.setdefault("h", 4.0)
    d2 = d.copy()
    d.clear()
    return sum(d2.values()) + a + z + g + h, list(d2.keys()), len(d), [(k, v) for k, v in d2.items()]


def dict_in(x):
    d = {"a": x}
    return x if "a" in d and "b" not in d else 0.0


def tuple_methods(x):
    p = Point(x, 2.0)
    q = p._replace(y=x * x)
    return q, q._asdict()["x"], (1, 2, 1).count(1), (1, 2).index(2)


def strings(x):
    mode = "Fast ".strip().lower()
    return x if mode.startswith("fa") and ["a", "b"] == ["a", "b"] else 0.0


def sort_list(x):
    items = [x[0], x[1], x[2]]
    items.sort()
    return items


def list_changed_in_loop(x):
    items = [x, 2 * x, 3 * x]
    s = 0.0
    for i, v in enumerate(items):
        if i == 0:
            items[1] = x * x
        s = s + v
    return s


def dict_changed_in_loop(x):
    d = {"a": x, "b": 2 * x, "c": x * x}
    s = 0.0
    for _, v in d.items():
        d["c"] = v + 1.0
        s = s + v
    return s + len(d.keys()) + ("a" in d) + sum(v for v in d.values())


def dict_views(x):
    d = {"a": x, "b": 2 * x}
    names = d.keys()
    s = 0.0
    for k in names:
        s = s + d[k]
    for k in sorted(names):
        s = s + d[k] * d[k]
    e = {k: v * 2 for k, v in d.items()}
    a, b = e.values()
    return s + a * b + sum([*e.values()]) + sum(map(abs, e.values()))


def sorted_lists(x):
    items = []
    for v in x:
        items.append(v * v)
    items.reverse()
    a = items[0]
    items.sort()
    pure = [float(v) for v in x]
    return a, items[0] * items[1], sorted(x, reverse=True)[0], sorted(pure)[1] * sorted(pure)[0]


def insert_first(x):
    items = list(x)
    items.insert(0, x[1] * x[1])
    s = 0.0
    for i, v in enumerate(items):
        s = s + v * i
    return s + items[0]


CONTAINERS: list[Row] = [
    (insert_first, (V,)), (sorted_lists, (V,)),
    (list_changed_in_loop, (V,)), (dict_changed_in_loop, (V,)), (dict_views, (V,)),
    (list_methods, (1.5,)), (growing, (V,)), (growing_pop, (V,)), (growing_extend, (V,)), (rows_in_list, (A,)),
    (known_list, (1.5,)), (dict_methods, (1.5,)), (dict_in, (1.5,)), (tuple_methods, (1.5,)), (strings, (1.5,)),
    (sort_list, (V,)),
]  # fmt: skip

SCALE = functools.partial(np.multiply, 2.0)


def partial_local(x):
    f = functools.partial(lambda a, b: a * b + 1.0, x)
    return f(3.0) + f(b=2.0)


FUNCTIONAL: list[Row] = [
    (lambda x: sum(a * b * c for a, b, c in itertools.product(x, range(len(x)), [1.0, 2.0])), (V,)),
    (lambda x: sum(x[i] * x[i] for i in np.ndindex(x.shape)), (np.arange(8.0).reshape(2, 2, 2),)),
    (lambda x: sum(x[i] for i in np.ndindex(len(x))), (V,)),
    (lambda x, y: functools.reduce(np.add, [x, y, 1.0]), (V, W)),
    (lambda x: functools.reduce(operator.mul, x), (V,)),
    (lambda x: functools.reduce(lambda a, b: a * b, [x, 2.0], 3.0), (1.5,)),
    (lambda x: functools.reduce(lambda a, b: a + b * b, x, 0.0), (V,)),
    (partial_local, (1.5,)),
    (lambda x: SCALE(x), (V,)),
    (lambda x, y: operator.add(x, y) * operator.truediv(x, y) - operator.neg(x), (V, W)),
    (lambda x, y: operator.matmul(x, y), (V, W)),
    (lambda x: operator.itemgetter(1)([x, 2 * x]), (1.5,)),
    (lambda x: operator.itemgetter(1, 0)([x, 2 * x]), (1.5,)),
    (lambda x: operator.attrgetter("T")(x), (A,)),
    (lambda x: list(map(operator.mul, x, x)), (V,)),
    (lambda x: sum(a * b for a, b in itertools.product([x, 2.0], [3.0, x])), (1.5,)),
    (lambda x: sum(a * b for a, b in itertools.product(x, x)), (V,)),
    (lambda x: sum(itertools.chain([x, 1.0], (2.0,))), (1.5,)),
    (lambda x: sum(itertools.chain.from_iterable([[x, 1.0], (2.0,)])), (1.5,)),
    (lambda x: list(itertools.accumulate([x, 1.0, x])), (1.5,)),
    (lambda x: list(itertools.accumulate([x, 2.0, x], operator.mul)), (1.5,)),
    (lambda x: list(itertools.accumulate([x, 2.0], initial=1.0)), (1.5,)),
    (lambda x: [a * b for a, b in itertools.combinations([x, 2.0, 3.0], 2)], (1.5,)),
    (lambda x: [a - b for a, b in itertools.permutations((x, 2.0, 3.0), 2)], (1.5,)),
    (lambda x: [a - b for a, b in itertools.pairwise([x, 2.0, 3.0])], (1.5,)),
    (lambda x: list(itertools.islice([x, 2.0, 3.0], 2)), (1.5,)),
    (lambda x: list(itertools.starmap(operator.mul, [(x, 2.0), (3.0, x)])), (1.5,)),
    (lambda x: list(itertools.repeat(x, 3)), (1.5,)),
    (lambda x: [a for a in itertools.zip_longest([x, 2.0], [1.0], fillvalue=0.0)], (1.5,)),
]


@dataclasses.dataclass
class State:
    x: Any
    v: Any


def copies(x):
    a = [x * 2, x + 1]
    b = copy.copy(a)
    c = copy.deepcopy(a)
    c[0][0] = 100.0
    b.append(3.0)
    d = copy.copy(x)
    d[0] = 5.0
    return a[0], len(a), d


def replaced(x):
    s = State(x, 1.0)
    t = dataclasses.replace(s, v=x * x)
    return t.x + t.v, s.v, dataclasses.astuple(t)[1]


def piecewise(x):
    return np.piecewise(x, [x < 0, x > 2], [lambda v: v * v, 7.0, lambda v: np.sin(v)])


def along_rows(x):
    return np.apply_along_axis(lambda r: np.sum(r * r), 1, x) + np.apply_along_axis(np.max, 1, x)


def along_columns(x):
    return np.apply_along_axis(lambda r: r - np.mean(r), 0, x)


def no_nan(x):
    y = np.sqrt(x)
    z = np.nan_to_num(y, copy=False, nan=-1.0)
    z[0] = 9.0
    return y


def named_results(x):
    w = np.linalg.eigh(x)
    sign, logdet = np.linalg.slogdet(x)
    return w.eigenvalues, sign * logdet, np.linalg.slogdet(x).logabsdet


def along_axis(x):
    y = np.zeros((2, 3))
    np.put_along_axis(y, np.argmax(x, axis=1)[:, None], x[:, :1], 1)
    return y


def out_where_quiet(x):
    with np.errstate(all="raise"):
        return np.divide(1.0, x, out=np.full_like(x, 5.0), where=x != 0) + np.sqrt(x, out=x * 2, where=x > 0)


OBJECTS: list[Row] = [
    (lambda x: np.vectorize(lambda v: v * v if v > 0 else -v)(x), (V,)),
    (lambda x: pb.broadcast(lambda v, w: v * w, x, 2.0), (V,)),
    (lambda x: np.c_[x, 2 * x], (V,)),
    (lambda x: np.c_[x.T, x.T], (A,)),
    (lambda x: np.r_[x, 1.0, 2 * x], (V,)),
    (lambda x: x[np.s_[1:3]], (V,)),
    (lambda x: x[np.ix_([0, 1], [2, 0])], (A,)),
    (lambda x: x[np.ix_([True, False], [2, 0])], (A,)),
    (lambda x: np.argsort(x, kind="stable"), (np.array([1.0, 0.0, 1.0, 0.0]),)),
    (lambda x: pb.broadcast(np.sin, x), (V,)),
    (lambda x: pb.broadcast(lambda v: v * v, x), (1.5,)),
    (copies, (V,)), (replaced, (1.5,)), (piecewise, (V + 0.25,)), (along_rows, (A,)), (along_columns, (A,)),
    (no_nan, (V,)),
    (named_results, (S,)), (along_axis, (A,)), (lambda x: np.fromfunction(lambda i, k: i + k, (2, 3)) * x, (1.5,)),
]  # fmt: skip


def seeded(x):
    np.random.seed(3)
    return x + np.random.rand() + np.random.randn(4)


def normal_draws(x):
    np.random.seed(3)
    a = np.random.normal(x[0], 2.0)
    b = np.random.normal(x, 0.5)
    c = np.random.normal(0.0, x[1] * x[1], size=4)
    return a + b + c


def uniform_draws(x):
    np.random.seed(3)
    return np.random.uniform(0.5, x[0], size=(2, 3)) * np.random.uniform() + np.random.uniform(x[1], x[0])


def choice_draws(x):
    np.random.seed(3)
    i = np.random.randint(3)
    k = np.random.permutation(4)
    return x[i] * x[k]


def generator(x):
    rng = np.random.default_rng(5)
    a = rng.normal(x[0], 2.0, size=3)
    b = rng.uniform(x[1], 2.0)
    c = rng.standard_normal(3) * rng.random()
    order = rng.permutation(4)
    return a * b + c, x[order]


def generator_argument(x, rng):
    return x * rng.standard_normal(4) + rng.normal(size=4)


def printed(x):
    print("the sum is", x.sum(), end="\n")
    return x * 2


def legacy(x):
    rs = np.random.RandomState(1)
    return x * rs.randn(4) + rs.rand(2, 4) + x[rs.permutation(4)]


def python_random(x):
    random.seed(2)
    return random.gauss(x, 2.0) + random.uniform(x, 3.0) * random.random()


def logged(x):
    LOGGER.debug("x is %s", x)
    logging.debug("again")
    np.testing.assert_allclose(x, x)
    np.seterr(all="warn")
    return x * 2


EFFECTS: list[Row] = [
    (legacy, (V,)), (python_random, (1.5,)), (logged, (V,)),
    (seeded, (V,)), (normal_draws, (V,)), (uniform_draws, (V,)), (choice_draws, (V,)), (generator, (V,)),
    (generator_argument, (V, np.random.default_rng(2))), (printed, (V,)),
]  # fmt: skip


def spent(x):
    z = zip(x, x)
    return list(z) + list(z)  # here


# steps, kinks and constants: differences say nothing of these
STEPS: list[Row] = [
    (out_where_quiet, (np.array([0.0, 2.0, -3.0]),)),
    (out_tuple, (V,)),
    (lambda x: x.round(1), (A,)),
    (lambda x: np.divmod(x, 2.0)[0], (V,)),
    (lambda x: pb.stop_gradient(x) * x, (V,)),
    (lambda x: pb.stop_gradient((x, 2.0))[0], (1.5,)),
    (lambda x: round(x, 1), (2.66,)),
    (lambda x: divmod(x, 2.0), (5.5,)),
]


def late_generator(x):
    k = 3.0
    g = (v * k for v in x)  # here
    k = 2.0
    return sum(g) + k


def late_view(x):
    d = {"a": x}
    names = d.keys()
    d["b"] = 2 * x
    return sum(d[k] for k in names)  # here


REFUSED: list[Row] = [
    (late_generator, (V,)),
    (late_view, (V,)),
    (lambda x: np.broadcast_to(x, (2, 4)).fill(1.0), (V,)),
    (lambda x: x.diagonal().sort(), (S,)),
    (spent, (V,)),
    (lambda x: x.flat[0], (V,)),
    (lambda x: x.view(np.int64), (V,)),
    (lambda x: x.strides, (V,)),
    (lambda x: np.lib.stride_tricks.as_strided(x, (2, 2), (8, 8)), (V,)),
    (lambda x: np.array([x, x], dtype=object), (1.5,)),
    (lambda x: np.zeros(3, dtype=object), (1.5,)),
    (lambda x: np.sqrt(x, where=x > 0), (V,)),
    (lambda x: eval("x"), (1.5,)),
    (lambda x: id(x), (1.5,)),
    (lambda x: next(iter([x])), (1.5,)),
    (lambda x: np.nditer(x), (V,)),
    (lambda x: np.ndarray(4, np.float64, x), (V,)),
    (lambda x: np.ndarray((2, 2), np.float64, strides=(8, 8)), (V,)),
    (lambda x: np.ndarray((2, 2), np.float64, order="F"), (V,)),
    (lambda x: np.array(zip(x, x)), (V,)),
    (lambda x: np.multiply.at(x.copy(), [0], 2.0), (V,)),
    (lambda x: np.maximum.accumulate(x), (V,)),
    (lambda x: np.random.shuffle(x), (V,)),
    (lambda x: x.resize(2), (V,)),
    (lambda x: np.sum(x, out=np.zeros(3, dtype=np.float32), axis=0), (A,)),
    (lambda x: np.copyto(np.zeros(4, dtype=int), x), (V,)),
    (lambda x: [1, 2].index(x), (1.5,)),
    (lambda x: sorted(x), (A,)),
    (lambda x: {"a": x}.pop("b"), (1.5,)),
    (lambda x: itertools.count(x), (1,)),
    (lambda x: np.random.exponential(x), (1.5,)),
    (lambda x: round(x), (V,)),
    (lambda x: np.shares_memory(x, x), (V,)),
    (lambda x: range(x), (1.5,)),
    (lambda x: open("file"), (1.5,)),
]

GROUPS = {
    "builtins": BUILTINS, "scalars": SCALARS, "methods": METHODS, "mutation": MUTATION, "views": VIEWS,
    "ufuncs": UFUNCS,
    "creation": CREATION, "containers": CONTAINERS, "functional": FUNCTIONAL, "effects": EFFECTS,
    "objects": OBJECTS, "steps": STEPS,
}  # fmt: skip
