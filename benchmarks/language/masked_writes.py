"""Masks and repeated indices on the left of an assignment, in a loop that ends when the mask is empty."""

import numpy as np

PRESETS = {"S": {"n": 2_000, "bins": 50}, "M": {"n": 200_000, "bins": 500}}
WRT = ("x", "k")
STATIC = ("bins",)


def inputs(rng, n, bins):
    return rng.uniform(0.1, 30.0, n), 0.7, rng.integers(0, bins, n), bins


def loss(x, k, place, bins):
    x = x.copy()
    steps = np.zeros(len(x))
    large = x > 1.0
    while np.any(large):
        x[large] *= k
        steps[large] += 1.0
        large = x > 1.0
    histogram = np.zeros(bins)
    np.add.at(histogram, place, x * (1.0 + steps))
    return np.sum(histogram**2)
