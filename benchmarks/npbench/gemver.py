"""PolyBench `gemver`: a rank-two update of a matrix and two products with it, in place."""

import numpy as np

PRESETS = {"S": {"N": 700}, "M": {"N": 4000}, "paper": {"N": 8000}}
GROUP = "blas"
WRT = ("A", "u1", "v1", "u2", "v2", "w", "x", "y", "z")


def inputs(rng, N):
    vectors = [rng.random(N) for _ in range(8)]
    return 1.5, 1.2, rng.random((N, N)) / N, *vectors


def kernel(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * (y @ A)
    x += z
    w += alpha * (A @ x)


def loss(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    kernel(alpha, beta, A, u1, v1, u2, v2, w, x, y, z)
    return np.sum(w)
