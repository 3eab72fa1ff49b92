"""An in-place sorting network (odd-even transposition) by swaps of elements; the sorted values are weighed."""

import numpy as np

PRESETS = {"S": {"n": 32}, "M": {"n": 400}}
WRT = ("x",)


def inputs(rng, n):
    return rng.permutation(np.linspace(-1.0, 1.0, n)), np.linspace(0.0, 1.0, n) ** 2


def compare(a, i, j):
    if a[i] > a[j]:
        a[i], a[j] = a[j], a[i]


def loss(x, weights):
    a = x.copy()
    n = len(a)
    for step in range(n):
        for i in range(step % 2, n - 1, 2):
            compare(a, i, i + 1)
    return np.sum(weights * np.sin(a))
