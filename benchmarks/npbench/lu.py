"""PolyBench `lu`: the LU factors without pivoting, entry by entry, in place."""

import numpy as np

PRESETS = {"S": {"N": 60}, "M": {"N": 300}, "paper": {"N": 2000}}
GROUP = "triangular"
WRT = ("A",)


def inputs(rng, N):
    return (rng.random((N, N)) / N + np.eye(N),)


def kernel(A):
    N = A.shape[0]
    for i in range(N):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, N):
            A[i, j] -= A[i, :i] @ A[:i, j]


def loss(A):
    kernel(A)
    return np.sum(A)
