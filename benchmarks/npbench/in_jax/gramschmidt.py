"""`gramschmidt` in JAX: a loop over columns; the columns to the right are updated at once, the others are a mask."""

import jax.numpy as jnp
from jax import lax


def loss(A):
    N = A.shape[1]
    numbers = jnp.arange(N)

    def column(k, state):
        A, Q, R = state
        a = A[:, k]
        norm = jnp.sqrt(a @ a)
        q = a / norm
        r = jnp.where(numbers > k, q @ A, 0.0)
        return A - jnp.outer(q, r), Q.at[:, k].set(q), R.at[k].set(r.at[k].set(norm))

    _, Q, R = lax.fori_loop(0, N, column, (A, jnp.zeros_like(A), jnp.zeros((N, N))))
    return jnp.sum(Q) + jnp.sum(R)
