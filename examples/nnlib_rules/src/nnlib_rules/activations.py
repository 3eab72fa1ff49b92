"""The activation functions, element by element over arrays and numbers.

None overflows for large inputs: exponentials are taken of numbers that are not positive (for positive parameters).
"""

from __future__ import annotations

from typing import Any

import numpy as np

SELU_SCALE = 1.0507009873554805
SELU_ALPHA = 1.6732632423543772
GELU_SCALE = 0.7978845608028654  # sqrt(2 / pi)
GELU_CUBIC = 0.044715


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x))."""
    return np.exp(-np.logaddexp(0, -x))


def relu(x: Any) -> Any:
    """x where it is positive, else 0."""
    return np.maximum(x, 0)


def leakyrelu(x: Any, a: Any = 0.01) -> Any:
    """x where it is positive, else a * x."""
    return np.where(x > 0, x, a * x)


def trelu(x: Any, theta: Any = 1.0) -> Any:
    """x where it is above theta, else 0."""
    return np.where(x > theta, x, 0)


def elu(x: Any, alpha: Any = 1.0) -> Any:
    """x where it is positive, else alpha * (exp(x) - 1)."""
    return np.where(x >= 0, x, alpha * np.expm1(np.minimum(x, 0)))


def celu(x: Any, alpha: Any = 1.0) -> Any:
    """x where it is positive, else alpha * (exp(x / alpha) - 1)."""
    return np.where(x >= 0, x, alpha * np.expm1(np.minimum(x, 0) / alpha))


def selu(x: Any) -> Any:
    """The exponential unit with the scale and alpha that keep mean 0 and variance 1."""
    return SELU_SCALE * np.where(x > 0, x, SELU_ALPHA * np.expm1(np.minimum(x, 0)))


def softplus(x: Any) -> Any:
    """log(1 + exp(x))."""
    return np.logaddexp(0, x)


def hardsigmoid(x: Any) -> Any:
    """A line through (0, 1/2) with slope 1/6, cut off at 0 and 1."""
    return np.clip((x + 3) / 6, 0, 1)


def swish(x: Any) -> Any:
    """x * sigmoid(x)."""
    return x * sigmoid(x)


def gelu(x: Any) -> Any:
    """x times the normal distribution function of x, by its approximation with tanh."""
    return 0.5 * x * (1 + np.tanh(GELU_SCALE * (x + GELU_CUBIC * x * x * x)))


def softshrink(x: Any, lam: Any = 0.5) -> Any:
    """x drawn towards 0 by lam."""
    return np.where(x > lam, x - lam, np.where(x < -lam, x + lam, 0))


def logcosh(x: Any) -> Any:
    """log(cosh(x))."""
    return np.abs(x) + np.log1p(np.exp(-2 * np.abs(x))) - 0.6931471805599453
