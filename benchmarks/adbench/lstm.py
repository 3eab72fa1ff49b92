"""Language model: mean log-likelihood of the next character's bits under a diagonal LSTM (Microsoft's ADBench)."""

import numpy as np

NOTE = "random bits and parameters with a fixed seed in place of ADBench's text; M and paper are its sizes"
PRESETS = {
    "S": {"layers": 2, "characters": 128, "bits": 14},
    "M": {"layers": 2, "characters": 1024, "bits": 14},
    "paper": [{"layers": n, "characters": c, "bits": 14} for n in (2, 4) for c in (1024, 4096)],
}
WRT = ("main", "extra")


def inputs(rng, layers, characters, bits):
    return (
        rng.random((2 * layers, 4 * bits)),
        rng.random((3, bits)),
        rng.random((2 * layers, bits)),
        rng.integers(0, 2, (characters, bits)).astype(np.float64),
    )


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def cell_step(weight, bias, hidden, cell, x):
    size = len(hidden)
    gates = np.concatenate((x, hidden, x, hidden)) * weight + bias
    forget = sigmoid(gates[:size])
    ingate = sigmoid(gates[size : 2 * size])
    outgate = sigmoid(gates[2 * size : 3 * size])
    change = np.tanh(gates[3 * size :])
    cell = cell * forget + ingate * change
    return outgate * np.tanh(cell), cell


def predict(main, extra, state, x):
    """The prediction after one character; the state moves on in place."""
    x = x * extra[0]
    for i in range(0, len(state), 2):
        state[i], state[i + 1] = cell_step(main[i], main[i + 1], state[i], state[i + 1], x)
        x = state[i]
    return x * extra[1] + extra[2]


def loss(main, extra, state, sequence):
    state = state.copy()
    total = 0.0
    count = 0
    for t in range(len(sequence) - 1):
        predicted = predict(main, extra, state, sequence[t])
        normalised = predicted - np.log(np.sum(np.exp(predicted)) + 2)
        gold = sequence[t + 1]
        total += np.sum(gold * normalised)
        count += len(gold)
    return -total / count
