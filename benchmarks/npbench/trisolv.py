"""PolyBench `trisolv`: the solution of a lower triangular system, row by row, into x."""

import numpy as np

PRESETS = {"S": {"N": 1000}, "M": {"N": 6000}, "paper": {"N": 16000}}
GROUP = "triangular"
WRT = ("L", "b")


def inputs(rng, N):
    L = np.tril(rng.random((N, N))) / N + np.eye(N)
    return L, np.zeros(N), rng.random(N)


def kernel(L, x, b):
    for i in range(x.shape[0]):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]


def loss(L, x, b):
    kernel(L, x, b)
    return np.sum(x)
