"""PolyBench `jacobi-2d`: averages of five points of a grid, from A into B and back, in place."""

import numpy as np

PRESETS = {
    "S": {"TSTEPS": 40, "N": 120},
    "M": {"TSTEPS": 100, "N": 400},
    "paper": {"TSTEPS": 1000, "N": 2800},
}
GROUP = "stencil"
WRT = ("A", "B")
STATIC = ("TSTEPS",)


def inputs(rng, TSTEPS, N):
    return TSTEPS, rng.random((N, N)), rng.random((N, N))


def kernel(TSTEPS, A, B):
    for _ in range(1, TSTEPS):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


def loss(TSTEPS, A, B):
    kernel(TSTEPS, A, B)
    return np.sum(A)
