"""`2mm` in JAX."""

import jax.numpy as jnp


def loss(alpha, beta, A, B, C, D):
    return jnp.sum(alpha * A @ B @ C + beta * D)
