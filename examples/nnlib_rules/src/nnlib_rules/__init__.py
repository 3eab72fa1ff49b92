"""Activation functions in plain NumPy; importing the package registers their derivatives with `pullback`."""

from nnlib_rules import rules as _rules  # registers
from nnlib_rules.activations import (
    celu,
    elu,
    gelu,
    hardsigmoid,
    leakyrelu,
    logcosh,
    relu,
    selu,
    sigmoid,
    softplus,
    softshrink,
    swish,
    trelu,
)

__all__ = [
    "celu",
    "elu",
    "gelu",
    "hardsigmoid",
    "leakyrelu",
    "logcosh",
    "relu",
    "selu",
    "sigmoid",
    "softplus",
    "softshrink",
    "swish",
    "trelu",
]

del _rules
