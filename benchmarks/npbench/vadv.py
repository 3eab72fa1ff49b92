"""Vertical advection of a weather model: a tridiagonal solve (Thomas) along the last axis, for every column."""

import numpy as np

PRESETS = {
    "S": {"I": 60, "J": 60, "K": 40},
    "M": {"I": 112, "J": 112, "K": 80},
    "paper": {"I": 256, "J": 256, "K": 160},
}
GROUP = "stencil"
WRT = ("utens_stage", "u_stage", "wcon", "u_pos", "utens")

BET_M = 0.5
BET_P = 0.5


def inputs(rng, I, J, K):  # noqa: E741 - the public name of the size
    return (
        rng.random((I, J, K)),
        rng.random((I, J, K)),
        rng.random((I + 1, J, K)),
        rng.random((I, J, K)),
        rng.random((I, J, K)),
        3.0 / 20.0,
    )


def kernel(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage):
    ni, nj, nk = utens_stage.shape
    ccol = np.ndarray((ni, nj, nk), dtype=utens_stage.dtype)
    dcol = np.ndarray((ni, nj, nk), dtype=utens_stage.dtype)
    data_col = np.ndarray((ni, nj), dtype=utens_stage.dtype)

    for k in range(1):
        above = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
        cs = above * BET_M
        ccol[:, :, k] = above * BET_P
        bcol = dtr_stage - ccol[:, :, k]
        correction = -cs * (u_stage[:, :, k + 1] - u_stage[:, :, k])
        dcol[:, :, k] = dtr_stage * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k] + correction
        scale = 1.0 / bcol
        ccol[:, :, k] = ccol[:, :, k] * scale
        dcol[:, :, k] = dcol[:, :, k] * scale

    for k in range(1, nk - 1):
        below = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
        above = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
        as_ = below * BET_M
        cs = above * BET_M
        acol = below * BET_P
        ccol[:, :, k] = above * BET_P
        bcol = dtr_stage - acol - ccol[:, :, k]
        correction = -as_ * (u_stage[:, :, k - 1] - u_stage[:, :, k])
        correction -= cs * (u_stage[:, :, k + 1] - u_stage[:, :, k])
        dcol[:, :, k] = dtr_stage * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k] + correction
        scale = 1.0 / (bcol - ccol[:, :, k - 1] * acol)
        ccol[:, :, k] = ccol[:, :, k] * scale
        dcol[:, :, k] = (dcol[:, :, k] - dcol[:, :, k - 1] * acol) * scale

    for k in range(nk - 1, nk):
        below = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
        as_ = below * BET_M
        acol = below * BET_P
        bcol = dtr_stage - acol
        correction = -as_ * (u_stage[:, :, k - 1] - u_stage[:, :, k])
        dcol[:, :, k] = dtr_stage * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k] + correction
        scale = 1.0 / (bcol - ccol[:, :, k - 1] * acol)
        dcol[:, :, k] = (dcol[:, :, k] - dcol[:, :, k - 1] * acol) * scale

    for k in range(nk - 1, nk - 2, -1):
        column = dcol[:, :, k]
        data_col[:] = column
        utens_stage[:, :, k] = dtr_stage * (column - u_pos[:, :, k])

    for k in range(nk - 2, -1, -1):
        column = dcol[:, :, k] - ccol[:, :, k] * data_col[:, :]
        data_col[:] = column
        utens_stage[:, :, k] = dtr_stage * (column - u_pos[:, :, k])


def loss(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage):
    kernel(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage)
    return np.sum(utens_stage)
