import numpy as np


def gather_value_and_grad(x, index):
    """Value and gradient of `gather` (programs.py:133)."""
    t = x[index]
    t_2 = np.arange(4.0)
    t_3 = np.sin(t) * t_2
    value = np.sum(t_3)
    with np.errstate(all="ignore"):
        # programs.py:134  return np.sum(np.sin(x[index]) * np.arange(4.0))
        t_bar = np.broadcast_to(1.0, t_3.shape) * t_2 * np.cos(t)
        x_bar = np.zeros_like(x)
        np.add.at(x_bar, index, t_bar)
    return value, x_bar


def gather_primal(x, index):
    """Value of `gather` (programs.py:133) and the residuals of its pullback."""
    t = x[index]
    t_2 = np.arange(4.0)
    return np.sum(np.sin(t) * t_2), (t, t_2, x.shape, index.copy())


def gather_pullback(residuals, value_bar):
    """Cotangent of the value of `gather` -> cotangent of x."""
    t, t_2, x_shape, index = residuals
    with np.errstate(all="ignore"):
        # programs.py:134  return np.sum(np.sin(x[index]) * np.arange(4.0))
        t_bar = np.broadcast_to(value_bar, t.shape) * t_2 * np.cos(t)
        x_bar = np.zeros(x_shape)
        np.add.at(x_bar, index, t_bar)
    return x_bar
