"""A sparse matrix times a vector in JAX: products of all entries, summed by rows."""

import jax
import jax.numpy as jnp


def loss(A_row, A_col, A_val, x):
    rows = jnp.repeat(jnp.arange(A_row.size - 1), jnp.diff(A_row), total_repeat_length=A_val.size)
    y = jax.ops.segment_sum(A_val * x[A_col], rows, num_segments=A_row.size - 1, indices_are_sorted=True)
    return jnp.sum(y)
