import numpy as np

from pullback.runtime import in_blocks


def with_helper_value_and_grad(angle, points):
    """Value and gradient of `with_helper` (programs.py:162)."""
    c = np.cos(angle)
    s = np.sin(angle)
    value, c_bar, s_bar, s_bar_2, c_bar_2, points_bar = in_blocks(
        fused_points_bar,
        ("sum", "sum", "sum", "sum", "sum", "rows"),
        points,
        c,
        s,
    )
    with np.errstate(all="ignore"):
        # programs.py:158  return c * x - s * y, s * x + c * y
        s_bar += s_bar_2
        c_bar += c_bar_2
        angle_bar = float(s_bar * c - c_bar * s)
    return value, (angle_bar, points_bar)


def fused_points_bar(points, c, s):
    """Elementwise work of `with_helper_value_and_grad`."""
    t = points**2
    x = c * points - s * t
    y = s * points + c * t
    value = np.sum(x * y)
    with np.errstate(all="ignore"):
        # programs.py:158  return c * x - s * y, s * x + c * y
        c_bar = np.sum(x * t)
        t_bar = x * c
        s_bar = np.sum(x * points)
        points_bar = x * s
        t_bar_2 = -y
        s_bar_2 = np.sum(t_bar_2 * t)
        t_bar += t_bar_2 * s
        c_bar_2 = np.sum(y * points)
        points_bar += y * c
        # programs.py:163  x, y = rotate(points, points**2, angle)
        points_bar += t_bar * (2 * points)
    return value, c_bar, s_bar, s_bar_2, c_bar_2, points_bar


def with_helper_primal(angle, points):
    """Value of `with_helper` (programs.py:162) and the residuals of its pullback."""
    c = np.cos(angle)
    s = np.sin(angle)
    t, value = in_blocks(fused_t_primal, ("rows", "sum"), points, c, s)
    return value, (c, points.copy(), s, t, angle)


def fused_t_primal(points, c, s):
    """Elementwise work of `with_helper_primal`."""
    t = points**2
    t_2 = (c * points - s * t) * (s * points + c * t)
    return t, np.sum(t_2)


def with_helper_pullback(residuals, value_bar):
    """Cotangent of the value of `with_helper` -> cotangents of angle, points."""
    c, points, s, t, angle = residuals
    with np.errstate(all="ignore"):
        # programs.py:163  x, y = rotate(points, points**2, angle)
        c_bar, s_bar, s_bar_2, c_bar_2, points_bar = in_blocks(
            fused_points_bar_pullback,
            ("sum", "sum", "sum", "sum", "rows"),
            points,
            t,
            c,
            s,
            value_bar,
        )
        # programs.py:158  return c * x - s * y, s * x + c * y
        s_bar += s_bar_2
        c_bar += c_bar_2
        # programs.py:157  c, s = np.cos(angle), np.sin(angle)
        angle_bar = s_bar * np.cos(angle) - c_bar * np.sin(angle)
        angle_bar = float(angle_bar)
    return angle_bar, points_bar


def fused_points_bar_pullback(points, t, c, s, value_bar):
    """Elementwise work of `with_helper_pullback`."""
    x_bar = value_bar * (s * points + c * t)
    y_bar = value_bar * (c * points - s * t)
    c_bar = np.sum(y_bar * t)
    t_bar = y_bar * c
    s_bar = np.sum(y_bar * points)
    points_bar = y_bar * s
    t_bar_2 = -x_bar
    s_bar_2 = np.sum(t_bar_2 * t)
    t_bar += t_bar_2 * s
    c_bar_2 = np.sum(x_bar * points)
    points_bar += x_bar * c
    points_bar += t_bar * (2 * points)
    return c_bar, s_bar, s_bar_2, c_bar_2, points_bar
