import numpy as np


def affine_value_and_grad(x, b, c):
    """Value and gradient of `affine` (programs.py:121)."""
    t = np.exp(x * b + c)
    value = np.sum(t)
    with np.errstate(all="ignore"):
        # programs.py:122  return np.sum(np.exp(x * b + c))
        x_bar = t * b
        b_bar = np.sum(t * x, axis=0)
        c_bar = float(value)
    return value, (x_bar, b_bar, c_bar)


def affine_primal(x, b, c):
    """Value of `affine` (programs.py:121) and the residuals of its pullback."""
    t = np.exp(x * b + c)
    return np.sum(t), (t, b.copy(), x.copy())


def affine_pullback(residuals, value_bar):
    """Cotangent of the value of `affine` -> cotangents of x, b, c."""
    t, b, x = residuals
    with np.errstate(all="ignore"):
        # programs.py:122  return np.sum(np.exp(x * b + c))
        t_bar = value_bar * t
        x_bar = t_bar * b
        b_bar = np.sum(t_bar * x, axis=0)
        c_bar = float(np.sum(t_bar))
    return x_bar, b_bar, c_bar
