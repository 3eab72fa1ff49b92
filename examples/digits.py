"""Handwritten digits: softmax regression with an L2 penalty, then a network with one hidden layer.

Both losses are plain NumPy.  Their gradients come from `pullback`; the fit is full-batch descent with momentum.

    python examples/digits.py [--steps N]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import pullback as pb

Array = np.ndarray
DATA = Path(__file__).parent / "data" / "digits.csv.gz"
TRAINING = 1400  # of 1,797 images
CLASSES = 10


def cross_entropy(scores: Array, y: Array) -> float:
    """Mean negative log-probability of the right class, of one row of scores per image."""
    shifted = scores - np.max(scores, axis=1, keepdims=True)
    log_total = np.log(np.sum(np.exp(shifted), axis=1))
    return np.mean(log_total - shifted[np.arange(len(y)), y])


def linear_scores(W: Array, b: Array, x: Array) -> Array:
    return x @ W + b


@pb.differentiable
def regression_loss(W: Array, b: Array, x: Array, y: Array, penalty: float) -> float:
    return cross_entropy(linear_scores(W, b, x), y) + penalty * np.sum(W * W)


def network_scores(W1: Array, b1: Array, W2: Array, b2: Array, x: Array) -> Array:
    hidden = np.tanh(x @ W1 + b1)
    return hidden @ W2 + b2


@pb.differentiable
def network_loss(W1: Array, b1: Array, W2: Array, b2: Array, x: Array, y: Array, penalty: float) -> float:
    scores = network_scores(W1, b1, W2, b2, x)
    return cross_entropy(scores, y) + penalty * (np.sum(W1 * W1) + np.sum(W2 * W2))


def load_digits() -> tuple[Array, Array]:
    """Images as rows of numbers from 0 to 1, and the digit each shows."""
    table = np.loadtxt(DATA, delimiter=",")
    return table[:, :-1] / 16.0, table[:, -1].astype(int)


def descend(
    loss: Callable[..., float],
    parameters: Sequence[Array],
    data: tuple[Array, Array, float],
    rate: float,
    steps: int,
) -> tuple[Array, ...]:
    """Gradient descent with momentum 0.9 on all of the data at once."""
    parameters = tuple(p.copy() for p in parameters)
    velocities = [np.zeros_like(p) for p in parameters]
    value_and_grad = pb.value_and_grad(loss, argnums=tuple(range(len(parameters))))
    for step in range(steps):
        value, gradients = value_and_grad(*parameters, *data)
        for p, v, g in zip(parameters, velocities, gradients, strict=True):
            v *= 0.9
            v -= rate * g
            p += v
        if step % max(steps // 4, 1) == 0 or step == steps - 1:
            print(f"  step {step:4d}  loss {value:.4f}")
    return parameters


def accuracy(scores: Callable[..., Array], parameters: Sequence[Array], x: Array, y: Array) -> float:
    return float(np.mean(np.argmax(scores(*parameters, x), axis=1) == y))


def check(loss: Callable[..., float], parameters: Sequence[Array], data: tuple[Array, Array, float]) -> None:
    """Compare the gradient with finite differences on a few images; raises where they differ."""
    x, y, penalty = data
    argnums = tuple(range(len(parameters)))
    pb.check_gradients(loss, *parameters, x[:20], y[:20], penalty, argnums=argnums)
    count = sum(p.size for p in parameters)
    print(f"gradient check: {count} entries agree with finite differences")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=200, help="descent steps for each model")
    steps = parser.parse_args().steps

    x, y = load_digits()
    train, held_out = (x[:TRAINING], y[:TRAINING]), (x[TRAINING:], y[TRAINING:])
    pixels, hidden = x.shape[1], 32
    rng = np.random.default_rng(0)

    print(f"softmax regression, {TRAINING} images")
    data = (*train, 1e-4)
    start: tuple[Array, ...] = (np.zeros((pixels, CLASSES)), np.zeros(CLASSES))
    fitted = descend(regression_loss, start, data, rate=0.5, steps=steps)
    print(f"held-out accuracy: {accuracy(linear_scores, fitted, *held_out):.1%} of {len(held_out[1])} images")
    check(regression_loss, fitted, data)

    print(f"\nnetwork with {hidden} hidden units")
    start = (
        rng.normal(0, pixels**-0.5, (pixels, hidden)),
        np.zeros(hidden),
        rng.normal(0, hidden**-0.5, (hidden, CLASSES)),
        np.zeros(CLASSES),
    )
    fitted = descend(network_loss, start, data, rate=0.3, steps=steps)
    print(
        f"held-out accuracy: {accuracy(network_scores, fitted, *held_out):.1%} of {len(held_out[1])} images"
    )
    check(network_loss, fitted, data)

    print("\nthe generated gradient of the network's loss:\n")
    print(network_loss.source(*fitted, *data, argnums=(0, 1, 2, 3), form="joint"))


if __name__ == "__main__":
    main()
