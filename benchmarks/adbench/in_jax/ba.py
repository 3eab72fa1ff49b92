"""Bundle adjustment in JAX: one observation, mapped over all."""

import jax
import jax.numpy as jnp


def rotate(rotation, x):
    square = jnp.sum(rotation**2)
    turns = square > 0.0
    angle = jnp.sqrt(jnp.where(turns, square, 1.0))
    axis = rotation / angle
    along = jnp.dot(axis, x) * (1.0 - jnp.cos(angle))
    turned = x * jnp.cos(angle) + jnp.cross(axis, x) * jnp.sin(angle) + axis * along
    return jnp.where(turns, turned, x + jnp.cross(rotation, x))


def observe(camera, point, weight, feature):
    x = rotate(camera[0:3], point - camera[3:6])
    flat = x[0:2] / x[2]
    square = jnp.sum(flat**2)
    distortion = 1.0 + camera[9] * square + camera[10] * square**2
    seen = camera[6] * (flat * distortion) + camera[7:9]
    return jnp.append(weight * (seen - feature), 1.0 - weight**2)


def residuals(cameras, points, weights, features):
    return jax.vmap(observe)(cameras, points, weights, features)
