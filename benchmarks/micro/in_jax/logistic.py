import jax.numpy as jnp


def loss(x, y):
    return jnp.mean(jnp.log(1.0 + jnp.exp(-x * y)))
