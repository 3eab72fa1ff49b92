import numpy as np


def energy_value_and_grad(W, b, x, n):
    """Value and gradient of `energy` (programs.py:43)."""
    h = x
    h_saved = []
    for _ in range(n):
        h_saved.append(h)
        h = np.tanh(W @ h + b)
    value = np.sum(h * h)
    with np.errstate(all="ignore"):
        # programs.py:47  return np.sum(h * h)
        h_bar = 2.0 * h
        # programs.py:45  for t in range(n):
        W_bar = np.zeros_like(W)
        b_bar = np.zeros_like(b)
        for h_in in reversed(h_saved):
            # programs.py:46  h = np.tanh(W @ h + b)
            b_bar_2 = h_bar * (1 - h * h)
            b_bar += b_bar_2
            h_bar = np.matmul(W.T, b_bar_2)
            W_bar += b_bar_2[:, None] * h_in
            h = h_in
    return value, (W_bar, b_bar, h_bar)


def energy_primal(W, b, x, n):
    """Value of `energy` (programs.py:43) and the residuals of its pullback."""
    h = x.copy()
    h_saved = []
    for _ in range(n):
        h_saved.append(h)
        h = np.tanh(W @ h + b)
    return np.sum(h * h), (h, W.copy(), b.shape, h_saved)


def energy_pullback(residuals, value_bar):
    """Cotangent of the value of `energy` -> cotangents of W, b, x."""
    h, W, b_shape, h_saved = residuals
    with np.errstate(all="ignore"):
        # programs.py:47  return np.sum(h * h)
        h_bar = 2.0 * value_bar * h
        # programs.py:45  for t in range(n):
        W_bar = np.zeros_like(W)
        b_bar = np.zeros(b_shape)
        for h_in in reversed(h_saved):
            # programs.py:46  h = np.tanh(W @ h + b)
            b_bar_2 = h_bar * (1 - h * h)
            b_bar += b_bar_2
            h_bar = np.matmul(W.T, b_bar_2)
            W_bar += b_bar_2[:, None] * h_in
            h = h_in
    return W_bar, b_bar, h_bar
