import numpy as np

from pullback.runtime import in_blocks


def statistics_value_and_grad(x):
    """Value and gradient of `statistics` (programs.py:174)."""
    centred = x - np.mean(x, axis=0)
    t = np.var(x, axis=0)
    t_2 = centred + 2.0
    t_3 = np.prod(t_2, axis=0)
    value = np.sum(t * t_3)
    with np.errstate(all="ignore"):
        # programs.py:176  return np.sum(np.var(x, axis=0) * np.prod(centred + 2.0, ax …
        first = np.ones_like(np.moveaxis(t_2, 0, -1)[..., :1])
        t_5 = np.moveaxis(t_2, 0, -1)[..., :-1]
        t_4 = np.concatenate((first, t_5), axis=-1)
        t_6 = np.flip(np.moveaxis(t_2, 0, -1), -1)[..., :-1]
        t_2 = np.concatenate((first, t_6), axis=-1)
        after = np.flip(np.cumprod(t_2, axis=-1), -1)
        value_2 = np.moveaxis(np.cumprod(t_4, axis=-1) * after, -1, 0)
        centred_bar = np.expand_dims(t, 0) * value_2
        value_2 = x.shape[0]
        t_7 = np.expand_dims(t_3, 0) * 2 / value_2
        x_bar = t_7 * (x - np.mean(x, axis=0, keepdims=True))
        # programs.py:175  centred = x - np.mean(x, axis=0)
        x_bar += centred_bar
        t_8 = -np.sum(centred_bar, axis=0) / value_2
        x_bar_2 = np.broadcast_to(np.expand_dims(t_8, 0), x.shape)
        x_bar += x_bar_2
    return value, x_bar


def statistics_primal(x):
    """Value of `statistics` (programs.py:174) and the residuals of its pullback."""
    centred = x - np.mean(x, axis=0)
    t = np.var(x, axis=0)
    t_2 = centred + 2.0
    t_3 = np.prod(t_2, axis=0)
    return np.sum(t * t_3), (t, t_3, t_2, x.copy())


def statistics_pullback(residuals, value_bar):
    """Cotangent of the value of `statistics` -> cotangent of x."""
    t_2, t_3, t, x = residuals
    with np.errstate(all="ignore"):
        # programs.py:176  return np.sum(np.var(x, axis=0) * np.prod(centred + 2.0, ax …
        first = np.ones_like(np.moveaxis(t, 0, -1)[..., :1])
        t_5 = np.moveaxis(t, 0, -1)[..., :-1]
        t_4 = np.concatenate((first, t_5), axis=-1)
        t_6 = np.flip(np.moveaxis(t, 0, -1), -1)[..., :-1]
        t = np.concatenate((first, t_6), axis=-1)
        after = np.flip(np.cumprod(t, axis=-1), -1)
        value = np.moveaxis(np.cumprod(t_4, axis=-1) * after, -1, 0)
        centred_bar = np.expand_dims(value_bar * t_2, 0) * value
        value = x.shape[0]
        t_bar = np.expand_dims(value_bar * t_3, 0)
        t = np.mean(x, axis=0, keepdims=True)
        # programs.py:175  centred = x - np.mean(x, axis=0)
        t_7 = -np.sum(centred_bar, axis=0) / value
        t_8 = np.expand_dims(t_7, 0)
        x_bar = in_blocks(
            fused_x_bar_pullback,
            ("rows",),
            t_bar,
            x,
            t,
            centred_bar,
            t_8,
            value,
        )
    return x_bar


def fused_x_bar_pullback(t_bar, x, t, centred_bar, t_2, value):
    """Elementwise work of `statistics_pullback`."""
    x_bar = t_bar * 2 / value * (x - t)
    x_bar += centred_bar
    x_bar += np.broadcast_to(t_2, x.shape)
    return x_bar
