"""`mvt` in JAX."""

import jax.numpy as jnp


def loss(x1, x2, y_1, y_2, A):
    return jnp.sum(x1 + A @ y_1) + jnp.sum(x2 + A.T @ y_2)
