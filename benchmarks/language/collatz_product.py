"""A `while` whose path hangs on the numbers: halve what is large, square what is small."""

import numpy as np

PRESETS = {"S": {"n": 300}, "M": {"n": 5_000}}
WRT = ("x", "k")


def inputs(rng, n):
    return rng.uniform(0.5, 100.0, n), 0.45


def loss(x, k):
    total = 0.0
    for start in x:
        value, steps = start, 0
        while value > 1.0:
            value = k * value if value > 3.0 else np.sqrt(value) - 0.1 * k
            steps += 1
        total += value * (1 + steps)
    return total
