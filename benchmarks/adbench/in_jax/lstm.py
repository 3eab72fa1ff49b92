"""Language model in JAX: a scan over the characters, the layers written out."""

import jax
import jax.numpy as jnp
from jax import lax


def cell_step(weight, bias, hidden, cell, x):
    gates = jnp.concatenate((x, hidden, x, hidden)) * weight + bias
    forget, ingate, outgate, change = jnp.split(gates, 4)
    cell = cell * jax.nn.sigmoid(forget) + jax.nn.sigmoid(ingate) * jnp.tanh(change)
    return jax.nn.sigmoid(outgate) * jnp.tanh(cell), cell


def loss(main, extra, state, sequence):
    def step(state, characters):
        x, gold = characters
        x = x * extra[0]
        rows = []
        for i in range(0, len(main), 2):
            hidden, cell = cell_step(main[i], main[i + 1], state[i], state[i + 1], x)
            rows += [hidden, cell]
            x = hidden
        predicted = x * extra[1] + extra[2]
        normalised = predicted - jnp.log(jnp.sum(jnp.exp(predicted)) + 2)
        return jnp.stack(rows), jnp.sum(gold * normalised)

    _, terms = lax.scan(step, state, (sequence[:-1], sequence[1:]))
    return -jnp.sum(terms) / sequence[1:].size
