"""Clip, scale and add: `clip(x, 2, 10) * a + y * b + c`."""

import numpy as np

PRESETS = {"S": {"M": 1000, "N": 1000}, "M": {"M": 5000, "N": 5000}, "paper": {"M": 12500, "N": 12500}}
GROUP = "other"
WRT = ("array_1", "array_2")
NOTE = "float64 arrays of quarters from 0 to 20, off the bounds: the public ones are integers, which have no gradient"


def inputs(rng, M, N):
    array_1, array_2 = (rng.integers(0, 80, (M, N)) / 4 + 0.125 for _ in range(2))
    return array_1, array_2, 4.0, 3.0, 9.0


def kernel(array_1, array_2, a, b, c):
    return np.clip(array_1, 2, 10) * a + array_2 * b + c


def loss(array_1, array_2, a, b, c):
    return np.sum(kernel(array_1, array_2, a, b, c))
