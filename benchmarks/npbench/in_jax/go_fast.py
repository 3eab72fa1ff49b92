"""A matrix plus the sum of tanh of its diagonal in JAX."""

import jax.numpy as jnp


def loss(a):
    return jnp.sum(a + jnp.sum(jnp.tanh(jnp.diagonal(a))))
