"""Functions between complex and real numbers, which are not holomorphic.

The cotangent of z is dL/d(re z) + i dL/d(im z).
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs
# Rule functions are text in the language that we compile: their operands are of any style.

from __future__ import annotations

import builtins

import numpy as np

from pullback.rules.registry import rule


@rule((np.absolute, builtins.abs), when="complex", hop="H3")
def absolute(z, *, out, out_bar):
    """The direction of z; 0 at 0."""
    return out_bar * (z / (out + (out == 0)))


@rule(np.real, when="complex", hop="H3", linear="val")
def real(val, *, out, out_bar):
    """A real cotangent."""
    return out_bar


@rule(np.imag, when="complex", hop="H3", linear="val")
def imag(val, *, out, out_bar):
    """An imaginary cotangent."""
    return 1j * out_bar


@rule(np.conjugate, when="complex", hop="H3", linear="x")
def conjugate(x, *, out, out_bar):
    """Linear over the reals."""
    return np.conjugate(out_bar)


@rule(np.angle, when="complex", hop="H3")
def angle(z, deg=False, *, out, out_bar):
    """At right angles to z, by one over its length."""
    turned = 1j * out_bar * z / np.absolute(z) / np.absolute(z)
    if deg:
        return turned * 57.29577951308232
    return turned
