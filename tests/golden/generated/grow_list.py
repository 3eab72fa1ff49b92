import numpy as np

from pullback.runtime import copy_list, zeros_list


def grow_list_value_and_grad(x, n):
    """Value and gradient of `grow_list` (programs.py:143)."""
    states = []
    x_saved = []
    for _ in range(n):
        x_saved.append(x)
        x = np.sin(x) * 2.0
        states.append(x)
    item = states[-1]
    item_2 = states[0]
    value = np.sum(item * item_2)
    with np.errstate(all="ignore"):
        # programs.py:148  return np.sum(states[-1] * states[0])
        item_bar = 1.0 * item_2
        states_bar = zeros_list(states)
        states_bar[0] = states_bar[0] + 1.0 * item
        states_bar[-1] = states_bar[-1] + item_bar
        # programs.py:145  for k in range(n):
        x_bar = np.zeros_like(x)
        for x_in in reversed(x_saved):
            # programs.py:147  states.append(x)
            x_bar_2 = np.zeros_like(x_in)
            x_bar_2 += states_bar[-1]
            x_bar += x_bar_2
            del states_bar[-1]
            x_bar = x_bar * 2.0 * np.cos(x_in)
    return value, x_bar


def grow_list_primal(x, n):
    """Value of `grow_list` (programs.py:143) and the residuals of its pullback."""
    states = []
    x = x.copy()
    x_saved = []
    for _ in range(n):
        x_saved.append(x)
        x = np.sin(x) * 2.0
        states.append(x)
    value = np.sum(states[-1] * states[0])
    return value, (states, x.shape, copy_list(x_saved))


def grow_list_pullback(residuals, value_bar):
    """Cotangent of the value of `grow_list` -> cotangent of x."""
    states, x_shape, x_saved = residuals
    with np.errstate(all="ignore"):
        # programs.py:148  return np.sum(states[-1] * states[0])
        item_bar = value_bar * states[0]
        states_bar = zeros_list(states)
        item_bar_2 = states_bar[0] + value_bar * states[-1]
        states_bar[0] = item_bar_2
        states_bar[-1] = states_bar[-1] + item_bar
        # programs.py:145  for k in range(n):
        x_bar = np.zeros(x_shape)
        for x_in in reversed(x_saved):
            # programs.py:147  states.append(x)
            x_bar_2 = np.zeros_like(x_in)
            x_bar_2 += states_bar[-1]
            x_bar += x_bar_2
            del states_bar[-1]
            x_bar = x_bar * 2.0 * np.cos(x_in)
    return x_bar
