"""PolyBench `cholesky`: the Cholesky factor, entry by entry, into the lower triangle of A."""

import numpy as np

PRESETS = {"S": {"N": 100}, "M": {"N": 400}, "paper": {"N": 2000}}
GROUP = "triangular"
WRT = ("A",)


def inputs(rng, N):
    X = rng.random((N, N))
    return (X @ X.T / N + np.eye(N),)


def kernel(A):
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = np.sqrt(A[i, i])


def loss(A):
    kernel(A)
    return np.sum(A)
