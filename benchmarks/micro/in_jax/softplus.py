import jax.numpy as jnp


def loss(x):
    return jnp.sum(jnp.maximum(x, 0.0) + jnp.log1p(jnp.exp(-jnp.abs(x))))
