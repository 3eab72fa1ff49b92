"""Azimuthal integration: the mean of the data in each ring, a mask a ring."""

import numpy as np

PRESETS = {
    "S": {"N": 40000, "npt": 100},
    "M": {"N": 200000, "npt": 500},
    "paper": {"N": 1000000, "npt": 1000},
}
GROUP = "other"
WRT = ("data",)
STATIC = ("npt",)
NOTE = "S and M are smaller than the public ones"


def inputs(rng, N, npt):
    return rng.random(N), rng.random(N), npt


def kernel(data, radius, npt):
    rmax = radius.max()
    res = np.zeros(npt, dtype=np.float64)
    for i in range(npt):
        inner = rmax * i / npt
        outer = rmax * (i + 1) / npt
        ring = np.logical_and(inner <= radius, radius < outer)
        res[i] = data[ring].mean()
    return res


def loss(data, radius, npt):
    return np.sum(kernel(data, radius, npt))
