"""A sparse matrix (compressed rows) times a vector, row by row."""

import numpy as np

PRESETS = {
    "S": {"M": 4096, "N": 4096, "nnz": 8192},
    "M": {"M": 32768, "N": 32768, "nnz": 65536},
    "paper": {"M": 131072, "N": 131072, "nnz": 262144},
}
GROUP = "other"
WRT = ("A_val", "x")


def inputs(rng, M, N, nnz):
    row = np.sort(rng.integers(0, M, nnz))
    A_row = np.searchsorted(row, np.arange(M + 1)).astype(np.uint32)
    A_col = rng.integers(0, N, nnz).astype(np.uint32)
    return A_row, A_col, rng.random(nnz), rng.random(N)


def kernel(A_row, A_col, A_val, x):
    y = np.empty(A_row.size - 1, A_val.dtype)
    for i in range(A_row.size - 1):
        cols = A_col[A_row[i] : A_row[i + 1]]
        vals = A_val[A_row[i] : A_row[i + 1]]
        y[i] = vals @ x[cols]
    return y


def loss(A_row, A_col, A_val, x):
    return np.sum(kernel(A_row, A_col, A_val, x))
