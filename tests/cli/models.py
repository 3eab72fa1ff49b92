"""The model that the tests of the command line work on."""

MODEL = '''\
"""A model."""

from typing import NamedTuple

import numpy as np
import pullback as pb

print("a word on import")


class Params(NamedTuple):
    w: "f8[n]"
    b: float


def loss(w, x, y):
    r = np.tanh(x @ w) - y
    return np.sum(r * r) / len(y)


def annotated(p: Params, x: "f8[m, n]", steps: int = 2):
    print("a word in a call")
    h = x @ p.w + p.b
    for _ in range(steps):
        h = np.tanh(h)
    return np.sum(h * h)


def roots(x: "f8[:]"):
    return np.sum(np.sqrt(x))


def with_aux(x: float, n: int):
    return x * x, n


def axis_needed(x: "f8[:,:]", axis: int):
    return np.sum(x.reshape((1,) * axis + (-1,)) ** 2)


def refused(x: "f8[:]"):
    try:
        y = np.sum(x)
    finally:
        y = np.sum(x)
    return y


def raises(x: "f8[:]"):
    raise ValueError("of no\\nuse")


def cube(x):
    return x**3


@pb.opaque(cube)
def cube_rule(x):
    return x**3, lambda bar: 2 * x * x * bar


def wrong(x: "f8[:]"):
    return np.sum(cube(x))


def turned(x: "f8[:]", steps: int, u: float, none: "f8[0]"):
    for _ in range(steps - 2):
        x = np.sin(x)
    return np.sum(x) + np.sum(none)


def of_first(x: "f8[:]", i: int):
    return x[:2][i]


def nowhere(x: "f8[:]"):
    return np.sum(np.sqrt(-1 - x * x))


def still(x: "f8[:]"):
    return np.sum(np.floor(x))


class Model:
    scale: float

    def energy(self, x: float) -> float:
        return self.scale * x * x


def arguments():
    return np.array([0.5, -0.3]), np.array([[1.0, 2.0], [0.5, -1.0], [0.0, 3.0]]), np.array([0.1, 0.4, -0.5])


def too_few():
    return (np.ones(2),)


def failing():
    raise RuntimeError("no data")


if __name__ == "__main__":
    raise SystemExit("this is no script")
'''

SIG = "w: f8[n], x: f8[m, n], y: f8[m]"
