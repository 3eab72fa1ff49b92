"""Hand tracking in JAX, points to given vertices."""

import jax.numpy as jnp

from ._hand import skin


def loss(theta, parents, base_relatives, inverse_base_absolutes, base_positions, weights, points, vertices):
    positions = skin(theta, parents, base_relatives, inverse_base_absolutes, base_positions, weights)
    return 0.5 * jnp.sum((points - positions[vertices]) ** 2)
