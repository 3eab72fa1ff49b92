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
        # programs.py:129  return np.mean(log_total - shifted[np.arange(len(labels)), …
        value_2 = np.divide(1.0, t_5.shape[0])
        shifted_bar = np.zeros_like(shifted)
        t_bar = np.full(t_5.shape, -value_2)
        np.add.at(shifted_bar, (t_4, labels), t_bar)
        # programs.py:128  log_total = np.log(np.sum(np.exp(shifted), axis=1))
        shifted_bar += np.expand_dims(value_2 * (1 / t_3), 1) * t_2
        # programs.py:127  shifted = scores - np.max(scores, axis=1, keepdims=True)
        chosen = scores == t
        t_bar_2 = -np.sum(shifted_bar, axis=1, keepdims=True)
        part = t_bar_2 / np.sum(chosen, axis=1, keepdims=True)
        shifted_bar += np.where(chosen, part, 0)
    return value, shifted_bar


def log_likelihood_primal(scores, labels):
    """Value of `log_likelihood` (programs.py:126) and the residuals of its pullback."""
    t = np.max(scores, axis=1, keepdims=True)
    shifted = scores - t
    t_2 = np.exp(shifted)
    t_3 = np.sum(t_2, axis=1)
    log_total = np.log(t_3)
    t_4 = np.arange(labels.shape[0])
    value = np.mean(log_total - shifted[t_4, labels])
    return value, (t_3, scores.copy(), t_4, labels.copy(), t_2, t)


def log_likelihood_pullback(residuals, value_bar):
    """Cotangent of the value of `log_likelihood` -> cotangent of scores."""
    t_2, scores, t, labels, t_3, t_4 = residuals
    with np.errstate(all="ignore"):
        # programs.py:129  return np.mean(log_total - shifted[np.arange(len(labels)), …
        value = np.divide(value_bar, t_2.shape[0])
        shifted_bar = np.zeros_like(scores)
        np.add.at(shifted_bar, (t, labels), np.full(t_2.shape, -value))
        # programs.py:128  log_total = np.log(np.sum(np.exp(shifted), axis=1))
        shifted_bar += np.expand_dims(value * (1 / t_2), 1) * t_3
        # programs.py:127  shifted = scores - np.max(scores, axis=1, keepdims=True)
        chosen = scores == t_4
        t_bar = -np.sum(shifted_bar, axis=1, keepdims=True)
        part = t_bar / np.sum(chosen, axis=1, keepdims=True)
        shifted_bar += np.where(chosen, part, 0)
    return shifted_bar
