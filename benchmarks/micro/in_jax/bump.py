import jax.numpy as jnp


def loss(a, b, x):
    return jnp.sum(jnp.tanh(a * x + b) * jnp.exp(-(x**2)) / (1.0 + x**2))
