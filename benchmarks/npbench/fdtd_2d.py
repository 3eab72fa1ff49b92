"""PolyBench `fdtd-2d`: finite differences in time of the electric and magnetic fields on a plane, in place."""

import numpy as np

PRESETS = {
    "S": {"TMAX": 20, "NX": 100, "NY": 120},
    "M": {"TMAX": 60, "NX": 400, "NY": 450},
    "paper": {"TMAX": 500, "NX": 1000, "NY": 1200},
}
GROUP = "stencil"
WRT = ("ex", "ey", "hz", "_fict_")
STATIC = ("TMAX",)


def inputs(rng, TMAX, NX, NY):
    ex, ey, hz = (rng.random((NX, NY)) for _ in range(3))
    return TMAX, ex, ey, hz, rng.random(TMAX)


def kernel(TMAX, ex, ey, hz, _fict_):
    for t in range(TMAX):
        ey[0, :] = _fict_[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def loss(TMAX, ex, ey, hz, _fict_):
    kernel(TMAX, ex, ey, hz, _fict_)
    return np.sum(ex) + np.sum(ey) + np.sum(hz)
