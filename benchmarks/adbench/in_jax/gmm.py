"""Gaussian mixture in JAX: all components at once."""

import math

import jax
import jax.numpy as jnp
import numpy as np

STATIC = ("gamma", "m")


def log_gamma(a, p):
    return 0.25 * p * (p - 1) * math.log(math.pi) + sum(math.lgamma(a - 0.5 * j) for j in range(p))


def loss(alphas, means, icf, x, gamma, m):
    n, d = x.shape
    k = len(alphas)
    log_diagonals = icf[:, :d]
    columns, rows = np.triu_indices(d, 1)  # below the diagonal, column by column
    diagonal = np.arange(d)
    factors = jnp.zeros((k, d, d)).at[:, rows, columns].set(icf[:, d:])
    factors = factors.at[:, diagonal, diagonal].set(jnp.exp(log_diagonals))
    scaled = jnp.einsum("kij,nkj->nki", factors, x[:, None, :] - means)
    terms = alphas + jnp.sum(log_diagonals, axis=1) - 0.5 * jnp.sum(scaled**2, axis=2)
    lse = jax.nn.logsumexp
    likelihood = jnp.sum(lse(terms, axis=1)) - n * lse(alphas) - 0.5 * n * d * math.log(2 * math.pi)

    degrees = d + m + 1
    scale = degrees * d * (math.log(gamma) - 0.5 * math.log(2))
    prior = 0.5 * gamma**2 * jnp.sum(factors**2) - m * jnp.sum(log_diagonals)
    return likelihood + prior - k * (scale - log_gamma(0.5 * degrees, d))
