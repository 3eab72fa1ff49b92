import math

import numba
import numpy as np

SCALE = 0.7978845608028654


@numba.njit(cache=True)
def value_and_grad(x):
    n = x.shape[0]
    bar = np.empty(n)
    total = 0.0
    for i in range(n):
        square = x[i] * x[i]
        t = math.tanh(SCALE * x[i] * (1.0 + 0.044715 * square))
        half = 0.5 * (1.0 + t)
        total += x[i] * half
        bar[i] = half + 0.5 * x[i] * (1.0 - t * t) * SCALE * (1.0 + 0.134145 * square)
    return total, bar
