"""PolyBench `2mm`: D becomes alpha A B C + beta D, in place."""

import numpy as np

PRESETS = {
    "S": {"NI": 280, "NJ": 300, "NK": 320, "NL": 340},
    "M": {"NI": 1000, "NJ": 1100, "NK": 1200, "NL": 1300},
    "paper": {"NI": 3200, "NJ": 3600, "NK": 4400, "NL": 4800},
}
GROUP = "blas"
WRT = ("A", "B", "C", "D")


def inputs(rng, NI, NJ, NK, NL):
    A, B = rng.random((NI, NK)) / NK, rng.random((NK, NJ))
    C, D = rng.random((NJ, NL)) / NJ, rng.random((NI, NL))
    return 1.5, 1.2, A, B, C, D


def kernel(alpha, beta, A, B, C, D):
    tmp = alpha * A @ B
    D[:] = beta * D + tmp @ C


def loss(alpha, beta, A, B, C, D):
    kernel(alpha, beta, A, B, C, D)
    return np.sum(D)
