"""A bottleneck block of ResNet-50 in JAX."""

import jax
import jax.numpy as jnp
from jax import lax


def convolve(x, weights, padding="VALID"):
    return lax.conv_general_dilated(x, weights, (1, 1), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))


def normalise(x, eps=1e-5):
    variance = jnp.var(x, axis=0, keepdims=True)
    # The padding has no variance, and the derivative of the root is infinite there.
    std = jnp.where(variance > 0, jnp.sqrt(jnp.where(variance > 0, variance, 1.0)), 0.0)
    return (x - jnp.mean(x, axis=0, keepdims=True)) / jnp.sqrt(std + eps)


def loss(image, conv1, conv2, conv3):
    x = jnp.pad(convolve(image, conv1), ((0, 0), (1, 1), (1, 1), (0, 0)))
    x = jax.nn.relu(normalise(x))
    x = jax.nn.relu(normalise(convolve(x, conv2)))
    x = normalise(convolve(x, conv3))
    return jnp.sum(jax.nn.relu(x + image))
