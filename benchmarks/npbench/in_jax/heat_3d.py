"""`heat-3d` in JAX: the steps are a loop of fixed length, which reverse mode can run backwards."""

import jax.numpy as jnp
from jax import lax


def advance(A):
    centre = A[1:-1, 1:-1, 1:-1]
    return (
        centre
        + 0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * centre + A[:-2, 1:-1, 1:-1])
        + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * centre + A[1:-1, :-2, 1:-1])
        + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * centre + A[1:-1, 1:-1, :-2])
    )


def loss(TSTEPS, A, B):
    def step(_, state):
        A, B = state
        B = B.at[1:-1, 1:-1, 1:-1].set(advance(A))
        A = A.at[1:-1, 1:-1, 1:-1].set(advance(B))
        return A, B

    A, B = lax.fori_loop(1, TSTEPS, step, (A, B))
    return jnp.sum(A)
