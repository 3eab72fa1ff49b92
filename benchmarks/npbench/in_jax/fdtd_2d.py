"""`fdtd-2d` in JAX: a scan over the source's values in time."""

import jax.numpy as jnp
from jax import lax


def loss(TMAX, ex, ey, hz, _fict_):
    def step(state, source):
        ex, ey, hz = state
        ey = ey.at[0, :].set(source)
        ey = ey.at[1:, :].add(-0.5 * (hz[1:, :] - hz[:-1, :]))
        ex = ex.at[:, 1:].add(-0.5 * (hz[:, 1:] - hz[:, :-1]))
        curl = ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]
        hz = hz.at[:-1, :-1].add(-0.7 * curl)
        return (ex, ey, hz), None

    (ex, ey, hz), _ = lax.scan(step, (ex, ey, hz), _fict_[:TMAX])
    return jnp.sum(ex) + jnp.sum(ey) + jnp.sum(hz)
