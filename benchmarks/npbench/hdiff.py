"""Horizontal diffusion of a weather model: a limited fourth-order flux stencil on a three-dimensional field."""

import numpy as np

PRESETS = {
    "S": {"I": 64, "J": 64, "K": 60},
    "M": {"I": 128, "J": 128, "K": 160},
    "paper": {"I": 256, "J": 256, "K": 160},
}
GROUP = "stencil"
WRT = ("in_field", "coeff")


def inputs(rng, I, J, K):  # noqa: E741 - the public name of the size
    return rng.random((I + 4, J + 4, K)), rng.random((I, J, K)), rng.random((I, J, K))


def kernel(in_field, out_field, coeff):
    ni, nj = out_field.shape[:2]
    lap = 4.0 * in_field[1 : ni + 3, 1 : nj + 3, :] - (
        in_field[2 : ni + 4, 1 : nj + 3, :]
        + in_field[: ni + 2, 1 : nj + 3, :]
        + in_field[1 : ni + 3, 2 : nj + 4, :]
        + in_field[1 : ni + 3, : nj + 2, :]
    )

    step = lap[1:, 1 : nj + 1, :] - lap[:-1, 1 : nj + 1, :]
    slope = in_field[2 : ni + 3, 2 : nj + 2, :] - in_field[1 : ni + 2, 2 : nj + 2, :]
    flux_i = np.where(step * slope > 0, 0, step)

    step = lap[1 : ni + 1, 1:, :] - lap[1 : ni + 1, :-1, :]
    slope = in_field[2 : ni + 2, 2 : nj + 3, :] - in_field[2 : ni + 2, 1 : nj + 2, :]
    flux_j = np.where(step * slope > 0, 0, step)

    divergence = flux_i[1:, :, :] - flux_i[:-1, :, :] + flux_j[:, 1:, :] - flux_j[:, :-1, :]
    out_field[:, :, :] = in_field[2 : ni + 2, 2 : nj + 2, :] - coeff[:, :, :] * divergence


def loss(in_field, out_field, coeff):
    kernel(in_field, out_field, coeff)
    return np.sum(out_field)
