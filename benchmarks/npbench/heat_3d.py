"""PolyBench `heat-3d`: explicit steps of the heat equation on a cube, from A into B and back, in place."""

import numpy as np

PRESETS = {
    "S": {"TSTEPS": 12, "N": 24},
    "M": {"TSTEPS": 40, "N": 60},
    "paper": {"TSTEPS": 500, "N": 120},
}
GROUP = "stencil"
WRT = ("A", "B")
STATIC = ("TSTEPS",)


def inputs(rng, TSTEPS, N):
    return TSTEPS, rng.random((N, N, N)), rng.random((N, N, N))


def kernel(TSTEPS, A, B):
    for _ in range(1, TSTEPS):
        B[1:-1, 1:-1, 1:-1] = (
            A[1:-1, 1:-1, 1:-1]
            + 0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[:-2, 1:-1, 1:-1])
            + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, :-2, 1:-1])
            + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, 1:-1, :-2])
        )
        A[1:-1, 1:-1, 1:-1] = (
            B[1:-1, 1:-1, 1:-1]
            + 0.125 * (B[2:, 1:-1, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[:-2, 1:-1, 1:-1])
            + 0.125 * (B[1:-1, 2:, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, :-2, 1:-1])
            + 0.125 * (B[1:-1, 1:-1, 2:] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, 1:-1, :-2])
        )


def loss(TSTEPS, A, B):
    kernel(TSTEPS, A, B)
    return np.sum(A)
