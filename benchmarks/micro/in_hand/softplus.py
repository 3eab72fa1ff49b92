import numpy as np


def value_and_grad(x):
    e = np.exp(-np.abs(x))
    value = np.sum(np.maximum(x, 0.0) + np.log1p(e))
    return value, np.where(x > 0.0, 1.0, e) / (1.0 + e)
