"""Azimuthal integration: the mean of the data in each ring, by two histograms."""

import numpy as np

PRESETS = {
    "S": {"N": 100000, "npt": 1000},
    "M": {"N": 4000000, "npt": 1000},
    "paper": {"N": 1000000, "npt": 1000},
}
GROUP = "other"
WRT = ("data",)
STATIC = ("npt",)
NOTE = "S is smaller than the public one"


def inputs(rng, N, npt):
    return rng.random(N), rng.random(N), npt


def kernel(data, radius, npt):
    count = np.histogram(radius, npt)[0]
    total = np.histogram(radius, npt, weights=data)[0]
    return total / count


def loss(data, radius, npt):
    return np.sum(kernel(data, radius, npt))
