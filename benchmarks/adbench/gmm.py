"""Gaussian mixture: log-likelihood of points with a Wishart prior on the precisions (Microsoft's ADBench)."""

import math

import numpy as np

NOTE = "normal random numbers with a fixed seed in place of ADBench's files; sizes are its d, K and n"
DIMENSIONS, COMPONENTS = (2, 10, 20, 32, 64), (5, 10, 25, 50, 100, 200)
PRESETS = {
    "S": [{"d": d, "K": K, "N": 1000} for d, K in ((2, 5), (2, 50), (10, 5), (10, 25), (20, 25))],
    "M": [{"d": d, "K": K, "N": 1000} for d, K in ((2, 200), (10, 100), (20, 200), (32, 100), (64, 50))]
    + [{"d": d, "K": K, "N": 10000} for d, K in ((2, 5), (10, 25), (20, 25))],
    "paper": [{"d": d, "K": K, "N": N} for N in (1000, 10000) for d in DIMENSIONS for K in COMPONENTS],
}
WRT = ("alphas", "means", "icf")


def inputs(rng, d, K, N):
    icf = rng.standard_normal((K, d * (d + 1) // 2))
    return rng.standard_normal(K), rng.random((K, d)), icf, rng.standard_normal((N, d)), 1.0, 0


def log_gamma(a, p):
    """The logarithm of the gamma function of p variables."""
    total = 0.25 * p * (p - 1) * math.log(math.pi)
    for j in range(p):
        total += math.lgamma(a - 0.5 * j)
    return total


def log_wishart(p, gamma, m, log_diagonals, icf):
    """The prior of the factors: logarithms of the diagonal first, then what is below it."""
    k = icf.shape[0]
    n = p + m + 1
    squares = np.sum(np.exp(log_diagonals) ** 2) + np.sum(icf[:, p:] ** 2)
    scale = n * p * (math.log(gamma) - 0.5 * math.log(2))
    return 0.5 * gamma**2 * squares - m * np.sum(log_diagonals) - k * (scale - log_gamma(0.5 * n, p))


def log_sum_exp(x):
    largest = np.max(x, axis=-1, keepdims=True)
    return np.log(np.sum(np.exp(x - largest), axis=-1)) + largest[..., 0]


def lower(entries, d):
    """The matrix with these entries below its diagonal, column by column."""
    L = np.zeros((d, d))
    start = 0
    for column in range(d - 1):
        count = d - column - 1
        L[column + 1 :, column] = entries[start : start + count]
        start += count
    return L


def loss(alphas, means, icf, x, gamma, m):
    n, d = x.shape
    k = len(alphas)
    log_diagonals = icf[:, :d]
    terms = np.empty((n, k))
    for j in range(k):
        centred = x - means[j]
        scaled = np.exp(log_diagonals[j]) * centred + centred @ lower(icf[j, d:], d).T
        terms[:, j] = alphas[j] + np.sum(log_diagonals[j]) - 0.5 * np.sum(scaled**2, axis=1)
    likelihood = np.sum(log_sum_exp(terms)) - n * log_sum_exp(alphas) - 0.5 * n * d * math.log(2 * math.pi)
    return likelihood + log_wishart(d, gamma, m, log_diagonals, icf)
