"""Contour integrals of the resolvent of a matrix polynomial: a complex solve at each point of the contour."""

import numpy as np

PRESETS = {
    "S": {"NR": 50, "NM": 150, "slab_per_bc": 2, "num_int_pts": 32},
    "M": {"NR": 200, "NM": 400, "slab_per_bc": 2, "num_int_pts": 32},
    "paper": {"NR": 500, "NM": 1000, "slab_per_bc": 2, "num_int_pts": 32},
}
GROUP = "blas"
WRT = ("Ham", "Y")
STATIC = ("NR", "NM", "slab_per_bc")
NOTE = "the loss is the real part of the sum of both integrals"


def inputs(rng, NR, NM, slab_per_bc, num_int_pts):
    def numbers(*shape):
        return rng.random(shape) + 1j * rng.random(shape)

    return NR, NM, slab_per_bc, numbers(slab_per_bc + 1, NR, NR), numbers(num_int_pts), numbers(NR, NM)


def kernel(NR, NM, slab_per_bc, Ham, int_pts, Y):
    P0 = np.zeros((NR, NM), dtype=np.complex128)
    P1 = np.zeros((NR, NM), dtype=np.complex128)
    for z in int_pts:
        Tz = np.zeros((NR, NR), dtype=np.complex128)
        for n in range(slab_per_bc + 1):
            Tz += np.power(z, slab_per_bc / 2 - n) * Ham[n]
        if NR == NM:
            X = np.linalg.inv(Tz)
        else:
            X = np.linalg.solve(Tz, Y)
        if abs(z) < 1.0:
            X = -X
        P0 += X
        P1 += z * X
    return P0, P1


def loss(NR, NM, slab_per_bc, Ham, int_pts, Y):
    P0, P1 = kernel(NR, NM, slab_per_bc, Ham, int_pts, Y)
    return np.sum(P0.real) + np.sum(P1.real)
