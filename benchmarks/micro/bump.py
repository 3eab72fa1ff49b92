"""A chain of elementwise functions: tanh(ax + b) exp(-x^2) / (1 + x^2), summed."""

import numpy as np

from ._sweep import PRESETS as PRESETS
from ._sweep import SWEEP as SWEEP

GROUP = "chain"
WRT = ("a", "b", "x")


def inputs(rng, n):
    return 1.3, 0.2, rng.normal(size=n)


def loss(a, b, x):
    return np.sum(np.tanh(a * x + b) * np.exp(-(x**2)) / (1.0 + x**2))
