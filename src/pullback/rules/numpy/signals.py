"""Convolutions, correlations, polynomials."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs
# Rule functions are text in the language that we compile: their operands are of any style.

from __future__ import annotations

import numpy as np

from pullback.rules.kinds import case
from pullback.rules.numpy.elementwise import conj
from pullback.rules.numpy.products import W
from pullback.rules.numpy.reductions import M, V
from pullback.rules.registry import rule


@rule(
    np.convolve,
    wrt="a, v",
    cases=(
        case(V, W),
        case(np.arange(5.0), W, "same"),
        case(np.arange(5.0), W, "valid"),
        case(V, np.arange(5.0), "valid"),
        case(V, np.array([1.0, 2.0]), "same"),
        case(np.array([1.0, 2.0]), V, "same"),
    ),
)
def convolve(a, v, mode="full", *, out, out_bar):
    """Correlations of the full cotangent with the other signal."""
    n, m = np.size(a), np.size(v)
    full = np.zeros(n + m - 1, dtype=out_bar.dtype)
    skip = n + m - 1 - np.size(out_bar)
    start = 0 if mode == "full" else skip // 2 if mode == "same" else min(n, m) - 1
    full[start : start + np.size(out_bar)] = out_bar
    return correlated(full, v, n), correlated(full, a, m)


def correlated(full, other, length):
    """sum(full[i + k] conj(other[k])) for the first `length` places i."""
    return np.convolve(full, np.flip(conj(other)))[np.size(other) - 1 : np.size(other) - 1 + length]


@rule(
    np.correlate,
    wrt="a, v",
    cases=(case(V, W, "full"), case(np.arange(5.0), W), case(V, np.array([1.0, 2.0]), "same")),
)
def correlate(a, v, mode="valid", *, out, out_bar):
    """A convolution with the second signal conjugated and turned round."""
    a_bar, turned_bar = convolve(a, np.flip(conj(v)), mode, out=out, out_bar=out_bar)
    return a_bar, np.flip(conj(turned_bar))


@rule(
    np.polyval,
    wrt="p, x",
    cases=(case(V, W), case(V, 0.7), case(np.array([1.0, 2.0, -1.0, 0.5]), M), case(np.array([2.0]), V)),
)
def polyval(p, x, *, out, out_bar):
    """The derivative polynomial; powers of x."""
    n = np.shape(p)[0]
    powers = np.reshape(conj(x), np.shape(x) + (1,)) ** np.arange(n - 1, -1, -1)
    p_bar = np.sum(np.reshape(np.expand_dims(out_bar, -1) * powers, (-1, n)), axis=0)
    slopes = conj(p)[: n - 1] * np.arange(n - 1, 0, -1)
    return p_bar, out_bar * np.polyval(slopes, conj(x))


@rule(np.vander, cases=(case(V), case(V, 2), case(V, 4, True)))
def vander(x, N=None, increasing=False, *, out, out_bar):
    """Powers, column by column."""
    n = np.shape(out)[1]
    powers = np.arange(n) if increasing else np.arange(n - 1, -1, -1)
    slopes = powers * np.expand_dims(conj(x), -1) ** np.maximum(powers - 1, 0)
    return np.sum(out_bar * slopes, axis=1)
