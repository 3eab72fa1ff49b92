"""Convolution of images by square kernels (stride 1, no padding) with a bias; float32."""

import numpy as np

PRESETS = {
    "S": {"N": 8, "C_in": 3, "C_out": 16, "K": 2, "H": 32, "W": 32},
    "M": {"N": 8, "C_in": 3, "C_out": 8, "K": 5, "H": 64, "W": 64},
    "paper": {"N": 8, "C_in": 3, "C_out": 16, "K": 20, "H": 256, "W": 256},
}
GROUP = "net"
WRT = ("image", "weights", "bias")


def inputs(rng, N, C_in, C_out, K, H, W):
    return (
        rng.random((N, H, W, C_in), dtype=np.float32),
        rng.random((K, K, C_in, C_out), dtype=np.float32),
        rng.random((C_out,), dtype=np.float32),
    )


def conv2d(image, weights):
    k = weights.shape[0]
    rows = image.shape[1] - k + 1
    columns = image.shape[2] - k + 1
    output = np.empty((image.shape[0], rows, columns, weights.shape[3]), dtype=np.float32)
    for i in range(rows):
        for j in range(columns):
            patch = image[:, i : i + k, j : j + k, :, np.newaxis]
            output[:, i, j, :] = np.sum(patch * weights[np.newaxis, :, :, :], axis=(1, 2, 3))
    return output


def kernel(image, weights, bias):
    return conv2d(image, weights) + bias


def loss(image, weights, bias):
    return np.sum(kernel(image, weights, bias))
