import jax
import jax.numpy as jnp


def loss(x):
    return jnp.sum(jax.nn.gelu(x, approximate=True))
