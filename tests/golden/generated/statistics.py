import numpy as np


def statistics_value_and_grad(x):
    """Value and gradient of `statistics` (programs.py:174)."""
    centred = x - np.mean(x, axis=0)
    t = np.var(x, axis=0)
    factors = centred + 2.0
    t_2 = np.prod(factors, axis=0)
    value = np.sum(t * t_2)
    with np.errstate(all="ignore"):
        # programs.py:176  return np.sum(np.var(x, axis=0) * np.prod(centred + 2.0, axis=0))
        first = np.ones_like(np.moveaxis(factors, 0, -1)[..., :1])
        factors_2 = np.moveaxis(factors, 0, -1)[..., :-1]
        t_3 = np.concatenate((first, factors_2), axis=-1)
        factors_3 = np.flip(np.moveaxis(factors, 0, -1), -1)[..., :-1]
        t_4 = np.concatenate((first, factors_3), axis=-1)
        after = np.flip(np.cumprod(t_4, axis=-1), -1)
        t_3 = np.moveaxis(np.cumprod(t_3, axis=-1) * after, -1, 0)
        value_2 = np.expand_dims(1.0 * t * 1, 0) * t_3
        value_3 = x.shape[0]
        t = np.expand_dims(1.0 * t_2, 0) * 2 / max(value_3 - 0, 0)
        x_bar = t * (x - np.mean(x, axis=0, keepdims=True))
        # programs.py:175  centred = x - np.mean(x, axis=0)
        x_bar += value_2
        t_5 = np.sum(-value_2, axis=0) / value_3
        t_6 = np.expand_dims(t_5, 0)
        value_2 = np.broadcast_to(t_6, (value_3, x.shape[1]))
        x_bar += value_2
    return value, x_bar


def statistics_primal(x):
    """Value of `statistics` (programs.py:174) and the residuals of its pullback."""
    centred = x - np.mean(x, axis=0)
    t = np.var(x, axis=0)
    factors = centred + 2.0
    t_2 = np.prod(factors, axis=0)
    return np.sum(t * t_2), (t, t_2, factors, x.copy())


def statistics_pullback(residuals, value_bar):
    """Cotangent of the value of `statistics` -> cotangent of x."""
    t, t_2, factors, x = residuals
    with np.errstate(all="ignore"):
        # programs.py:176  return np.sum(np.var(x, axis=0) * np.prod(centred + 2.0, axis=0))
        first = np.ones_like(np.moveaxis(factors, 0, -1)[..., :1])
        factors_2 = np.moveaxis(factors, 0, -1)[..., :-1]
        t_3 = np.concatenate((first, factors_2), axis=-1)
        factors_3 = np.flip(np.moveaxis(factors, 0, -1), -1)[..., :-1]
        t_4 = np.concatenate((first, factors_3), axis=-1)
        after = np.flip(np.cumprod(t_4, axis=-1), -1)
        t_3 = np.moveaxis(np.cumprod(t_3, axis=-1) * after, -1, 0)
        value = np.expand_dims(value_bar * t * 1, 0) * t_3
        value_2 = x.shape[0]
        t_5 = np.expand_dims(value_bar * t_2, 0) * 2
        t = t_5 / max(value_2 - 0, 0)
        x_bar = t * (x - np.mean(x, axis=0, keepdims=True))
        # programs.py:175  centred = x - np.mean(x, axis=0)
        x_bar += value
        t_6 = np.sum(-value, axis=0) / value_2
        t_7 = np.expand_dims(t_6, 0)
        value = np.broadcast_to(t_7, (value_2, x.shape[1]))
        x_bar += value
    return x_bar
