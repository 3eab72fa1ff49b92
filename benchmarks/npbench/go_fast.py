"""A matrix plus the sum of tanh of its diagonal, the diagonal read in a loop."""

import numpy as np

PRESETS = {"S": {"N": 2000}, "M": {"N": 6000}, "paper": {"N": 12500}}
GROUP = "other"
WRT = ("a",)


def inputs(rng, N):
    return (rng.random((N, N)),)


def kernel(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


def loss(a):
    return np.sum(kernel(a))
