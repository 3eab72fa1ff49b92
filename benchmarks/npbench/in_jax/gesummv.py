"""`gesummv` in JAX."""

import jax.numpy as jnp


def loss(alpha, beta, A, B, x):
    return jnp.sum(alpha * (A @ x) + beta * (B @ x))
