"""`atax` in JAX."""

import jax.numpy as jnp


def loss(A, x):
    return jnp.sum((A @ x) @ A)
