"""The hand in JAX: rotations mapped over the bones, a scan down the skeleton, one contraction for the skin."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

BONES = 22
# The angles of the fingers: row and column in the pose, in the order of theta.
ROWS = np.concatenate([np.array([2, 2, 3, 4]) + 4 * finger for finger in range(5)])
COLUMNS = np.tile(np.array([0, 1, 0, 0]), 5)


def rotation_of(angles):
    cx, cz, cy = jnp.cos(angles)
    sx, sz, sy = jnp.sin(angles)
    about_x = jnp.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = jnp.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = jnp.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


def rotation_about(vector):
    square = jnp.sum(vector**2)
    turns = square >= 0.0001**2
    angle = jnp.sqrt(jnp.where(turns, square, 1.0))
    x, y, z = axis = vector / angle
    s, c = jnp.sin(angle), jnp.cos(angle)
    cross = jnp.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turned = c * jnp.eye(3) + (1 - c) * jnp.outer(axis, axis) + s * cross
    return jnp.where(turns, turned, jnp.eye(3))


def skin(theta, parents, base_relatives, inverse_base_absolutes, base_positions, weights):
    angles = jnp.zeros((BONES, 3)).at[ROWS, COLUMNS].set(theta[6:])
    turns = jnp.zeros((BONES, 4, 4)).at[:, :3, :3].set(jax.vmap(rotation_of)(angles)).at[:, 3, 3].set(1)
    relatives = base_relatives @ turns

    def place(absolutes, bone):
        i, parent, relative = bone
        return absolutes.at[i].set(jnp.where(parent == -1, relative, absolutes[parent] @ relative)), None

    bones = (jnp.arange(BONES), parents, relatives)
    absolutes, _ = lax.scan(place, jnp.zeros_like(relatives), bones)
    moves = (absolutes @ inverse_base_absolutes)[:, :3]
    positions = jnp.einsum("vb,bij,vj->vi", weights, moves, base_positions)
    return positions @ rotation_about(theta[:3]).T + theta[3:6]
