"""`durbin` in JAX: a loop of fixed length; the reversed part of r and y that a step reads is had by rolling."""

import jax.numpy as jnp
from jax import lax


def loss(r):
    N = r.shape[0]
    numbers = jnp.arange(N)

    def step(k, state):
        y, alpha, beta = state
        beta = beta * (1.0 - alpha * alpha)
        known = numbers < k
        turned = jnp.roll(jnp.flip(r), k)  # r[k - 1], ..., r[0] come first
        alpha = -(r[k] + jnp.sum(jnp.where(known, turned * y, 0.0))) / beta
        y = y + jnp.where(known, alpha * jnp.roll(jnp.flip(y), k), 0.0)
        return y.at[k].set(alpha), alpha, beta

    start = (jnp.zeros_like(r).at[0].set(-r[0]), -r[0], jnp.ones_like(r[0]))
    y, _, _ = lax.fori_loop(1, N, step, start)
    return jnp.sum(y)
