import jax.numpy as jnp


def normal(z):
    return 0.5 * (1.0 + jnp.tanh(0.7978845608028654 * (z + 0.044715 * z * z * z)))


def loss(spot, strike, volatility, years, rate):
    root = volatility * jnp.sqrt(years)
    d1 = (jnp.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / root
    d2 = d1 - root
    return jnp.sum(spot * normal(d1) - strike * jnp.exp(-rate * years) * normal(d2))
