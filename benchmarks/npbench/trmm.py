"""PolyBench `trmm`: B becomes alpha A^T B with a unit lower triangular A, entry by entry, in place."""

import numpy as np

PRESETS = {"S": {"M": 65, "N": 80}, "M": {"M": 300, "N": 400}, "paper": {"M": 1000, "N": 1200}}
GROUP = "triangular"
WRT = ("A", "B")


def inputs(rng, M, N):
    return 1.5, np.tril(rng.random((M, M)), -1) / M + np.eye(M), rng.random((M, N))


def kernel(alpha, A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    B *= alpha


def loss(alpha, A, B):
    kernel(alpha, A, B)
    return np.sum(B)
