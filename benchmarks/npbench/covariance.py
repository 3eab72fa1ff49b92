"""PolyBench `covariance`: the covariance matrix of columns of data, row by row; the data is centred in place."""

import numpy as np

PRESETS = {
    "S": {"M": 120, "N": 140},
    "M": {"M": 700, "N": 900},
    "paper": {"M": 1200, "N": 1400},
}
GROUP = "blas"
WRT = ("data",)
STATIC = ("M",)


def inputs(rng, M, N):
    return M, float(N), rng.random((N, M))


def kernel(M, float_n, data):
    data -= np.mean(data, axis=0)
    cov = np.zeros((M, M), dtype=data.dtype)
    for i in range(M):
        cov[i, i:M] = data[:, i] @ data[:, i:M] / (float_n - 1.0)
        cov[i:M, i] = cov[i, i:M]
    return cov


def loss(M, float_n, data):
    return np.sum(kernel(M, float_n, data))
