"""Distances on the unit sphere between points given by their angles."""

import numpy as np

PRESETS = {"S": {"N": 100000}, "M": {"N": 1000000}, "paper": {"N": 10000000}}
GROUP = "other"
WRT = ("theta_1", "phi_1", "theta_2", "phi_2")


def inputs(rng, N):
    return rng.random(N), rng.random(N), rng.random(N), rng.random(N)


def kernel(theta_1, phi_1, theta_2, phi_2):
    h = (
        np.sin((theta_2 - theta_1) / 2) ** 2
        + np.cos(theta_1) * np.cos(theta_2) * np.sin((phi_2 - phi_1) / 2) ** 2
    )
    return 2 * np.arctan2(np.sqrt(h), np.sqrt(1 - h))


def loss(theta_1, phi_1, theta_2, phi_2):
    return np.sum(kernel(theta_1, phi_1, theta_2, phi_2))
