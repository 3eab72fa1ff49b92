"""`covariance` in JAX: the covariances are one product of matrices."""

import jax.numpy as jnp


def loss(M, float_n, data):
    data = data - jnp.mean(data, axis=0)
    return jnp.sum(data.T @ data / (float_n - 1.0))
