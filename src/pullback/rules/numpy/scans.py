"""Running sums and products, differences."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs
# Rule functions are text in the language that we compile: their operands are of any style.

from __future__ import annotations

import numpy as np

from pullback.rules.kinds import case
from pullback.rules.numpy.elementwise import conj
from pullback.rules.numpy.reductions import M, V
from pullback.rules.registry import rule

SCANS = (case(V), case(M), case(M, axis=0), case(M, axis=-1), case(np.array(2.0)))


@rule(np.cumsum, linear="a", cases=SCANS)
def cumsum(a, axis=None, dtype=None, *, out, out_bar):
    """Sums of the cotangents from here to the end."""
    if axis is None:
        return np.reshape(np.flip(np.cumsum(np.flip(out_bar))), np.shape(a))
    return np.flip(np.cumsum(np.flip(out_bar, axis), axis=axis), axis)


@rule(np.nancumsum, cases=SCANS)
def nancumsum(a, axis=None, dtype=None, *, out, out_bar):
    """NaNs count as 0."""
    return np.where(np.isnan(a), 0, cumsum(a, axis, out=out, out_bar=out_bar))


def cumulative_sum(x, *, axis=None, dtype=None, include_initial=False, out, out_bar):
    """A running sum; its initial zero is constant."""
    bar = out_bar
    if include_initial:
        bar = np.delete(bar, 0, axis=0 if axis is None else axis)
    return cumsum(x, axis, out=out, out_bar=bar)


def running_product(a, bar, axis):
    """The pullback of a running product, element by element from the end, without a division.

    With p[i] the product of the elements before i, and s[i] = bar[i] + a[i + 1] s[i + 1], the cotangent
    of a[i] is p[i] s[i].
    """
    moved = np.expand_dims(np.moveaxis(conj(a), axis, 0), -1)
    bars = np.expand_dims(np.moveaxis(bar, axis, 0), -1)
    n = np.shape(moved)[0]
    s = np.zeros_like(bars)
    following = np.zeros_like(np.sum(bars, axis=0))
    for k in range(n):
        i = n - 1 - k
        following = bars[i] + following
        s[i] = following
        following = moved[i] * following
    first = np.ones_like(moved[:1])
    before = np.cumprod(np.concatenate((first, moved[:-1]), axis=0), axis=0)
    return np.moveaxis((before * s)[..., 0], 0, axis)


@rule(np.cumprod, cases=(*SCANS, case(np.array([1.0, 0.0, 2.0, 0.0, 3.0]))))
def cumprod(a, axis=None, dtype=None, *, out, out_bar):
    """Right with zeros among the factors."""
    if axis is None:
        return np.reshape(running_product(np.ravel(a), out_bar, 0), np.shape(a))
    return running_product(a, out_bar, axis)


@rule(np.nancumprod, cases=SCANS)
def nancumprod(a, axis=None, dtype=None, *, out, out_bar):
    """NaNs count as 1."""
    filled = np.where(np.isnan(a), 1, a)
    return np.where(np.isnan(a), 0, cumprod(filled, axis, out=out, out_bar=out_bar))


def cumulative_prod(x, *, axis=None, dtype=None, include_initial=False, out, out_bar):
    """A running product; its initial one is constant."""
    bar = out_bar
    if include_initial:
        bar = np.delete(bar, 0, axis=0 if axis is None else axis)
    return cumprod(x, axis, out=out, out_bar=bar)


if hasattr(np, "cumulative_sum"):  # NumPy 2.1
    rule(np.cumulative_sum, linear="x", cases=(case(V), case(M, axis=0)))(cumulative_sum)
    rule(np.cumulative_prod, cases=(case(V), case(M, axis=0)))(cumulative_prod)
