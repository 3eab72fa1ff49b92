"""PolyBench `gemm`: C becomes alpha A B + beta C, in place."""

import numpy as np

PRESETS = {
    "S": {"NI": 350, "NJ": 380, "NK": 400},
    "M": {"NI": 1300, "NJ": 1400, "NK": 1500},
    "paper": {"NI": 2000, "NJ": 2300, "NK": 2600},
}
GROUP = "blas"
WRT = ("C", "A", "B")


def inputs(rng, NI, NJ, NK):
    return 1.5, 1.2, rng.random((NI, NJ)), rng.random((NI, NK)), rng.random((NK, NJ))


def kernel(alpha, beta, C, A, B):
    C *= beta
    C += alpha * A @ B


def loss(alpha, beta, C, A, B):
    kernel(alpha, beta, C, A, B)
    return np.sum(C)
