import math

import numba
import numpy as np


@numba.njit(cache=True)
def value_and_grad(x):
    n = x.shape[0]
    bar = np.empty(n)
    total = 0.0
    for i in range(n):
        e = math.exp(-abs(x[i]))
        total += max(x[i], 0.0) + math.log1p(e)
        bar[i] = (1.0 if x[i] > 0.0 else e) / (1.0 + e)
    return total, bar
