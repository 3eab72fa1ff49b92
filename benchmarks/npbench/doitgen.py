"""PolyBench `doitgen`: the last axis of a three-dimensional array multiplied by a matrix, in place."""

import numpy as np

PRESETS = {
    "S": {"NR": 30, "NQ": 30, "NP": 64},
    "M": {"NR": 110, "NQ": 125, "NP": 256},
    "paper": {"NR": 220, "NQ": 250, "NP": 270},
}
GROUP = "blas"
WRT = ("A", "C4")
STATIC = ("NR", "NQ", "NP")


def inputs(rng, NR, NQ, NP):
    return NR, NQ, NP, rng.random((NR, NQ, NP)), rng.random((NP, NP)) / NP


def kernel(NR, NQ, NP, A, C4):
    A[:] = np.reshape(np.reshape(A, (NR, NQ, 1, NP)) @ C4, (NR, NQ, NP))


def loss(NR, NQ, NP, A, C4):
    kernel(NR, NQ, NP, A, C4)
    return np.sum(A)
