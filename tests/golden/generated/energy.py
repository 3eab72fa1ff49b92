import numpy as np

from pullback.runtime import copy_list


def energy_value_and_grad(W, b, x, n):
    """Value and gradient of `energy` (programs.py:43)."""
    value = x
    value_saved = []
    for _ in range(n):
        value_saved.append(value)
        h = np.tanh(W @ value + b)
        value = h
    value_2 = np.sum(value * value)
    with np.errstate(all="ignore"):
        # programs.py:47  return np.sum(h * h)
        x_bar = 2.0 * value
        # programs.py:45  for t in range(n):
        W_bar = np.zeros_like(W)
        b_bar = np.zeros_like(b)
        h = value
        for value_in in reversed(value_saved):
            # programs.py:45  for t in range(n):
            h_bar = np.zeros_like(h)
            h_bar += x_bar
            # programs.py:46  h = np.tanh(W @ h + b)
            t_bar = h_bar * (1 - h * h)
            b_bar += t_bar
            x_bar = np.matmul(W.T, t_bar)
            W_bar += np.expand_dims(t_bar, -1) * value_in
            h = value_in
        x_bar_2 = np.zeros_like(x)
        x_bar_2 += x_bar
    return value_2, (W_bar, b_bar, x_bar_2)


def energy_primal(W, b, x, n):
    """Value of `energy` (programs.py:43) and the residuals of its pullback."""
    value = x
    value_saved = []
    for _ in range(n):
        value_saved.append(value)
        h = np.tanh(W @ value + b)
        value = h
    value_2 = np.sum(value * value)
    value_saved_2 = copy_list(value_saved)
    x_2 = value.copy()
    return value_2, (x_2, W.copy(), b.shape, value_saved_2, x.shape)


def energy_pullback(residuals, value_bar):
    """Cotangent of the value of `energy` -> cotangents of W, b, x."""
    x, value, b_shape, value_saved, x_shape = residuals
    with np.errstate(all="ignore"):
        # programs.py:47  return np.sum(h * h)
        value_bar = 2.0 * value_bar * x
        # programs.py:45  for t in range(n):
        value_bar_2 = np.zeros_like(value)
        b_bar = np.zeros(b_shape)
        h = x
        for value_in in reversed(value_saved):
            # programs.py:45  for t in range(n):
            h_bar = np.zeros_like(h)
            h_bar += value_bar
            # programs.py:46  h = np.tanh(W @ h + b)
            t_bar = h_bar * (1 - h * h)
            b_bar += t_bar
            value_bar = np.matmul(value.T, t_bar)
            value_bar_2 += np.expand_dims(t_bar, -1) * value_in
            h = value_in
        x_bar = np.zeros(x_shape)
        x_bar += value_bar
    return value_bar_2, b_bar, x_bar
