"""PolyBench `jacobi-1d`: averages of three neighbours, from A into B and back, in place."""

import numpy as np

PRESETS = {
    "S": {"TSTEPS": 300, "N": 1600},
    "M": {"TSTEPS": 3000, "N": 12000},
    "paper": {"TSTEPS": 4000, "N": 32000},
}
GROUP = "stencil"
WRT = ("A", "B")
STATIC = ("TSTEPS",)


def inputs(rng, TSTEPS, N):
    return TSTEPS, rng.random(N), rng.random(N)


def kernel(TSTEPS, A, B):
    for _ in range(1, TSTEPS):
        B[1:-1] = (A[:-2] + A[1:-1] + A[2:]) / 3.0
        A[1:-1] = (B[:-2] + B[1:-1] + B[2:]) / 3.0


def loss(TSTEPS, A, B):
    kernel(TSTEPS, A, B)
    return np.sum(A)
