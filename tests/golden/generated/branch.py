import numpy as np


def branch_value_and_grad(x):
    """Value and gradient of `branch` (programs.py:80)."""
    t = x > 1.0
    if t:
        t_2 = np.sin(x)
        value = t_2 * x
    else:
        value = x * x
        t_2 = None
    with np.errstate(all="ignore"):
        # programs.py:81  if x > 1.0:
        if t:
            x_bar = t_2 + 1.0 * x * np.cos(x)
        else:
            x_bar = 2.0 * x
        x_bar = float(x_bar)
    return value, x_bar


def branch_primal(x):
    """Value of `branch` (programs.py:80) and the residuals of its pullback."""
    if x > 1.0:
        t = np.sin(x)
        value = t * x
    else:
        value = x * x
        t = None
    return value, (x, t)


def branch_pullback(residuals, value_bar):
    """Cotangent of the value of `branch` -> cotangent of x."""
    x, t = residuals
    with np.errstate(all="ignore"):
        # programs.py:81  if x > 1.0:
        if x > 1.0:
            # programs.py:82  return np.sin(x) * x
            x_bar = value_bar * t + value_bar * x * np.cos(x)
        else:
            x_bar = 2.0 * value_bar * x
        x_bar = float(x_bar)
    return x_bar
