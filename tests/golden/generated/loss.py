import numpy as np


def loss_value_and_grad(w, x, y):
    """Value and gradient of `loss` (programs.py:37)."""
    t = np.tanh(x @ w)
    r = t - y
    n = y.shape[0]
    value = np.sum(r * r) / n
    with np.errstate(all="ignore"):
        # programs.py:39  return np.sum(r * r) / len(y)
        r_bar = np.divide(2.0, n) * r
        # programs.py:38  r = np.tanh(x @ w) - y
        w_bar = np.matmul(x.T, r_bar * (1 - t * t))
    return value, w_bar


def loss_primal(w, x, y):
    """Value of `loss` (programs.py:37) and the residuals of its pullback."""
    t = np.tanh(x @ w)
    r = t - y
    n = y.shape[0]
    return np.sum(r * r) / n, (n, r, t, x.copy())


def loss_pullback(residuals, value_bar):
    """Cotangent of the value of `loss` -> cotangent of w."""
    n, r, t, x = residuals
    with np.errstate(all="ignore"):
        # programs.py:39  return np.sum(r * r) / len(y)
        r_bar = 2.0 * (value_bar * np.divide(1, n)) * r
        # programs.py:38  r = np.tanh(x @ w) - y
        w_bar = np.matmul(x.T, r_bar * (1 - t * t))
    return w_bar
