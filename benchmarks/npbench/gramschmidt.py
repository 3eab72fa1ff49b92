"""PolyBench `gramschmidt`: the QR factors by the modified Gram-Schmidt method, column by column, in place."""

import numpy as np

PRESETS = {"S": {"M": 70, "N": 60}, "M": {"M": 400, "N": 300}, "paper": {"M": 1200, "N": 1000}}
GROUP = "other"
WRT = ("A",)


def inputs(rng, M, N):
    return (rng.standard_normal((M, N)),)


def kernel(A):
    N = A.shape[1]
    Q = np.zeros_like(A)
    R = np.zeros((N, N), dtype=A.dtype)
    for k in range(N):
        R[k, k] = np.sqrt(np.dot(A[:, k], A[:, k]))
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, N):
            R[k, j] = np.dot(Q[:, k], A[:, j])
            A[:, j] -= Q[:, k] * R[k, j]
    return Q, R


def loss(A):
    Q, R = kernel(A)
    return np.sum(Q) + np.sum(R)
