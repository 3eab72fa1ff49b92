"""A search that ends with the first hit: the return stands inside two loops."""

import numpy as np

PRESETS = {"S": {"n": 200, "dim": 4}, "M": {"n": 50_000, "dim": 4}}
WRT = ("points", "scale")


def inputs(rng, n, dim):
    points = rng.uniform(0.0, 0.4, (n, dim))
    points[3 * n // 4] += 1.0
    return points, 1.1, 1.5


def loss(points, scale, radius):
    travelled = 0.0
    for point in points:
        length = 0.0
        for coordinate in point:
            length += (scale * coordinate) ** 2
            if length > radius**2:
                return travelled + np.sqrt(length)
        travelled += 1e-3 * np.sqrt(length)
    return travelled
