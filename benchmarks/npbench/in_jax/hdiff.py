"""Horizontal diffusion in JAX."""

import jax.numpy as jnp


def loss(in_field, out_field, coeff):
    ni, nj = out_field.shape[:2]
    middle = in_field[1:-1, 1:-1]
    lap = 4.0 * middle - (in_field[2:, 1:-1] + in_field[:-2, 1:-1] + in_field[1:-1, 2:] + in_field[1:-1, :-2])
    step_i = jnp.diff(lap[:, 1:-1], axis=0)
    flux_i = jnp.where(step_i * jnp.diff(middle[:, 1 : nj + 1], axis=0) > 0, 0.0, step_i)
    step_j = jnp.diff(lap[1:-1], axis=1)
    flux_j = jnp.where(step_j * jnp.diff(middle[1 : ni + 1], axis=1) > 0, 0.0, step_j)
    out = in_field[2:-2, 2:-2] - coeff * (jnp.diff(flux_i, axis=0) + jnp.diff(flux_j, axis=1))
    return jnp.sum(out)
