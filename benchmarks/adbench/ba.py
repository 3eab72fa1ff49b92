"""Bundle adjustment: reprojection errors of all observations and errors of their weights (Microsoft's ADBench).

An observation depends on its own camera, point and weight only: with those gathered for each observation, three
pullbacks give the whole sparse Jacobian.
"""

import numpy as np

NOTE = "random cameras and points with a fixed seed in place of ADBench's files; sizes are its n, m and p"
PRESETS = {
    "S": {"n": 49, "m": 7776, "p": 31843},
    "M": [{"n": 372, "m": 47423, "p": 204472}, {"n": 93, "m": 61203, "p": 287451}],
    "paper": [
        {"n": n, "m": m, "p": p}
        for n, m, p in (
            (49, 7776, 31843), (21, 11315, 36455), (161, 48126, 182072), (372, 47423, 204472),
            (257, 65132, 225911), (539, 65220, 277273), (93, 61203, 287451), (88, 64298, 383937),
            (810, 88814, 393775), (1197, 126327, 563734), (1723, 156502, 678718), (253, 163691, 899155),
            (245, 198739, 1091386),
        )
    ],
}  # fmt: skip
WRT = ("cameras", "points", "weights")


def inputs(rng, n, m, p):
    """Eleven numbers a camera: rotation (3), centre (3), focal length, principal point (2), radial distortion (2)."""
    cameras = np.concatenate(
        [
            rng.normal(0.0, 0.3, (n, 3)),
            rng.normal(0.0, 0.3, (n, 3)) - np.array([0.0, 0.0, 5.0]),
            rng.uniform(400.0, 600.0, (n, 1)),
            rng.normal(0.0, 8.0, (n, 2)),
            rng.normal(0.0, 0.01, (n, 2)),
        ],
        axis=1,
    )
    points = rng.standard_normal((m, 3))
    seen = np.arange(p)
    return cameras[seen % n], points[seen % m], rng.random(p), rng.normal(0.0, 100.0, (p, 2))


def rotate(rotations, x):
    """Each point turned about its axis by the axis' length (Rodrigues)."""
    square = np.sum(rotations**2, axis=1, keepdims=True)
    angle = np.sqrt(square)
    axis = rotations / angle
    along = np.sum(axis * x, axis=1, keepdims=True) * (1.0 - np.cos(angle))
    turned = x * np.cos(angle) + np.cross(axis, x) * np.sin(angle) + axis * along
    return np.where(square > 0.0, turned, x + np.cross(rotations, x))


def project(cameras, points):
    x = rotate(cameras[:, 0:3], points - cameras[:, 3:6])
    flat = x[:, 0:2] / x[:, 2:3]
    square = np.sum(flat**2, axis=1)
    distortion = 1.0 + cameras[:, 9] * square + cameras[:, 10] * square**2
    return cameras[:, 6:7] * (flat * distortion[:, np.newaxis]) + cameras[:, 7:9]


def residuals(cameras, points, weights, features):
    errors = np.empty((len(weights), 3))
    errors[:, 0:2] = weights[:, np.newaxis] * (project(cameras, points) - features)
    errors[:, 2] = 1.0 - weights**2
    return errors


def seeds(value):
    """The columns one after another."""
    return [np.broadcast_to(row, value.shape).copy() for row in np.eye(3)]
