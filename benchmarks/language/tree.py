"""Recursion over a tree of nested tuples, of a shape that only the data know."""

import numpy as np

PRESETS = {"S": {"n": 64}, "M": {"n": 1_024}}
WRT = ("leaves", "k")


def inputs(rng, n):
    return rng.uniform(0.5, 2.0, n), 0.6, rng.uniform(0.2, 0.8, n)


def fold(values, cuts, k):
    n = len(values)
    if n == 1:
        return values[0]
    cut = min(max(int(cuts[n // 2] * n), 1), n - 1)
    left = fold(values[:cut], cuts[:cut], k)
    right = fold(values[cut:], cuts[cut:], k)
    return np.sqrt(left * right) + k * abs(left - right)


def loss(leaves, k, cuts):
    return fold(leaves, cuts, k)
