"""`correlation` in JAX: the correlations are one product of matrices."""

import jax.numpy as jnp


def loss(M, float_n, data):
    stddev = jnp.std(data, axis=0)
    stddev = jnp.where(stddev <= 0.1, 1.0, stddev)
    data = (data - jnp.mean(data, axis=0)) / (jnp.sqrt(float_n) * stddev)
    corr = data.T @ data
    return jnp.sum(jnp.fill_diagonal(corr, 1.0, inplace=False))
