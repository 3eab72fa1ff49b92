import numpy as np


def write_slices_value_and_grad(x):
    """Value and gradient of `write_slices` (programs.py:105)."""
    y = x.copy()
    x_2 = x[:-1]
    y[1:] += x_2**2
    y[::2] *= 3.0
    value = np.sum(y * x)
    with np.errstate(all="ignore"):
        # programs.py:109  return np.sum(y * x)
        y_bar = 1.0 * x
        x_bar = 1.0 * y
        # programs.py:108  y[::2] *= 3.0
        y_bar[::2] = y_bar[::2] * 3.0
        # programs.py:107  y[1:] += x[:-1] ** 2
        x_bar[:-1] += y_bar[1:] * (2 * x_2)
        # programs.py:106  y = x.copy()
        x_bar += y_bar
    return value, x_bar


def write_slices_primal(x):
    """Value of `write_slices` (programs.py:105) and the residuals of its pullback."""
    y = x.copy()
    y[1:] += x[:-1] ** 2
    y[::2] *= 3.0
    return np.sum(y * x), (x.copy(), y)


def write_slices_pullback(residuals, value_bar):
    """Cotangent of the value of `write_slices` -> cotangent of x."""
    x, y = residuals
    with np.errstate(all="ignore"):
        # programs.py:107  y[1:] += x[:-1] ** 2
        x_2 = x[:-1]
        # programs.py:109  return np.sum(y * x)
        y_bar = value_bar * x
        x_bar = value_bar * y
        # programs.py:108  y[::2] *= 3.0
        y_bar[::2] = y_bar[::2] * 3.0
        # programs.py:107  y[1:] += x[:-1] ** 2
        x_bar[:-1] += y_bar[1:] * (2 * x_2)
        # programs.py:106  y = x.copy()
        x_bar += y_bar
    return x_bar
