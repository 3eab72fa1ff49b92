"""PolyBench `gesummv`: the weighted sum of two matrix-vector products."""

import numpy as np

PRESETS = {"S": {"N": 1000}, "M": {"N": 5000}, "paper": {"N": 11200}}
GROUP = "blas"
WRT = ("A", "B", "x")


def inputs(rng, N):
    return 1.5, 1.2, rng.random((N, N)) / N, rng.random((N, N)) / N, rng.random(N)


def kernel(alpha, beta, A, B, x):
    return alpha * (A @ x) + beta * (B @ x)


def loss(alpha, beta, A, B, x):
    return np.sum(kernel(alpha, beta, A, B, x))
