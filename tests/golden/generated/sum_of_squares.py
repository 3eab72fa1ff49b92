import numpy as np


def sum_of_squares_value_and_grad(x):
    """Value and gradient of `sum_of_squares` (programs.py:51)."""
    n = x.shape[0]
    s = 0.0
    for i in range(n):
        s += x[i] ** 2
    with np.errstate(all="ignore"):
        # programs.py:53  for i in range(len(x)):
        x_bar = np.zeros_like(x)
        for i in reversed(range(n)):
            # programs.py:54  s += x[i] ** 2
            x_bar[i] += 2 * x[i]
    return s, x_bar


def sum_of_squares_primal(x):
    """Value of `sum_of_squares` (programs.py:51) and the residuals of its pullback."""
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] ** 2
    return s, (x.copy(),)


def sum_of_squares_pullback(residuals, value_bar):
    """Cotangent of the value of `sum_of_squares` -> cotangent of x."""
    x = residuals[0]
    with np.errstate(all="ignore"):
        # programs.py:53  for i in range(len(x)):
        x_bar = np.zeros_like(x)
        for i in reversed(range(x.shape[0])):
            # programs.py:54  s += x[i] ** 2
            x_bar[i] += value_bar * (2 * x[i])
    return x_bar
