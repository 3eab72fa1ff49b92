"""PolyBench `syr2k`: the lower triangle of C becomes that of alpha (A B^T + B A^T) + beta C, column after column."""

import numpy as np

PRESETS = {"S": {"M": 35, "N": 50}, "M": {"M": 200, "N": 280}, "paper": {"M": 1000, "N": 1200}}
GROUP = "other"
WRT = ("C", "A", "B")


def inputs(rng, M, N):
    return 1.5, 1.2, rng.random((N, N)), rng.random((N, M)), rng.random((N, M))


def kernel(alpha, beta, C, A, B):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * B[i, k] * A[: i + 1, k] + alpha * A[i, k] * B[: i + 1, k]


def loss(alpha, beta, C, A, B):
    kernel(alpha, beta, C, A, B)
    return np.sum(C)
