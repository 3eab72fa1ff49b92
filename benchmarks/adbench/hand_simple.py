"""Hand tracking, points to given vertices: half the sum of squared distances (Microsoft's ADBench)."""

import numpy as np

from ._hand import random_model, random_theta, skin

NOTE = (
    "a random hand with a fixed seed in place of ADBench's files, of its sizes; the gradient of half the sum of "
    "squares, as the whole Jacobian is for forward mode"
)
PRESETS = {
    "S": {"vertices": 544, "points": 100},
    "M": [{"vertices": 544, "points": 25600}, {"vertices": 10000, "points": 400}],
    "paper": [
        {"vertices": v, "points": n}
        for v in (544, 10000)
        for n in (100, 192, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 51200, 100000)
    ],
}
WRT = ("theta",)


def inputs(rng, vertices, points):
    model = random_model(rng, vertices)
    return random_theta(rng), *model, rng.standard_normal((points, 3)), rng.integers(0, vertices, points)


def loss(theta, parents, base_relatives, inverse_base_absolutes, base_positions, weights, points, vertices):
    positions = skin(theta, parents, base_relatives, inverse_base_absolutes, base_positions, weights)
    errors = points - positions[vertices]
    return 0.5 * np.sum(errors**2)
