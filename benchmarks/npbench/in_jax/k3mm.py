"""`3mm` in JAX."""

import jax.numpy as jnp


def loss(A, B, C, D):
    return jnp.sum((A @ B) @ (C @ D))
