# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs
# Rule functions are text in the language that we compile: their operands are of any style.

"""Fourier transforms: linear, with a symmetric matrix F, so that F^H bar = conj(F conj(bar))."""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.rules.kinds import case
from pullback.rules.lookup import Site
from pullback.rules.numpy.reductions import M, T, V
from pullback.rules.registry import rule
from pullback.styles.style import Static

Z = V + 1j * np.array([0.5, 1.0, -2.0])
ONE_AXIS = (case(V), case(Z), case(M), case(T, axis=1), case(V, norm="ortho"), case(V, 5), case(T, 2, axis=2))


def to_length(bar, n, length, axis):
    """The cotangent of an operand that was padded with zeros or cut to `n` (None: its own length)."""
    if n is None:
        return bar
    moved = np.moveaxis(bar, axis, -1)
    total = np.zeros(np.shape(moved)[:-1] + (length,), dtype=bar.dtype)
    total[..., : np.shape(moved)[-1]] = moved[..., :length]
    return np.moveaxis(total, -1, axis)


@rule(np.fft.fft, linear="a", cases=ONE_AXIS)
def fft(a, n=None, axis=-1, norm=None, *, out, out_bar):
    """conj(F conj(bar))."""
    bar = np.conjugate(np.fft.fft(np.conjugate(out_bar), axis=axis, norm=norm))
    return to_length(bar, n, np.shape(a)[axis], axis)


@rule(np.fft.ifft, linear="a", cases=ONE_AXIS)
def ifft(a, n=None, axis=-1, norm=None, *, out, out_bar):
    """conj(F conj(bar))."""
    bar = np.conjugate(np.fft.ifft(np.conjugate(out_bar), axis=axis, norm=norm))
    return to_length(bar, n, np.shape(a)[axis], axis)


@rule(
    np.fft.rfft,
    linear="a",
    cases=(case(V), case(M), case(T, axis=1), case(V, norm="ortho"), case(V, 5), case(T, 2, axis=2)),
)
def rfft(a, n=None, axis=-1, norm=None, *, out, out_bar):
    """The transform of which the second half was left out: there the cotangent is 0."""
    length = np.shape(a)[axis] if n is None else n
    bar = np.real(np.fft.fft(np.conjugate(out_bar), length, axis, norm))
    return to_length(bar, n, np.shape(a)[axis], axis)


@rule(
    np.fft.irfft,
    linear="a",
    cases=(case(Z), case(Z, 5), case(Z, 4, norm="ortho"), case(Z, norm="forward"), case(Z[None] * M, axis=1)),
)
def irfft(a, n=None, axis=-1, norm: Any = None, *, out, out_bar):
    """Each term but the first (and the middle one) stands for itself and its mirror image."""
    length = np.shape(out_bar)[axis]
    inverse: Any = "ortho" if norm == "ortho" else "backward" if norm == "forward" else "forward"
    half = np.moveaxis(np.fft.rfft(out_bar, axis=axis, norm=inverse), axis, -1)
    k = np.arange(length // 2 + 1)
    twice = np.where((k == 0) | (2 * k == length), 1, 2)
    return to_length(np.moveaxis(half * twice, -1, axis), n, np.shape(a)[axis], axis)


def _unchanged_shape(site: Site) -> bool:
    return site.option("s", 1) in (None, Static(None))


@rule(
    np.fft.fftn,
    guard=_unchanged_shape,
    linear="a",
    cases=(case(M), case(T), case(T, axes=(0, 2)), case(M + 1j)),
)
def fftn(a, s=None, axes=None, norm=None, *, out, out_bar):
    """conj(F conj(bar))."""
    return np.conjugate(np.fft.fftn(np.conjugate(out_bar), axes=axes, norm=norm))


@rule(np.fft.ifftn, guard=_unchanged_shape, linear="a", cases=(case(M), case(T, axes=(0, 2)), case(M + 1j)))
def ifftn(a, s=None, axes=None, norm=None, *, out, out_bar):
    """conj(F conj(bar))."""
    return np.conjugate(np.fft.ifftn(np.conjugate(out_bar), axes=axes, norm=norm))


@rule(np.fft.fft2, guard=_unchanged_shape, linear="a", cases=(case(M), case(T), case(M + 1j)))
def fft2(a, s=None, axes=(-2, -1), norm=None, *, out, out_bar):
    """conj(F conj(bar))."""
    return np.conjugate(np.fft.fft2(np.conjugate(out_bar), axes=axes, norm=norm))


@rule(np.fft.ifft2, guard=_unchanged_shape, linear="a", cases=(case(M), case(T), case(M + 1j)))
def ifft2(a, s=None, axes=(-2, -1), norm=None, *, out, out_bar):
    """conj(F conj(bar))."""
    return np.conjugate(np.fft.ifft2(np.conjugate(out_bar), axes=axes, norm=norm))


@rule(np.fft.fftshift, linear="x", cases=(case(V), case(M), case(M, 1)))
def fftshift(x, axes=None, *, out, out_bar):
    """Shifted back."""
    return np.fft.ifftshift(out_bar, axes)


@rule(np.fft.ifftshift, linear="x", cases=(case(V), case(M), case(M, 1)))
def ifftshift(x, axes=None, *, out, out_bar):
    """Shifted back."""
    return np.fft.fftshift(out_bar, axes)
