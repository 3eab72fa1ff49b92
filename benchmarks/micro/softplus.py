"""Sum of softplus, in the form that does not overflow."""

import numpy as np

from ._sweep import PRESETS as PRESETS
from ._sweep import SWEEP as SWEEP

GROUP = "chain"
WRT = ("x",)


def inputs(rng, n):
    return (3.0 * rng.normal(size=n),)


def loss(x):
    return np.sum(np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x))))
