"""LeNet-5: two convolutions with maximum pooling, three dense layers; float32."""

import numpy as np

PRESETS = {
    "S": {"N": 4, "H": 28, "W": 28},
    "M": {"N": 8, "H": 56, "W": 56},
    "paper": {"N": 16, "H": 256, "W": 256},
}
GROUP = "net"
WRT = ("conv1", "bias1", "conv2", "bias2", "fc1w", "fc1b", "fc2w", "fc2b", "fc3w", "fc3b")
NOTE = "weights are centred and scaled by the fan-in"


def inputs(rng, N, H, W):
    def layer(*shape):
        scale = np.float32(2.0 / np.prod(shape[:-1]) ** 0.5)
        weights = (rng.random(shape, dtype=np.float32) - np.float32(0.5)) * scale
        return weights, rng.random((shape[-1],), dtype=np.float32)

    flat = 16 * (((H - 4) // 2 - 4) // 2) * (((W - 4) // 2 - 4) // 2)
    return (
        rng.random((N, H, W, 1), dtype=np.float32),
        *layer(5, 5, 1, 6),
        *layer(5, 5, 6, 16),
        *layer(flat, 120),
        *layer(120, 84),
        *layer(84, 10),
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


def pool(x):
    output = np.empty([x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]], dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            output[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return output


def kernel(image, conv1, bias1, conv2, bias2, fc1w, fc1b, fc2w, fc2b, fc3w, fc3b):
    x = relu(convolve(image, conv1) + bias1)
    x = pool(x)
    x = relu(convolve(x, conv2) + bias2)
    x = pool(x)
    x = np.reshape(x, (image.shape[0], fc1w.shape[0]))
    x = relu(x @ fc1w + fc1b)
    x = relu(x @ fc2w + fc2b)
    return x @ fc3w + fc3b


def loss(image, conv1, bias1, conv2, bias2, fc1w, fc1b, fc2w, fc2b, fc3w, fc3b):
    return np.sum(kernel(image, conv1, bias1, conv2, bias2, fc1w, fc1b, fc2w, fc2b, fc3w, fc3b))
