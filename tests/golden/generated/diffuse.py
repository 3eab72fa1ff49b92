import numpy as np


def diffuse_value_and_grad(u, k, steps):
    """Value and gradient of `diffuse` (programs.py:113)."""
    u = u.copy()
    t_saved = []
    for _ in range(steps):
        t = u[2:] - 2.0 * u[1:-1]
        t = t + u[:-2]
        t_saved.append(t)
        u[1:-1] += k * t
    value = np.sum(u * u)
    with np.errstate(all="ignore"):
        # programs.py:117  return np.sum(u * u)
        u_bar = 2.0 * u
        # programs.py:115  for t in range(steps):
        k_bar = 0.0
        for t in reversed(t_saved):
            # programs.py:116  u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
            t_bar = u_bar[1:-1]
            k_bar += np.sum(t_bar * t)
            u_bar_2 = t_bar * k
            u_bar[:-2] += u_bar_2
            t_bar = -u_bar_2
            u_bar[2:] += u_bar_2
            u_bar[1:-1] += t_bar * 2.0
        k_bar = float(k_bar)
    return value, (u_bar, k_bar)


def diffuse_primal(u, k, steps):
    """Value of `diffuse` (programs.py:113) and the residuals of its pullback."""
    u = u.copy()
    t_saved = []
    for _ in range(steps):
        t = u[2:] - 2.0 * u[1:-1]
        t = t + u[:-2]
        t_saved.append(t)
        u[1:-1] += k * t
    return np.sum(u * u), (u, t_saved, k)


def diffuse_pullback(residuals, value_bar):
    """Cotangent of the value of `diffuse` -> cotangents of u, k."""
    u, t_saved, k = residuals
    with np.errstate(all="ignore"):
        # programs.py:117  return np.sum(u * u)
        u_bar = 2.0 * value_bar * u
        # programs.py:115  for t in range(steps):
        k_bar = 0.0
        for t in reversed(t_saved):
            # programs.py:116  u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
            t_bar = u_bar[1:-1]
            k_bar += np.sum(t_bar * t)
            u_bar_2 = t_bar * k
            u_bar[:-2] += u_bar_2
            t_bar = -u_bar_2
            u_bar[2:] += u_bar_2
            u_bar[1:-1] += t_bar * 2.0
        k_bar = float(k_bar)
    return u_bar, k_bar
