"""`doitgen` in JAX."""

import jax.numpy as jnp


def loss(NR, NQ, NP, A, C4):
    return jnp.sum(jnp.reshape(jnp.reshape(A, (NR, NQ, 1, NP)) @ C4, (NR, NQ, NP)))
