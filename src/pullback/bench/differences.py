"""Directional derivatives of a plain function by differences, with an estimate of their error.

Central differences for a falling sequence of steps, extrapolated to step 0; of all entries of the table the one with
the least estimated error is taken (Ridders' method).  Steps are relative to each entry's size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

FIRST = 0.02  # the largest step
FACTOR = 4.0  # from one step to the next
LEVELS = 9
EPSILON = 2.0**-52
NEAR = 1e-6  # the distance of values at which noise shows
SIGMAS = 3.0


@dataclass(frozen=True)
class Derivative:
    """An estimate and how far it may be off."""

    value: float
    error: float


def noise_of(along: Callable[[float], float]) -> float:
    """By how much a function's values scatter about a smooth curve: third differences of closely spaced values.

    A function that rounds its intermediate results to single precision scatters more than its value's last digit.
    """
    third = np.diff([along(NEAR * k) for k in range(-3, 4)], n=3)
    return float(np.sqrt(np.mean(third**2) / 20.0))  # 20: the squares of 1, 3, 3, 1


def derivative(along: Callable[[float], float], wanted: float = 0.0, noise: float = 0.0) -> Derivative:
    """The derivative of a function of one number at 0.

    wanted  an error that is small enough to stop at
    noise   how much its values scatter, beside their last digit
    """
    best = Derivative(math.nan, math.inf)
    row: list[float] = []
    for level in range(LEVELS):
        step = FIRST / FACTOR**level
        above, below = along(step), along(-step)
        difference = (above - below) / (2 * step)
        rounding = max(EPSILON * max(abs(above), abs(below)), SIGMAS * noise) / step
        if not math.isfinite(difference):  # the step left the function's domain
            row = []
            continue
        previous, row = row, [difference]
        for k, left in enumerate(previous):
            scale = FACTOR ** (2 * (k + 1))
            row.append((scale * row[k] - left) / (scale - 1))
            error = max(abs(row[k + 1] - row[k]), abs(row[k + 1] - left), rounding)
            if error <= best.error:
                best = Derivative(row[k + 1], error)
        if best.error <= wanted:
            break
    return best


def direction(leaves: list[Any], rng: np.random.Generator) -> list[Any]:
    """A random direction: each entry about as large as the entry it moves, zeros a little."""
    return [_direction(np.asarray(leaf), rng) for leaf in leaves]


def _direction(leaf: Any, rng: np.random.Generator) -> Any:
    size = np.abs(leaf)
    typical = float(np.sqrt(np.mean(size * size))) if leaf.size else 0.0
    scale = size + 0.01 * typical if typical else np.ones(leaf.shape)
    noise = rng.standard_normal(leaf.shape)
    if leaf.dtype.kind == "c":
        noise = noise + 1j * rng.standard_normal(leaf.shape)
    return scale * noise


def terms(bars: list[Any], along: list[Any]) -> list[Any]:
    """What each entry contributes to the derivative along a direction."""
    return [np.real(np.conj(bar) * move) for bar, move in zip(bars, along, strict=True)]
