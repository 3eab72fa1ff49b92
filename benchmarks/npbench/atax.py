"""PolyBench `atax`: the product of a matrix, transposed, with its product with a vector."""

import numpy as np

PRESETS = {
    "S": {"M": 1200, "N": 1500},
    "M": {"M": 6000, "N": 7500},
    "paper": {"M": 18000, "N": 22000},
}
GROUP = "blas"
WRT = ("A", "x")


def inputs(rng, M, N):
    return rng.random((M, N)) / N, rng.random(N)


def kernel(A, x):
    Ax = A @ x
    return Ax @ A


def loss(A, x):
    return np.sum(kernel(A, x))
