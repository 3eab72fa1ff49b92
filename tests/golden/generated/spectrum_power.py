import numpy as np

from pullback.runtime import in_blocks


def spectrum_power_value_and_grad(z):
    """Value and gradient of `spectrum_power` (programs.py:180)."""
    partial = np.conjugate(0.5j)
    value, z_bar = in_blocks(fused_z_bar, ("sum", "rows"), z, partial)
    return value, z_bar


def fused_z_bar(z, partial):
    """Elementwise work of `spectrum_power_value_and_grad`."""
    t = np.exp(0.5j * z)
    t_2 = z * t
    t_3 = np.absolute(t_2)
    value = np.sum(t_3**2)
    with np.errstate(all="ignore"):
        # programs.py:181  return np.sum(np.abs(z * np.exp(0.5j * z)) ** 2)
        t_bar = 2 * t_3 * (t_2 / (t_3 + (t_3 == 0)))
        partial_2 = np.conjugate(t)
        z_bar = t_bar * partial_2
        z_bar_2 = t_bar * np.conjugate(z) * partial_2 * partial
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
        partial = np.conjugate(0.5j)
        z_bar = in_blocks(
            fused_z_bar_pullback,
            ("rows",),
            z,
            t,
            value_bar,
            partial,
        )
    return z_bar


def fused_z_bar_pullback(z, t, value_bar, partial):
    """Elementwise work of `spectrum_power_pullback`."""
    t_2 = z * t
    t_3 = np.absolute(t_2)
    t_bar = value_bar * (2 * t_3) * (t_2 / (t_3 + (t_3 == 0)))
    partial_2 = np.conjugate(t)
    z_bar = t_bar * partial_2
    z_bar_2 = t_bar * np.conjugate(z) * partial_2 * partial
    z_bar += z_bar_2
    return z_bar
