import numpy as np


def log_likelihood_value_and_grad(scores, labels):
    """Value and gradient of `log_likelihood` (programs.py:126)."""
    t = np.max(scores, axis=1, keepdims=True)
    shifted = scores - t
    t_2 = np.exp(shifted)
    t_3 = np.sum(t_2, axis=1)
    log_total = np.log(t_3)
    t_4 = np.arange(labels.shape[0])
    t_5 = log_total - shifted[t_4, labels]
    value = np.mean(t_5)
    with np.errstate(all="ignore"):
        # programs.py:129  return np.mean(log_total - shifted[np.arange(len(labels)), labels])
        value_2 = np.divide(1.0, t_5.shape[0])
        shifted_bar = np.zeros_like(shifted)
        t_bar = -np.broadcast_to(value_2, t_5.shape)
        np.add.at(shifted_bar, (t_4, labels), t_bar)
        # programs.py:128  log_total = np.log(np.sum(np.exp(shifted), axis=1))
        shifted_bar += np.expand_dims(value_2 * (1 / t_3), 1) * t_2
        # programs.py:127  shifted = scores - np.max(scores, axis=1, keepdims=True)
        chosen = scores == t
        t_bar_2 = np.sum(-shifted_bar, axis=1, keepdims=True)
        t = t_bar_2 / np.sum(chosen, axis=1, keepdims=True)
        shifted_bar += np.where(chosen, t, 0)
    return value, shifted_bar


def log_likelihood_primal(scores, labels):
    """Value of `log_likelihood` (programs.py:126) and the residuals of its pullback."""
    t = np.max(scores, axis=1, keepdims=True)
    shifted = scores - t
    t_2 = np.exp(shifted)
    t_3 = np.sum(t_2, axis=1)
    log_total = np.log(t_3)
    t_4 = np.arange(labels.shape[0])
    t_5 = log_total - shifted[t_4, labels]
    value = np.mean(t_5)
    scores_2 = scores.copy()
    return value, (scores_2, t, t_5.shape, t_4, labels.copy(), t_3, t_2)


def log_likelihood_pullback(residuals, value_bar):
    """Cotangent of the value of `log_likelihood` -> cotangent of scores."""
    scores, t_4, t_shape, t, labels, t_2, t_3 = residuals
    with np.errstate(all="ignore"):
        # programs.py:127  shifted = scores - np.max(scores, axis=1, keepdims=True)
        shifted = scores - t_4
        # programs.py:129  return np.mean(log_total - shifted[np.arange(len(labels)), labels])
        value = t_shape[0]
        value_2 = np.divide(value_bar, value)
        shifted_bar = np.zeros(shifted.shape)
        t_bar = -np.broadcast_to(value_2, (value,))
        np.add.at(shifted_bar, (t, labels), t_bar)
        # programs.py:128  log_total = np.log(np.sum(np.exp(shifted), axis=1))
        shifted_bar += np.expand_dims(value_2 * (1 / t_2), 1) * t_3
        # programs.py:127  shifted = scores - np.max(scores, axis=1, keepdims=True)
        chosen = scores == t_4
        t_bar_2 = np.sum(-shifted_bar, axis=1, keepdims=True)
        t = t_bar_2 / np.sum(chosen, axis=1, keepdims=True)
        shifted_bar += np.where(chosen, t, 0)
    return shifted_bar
