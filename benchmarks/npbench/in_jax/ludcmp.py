"""`ludcmp` in JAX: a loop over pivots with an outer product each, then the two substitutions."""

import jax.numpy as jnp
from jax import lax


def factors(A):
    N = A.shape[0]
    numbers = jnp.arange(N)

    def pivot(k, A):
        lower = jnp.where(numbers > k, A[:, k] / A[k, k], 0.0)
        upper = jnp.where(numbers > k, A[k], 0.0)
        A = A - jnp.outer(lower, upper)
        return A.at[:, k].set(jnp.where(numbers > k, lower, A[:, k]))

    return lax.fori_loop(0, N, pivot, A)


def loss(A, b):
    N = A.shape[0]
    LU = factors(A)
    zeros = jnp.zeros_like(b)
    y = lax.fori_loop(0, N, lambda i, y: y.at[i].set(b[i] - LU[i] @ y), zeros)

    def back(k, x):
        i = N - 1 - k
        return x.at[i].set((y[i] - LU[i] @ x) / LU[i, i])

    x = lax.fori_loop(0, N, back, zeros)
    return jnp.sum(x) + jnp.sum(y)
