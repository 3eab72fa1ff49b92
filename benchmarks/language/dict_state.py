"""An optimiser with its state in a dictionary: Adam by hand on a least-squares problem."""

import numpy as np

PRESETS = {"S": {"m": 40, "n": 10, "steps": 20}, "M": {"m": 400, "n": 100, "steps": 300}}
WRT = ("A", "rate")
STATIC = ("steps",)


def inputs(rng, m, n, steps):
    return rng.normal(size=(m, n)), rng.normal(size=m), 0.05, steps


def update(state, gradient, rate):
    state["step"] += 1
    state["m"] = 0.9 * state["m"] + 0.1 * gradient
    state["v"] = 0.99 * state["v"] + 0.01 * gradient**2
    first = state["m"] / (1.0 - 0.9 ** state["step"])
    second = state["v"] / (1.0 - 0.99 ** state["step"])
    state["w"] = state["w"] - rate * first / (np.sqrt(second) + 1e-3)


def loss(A, y, rate, steps):
    n = A.shape[1]
    state = {"w": np.zeros(n), "m": np.zeros(n), "v": np.zeros(n), "step": 0}
    for _ in range(steps):
        update(state, A.T @ (A @ state["w"] - y) / len(y), rate)
    r = A @ state["w"] - y
    return np.sum(r * r)
