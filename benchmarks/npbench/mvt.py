"""PolyBench `mvt`: two vectors updated by products with a matrix and its transpose."""

import numpy as np

PRESETS = {"S": {"N": 1300}, "M": {"N": 7000}, "paper": {"N": 16000}}
GROUP = "blas"
WRT = ("x1", "x2", "y_1", "y_2", "A")


def inputs(rng, N):
    x1, x2, y_1, y_2 = (rng.random(N) for _ in range(4))
    return x1, x2, y_1, y_2, rng.random((N, N)) / N


def kernel(x1, x2, y_1, y_2, A):
    x1 += A @ y_1
    x2 += A.T @ y_2


def loss(x1, x2, y_1, y_2, A):
    kernel(x1, x2, y_1, y_2, A)
    return np.sum(x1) + np.sum(x2)
