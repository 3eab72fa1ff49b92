"""PolyBench `seidel-2d`: Gauss-Seidel sweeps over nine points of a grid; each new value serves the next point."""

import numpy as np

PRESETS = {
    "S": {"TSTEPS": 8, "N": 50},
    "M": {"TSTEPS": 20, "N": 160},
    "paper": {"TSTEPS": 100, "N": 400},
}
GROUP = "triangular"
WRT = ("A",)
STATIC = ("TSTEPS", "N")


def inputs(rng, TSTEPS, N):
    return TSTEPS, N, rng.random((N, N))


def kernel(TSTEPS, N, A):
    for _ in range(TSTEPS - 1):
        for i in range(1, N - 1):
            A[i, 1:-1] += A[i, 2:]
            A[i, 1:-1] += A[i - 1, :-2] + A[i - 1, 1:-1] + A[i - 1, 2:]
            A[i, 1:-1] += A[i + 1, :-2] + A[i + 1, 1:-1] + A[i + 1, 2:]
            for j in range(1, N - 1):
                A[i, j] += A[i, j - 1]
                A[i, j] /= 9.0


def loss(TSTEPS, N, A):
    kernel(TSTEPS, N, A)
    return np.sum(A)
