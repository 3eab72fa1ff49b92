"""PolyBench `3mm`: the product of two products of matrices."""

import numpy as np

PRESETS = {
    "S": {"NI": 230, "NJ": 240, "NK": 250, "NL": 260, "NM": 270},
    "M": {"NI": 850, "NJ": 900, "NK": 950, "NL": 1000, "NM": 1050},
    "paper": {"NI": 3200, "NJ": 3600, "NK": 4000, "NL": 4400, "NM": 4800},
}
GROUP = "blas"
WRT = ("A", "B", "C", "D")


def inputs(rng, NI, NJ, NK, NL, NM):
    A, B = rng.random((NI, NK)) / NK, rng.random((NK, NJ))
    C, D = rng.random((NJ, NM)) / NM, rng.random((NM, NL))
    return A, B, C, D


def kernel(A, B, C, D):
    E = A @ B
    F = C @ D
    return E @ F


def loss(A, B, C, D):
    return np.sum(kernel(A, B, C, D))
