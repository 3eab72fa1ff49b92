"""PolyBench `syrk`: the lower triangle of C becomes that of alpha A A^T + beta C, column after column of A."""

import numpy as np

PRESETS = {"S": {"M": 50, "N": 70}, "M": {"M": 300, "N": 400}, "paper": {"M": 1000, "N": 1200}}
GROUP = "triangular"
WRT = ("C", "A")


def inputs(rng, M, N):
    return 1.5, 1.2, rng.random((N, N)), rng.random((N, M))


def kernel(alpha, beta, C, A):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]


def loss(alpha, beta, C, A):
    kernel(alpha, beta, C, A)
    return np.sum(C)
