import numpy as np


def stop_early_value_and_grad(x, limit):
    """Value and gradient of `stop_early` (programs.py:87)."""
    n = x.shape[0]
    s = 0.0
    count = 0
    for i in range(n):
        v = x[i]
        s += v * v
        count = count + 1
        if s > limit:
            break
    with np.errstate(all="ignore"):
        # programs.py:89  for v in x:
        x_bar = np.zeros_like(x)
        for i in reversed(range(count)):
            # programs.py:89  for v in x:
            v_bar = x[i]
            # programs.py:90  s += v * v
            v_bar = 2.0 * v_bar
            # programs.py:89  for v in x:
            x_bar[i] += v_bar
    return s, x_bar


def stop_early_primal(x, limit):
    """Value of `stop_early` (programs.py:87) and the residuals of its pullback."""
    s = 0.0
    count = 0
    for i in range(x.shape[0]):
        v = x[i]
        s += v * v
        count = count + 1
        if s > limit:
            break
    return s, (x.copy(), count)


def stop_early_pullback(residuals, value_bar):
    """Cotangent of the value of `stop_early` -> cotangent of x."""
    x, count = residuals
    with np.errstate(all="ignore"):
        # programs.py:89  for v in x:
        x_bar = np.zeros_like(x)
        for i in reversed(range(count)):
            # programs.py:89  for v in x:
            v = x[i]
            # programs.py:90  s += v * v
            v_bar = 2.0 * value_bar * v
            # programs.py:89  for v in x:
            x_bar[i] += v_bar
    return x_bar
