"""Arrays filled with or spaced between given values."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs
# Rule functions are text in the language that we compile: their operands are of any style.

from __future__ import annotations

import numpy as np

from pullback.rules.kinds import case
from pullback.rules.lookup import Site
from pullback.rules.numpy.elementwise import conj
from pullback.rules.numpy.reductions import M, V
from pullback.rules.registry import nondifferentiable, rule
from pullback.styles.style import Static, kind


@rule(
    np.full,
    wrt="fill_value",
    linear="fill_value",
    cases=(case((2, 3), 1.5, wrt=(1,)), case((2, 3), V, wrt=(1,)), case(3, 2.0, wrt=(1,))),
)
def full(shape, fill_value, dtype=None, order="C", *, out, out_bar):
    """The engine sums over what the value was broadcast to."""
    return out_bar


@rule(
    np.full_like,
    wrt="a, fill_value",
    linear="fill_value",
    cases=(case(M, 1.5, wrt=(1,)), case(M, V, wrt=(1,))),
)
def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, out, out_bar):
    """The array gives its shape only; the engine sums over what the value was broadcast to."""
    return None, out_bar


nondifferentiable(
    np.zeros,
    np.ones,
    np.empty,
    np.zeros_like,
    np.ones_like,
    np.empty_like,
    np.eye,
    np.identity,
    np.tri,
    np.indices,
    np.triu_indices,
    np.tril_indices,
    np.triu_indices_from,
    np.tril_indices_from,
    np.diag_indices,
    np.unravel_index,
    np.ravel_multi_index,
    np.hanning,
    np.hamming,
    np.bartlett,
    np.blackman,
)


@rule(
    np.arange,
    wrt="start, stop, step",
    linear="start, step",
    cases=(case(0.5, 3.0), case(0.5, 3.0, 0.4), case(2.0, -1.0, -0.7), case(3.5)),
)
def arange(start, stop=None, step=1, dtype=None, *, out, out_bar):
    """Each number is the first plus so many steps; how many there are does not move."""
    if stop is None:
        return None, None, None
    return np.sum(out_bar), None, np.sum(out_bar * np.arange(np.size(out)))


def _real_spacing(site: Site) -> bool:
    return kind(site.option("d", 1) or Static(1.0)) != "c"


FREQUENCIES = (case(6, 0.5, wrt=(1,)), case(5, 2.0, wrt=(1,)))


@rule(np.fft.fftfreq, wrt="d", guard=_real_spacing, cases=FREQUENCIES)
def fftfreq(n, d=1.0, device=None, *, out, out_bar):
    """Inversely proportional to the spacing."""
    return -np.sum(out_bar * out) / d


@rule(np.fft.rfftfreq, wrt="d", guard=_real_spacing, cases=FREQUENCIES)
def rfftfreq(n, d=1.0, device=None, *, out, out_bar):
    """Inversely proportional to the spacing."""
    return -np.sum(out_bar * out) / d


def _plain_spacing(site: Site) -> bool:
    """Along the first axis, without the step."""
    return site.option("axis", 6) in (None, Static(0)) and site.option("retstep", 4) in (None, Static(False))


def fractions(n, endpoint, bar):
    """How far along each point is, shaped to multiply a cotangent."""
    steps = n - 1 if endpoint else n
    t = np.arange(n) / max(steps, 1)
    return np.reshape(t, (-1,) + (1,) * (np.ndim(bar) - 1))


SPACED = (
    case(1.0, 3.0, 5),
    case(V, 3.0, 4),
    case(1.0, 3.0, 4, endpoint=False),
    case(1.0, 2.0, 1),
    case(1.0, 3.0),
)


@rule(
    np.linspace,
    wrt="start, stop",
    guard=_plain_spacing,
    linear="start, stop",
    cases=(*SPACED, case(V, V * V, 4)),
)
def linspace(start, stop, num=50, endpoint=True, *, dtype=None, axis=0, out, out_bar):
    """Weights of the two ends."""
    t = fractions(num, endpoint, out_bar)
    return np.sum(out_bar * (1 - t), axis=0), np.sum(out_bar * t, axis=0)


@rule(np.logspace, wrt="start, stop", guard=_plain_spacing, cases=(case(1.0, 2.0, 4), case(V / 3, 1.0, 4)))
def logspace(start, stop, num=50, endpoint=True, base=10.0, *, dtype=None, axis=0, out, out_bar):
    """base ** linspace(start, stop)."""
    bar = out_bar * conj(out * np.log(base))
    t = fractions(num, endpoint, bar)
    return np.sum(bar * (1 - t), axis=0), np.sum(bar * t, axis=0)


@rule(
    np.geomspace,
    wrt="start, stop",
    guard=_plain_spacing,
    cases=(case(1.0, 3.0, 4), case(1.0, 8.0, 4, endpoint=False)),
)
def geomspace(start, stop, num=50, endpoint=True, *, dtype=None, axis=0, out, out_bar):
    """Weights of the two ends in the logarithm."""
    bar = out_bar * conj(out)
    t = fractions(num, endpoint, bar)
    return np.sum(bar * (1 - t), axis=0) / conj(start), np.sum(bar * t, axis=0) / conj(stop)
