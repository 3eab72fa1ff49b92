"""A perceptron of three layers with a softmax at the end; float32."""

import numpy as np

PRESETS = {
    "S": {"C_in": 3, "N": 8, "S0": 3000, "S1": 1000, "S2": 1000},
    "M": {"C_in": 3, "N": 8, "S0": 30000, "S1": 2000, "S2": 2000},
    "paper": {"C_in": 3, "N": 8, "S0": 30000, "S1": 10000, "S2": 1000},
}
GROUP = "net"
WRT = ("w1", "b1", "w2", "b2", "w3", "b3")
NOTE = (
    "weights are centred and scaled by the fan-in (the public ones saturate the softmax: gradient zero); "
    "the loss is the mean squared output; S is smaller than the public one"
)


def inputs(rng, C_in, N, S0, S1, S2):
    def layer(rows, columns):
        weights = (rng.random((rows, columns), dtype=np.float32) - np.float32(0.5)) * np.float32(
            2.0 / rows**0.5
        )
        return weights, rng.random((columns,), dtype=np.float32)

    return (rng.random((N, C_in), dtype=np.float32), *layer(C_in, S0), *layer(S0, S1), *layer(S1, S2))


def relu(x):
    return np.maximum(x, 0)


def softmax(x):
    largest = np.max(x, axis=-1, keepdims=True)
    powers = np.exp(x - largest)
    return powers / np.sum(powers, axis=-1, keepdims=True)


def kernel(x, w1, b1, w2, b2, w3, b3):
    x = relu(x @ w1 + b1)
    x = relu(x @ w2 + b2)
    return softmax(x @ w3 + b3)


def loss(x, w1, b1, w2, b2, w3, b3):
    out = kernel(x, w1, b1, w2, b2, w3, b3)
    return np.sum(out * out) * len(w3)
