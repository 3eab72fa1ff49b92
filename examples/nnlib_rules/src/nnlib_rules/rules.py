"""The partial derivatives, a row each.  `out` is the value of the function; other names are those of this module."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb
from nnlib_rules.activations import (
    GELU_CUBIC,
    GELU_SCALE,
    SELU_ALPHA,  # noqa: F401 - used in the text of a row
    SELU_SCALE,  # noqa: F401
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


def gelu_slope(x: Any) -> Any:
    """The derivative of gelu: a rule's formula may call functions of its module."""
    tanh = np.tanh(GELU_SCALE * (x + GELU_CUBIC * x * x * x))
    inner_slope = GELU_SCALE * (1 + 3 * GELU_CUBIC * x * x)
    return 0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * inner_slope


H1 = {"hop": "H1", "layer": "third_party"}

pb.row(sigmoid, "x", x="out * (1 - out)", **H1)
pb.row(relu, "x", x="x > 0", **H1)
pb.row(leakyrelu, "x, a=0.01", x="np.where(x > 0, 1, a)", a="np.where(x > 0, 0, x)", **H1)
pb.row(trelu, "x, theta=1.0", x="x > theta", theta="0", **H1)  # the jump counts for nothing
pb.row(
    elu,
    "x, alpha=1.0",
    x="np.where(x >= 0, 1, alpha * np.exp(np.minimum(x, 0)))",
    alpha="np.expm1(np.minimum(x, 0))",
    **H1,
)
pb.row(
    celu,
    "x, alpha=1.0",
    x="np.where(x >= 0, 1, np.exp(np.minimum(x, 0) / alpha))",
    alpha="np.expm1(np.minimum(x, 0) / alpha) - np.minimum(x, 0) / alpha * np.exp(np.minimum(x, 0) / alpha)",
    **H1,
)
pb.row(selu, "x", x="SELU_SCALE * np.where(x > 0, 1, SELU_ALPHA * np.exp(np.minimum(x, 0)))", **H1)
pb.row(softplus, "x", x="sigmoid(x)", **H1)
pb.row(hardsigmoid, "x", x="np.where(np.abs(x) < 3, 1 / 6, 0)", **H1)
pb.row(swish, "x", x="out + sigmoid(x) * (1 - out)", **H1)
pb.row(gelu, "x", x="gelu_slope(x)", **H1)
pb.row(softshrink, "x, lam=0.5", x="np.abs(x) > lam", lam="-np.sign(x) * (np.abs(x) > lam)", **H1)
pb.row(logcosh, "x", x="np.tanh(x)", **H1)
