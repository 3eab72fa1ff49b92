import numpy as np


def log_likelihood_value_and_grad(scores, labels):
    """Value and gradient of `log_likelihood` (programs.py:126)."""
    value = np.max(scores, axis=1, keepdims=True)
    shifted = scores - value
    t = np.exp(shifted)
    t_2 = np.sum(t, axis=1)
    log_total = np.log(t_2)
    t_3 = np.arange(labels.shape[0])
    t_4 = log_total - shifted[t_3, labels]
    value_2 = np.mean(t_4)
    with np.errstate(all="ignore"):
        # programs.py:129  return np.mean(log_total - shifted[np.arange(len(labels)), labels])
        value_3 = t_4.shape[0]
        value_4 = np.divide(1.0, value_3)
        shifted_bar = np.zeros_like(shifted)
        t_bar = -np.broadcast_to(value_4, (value_3,))
        np.add.at(shifted_bar, (t_3, labels), t_bar)
        # programs.py:128  log_total = np.log(np.sum(np.exp(shifted), axis=1))
        shifted_bar += np.expand_dims(value_4 * (1 / t_2), 1) * t
        # programs.py:127  shifted = scores - np.max(scores, axis=1, keepdims=True)
        chosen = scores == value
        value_5 = np.sum(-shifted_bar, axis=1, keepdims=True)
        t = value_5 / np.sum(chosen, axis=1, keepdims=True)
        shifted_bar += np.where(chosen, t, 0)
    return value_2, shifted_bar


def log_likelihood_primal(scores, labels):
    """Value of `log_likelihood` (programs.py:126) and the residuals of its pullback."""
    value = np.max(scores, axis=1, keepdims=True)
    shifted = scores - value
    t = np.exp(shifted)
    t_2 = np.sum(t, axis=1)
    log_total = np.log(t_2)
    t_3 = np.arange(labels.shape[0])
    t_4 = log_total - shifted[t_3, labels]
    value_2 = np.mean(t_4)
    scores_2 = scores.copy()
    labels_2 = labels.copy()
    return value_2, (scores_2, value, t_4.shape, t_3, labels_2, t_2, t)


def log_likelihood_pullback(residuals, value_bar):
    """Cotangent of the value of `log_likelihood` -> cotangent of scores."""
    scores, value, t_shape, t, labels, t_2, t_3 = residuals
    with np.errstate(all="ignore"):
        # programs.py:127  shifted = scores - np.max(scores, axis=1, keepdims=True)
        shifted = scores - value
        # programs.py:129  return np.mean(log_total - shifted[np.arange(len(labels)), labels])
        value_2 = t_shape[0]
        value_3 = np.divide(value_bar, value_2)
        shifted_bar = np.zeros(shifted.shape)
        t_bar = -np.broadcast_to(value_3, (value_2,))
        np.add.at(shifted_bar, (t, labels), t_bar)
        # programs.py:128  log_total = np.log(np.sum(np.exp(shifted), axis=1))
        shifted_bar += np.expand_dims(value_3 * (1 / t_2), 1) * t_3
        # programs.py:127  shifted = scores - np.max(scores, axis=1, keepdims=True)
        chosen = scores == value
        value_4 = np.sum(-shifted_bar, axis=1, keepdims=True)
        t = value_4 / np.sum(chosen, axis=1, keepdims=True)
        shifted_bar += np.where(chosen, t, 0)
    return shifted_bar
