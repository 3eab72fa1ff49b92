import numpy as np


def newton_root_value_and_grad(a):
    """Value and gradient of `newton_root` (programs.py:97)."""
    x = a
    x_saved = []
    while abs(x * x - a) > 1e-12:
        x_saved.append(x)
        x = 0.5 * (x + a / x)
    with np.errstate(all="ignore"):
        # programs.py:99  while abs(x * x - a) > 1e-12:
        x_bar = 1.0
        a_bar = 0.0
        for x_in in reversed(x_saved):
            # programs.py:100  x = 0.5 * (x + a / x)
            x_bar_2 = x_bar * 0.5
            x_bar = x_bar_2 + x_bar_2 * np.divide(-(a / x_in), x_in)
            a_bar += x_bar_2 * np.divide(1, x_in)
        a_bar = float(a_bar + x_bar)
    return x, a_bar


def newton_root_primal(a):
    """Value of `newton_root` (programs.py:97) and the residuals of its pullback."""
    x = a
    x_saved = []
    while abs(x * x - a) > 1e-12:
        x_saved.append(x)
        x = 0.5 * (x + a / x)
    return x, (x_saved, a)


def newton_root_pullback(residuals, value_bar):
    """Cotangent of the value of `newton_root` -> cotangent of a."""
    x_saved, a = residuals
    with np.errstate(all="ignore"):
        # programs.py:99  while abs(x * x - a) > 1e-12:
        x_bar = value_bar
        a_bar = 0.0
        for x_in in reversed(x_saved):
            # programs.py:100  x = 0.5 * (x + a / x)
            x_bar_2 = x_bar * 0.5
            x_bar = x_bar_2 + x_bar_2 * np.divide(-(a / x_in), x_in)
            a_bar += x_bar_2 * np.divide(1, x_in)
        a_bar = float(a_bar + x_bar)
    return a_bar
