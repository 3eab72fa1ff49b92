"""PolyBench `bicg`: the two matrix-vector products of the BiCG method."""

import numpy as np

PRESETS = {
    "S": {"M": 1200, "N": 1500},
    "M": {"M": 6000, "N": 7500},
    "paper": {"M": 18000, "N": 22000},
}
GROUP = "blas"
WRT = ("A", "p", "r")


def inputs(rng, M, N):
    return rng.random((N, M)) / N, rng.random(M), rng.random(N)


def kernel(A, p, r):
    s = r @ A
    q = A @ p
    return s, q


def loss(A, p, r):
    s, q = kernel(A, p, r)
    return np.sum(s) + np.sum(q)
