"""`bicg` in JAX."""

import jax.numpy as jnp


def loss(A, p, r):
    return jnp.sum(r @ A) + jnp.sum(A @ p)
