"""Convolution in JAX."""

import jax.numpy as jnp
from jax import lax


def loss(image, weights, bias):
    out = lax.conv_general_dilated(
        image, weights, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    return jnp.sum(out + bias)
