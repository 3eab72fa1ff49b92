import math

import numba
import numpy as np

SCALE = 0.7978845608028654


@numba.njit(cache=True)
def normal(z):
    square = z * z
    t = math.tanh(SCALE * z * (1.0 + 0.044715 * square))
    return 0.5 * (1.0 + t), 0.5 * (1.0 - t * t) * SCALE * (1.0 + 0.134145 * square)


@numba.njit(cache=True)
def value_and_grad(spot, strike, volatility, years, rate):
    n = spot.shape[0]
    spot_bar = np.empty(n)
    volatility_bar = np.empty(n)
    total = 0.0
    for i in range(n):
        v = volatility[i]
        sqrt_years = math.sqrt(years[i])
        root = v * sqrt_years
        d1 = (math.log(spot[i] / strike[i]) + (rate + 0.5 * v * v) * years[i]) / root
        d2 = d1 - root
        n1, density1 = normal(d1)
        n2, density2 = normal(d2)
        discounted = strike[i] * math.exp(-rate * years[i])
        total += spot[i] * n1 - discounted * n2
        through = spot[i] * density1 - discounted * density2
        spot_bar[i] = n1 + through / (root * spot[i])
        volatility_bar[i] = -through * d2 / v + discounted * density2 * sqrt_years
    return total, (spot_bar, volatility_bar)
