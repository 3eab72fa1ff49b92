import numpy as np


def value_and_grad(x, y):
    e = np.exp(-x * y)
    return np.mean(np.log(1.0 + e)), -y * e / (1.0 + e) / len(x)
