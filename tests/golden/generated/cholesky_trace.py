import numpy as np

from pullback.runtime import joint_shape, unbroadcast


def cholesky_trace_value_and_grad(A):
    """Value and gradient of `cholesky_trace` (programs.py:68)."""
    n = A.shape[0]
    L = np.zeros((n, n))
    for j in range(n):
        L_2 = L[j, :j]
        d = A[j, j] - np.sum(L_2 * L_2)
        L[j, j] = np.sqrt(d)
        for i in range(j + 1, n):
            t = L[i, :j] * L[j, :j]
            L[i, j] = (A[i, j] - np.sum(t)) / L[j, j]
    L_2 = L[0]
    t = L * L_2
    value = np.sum(t)
    with np.errstate(all="ignore"):
        # programs.py:76  return np.sum(L * L[0])
        L_bar = np.broadcast_to(1.0, t.shape) * L_2
        L_bar[0] += np.sum(L, axis=0)
        # programs.py:71  for j in range(n):
        A_bar = np.zeros_like(A)
        for j in reversed(range(n)):
            t = L[j, j]
            L_2 = L[j, :j]
            # programs.py:74  for i in range(j + 1, n):
            for i in reversed(range(j + 1, n)):
                t_2 = L[i, j]
                L_3 = L[i, :j]
                shape = L_3.shape
                shape_2 = L_2.shape
                shape_3 = joint_shape(shape, shape_2)
                # programs.py:75  L[i, j] = (A[i, j] - np.sum(L[i, :j] * L[j, :j])) / …
                t_bar = L_bar[i, j]
                L_bar[i, j] = 0.0
                A_bar_2 = t_bar * (1 / t)
                L_bar[j, j] += t_bar * (-t_2 / t)
                t_bar = np.broadcast_to(-A_bar_2, shape_3)
                L_bar_2 = unbroadcast(t_bar * L_2, shape)
                L_bar[j, :j] += unbroadcast(t_bar * L_3, shape_2)
                L_bar[i, :j] += L_bar_2
                A_bar[i, j] += A_bar_2
            # programs.py:73  L[j, j] = np.sqrt(d)
            t_bar = L_bar[j, j]
            L_bar[j, j] = 0.0
            d_bar = t_bar * (0.5 / t)
            # programs.py:72  d = A[j, j] - np.sum(L[j, :j] * L[j, :j])
            L_bar[j, :j] += 2.0 * -d_bar * L_2
            A_bar[j, j] += d_bar
    return value, A_bar


def cholesky_trace_primal(A):
    """Value of `cholesky_trace` (programs.py:68) and the residuals of its pullback."""
    n = A.shape[0]
    L = np.zeros((n, n))
    for j in range(n):
        L_2 = L[j, :j]
        d = A[j, j] - np.sum(L_2 * L_2)
        L[j, j] = np.sqrt(d)
        for i in range(j + 1, n):
            t = L[i, :j] * L[j, :j]
            L[i, j] = (A[i, j] - np.sum(t)) / L[j, j]
    return np.sum(L * L[0]), (L, A.shape, n)


def cholesky_trace_pullback(residuals, value_bar):
    """Cotangent of the value of `cholesky_trace` -> cotangent of A."""
    L, A_shape, n = residuals
    with np.errstate(all="ignore"):
        # programs.py:76  return np.sum(L * L[0])
        L_bar = np.broadcast_to(value_bar, L.shape) * L[0]
        L_bar[0] += np.sum(value_bar * L, axis=0)
        # programs.py:71  for j in range(n):
        A_bar = np.zeros(A_shape)
        for j in reversed(range(n)):
            t = L[j, j]
            L_2 = L[j, :j]
            # programs.py:74  for i in range(j + 1, n):
            for i in reversed(range(j + 1, n)):
                t_2 = L[i, j]
                L_3 = L[i, :j]
                shape = L_3.shape
                shape_2 = L_2.shape
                shape_3 = joint_shape(shape, shape_2)
                # programs.py:75  L[i, j] = (A[i, j] - np.sum(L[i, :j] * L[j, :j])) / …
                t_bar = L_bar[i, j]
                L_bar[i, j] = 0.0
                A_bar_2 = t_bar * (1 / t)
                L_bar[j, j] += t_bar * (-t_2 / t)
                t_bar = np.broadcast_to(-A_bar_2, shape_3)
                L_bar_2 = unbroadcast(t_bar * L_2, shape)
                L_bar[j, :j] += unbroadcast(t_bar * L_3, shape_2)
                L_bar[i, :j] += L_bar_2
                A_bar[i, j] += A_bar_2
            # programs.py:73  L[j, j] = np.sqrt(d)
            t_bar = L_bar[j, j]
            L_bar[j, j] = 0.0
            d_bar = t_bar * (0.5 / t)
            # programs.py:72  d = A[j, j] - np.sum(L[j, :j] * L[j, :j])
            L_bar[j, :j] += 2.0 * -d_bar * L_2
            A_bar[j, j] += d_bar
    return A_bar
