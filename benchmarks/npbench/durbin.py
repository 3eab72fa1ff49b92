"""PolyBench `durbin`: the Yule-Walker equations by Durbin's recursion."""

import numpy as np

PRESETS = {"S": {"N": 600}, "M": {"N": 8000}, "paper": {"N": 16000}}
GROUP = "triangular"
WRT = ("r",)


def inputs(rng, N):
    # a positive definite autocorrelation, so that the recursion is stable
    phases = np.outer(np.arange(1, N + 1), rng.uniform(0.0, np.pi, 16))
    return (0.5 * np.mean(np.cos(phases), axis=1),)


def kernel(r):
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = alpha
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


def loss(r):
    return np.sum(kernel(r))
