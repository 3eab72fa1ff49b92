"""Hand tracking in JAX, points to places on given triangles."""

import jax.numpy as jnp

from ._hand import skin


def loss(
    us, theta, parents, base_relatives, inverse_base_absolutes, base_positions, weights, points, corners
):
    positions = skin(theta, parents, base_relatives, inverse_base_absolutes, base_positions, weights)
    shares = jnp.concatenate([us, 1.0 - jnp.sum(us, axis=1, keepdims=True)], axis=1)
    return 0.5 * jnp.sum((points - jnp.einsum("nk,nki->ni", shares, positions[corners])) ** 2)
