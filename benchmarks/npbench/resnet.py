"""A bottleneck block of ResNet-50: three convolutions, each with a normalisation over the batch."""

import numpy as np

PRESETS = {
    "S": {"N": 8, "W": 14, "H": 14, "C1": 32, "C2": 8},
    "M": {"N": 8, "W": 28, "H": 28, "C1": 64, "C2": 16},
    "paper": {"N": 8, "W": 56, "H": 56, "C1": 256, "C2": 64},
}
GROUP = "net"
WRT = ("conv1", "conv2", "conv3")
NOTE = "the output is float32, stored from float64 arithmetic as in the public form"


def inputs(rng, N, W, H, C1, C2):
    return (
        rng.random((N, H, W, C1), dtype=np.float32),
        rng.random((1, 1, C1, C2), dtype=np.float32),
        rng.random((3, 3, C2, C2), dtype=np.float32),
        rng.random((1, 1, C2, C1), dtype=np.float32),
    )


def relu(x):
    return np.maximum(x, 0)


def convolve(image, weights):
    k = weights.shape[0]
    rows = image.shape[1] - k + 1
    columns = image.shape[2] - k + 1
    output = np.empty((image.shape[0], rows, columns, weights.shape[3]), dtype=np.float32)
    for i in range(rows):
        for j in range(columns):
            patch = image[:, i : i + k, j : j + k, :, np.newaxis]
            output[:, i, j, :] = np.sum(patch * weights[np.newaxis, :, :, :], axis=(1, 2, 3))
    return output


def normalise(x, eps=1e-5):
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std + eps)


def kernel(image, conv1, conv2, conv3):
    padded = np.zeros((image.shape[0], image.shape[1] + 2, image.shape[2] + 2, conv1.shape[3]))
    padded[:, 1:-1, 1:-1, :] = convolve(image, conv1)
    x = relu(normalise(padded))
    x = relu(normalise(convolve(x, conv2)))
    x = normalise(convolve(x, conv3))
    return relu(x + image)


def loss(image, conv1, conv2, conv3):
    return np.sum(kernel(image, conv1, conv2, conv3))
