import numpy as np


def with_helper_value_and_grad(angle, points):
    """Value and gradient of `with_helper` (programs.py:162)."""
    t = points**2
    c = np.cos(angle)
    s = np.sin(angle)
    x = c * points - s * t
    y = s * points + c * t
    value = np.sum(x * y)
    with np.errstate(all="ignore"):
        # programs.py:158  return c * x - s * y, s * x + c * y
        c_bar = np.sum(x * t)
        t_bar = x * c
        points_bar = x * s
        t_bar_2 = -y
        s_bar = np.sum(x * points) + np.sum(t_bar_2 * t)
        t_bar += t_bar_2 * s
        c_bar += np.sum(y * points)
        points_bar += y * c
        # programs.py:163  x, y = rotate(points, points**2, angle)
        points_bar += t_bar * (2 * points)
        angle_bar = float(s_bar * c - c_bar * s)
    return value, (angle_bar, points_bar)


def with_helper_primal(angle, points):
    """Value of `with_helper` (programs.py:162) and the residuals of its pullback."""
    t = points**2
    c = np.cos(angle)
    s = np.sin(angle)
    t_2 = (c * points - s * t) * (s * points + c * t)
    return np.sum(t_2), (c, points.copy(), s, t, angle)


def with_helper_pullback(residuals, value_bar):
    """Cotangent of the value of `with_helper` -> cotangents of angle, points."""
    c, points, s, t, angle = residuals
    with np.errstate(all="ignore"):
        # programs.py:158  return c * x - s * y, s * x + c * y
        x = c * points - s * t
        y = s * points + c * t
        # programs.py:164  return np.sum(x * y)
        x_bar = value_bar * y
        y_bar = value_bar * x
        # programs.py:158  return c * x - s * y, s * x + c * y
        c_bar = np.sum(y_bar * t)
        t_bar = y_bar * c
        points_bar = y_bar * s
        t_bar_2 = -x_bar
        s_bar = np.sum(y_bar * points) + np.sum(t_bar_2 * t)
        t_bar += t_bar_2 * s
        c_bar += np.sum(x_bar * points)
        points_bar += x_bar * c
        # programs.py:157  c, s = np.cos(angle), np.sin(angle)
        angle_bar = s_bar * np.cos(angle) - c_bar * np.sin(angle)
        # programs.py:163  x, y = rotate(points, points**2, angle)
        points_bar += t_bar * (2 * points)
        angle_bar = float(angle_bar)
    return angle_bar, points_bar
