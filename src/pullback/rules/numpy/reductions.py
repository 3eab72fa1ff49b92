"""Sums, products, means, extremes over axes."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs
# Rule functions are text in the language that we compile: their operands are of any style.

from __future__ import annotations

import functools
import operator

import numpy as np

from pullback.rules.kinds import case
from pullback.rules.numpy.elementwise import conj
from pullback.rules.registry import rule

V = np.array([1.5, -0.5, 2.0])
M = np.array([[1.5, -0.5, 2.0], [0.25, 3.0, -1.0]])
T = np.linspace(-1.0, 2.0, 24).reshape(2, 3, 4) ** 2 + np.arange(4.0)
MASK = np.array([[True, False, True], [True, True, False]])
AXES = (
    case(V),
    case(M),
    case(M, axis=0),
    case(M, axis=-1),
    case(M, axis=1, keepdims=True),
    case(M, keepdims=True),
    case(T, axis=(0, 2)),
    case(T, axis=(2, 1), keepdims=True),
    case(2.0),
    case(np.array(2.0)),
)


def spread(bar, axis, keepdims):
    """A result with the reduced axes put back, of length 1 (a single number needs none)."""
    if axis is None or keepdims:
        return bar
    return np.expand_dims(bar, axis)


def count(a, axis):
    """How many elements are reduced to one."""
    if axis is None:
        return np.size(a)
    if isinstance(axis, tuple):
        return functools.reduce(operator.mul, [np.shape(a)[k] for k in axis])
    return np.shape(a)[axis]


def masked(bar, where):
    """The cotangent where the elements take part."""
    if where is None:
        return bar
    return np.where(where, bar, 0)


@rule(np.sum, linear="a", cases=(*AXES, case(M, axis=0, where=MASK), case(M, where=MASK, initial=2.0)))
def sum(a, axis=None, dtype=None, keepdims=False, initial=None, where=None, *, out, out_bar):
    """Every element gets its sum's cotangent."""
    bar = np.broadcast_to(spread(out_bar, axis, keepdims), np.shape(a))
    return masked(bar, where)


@rule(np.nansum, cases=AXES)
def nansum(a, axis=None, dtype=None, keepdims=False, initial=None, where=None, *, out, out_bar):
    """NaNs take no part."""
    bar = np.where(np.isnan(a), 0, spread(out_bar, axis, keepdims))
    return masked(bar, where)


@rule(np.mean, linear="a", cases=(*AXES, case(M, axis=0, where=MASK)))
def mean(a, axis=None, dtype=None, keepdims=False, *, where=None, out, out_bar):
    """A sum over a count."""
    if where is None:
        return np.broadcast_to(spread(out_bar / count(a, axis), axis, keepdims), np.shape(a))
    n = np.sum(np.broadcast_to(where, np.shape(a)), axis=axis, keepdims=True)
    return np.where(where, spread(out_bar, axis, keepdims) / n, 0)


@rule(np.nanmean, cases=AXES)
def nanmean(a, axis=None, dtype=None, keepdims=False, *, where=None, out, out_bar):
    """A sum over the count of what is not NaN."""
    valid = ~np.isnan(a)
    if where is not None:
        valid = valid & where
    n = np.sum(valid, axis=axis, keepdims=True)
    return np.where(valid, spread(out_bar, axis, keepdims) / n, 0)


def centred(a, axis, where):
    """The operand less its mean."""
    if where is None:
        return a - np.mean(a, axis=axis, keepdims=True)
    return np.where(where, a - np.mean(a, axis=axis, keepdims=True, where=where), 0)


def degrees_of_freedom(a, axis, ddof, where):
    """What the sum of squares is divided by: at least 0, as NumPy has it."""
    if where is None and ddof == 0:
        return count(a, axis)
    if where is None:
        return max(count(a, axis) - ddof, 0)
    return np.maximum(np.sum(np.broadcast_to(where, np.shape(a)), axis=axis, keepdims=True) - ddof, 0)


VARIANCES = (
    case(V),
    case(M),
    case(M, axis=0),
    case(M, axis=1, keepdims=True),
    case(M, axis=-1, ddof=1),
    case(T, axis=(0, 2)),
    case(M, axis=1, where=MASK),
    case(V, ddof=1),
)


@rule(np.var, cases=VARIANCES)
def var(a, axis=None, dtype=None, ddof=0, keepdims=False, *, where=None, correction=None, out, out_bar):
    """2 (a - mean) / n."""
    free = ddof if correction is None else correction
    n = degrees_of_freedom(a, axis, free, where)
    return spread(out_bar, axis, keepdims) * 2 / n * centred(a, axis, where)


@rule(np.std, cases=VARIANCES)
def std(a, axis=None, dtype=None, ddof=0, keepdims=False, *, where=None, correction=None, out, out_bar):
    """(a - mean) / (n std); 0 where the deviation is 0."""
    free = ddof if correction is None else correction
    n = degrees_of_freedom(a, axis, free, where)
    s = spread(out + (out == 0), axis, keepdims)
    return spread(out_bar, axis, keepdims) / n / s * centred(a, axis, where)


@rule(
    np.nanvar,
    cases=(case(V), case(M), case(M, axis=0), case(M, axis=1, keepdims=True), case(M, axis=-1, ddof=1)),
)
def nanvar(a, axis=None, dtype=None, ddof=0, keepdims=False, *, where=None, out, out_bar):
    """As the variance, of what is not NaN."""
    valid = ~np.isnan(a)
    n = np.maximum(np.sum(valid, axis=axis, keepdims=True) - ddof, 0)
    deviation = np.where(valid, a - np.nanmean(a, axis=axis, keepdims=True), 0)
    return spread(out_bar, axis, keepdims) * 2 / n * deviation


@rule(
    np.nanstd,
    cases=(case(V), case(M), case(M, axis=0), case(M, axis=1, keepdims=True), case(M, axis=-1, ddof=1)),
)
def nanstd(a, axis=None, dtype=None, ddof=0, keepdims=False, *, where=None, out, out_bar):
    """As the deviation, of what is not NaN."""
    valid = ~np.isnan(a)
    n = np.maximum(np.sum(valid, axis=axis, keepdims=True) - ddof, 0)
    deviation = np.where(valid, a - np.nanmean(a, axis=axis, keepdims=True), 0)
    s = spread(out + (out == 0), axis, keepdims)
    return spread(out_bar, axis, keepdims) / n / s * deviation


# --------------------------------------------------------------------------------------------------- extremes


def shared_out(bar, chosen, axis, out):
    """The cotangent in equal parts to all that are chosen; nothing where none is (an initial value won)."""
    part = bar / np.sum(chosen, axis=axis, keepdims=True)
    return np.where(chosen, np.asarray(part, dtype=out.dtype), 0)


EXTREMES = (*AXES, case(M, axis=0, initial=0.5), case(M, axis=0, where=MASK, initial=-9.0))


@rule((np.max, np.amax, np.min, np.amin), when="real", cases=EXTREMES)
def extreme(a, axis=None, keepdims=False, initial=None, where=None, *, out, out_bar):
    """Ties are shared equally."""
    chosen = a == spread(out, axis, keepdims)
    if where is not None:
        chosen = chosen & where
    return shared_out(spread(out_bar, axis, keepdims), chosen, axis, out)


@rule((np.nanmax, np.nanmin), cases=AXES)
def nan_extreme(a, axis=None, keepdims=False, initial=None, where=None, *, out, out_bar):
    """Ties are shared equally among what is not NaN."""
    chosen = a == spread(out, axis, keepdims)
    if where is not None:
        chosen = chosen & where
    return shared_out(spread(out_bar, axis, keepdims), chosen, axis, out)


@rule(np.ptp, cases=(case(V), case(M), case(M, axis=0), case(M, axis=1, keepdims=True), case(T, axis=(0, 2))))
def ptp(a, axis=None, keepdims=False, *, out, out_bar):
    """The largest less the smallest."""
    bar = spread(out_bar, axis, keepdims)
    high = shared_out(bar, a == np.max(a, axis=axis, keepdims=True), axis, out)
    low = shared_out(bar, a == np.min(a, axis=axis, keepdims=True), axis, out)
    return high - low


# --------------------------------------------------------------------------------------------------- products


def others(a):
    """The product of all the other elements along the last axis: of those before times of those after."""
    turned = np.flip(a, -1)
    first = np.ones_like(a[..., :1])
    before = np.cumprod(np.concatenate((first, a[..., :-1]), axis=-1), axis=-1)
    after = np.cumprod(np.concatenate((first, turned[..., :-1]), axis=-1), axis=-1)
    return before * np.flip(after, -1)


def others_along(a, axis):
    """As `others`, over all axes, one, or several."""
    if axis is None:
        return np.reshape(others(np.ravel(a)), np.shape(a))
    if isinstance(axis, tuple):
        ends = tuple(range(-len(axis), 0))
        moved = np.moveaxis(a, axis, ends)
        flat = np.reshape(moved, np.shape(moved)[: -len(axis)] + (-1,))
        return np.moveaxis(np.reshape(others(flat), np.shape(moved)), ends, axis)
    return np.moveaxis(others(np.moveaxis(a, axis, -1)), -1, axis)


@rule(
    np.prod,
    cases=(
        case(V),
        case(M),
        case(np.array([2.0, 0.0, 3.0])),
        case(np.array([0.0, 0.0, 3.0])),
        case(M, axis=0),
        case(M, axis=-1),
        case(M, axis=1, keepdims=True),
        case(T, axis=(0, 2)),
        case(2.0),
        case(np.array(2.0)),
    ),
)
def prod(a, axis=None, dtype=None, keepdims=False, initial=None, where=None, *, out, out_bar):
    """The product of the others, zero or not."""
    factors = conj(np.asarray(a))
    if where is not None:
        factors = np.where(where, factors, 1)
    bar = spread(out_bar if initial is None else out_bar * conj(initial), axis, keepdims)
    return masked(bar * others_along(factors, axis), where)


@rule(np.nanprod, cases=(case(V), case(M), case(M, axis=0), case(M, axis=1, keepdims=True)))
def nanprod(a, axis=None, dtype=None, keepdims=False, initial=None, where=None, *, out, out_bar):
    """NaNs count as 1."""
    valid = ~np.isnan(a)
    if where is not None:
        valid = valid & where
    factors = np.where(valid, conj(a), 1)
    bar = spread(out_bar if initial is None else out_bar * conj(initial), axis, keepdims)
    return np.where(valid, bar * others_along(factors, axis), 0)


# --------------------------------------------------------------------------------------------------- averages


@rule(
    np.average,
    wrt="a, weights",
    cases=(
        case(M),
        case(M, axis=0),
        case(M, axis=1, keepdims=True),
        case(M, weights=M * M + 1),
        case(M, axis=0, weights=np.array([1.0, 2.0])),
        case(V, weights=np.array([1.0, 2.0, 0.5])),
        case([0.5, 2.0], weights=[1.0, 3.0]),
    ),
)
def average(a, axis=None, weights=None, returned=False, *, keepdims=False, out, out_bar):
    """sum(w a) / sum(w)."""
    bar = spread(out_bar, axis, keepdims)
    if weights is None:
        return np.broadcast_to(bar / count(a, axis), np.shape(a)), None
    w = along(conj(weights), a, axis)
    share = bar / np.sum(np.broadcast_to(w, np.shape(a)), axis=axis, keepdims=True)
    w_bar = share * conj(np.asarray(a) - spread(out, axis, keepdims))
    if np.ndim(weights) == np.ndim(a):
        return share * w, w_bar
    rest = tuple(k for k in range(np.ndim(a)) if k != axis % np.ndim(a))
    return share * w, np.sum(w_bar, axis=rest)


def along(weights, a, axis):
    """Weights of one axis, shaped to broadcast against the operand."""
    if np.ndim(weights) == np.ndim(a):
        return weights
    return np.moveaxis(np.reshape(weights, (-1,) + (1,) * (np.ndim(a) - 1)), 0, axis)
