import math

import numba
import numpy as np


@numba.njit(cache=True)
def value_and_grad(x, y):
    n = x.shape[0]
    bar = np.empty(n)
    total = 0.0
    for i in range(n):
        e = math.exp(-x[i] * y[i])
        total += math.log(1.0 + e)
        bar[i] = -y[i] * e / (1.0 + e) / n
    return total / n, bar
