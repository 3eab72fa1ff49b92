"""Hand tracking, points to places on triangles that are found too: half the sum of squares (Microsoft's ADBench)."""

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
WRT = ("us", "theta")


def inputs(rng, vertices, points):
    model = random_model(rng, vertices)
    corners = rng.integers(0, vertices, (points, 3))
    return 0.5 * rng.random((points, 2)), random_theta(rng), *model, rng.standard_normal((points, 3)), corners


def loss(
    us, theta, parents, base_relatives, inverse_base_absolutes, base_positions, weights, points, corners
):
    positions = skin(theta, parents, base_relatives, inverse_base_absolutes, base_positions, weights)
    u, v = us[:, 0:1], us[:, 1:2]
    a, b, c = positions[corners[:, 0]], positions[corners[:, 1]], positions[corners[:, 2]]
    errors = points - (u * a + v * b + (1.0 - u - v) * c)
    return 0.5 * np.sum(errors**2)
