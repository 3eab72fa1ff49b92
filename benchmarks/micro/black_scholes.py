"""Prices of European calls, summed; the normal distribution by a logistic approximation that all libraries have."""

import numpy as np

from ._sweep import PRESETS as PRESETS
from ._sweep import SWEEP as SWEEP

WRT = ("spot", "volatility")
NOTE = "the normal distribution is a tanh of a cubic: NumPy has no erf"


def inputs(rng, n):
    return (
        rng.uniform(80.0, 120.0, n),
        rng.uniform(80.0, 120.0, n),
        rng.uniform(0.1, 0.5, n),
        rng.uniform(0.2, 2.0, n),
        0.03,
    )


def normal(z):
    return 0.5 * (1.0 + np.tanh(0.7978845608028654 * (z + 0.044715 * z * z * z)))


def loss(spot, strike, volatility, years, rate):
    root = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / root
    d2 = d1 - root
    return np.sum(spot * normal(d1) - strike * np.exp(-rate * years) * normal(d2))
