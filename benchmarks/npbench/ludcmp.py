"""PolyBench `ludcmp`: a linear system by LU factors (in place), a forward and a backward substitution."""

import numpy as np

PRESETS = {"S": {"N": 60}, "M": {"N": 300}, "paper": {"N": 2000}}
GROUP = "other"
WRT = ("A", "b")


def inputs(rng, N):
    return rng.random((N, N)) / N + np.eye(N), rng.random(N)


def kernel(A, b):
    N = A.shape[0]
    x = np.zeros_like(b)
    y = np.zeros_like(b)
    for i in range(N):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, N):
            A[i, j] -= A[i, :i] @ A[:i, j]
    for i in range(N):
        y[i] = b[i] - A[i, :i] @ y[:i]
    for i in reversed(range(N)):
        x[i] = (y[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x, y


def loss(A, b):
    x, y = kernel(A, b)
    return np.sum(x) + np.sum(y)
