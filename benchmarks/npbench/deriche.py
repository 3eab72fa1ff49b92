"""PolyBench `deriche`: a recursive edge filter, forwards and backwards over the columns, then over the rows."""

import numpy as np

PRESETS = {
    "S": {"W": 400, "H": 200},
    "M": {"W": 3000, "H": 1500},
    "paper": {"W": 7680, "H": 4320},
}
GROUP = "other"
WRT = ("alpha", "imgIn")


def inputs(rng, W, H):
    return 0.25, rng.random((W, H))


def kernel(alpha, imgIn):
    fall = np.exp(-alpha)
    k = (1.0 - fall) ** 2 / (1.0 + 2.0 * alpha * fall - np.exp(2.0 * alpha))
    a1 = a5 = k
    a2 = a6 = k * fall * (alpha - 1.0)
    a3 = a7 = k * fall * (alpha + 1.0)
    a4 = a8 = -k * np.exp(-2.0 * alpha)
    b1 = 2.0**-alpha
    b2 = -np.exp(-2.0 * alpha)
    c1 = c2 = 1.0
    width, height = imgIn.shape

    y1 = np.empty_like(imgIn)
    y1[:, 0] = a1 * imgIn[:, 0]
    y1[:, 1] = a1 * imgIn[:, 1] + a2 * imgIn[:, 0] + b1 * y1[:, 0]
    for j in range(2, height):
        y1[:, j] = a1 * imgIn[:, j] + a2 * imgIn[:, j - 1] + b1 * y1[:, j - 1] + b2 * y1[:, j - 2]

    y2 = np.empty_like(imgIn)
    y2[:, -1] = 0.0
    y2[:, -2] = a3 * imgIn[:, -1]
    for j in range(height - 3, -1, -1):
        y2[:, j] = a3 * imgIn[:, j + 1] + a4 * imgIn[:, j + 2] + b1 * y2[:, j + 1] + b2 * y2[:, j + 2]

    imgOut = c1 * (y1 + y2)

    y1[0, :] = a5 * imgOut[0, :]
    y1[1, :] = a5 * imgOut[1, :] + a6 * imgOut[0, :] + b1 * y1[0, :]
    for i in range(2, width):
        y1[i, :] = a5 * imgOut[i, :] + a6 * imgOut[i - 1, :] + b1 * y1[i - 1, :] + b2 * y1[i - 2, :]

    y2[-1, :] = 0.0
    y2[-2, :] = a7 * imgOut[-1, :]
    for i in range(width - 3, -1, -1):
        y2[i, :] = a7 * imgOut[i + 1, :] + a8 * imgOut[i + 2, :] + b1 * y2[i + 1, :] + b2 * y2[i + 2, :]

    imgOut[:] = c2 * (y1 + y2)
    return imgOut


def loss(alpha, imgIn):
    return np.sum(kernel(alpha, imgIn))
