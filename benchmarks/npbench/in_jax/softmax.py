"""Softmax in JAX."""

import jax
import jax.numpy as jnp


def loss(x):
    return jnp.sum(jax.nn.softmax(x, axis=-1) * x)
