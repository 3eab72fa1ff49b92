import numpy as np


def strong_zero_value_and_grad(x):
    """Value and gradient of `strong_zero` (programs.py:138)."""
    t = x > 0.5
    t_2 = np.sqrt(x)
    value = np.sum(np.where(t, t_2, 0.0))
    with np.errstate(all="ignore"):
        # programs.py:139  return np.sum(np.where(x > 0.5, np.sqrt(x), 0.0))
        x_bar = np.where(t, 0.5 / t_2, 0)
    return value, x_bar


def strong_zero_primal(x):
    """Value of `strong_zero` (programs.py:138) and the residuals of its pullback."""
    t = x > 0.5
    t_2 = np.sqrt(x)
    return np.sum(np.where(t, t_2, 0.0)), (t, t_2)


def strong_zero_pullback(residuals, value_bar):
    """Cotangent of the value of `strong_zero` -> cotangent of x."""
    t, t_2 = residuals
    with np.errstate(all="ignore"):
        # programs.py:139  return np.sum(np.where(x > 0.5, np.sqrt(x), 0.0))
        x_bar = np.where(t, value_bar * (0.5 / t_2), 0)
    return x_bar
