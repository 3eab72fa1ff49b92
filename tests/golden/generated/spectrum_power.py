import numpy as np


def spectrum_power_value_and_grad(z):
    """Value and gradient of `spectrum_power` (programs.py:180)."""
    t = np.exp(0.5j * z)
    t_2 = z * t
    t_3 = np.absolute(t_2)
    value = np.sum(t_3**2)
    with np.errstate(all="ignore"):
        # programs.py:181  return np.sum(np.abs(z * np.exp(0.5j * z)) ** 2)
        t_bar = 2 * t_3 * (t_2 / (t_3 + (t_3 == 0)))
        partial = np.conjugate(t)
        z_bar = t_bar * partial
        t_bar_2 = t_bar * np.conjugate(z) * partial
        z_bar_2 = t_bar_2 * np.conjugate(0.5j)
        z_bar += z_bar_2
    return value, z_bar


def spectrum_power_primal(z):
    """Value of `spectrum_power` (programs.py:180) and the residuals of its pullback."""
    t = np.exp(0.5j * z)
    return np.sum(np.absolute(z * t) ** 2), (z.copy(), t)


def spectrum_power_pullback(residuals, value_bar):
    """Cotangent of the value of `spectrum_power` -> cotangent of z."""
    z, t = residuals
    with np.errstate(all="ignore"):
        # programs.py:181  return np.sum(np.abs(z * np.exp(0.5j * z)) ** 2)
        t_2 = z * t
        t_3 = np.absolute(t_2)
        t_bar = value_bar * (2 * t_3) * (t_2 / (t_3 + (t_3 == 0)))
        partial = np.conjugate(t)
        z_bar = t_bar * partial
        t_bar_2 = t_bar * np.conjugate(z) * partial
        z_bar_2 = t_bar_2 * np.conjugate(0.5j)
        z_bar += z_bar_2
    return z_bar
