import numpy as np


def join_value_and_grad(a, b):
    """Value and gradient of `join` (programs.py:168)."""
    t = b * b
    both = np.concatenate([a, t])
    both_2 = both[1:]
    both_3 = both[:-1]
    value = np.sum(both_2 * both_3)
    with np.errstate(all="ignore"):
        # programs.py:170  return np.sum(both[1:] * both[:-1])
        both_bar = 1.0 * both_3
        both_bar_2 = np.zeros_like(both)
        both_bar_2[:-1] += 1.0 * both_2
        both_bar_2[1:] += both_bar
        # programs.py:169  both = np.concatenate([a, b * b])
        n = a.shape[0]
        part_bar = both_bar_2[:n]
        b_bar = 2.0 * both_bar_2[n : n + t.shape[0]] * b
    return value, (part_bar, b_bar)


def join_primal(a, b):
    """Value of `join` (programs.py:168) and the residuals of its pullback."""
    both = np.concatenate([a, b * b])
    both_2 = both[1:]
    both_3 = both[:-1]
    value = np.sum(both_2 * both_3)
    return value, (both_2, both_3.copy(), both.shape, a.shape, b.copy())


def join_pullback(residuals, value_bar):
    """Cotangent of the value of `join` -> cotangents of a, b."""
    both_2, both, both_shape, a_shape, b = residuals
    with np.errstate(all="ignore"):
        # programs.py:170  return np.sum(both[1:] * both[:-1])
        both_bar = value_bar * both
        both_bar_2 = np.zeros(both_shape)
        both_bar_2[:-1] += value_bar * both_2
        both_bar_2[1:] += both_bar
        # programs.py:169  both = np.concatenate([a, b * b])
        n = a_shape[0]
        part_bar = both_bar_2[:n]
        b_bar = 2.0 * both_bar_2[n : n + b.shape[0]] * b
    return part_bar, b_bar
