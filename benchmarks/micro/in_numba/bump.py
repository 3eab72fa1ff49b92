import math

import numba
import numpy as np


@numba.njit(cache=True)
def value_and_grad(a, b, x):
    n = x.shape[0]
    x_bar = np.empty(n)
    total = a_bar = b_bar = 0.0
    for i in range(n):
        square = x[i] * x[i]
        bell = math.exp(-square) / (1.0 + square)
        t = math.tanh(a * x[i] + b)
        product = t * bell
        inner = (1.0 - t * t) * bell
        total += product
        a_bar += inner * x[i]
        b_bar += inner
        x_bar[i] = a * inner - 2.0 * x[i] * product * (1.0 + 1.0 / (1.0 + square))
    return total, (a_bar, b_bar, x_bar)
