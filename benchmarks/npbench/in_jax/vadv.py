"""Vertical advection in JAX: the coefficients are computed for all levels at once, two scans make the solve."""

import jax.numpy as jnp
from jax import lax

BET_M = 0.5
BET_P = 0.5


def loss(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage):
    levels = [jnp.moveaxis(x, 2, 0) for x in (utens_stage, u_stage, wcon, u_pos, utens)]
    stage, u, w, pos, tens = levels
    between = 0.25 * (w[1:, 1:] + w[1:, :-1])
    nothing = jnp.zeros_like(between[:1])
    below = jnp.concatenate([nothing, -between])
    above = jnp.concatenate([between, nothing])
    a, c = below * BET_P, above * BET_P
    b = dtr_stage - a - c
    du = jnp.diff(u, axis=0)
    down = jnp.concatenate([nothing, -du])
    up = jnp.concatenate([du, nothing])
    d = dtr_stage * pos + tens + stage - below * BET_M * down - above * BET_M * up

    def forward(carry, level):
        c_before, d_before = carry
        a_k, b_k, c_k, d_k = level
        scale = 1.0 / (b_k - c_before * a_k)
        now = c_k * scale, (d_k - d_before * a_k) * scale
        return now, now

    def backward(after, level):
        c_k, d_k = level
        now = d_k - c_k * after
        return now, now

    start = jnp.zeros_like(d[0])
    _, (cs, ds) = lax.scan(forward, (start, start), (a, b, c, d))
    _, columns = lax.scan(backward, start, (cs, ds), reverse=True)
    return jnp.sum(dtr_stage * (columns - pos))
