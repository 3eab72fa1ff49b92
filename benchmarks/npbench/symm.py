"""PolyBench `symm`: C becomes alpha A B + beta C with a symmetric A of which the lower triangle is read, in place."""

import numpy as np

PRESETS = {"S": {"M": 40, "N": 50}, "M": {"M": 180, "N": 220}, "paper": {"M": 1000, "N": 1200}}
GROUP = "other"
WRT = ("C", "A", "B")


def inputs(rng, M, N):
    return 1.5, 1.2, rng.random((M, N)), rng.random((M, M)), rng.random((M, N))


def kernel(alpha, beta, C, A, B):
    temp2 = np.empty(C.shape[1], dtype=C.dtype)
    C *= beta
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[:i, j] += alpha * B[i, j] * A[i, :i]
            temp2[j] = B[:i, j] @ A[i, :i]
        C[i, :] += alpha * B[i, :] * A[i, i] + alpha * temp2


def loss(alpha, beta, C, A, B):
    kernel(alpha, beta, C, A, B)
    return np.sum(C)
