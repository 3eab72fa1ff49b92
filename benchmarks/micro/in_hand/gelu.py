import numpy as np

SCALE = 0.7978845608028654


def value_and_grad(x):
    square = x * x
    t = np.tanh(SCALE * x * (1.0 + 0.044715 * square))
    half = 0.5 * (1.0 + t)
    value = np.dot(x, half)
    return value, half + 0.5 * x * (1.0 - t * t) * SCALE * (1.0 + 0.134145 * square)
