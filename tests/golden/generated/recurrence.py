import numpy as np


def recurrence_value_and_grad(x, a):
    """Value and gradient of `recurrence` (programs.py:59)."""
    n = x.shape[0]
    y = np.zeros(n)
    y[0] = x[0]
    for i in range(1, n):
        y[i] = a * y[i - 1] + x[i]
    value = np.sum(y * y)
    with np.errstate(all="ignore"):
        # programs.py:64  return np.sum(y * y)
        y_bar = 2.0 * y
        # programs.py:62  for i in range(1, len(x)):
        a_bar = 0.0
        x_bar = np.zeros_like(x)
        for i in reversed(range(1, n)):
            # programs.py:63  y[i] = a * y[i - 1] + x[i]
            t = i - 1
            y_2 = y[t]
            x_bar_2 = y_bar[i]
            y_bar[i] = 0.0
            x_bar[i] += x_bar_2
            y_bar[t] += x_bar_2 * a
            a_bar += x_bar_2 * y_2
        # programs.py:61  y[0] = x[0]
        x_bar[0] += y_bar[0]
        a_bar = float(a_bar)
    return value, (x_bar, a_bar)


def recurrence_primal(x, a):
    """Value of `recurrence` (programs.py:59) and the residuals of its pullback."""
    n = x.shape[0]
    y = np.zeros(n)
    y[0] = x[0]
    for i in range(1, n):
        y[i] = a * y[i - 1] + x[i]
    return np.sum(y * y), (y, x.shape, n, a)


def recurrence_pullback(residuals, value_bar):
    """Cotangent of the value of `recurrence` -> cotangents of x, a."""
    y, x_shape, n, a = residuals
    with np.errstate(all="ignore"):
        # programs.py:64  return np.sum(y * y)
        y_bar = 2.0 * value_bar * y
        # programs.py:62  for i in range(1, len(x)):
        a_bar = 0.0
        x_bar = np.zeros(x_shape)
        for i in reversed(range(1, n)):
            # programs.py:63  y[i] = a * y[i - 1] + x[i]
            t = i - 1
            y_2 = y[t]
            x_bar_2 = y_bar[i]
            y_bar[i] = 0.0
            x_bar[i] += x_bar_2
            y_bar[t] += x_bar_2 * a
            a_bar += x_bar_2 * y_2
        # programs.py:61  y[0] = x[0]
        x_bar[0] += y_bar[0]
        a_bar = float(a_bar)
    return x_bar, a_bar
