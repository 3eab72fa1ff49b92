import numpy as np

SCALE = 0.7978845608028654


def normal(z):
    """The distribution and its derivative."""
    square = z * z
    t = np.tanh(SCALE * z * (1.0 + 0.044715 * square))
    return 0.5 * (1.0 + t), 0.5 * (1.0 - t * t) * SCALE * (1.0 + 0.134145 * square)


def value_and_grad(spot, strike, volatility, years, rate):
    sqrt_years = np.sqrt(years)
    root = volatility * sqrt_years
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / root
    d2 = d1 - root
    n1, density1 = normal(d1)
    n2, density2 = normal(d2)
    discounted = strike * np.exp(-rate * years)
    value = np.dot(spot, n1) - np.dot(discounted, n2)
    spot_density, strike_density = spot * density1, discounted * density2
    through = spot_density - strike_density
    spot_bar = n1 + through / (root * spot)
    volatility_bar = -through * d2 / volatility + strike_density * sqrt_years
    return value, (spot_bar, volatility_bar)
