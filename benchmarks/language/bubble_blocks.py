"""In-place swaps of slices under a condition, until nothing is out of order."""

import numpy as np

PRESETS = {"S": {"n": 24, "width": 64}, "M": {"n": 100, "width": 512}}
WRT = ("rows",)


def inputs(rng, n, width):
    return (rng.normal(size=(n, width)),)


def loss(rows):
    rows = rows.copy()
    done = False
    while not done:
        done = True
        for i in range(len(rows) - 1):
            if np.sum(rows[i] ** 2) > np.sum(rows[i + 1] ** 2):
                kept = rows[i].copy()
                rows[i] = rows[i + 1]
                rows[i + 1] = kept
                done = False
    return np.sum(np.cumsum(rows, axis=0)[::2] ** 2)
