"""`adi` in JAX: each implicit sweep is a scan of elimination and a scan of substitution."""

import jax.numpy as jnp
from jax import lax


def implicit(right, low, diagonal):
    """Solve along the first axis with ends 1; `right` holds a line of right-hand sides for each inner point."""
    ends = jnp.ones(right.shape[1:])

    def eliminate(carry, given):
        p, q = carry
        denominator = low * p + diagonal
        carry = (-low / denominator, (given - low * q) / denominator)
        return carry, carry

    def substitute(after, factors):
        p, q = factors
        value = p * after + q
        return value, value

    _, factors = lax.scan(eliminate, (jnp.zeros_like(ends), ends), right)
    _, inner = lax.scan(substitute, ends, factors, reverse=True)
    return inner


def loss(TSTEPS, N, u):
    mul1 = 2.0 * N * N / TSTEPS
    mul2 = 1.0 * N * N / TSTEPS
    a, b = -mul1 / 2.0, 1.0 + mul1
    d, e = -mul2 / 2.0, 1.0 + mul2

    def step(_, u):
        right = (1.0 + 2.0 * d) * u[1:-1, 1:-1] - d * u[1:-1, :-2] - d * u[1:-1, 2:]
        ends = jnp.ones((1, N - 2))
        v = jnp.concatenate([ends, implicit(right, a, b), ends])  # the inner columns of v
        right = (1.0 + 2.0 * a) * v[1:-1] - a * v[:-2] - a * v[2:]
        u = u.at[1:-1, 0].set(1.0).at[1:-1, -1].set(1.0)
        return u.at[1:-1, 1:-1].set(implicit(right.T, d, e).T)

    return jnp.sum(lax.fori_loop(0, TSTEPS, step, u))
