import numpy as np


def spectrum_power_value_and_grad(z):
    """Value and gradient of `spectrum_power` (programs.py:180)."""
    t = np.exp(0.5j * z)
    t_2 = z * t
    t_3 = np.absolute(t_2)
    value = np.sum(t_3 ** 2)
    with np.errstate(all="ignore"):
        # programs.py:181  return np.sum(np.abs(z * np.exp(0.5j * z)) ** 2)
        value_2 = 1.0 * (2 * t_3) * (t_2 / (t_3 + (t_3 == 0)))
        partial = np.conjugate(t)
        z_bar = value_2 * partial
        t_bar_2 = value_2 * np.conjugate(z) * partial
        t_bar = t_bar_2 * np.conjugate(0.5j)
        z_bar += t_bar
    return value, z_bar


def spectrum_power_primal(z):
    """Value of `spectrum_power` (programs.py:180) and the residuals of its pullback."""
    t = np.exp(0.5j * z)
    t_2 = np.absolute(z * t) ** 2
    return np.sum(t_2), (z.copy(), t, t_2.shape)


def spectrum_power_pullback(residuals, value_bar):
    """Cotangent of the value of `spectrum_power` -> cotangent of z."""
    z = residuals[0]
    t = residuals[1]
    with np.errstate(all="ignore"):
        # programs.py:181  return np.sum(np.abs(z * np.exp(0.5j * z)) ** 2)
        t_2 = z * t
        t_3 = np.absolute(t_2)
        value = value_bar * (2 * t_3) * (t_2 / (t_3 + (t_3 == 0)))
        partial = np.conjugate(t)
        z_bar = value * partial
        t_bar_2 = value * np.conjugate(z) * partial
        t_bar = t_bar_2 * np.conjugate(0.5j)
        z_bar += t_bar
    return z_bar
