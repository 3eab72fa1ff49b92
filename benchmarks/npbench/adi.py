"""PolyBench `adi`: heat conduction by alternating implicit sweeps over columns and rows, in place."""

import numpy as np

PRESETS = {
    "S": {"TSTEPS": 4, "N": 60},
    "M": {"TSTEPS": 40, "N": 200},
    "paper": {"TSTEPS": 100, "N": 200},
}
GROUP = "stencil"
WRT = ("u",)
STATIC = ("TSTEPS", "N")


def inputs(rng, TSTEPS, N):
    return TSTEPS, N, rng.random((N, N))


def kernel(TSTEPS, N, u):
    v = np.empty_like(u)
    p = np.empty_like(u)
    q = np.empty_like(u)

    mul1 = 2.0 * N * N / TSTEPS
    mul2 = 1.0 * N * N / TSTEPS
    a = c = -mul1 / 2.0
    b = 1.0 + mul1
    d = f = -mul2 / 2.0
    e = 1.0 + mul2

    for _ in range(TSTEPS):
        # columns
        v[0, 1:-1] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = v[0, 1:-1]
        for j in range(1, N - 1):
            denominator = a * p[1:-1, j - 1] + b
            p[1:-1, j] = -c / denominator
            right = (1.0 + 2.0 * d) * u[j, 1:-1] - d * u[j, :-2] - f * u[j, 2:]
            q[1:-1, j] = (right - a * q[1:-1, j - 1]) / denominator
        v[N - 1, 1:-1] = 1.0
        for j in range(N - 2, 0, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]

        # rows
        u[1:-1, 0] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = u[1:-1, 0]
        for j in range(1, N - 1):
            denominator = d * p[1:-1, j - 1] + e
            p[1:-1, j] = -f / denominator
            right = (1.0 + 2.0 * a) * v[1:-1, j] - a * v[:-2, j] - c * v[2:, j]
            q[1:-1, j] = (right - d * q[1:-1, j - 1]) / denominator
        u[1:-1, N - 1] = 1.0
        for j in range(N - 2, 0, -1):
            u[1:-1, j] = p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]


def loss(TSTEPS, N, u):
    kernel(TSTEPS, N, u)
    return np.sum(u)
