"""LeNet-5 in JAX."""

import jax
import jax.numpy as jnp
from jax import lax


def convolve(x, weights):
    return lax.conv_general_dilated(x, weights, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def loss(image, conv1, bias1, conv2, bias2, fc1w, fc1b, fc2w, fc2b, fc3w, fc3b):
    x = pool(jax.nn.relu(convolve(image, conv1) + bias1))
    x = pool(jax.nn.relu(convolve(x, conv2) + bias2))
    x = jnp.reshape(x, (image.shape[0], fc1w.shape[0]))
    x = jax.nn.relu(x @ fc1w + fc1b)
    x = jax.nn.relu(x @ fc2w + fc2b)
    return jnp.sum(x @ fc3w + fc3b)
