"""PolyBench `correlation`: the correlation matrix of columns of data, row by row; the data is normalised in place."""

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
    mean = np.mean(data, axis=0)
    stddev = np.std(data, axis=0)
    stddev[stddev <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(float_n) * stddev
    corr = np.eye(M, dtype=data.dtype)
    for i in range(M - 1):
        corr[i, i + 1 : M] = data[:, i] @ data[:, i + 1 : M]
        corr[i + 1 : M, i] = corr[i, i + 1 : M]
    return corr


def loss(M, float_n, data):
    return np.sum(kernel(M, float_n, data))
