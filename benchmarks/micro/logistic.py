"""Mean logistic loss of margins."""

import numpy as np

from ._sweep import PRESETS as PRESETS
from ._sweep import SWEEP as SWEEP

GROUP = "chain"
WRT = ("x",)


def inputs(rng, n):
    return rng.normal(size=n), np.where(rng.random(n) < 0.5, 1.0, -1.0)


def loss(x, y):
    return np.mean(np.log(1.0 + np.exp(-x * y)))
