"""Numerical algorithms as people write them by hand."""

import numpy as np

from . import numbers, positive, program, spd


@program(spd(4))
def cholesky(a):
    n = a.shape[0]
    l = np.zeros((n, n))
    for j in range(n):
        s = a[j, j]
        for k in range(j):
            s = s - l[j, k] ** 2
        l[j, j] = np.sqrt(s)
        for i in range(j + 1, n):
            t = a[i, j]
            for k in range(j):
                t -= l[i, k] * l[j, k]
            l[i, j] = t / l[j, j]
    return np.sum(l * np.arange(1.0, n * n + 1).reshape(n, n))


@program(spd(4, seed=1))
def cholesky_by_rows_in_place(a):
    l = a.copy()
    n = len(l)
    for j in range(n):
        l[j, j] = np.sqrt(l[j, j] - np.dot(l[j, :j], l[j, :j]))
        l[j + 1 :, j] = (l[j + 1 :, j] - l[j + 1 :, :j] @ l[j, :j]) / l[j, j]
        l[j, j + 1 :] = 0.0
    return 2.0 * np.sum(np.log(np.diag(l))) + np.sum(l)


@program(spd(4, seed=2) + 0.3 * numbers(4, 4))
def lu_without_pivots(a):
    n = a.shape[0]
    u = a.copy()
    l = np.eye(n)
    for k in range(n - 1):
        for i in range(k + 1, n):
            l[i, k] = u[i, k] / u[k, k]
            u[i, k:] -= l[i, k] * u[k, k:]
    return np.sum(l) + np.sum(u * u)


@program(numbers(4, 4) + 0.1 * np.eye(4), numbers(4, seed=1))
def gauss_elimination_with_pivots(a, b):
    a = a.copy()
    x = b.copy()
    n = len(b)
    for k in range(n):
        p = k + np.argmax(np.abs(a[k:, k]))
        if p != k:
            a[[k, p]] = a[[p, k]]
            x[k], x[p] = x[p], x[k]
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            a[i, k:] -= f * a[k, k:]
            x[i] -= f * x[k]
    for k in range(n - 1, -1, -1):
        x[k] = (x[k] - a[k, k + 1 :] @ x[k + 1 :]) / a[k, k]
    return np.sum(x * np.arange(1.0, n + 1))


@program(-positive(4) * 0.3, 2.0 + positive(5), -positive(4, seed=2) * 0.3, numbers(5))
def thomas(lower, diag, upper, rhs):
    n = len(diag)
    c = np.zeros(n - 1)
    d = np.zeros(n)
    c[0] = upper[0] / diag[0]
    d[0] = rhs[0] / diag[0]
    for i in range(1, n):
        m = diag[i] - lower[i - 1] * c[i - 1]
        if i < n - 1:
            c[i] = upper[i] / m
        d[i] = (rhs[i] - lower[i - 1] * d[i - 1]) / m
    x = np.zeros(n)
    x[-1] = d[-1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return np.sum(x * x)


@program(np.array([2.0, 0.6, -0.3, 0.2]), numbers(4))
def levinson(r, y):
    n = len(r)
    x = np.zeros(n)
    f = np.zeros(n)
    b = np.zeros(n)
    f[0] = 1.0 / r[0]
    b[0] = 1.0 / r[0]
    x[0] = y[0] / r[0]
    for m in range(1, n):
        ef = 0.0
        ex = 0.0
        for i in range(m):
            ef += r[m - i] * f[i]
            ex += r[m - i] * x[i]
        d = 1.0 / (1.0 - ef * ef)
        fnew = np.zeros(n)
        for i in range(m + 1):
            fnew[i] = d * f[i] - d * ef * (b[i - 1] if i > 0 else 0.0)
        f = fnew
        b = f[::-1] * 1.0
        b = np.concatenate([b[n - m - 1 :], np.zeros(n - m - 1)])
        for i in range(m + 1):
            x[i] = x[i] + (y[m] - ex) * b[i]
    return np.sum(x * np.arange(1.0, n + 1))


@program(spd(4), numbers(4), 6)
def jacobi_with_buffers(a, b, sweeps):
    d = np.diag(a)
    r = a - np.diag(d)
    x = np.zeros(4)
    y = np.empty(4)
    for _ in range(sweeps):
        y[:] = (b - r @ x) / d
        x, y = y, x
    return np.sum(x * x)


@program(spd(4), numbers(4))
def gauss_seidel(a, b):
    x = np.zeros(4)
    for _ in range(5):
        for i in range(4):
            s = b[i]
            for j in range(4):
                if j != i:
                    s -= a[i, j] * x[j]
            x[i] = s / a[i, i]
    return x @ b


@program(spd(4), numbers(4))
def conjugate_gradient(a, b):
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    rs = r @ r
    for _ in range(2):
        ap = a @ p
        alpha = rs / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        new = r @ r
        p = r + (new / rs) * p
        rs = new
    return np.sum(x**2)


@program(numbers(4, 3))
def gram_schmidt(a):
    q = np.zeros((4, 3))
    for j in range(3):
        v = a[:, j].copy()
        for i in range(j):
            v -= np.dot(q[:, i], v) * q[:, i]
        q[:, j] = v / np.sqrt(np.sum(v * v))
    return np.sum(q * np.arange(12.0).reshape(4, 3))


@program(numbers(4, 3))
def householder_qr(a):
    r = a.copy()
    for k in range(3):
        x = r[k:, k]
        v = x.copy()
        v[0] += np.sign(x[0]) * np.sqrt(np.sum(x * x))
        v = v / np.sqrt(np.sum(v * v))
        r[k:, k:] -= 2.0 * np.outer(v, v @ r[k:, k:])
    return np.sum(np.triu(r[:3]) * np.arange(1.0, 10.0).reshape(3, 3))


@program(spd(3), 8)
def power_iteration(a, n):
    v = np.ones(3)
    for _ in range(n):
        w = a @ v
        v = w / np.linalg.norm(w)
    return v @ a @ v


def _lotka_volterra(y, p):
    return np.array([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])


@program(np.array([1.0, 0.5]), np.array([1.1, 0.4, 0.3, 0.6]), 5)
def rk4(y, p, steps):
    h = 0.1
    for _ in range(steps):
        k1 = _lotka_volterra(y, p)
        k2 = _lotka_volterra(y + 0.5 * h * k1, p)
        k3 = _lotka_volterra(y + 0.5 * h * k2, p)
        k4 = _lotka_volterra(y + h * k3, p)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return np.sum(y * y)


@program(np.array([1.0, 0.5]), np.array([1.1, 0.4, 0.3, 0.6]))
def rk4_with_a_trajectory(y0, p):
    n = 4
    h = 0.2
    out = np.empty((n + 1, 2))
    out[0] = y0
    for i in range(n):
        y = out[i]
        k1 = _lotka_volterra(y, p)
        k2 = _lotka_volterra(y + h / 2 * k1, p)
        k3 = _lotka_volterra(y + h / 2 * k2, p)
        k4 = _lotka_volterra(y + h * k3, p)
        out[i + 1] = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.mean(out**2)


@program(numbers(5, 1), np.array([[1.0, 0.1], [0.0, 0.9]]), 0.2 * np.eye(2), 0.5)
def kalman_filter(ys, f, q, r):
    h = np.array([[1.0, 0.0]])
    x = np.zeros(2)
    p = np.eye(2)
    nll = 0.0
    for y in ys:
        x = f @ x
        p = f @ p @ f.T + q
        e = y - h @ x
        s = h @ p @ h.T + r
        k = p @ h.T @ np.linalg.inv(s)
        x = x + k @ e
        p = (np.eye(2) - k @ h) @ p
        nll = nll + 0.5 * (np.log(np.linalg.det(s)) + e @ np.linalg.solve(s, e))
    return nll


@program(numbers(3, 3), numbers(3, 2, seed=1), numbers(3, seed=2), numbers(5, 2, seed=3))
def recurrent_network(w, u, b, xs):
    h = np.zeros(3)
    loss = 0.0
    for x in xs:
        h = np.tanh(w @ h + u @ x + b)
        loss += np.sum(h**2)
    return loss / len(xs)


def _sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


@program(numbers(2, 8), numbers(2, 8, seed=1), numbers(8, seed=2), numbers(4, 2, seed=3))
def lstm(w, u, b, xs):
    n = 2
    h, c = np.zeros(n), np.zeros(n)
    for t in range(xs.shape[0]):
        z = xs[t] @ w + h @ u + b
        i, f, o, g = _sigmoid(z[:n]), _sigmoid(z[n : 2 * n]), _sigmoid(z[2 * n : 3 * n]), np.tanh(z[3 * n :])
        c = f * c + i * g
        h = o * np.tanh(c)
    return np.sum(h * c)


@program(numbers(4, 3), numbers(3, seed=1), numbers(6, 4, seed=2), np.array([0, 2, 1, 1, 0, 2]))
def softmax_regression(w, b, x, labels):
    z = x @ w + b
    z = z - np.max(z, axis=1, keepdims=True)
    logp = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(logp[np.arange(len(labels)), labels]) + 0.01 * np.sum(w * w)


@program(positive(6, 6), 3)
def heat_equation(d, steps):
    u = np.zeros((6, 6))
    u[2:4, 2:4] = 1.0
    for _ in range(steps):
        lap = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += 0.1 * d[1:-1, 1:-1] * lap
    return np.sum(u * u)


@program(numbers(8), 0.3, 4)
def wave_equation_three_buffers(u0, c, steps):
    prev = u0.copy()
    cur = u0.copy()
    nxt = np.zeros(8)
    for _ in range(steps):
        nxt[1:-1] = 2 * cur[1:-1] - prev[1:-1] + c * (cur[2:] - 2 * cur[1:-1] + cur[:-2])
        prev, cur, nxt = cur, nxt, prev
    return np.sum(cur**2)


@program(numbers(3, 2), positive(3), 3)
def n_body(pos, mass, steps):
    vel = np.zeros((3, 2))
    pos = pos.copy()
    for _ in range(steps):
        acc = np.zeros((3, 2))
        for i in range(3):
            for j in range(3):
                if i == j:
                    continue
                d = pos[j] - pos[i]
                r2 = np.sum(d * d) + 0.1
                acc[i] += mass[j] * d / r2**1.5
        vel += 0.1 * acc
        pos += 0.1 * vel
    return np.sum(pos**2) + np.sum(mass[:, None] * vel**2)


@program(
    np.array([0.6, 0.4]),
    np.array([[0.7, 0.3], [0.2, 0.8]]),
    np.array([[0.5, 0.5], [0.1, 0.9]]),
    [0, 1, 1, 0, 1],
)
def hidden_markov_forward(pi, a, b, obs):
    alpha = pi * b[:, obs[0]]
    logp = 0.0
    for o in obs[1:]:
        c = np.sum(alpha)
        logp = logp + np.log(c)
        alpha = (alpha / c) @ a * b[:, o]
    return logp + np.log(np.sum(alpha))


@program(positive(4), positive(5, seed=1))
def soft_edit_distance(x, y):
    n, m = len(x), len(y)
    d = np.zeros((n + 1, m + 1))
    d[0, 1:] = np.arange(1.0, m + 1)
    d[1:, 0] = np.arange(1.0, n + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            options = np.array([d[i - 1, j] + 1.0, d[i, j - 1] + 1.0, d[i - 1, j - 1] + cost])
            d[i, j] = -np.log(np.sum(np.exp(-options)))
    return d[n, m]


@program(numbers(5, 5), numbers(3, 3, seed=1))
def convolution_by_loops(img, k):
    out = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            out[i, j] = np.sum(img[i : i + 3, j : j + 3] * k)
    return np.sum(np.maximum(out, 0.0) ** 2)


@program(numbers(6), 0.2)
def exponential_smoothing(x, alpha):
    level = x[0]
    sse = 0.0
    for t in range(1, len(x)):
        sse += (x[t] - level) ** 2
        level = alpha * x[t] + (1 - alpha) * level
    return sse


@program(numbers(6) * 0.1, 0.1, 0.2, 0.6)
def garch(r, omega, alpha, beta):
    h = omega / (1 - alpha - beta)
    ll = 0.0
    for t in range(len(r)):
        ll -= 0.5 * (np.log(h) + r[t] ** 2 / h)
        h = omega + alpha * r[t] ** 2 + beta * h
    return ll


@program(100.0, 1.1, 0.03, 0.25, 8)
def binomial_option(s, t, r, sigma, n):
    dt = t / n
    u = np.exp(sigma * np.sqrt(dt))
    d = 1.0 / u
    q = (np.exp(r * dt) - d) / (u - d)
    k = np.arange(n + 1)
    v = np.maximum(s * u**k * d ** (n - k) - 95.0, 0.0)
    for step in range(n, 0, -1):
        v = np.exp(-r * dt) * (q * v[1:] + (1 - q) * v[:-1])
    return v[0]


@program(positive(4), 3)
def newton_in_several_dimensions(p, n):
    x = np.array([1.0, 1.0])
    for _ in range(n):
        f = np.array([p[0] * x[0] ** 2 + x[1] - p[1] - 1.0, x[0] - p[2] * x[1] ** 2 + p[3] - 0.5])
        j = np.array([[2 * p[0] * x[0], 1.0], [1.0, -2 * p[2] * x[1]]])
        x = x - np.linalg.solve(j, f)
    return x[0] * x[1]


@program(1.7)
def bisection_then_newton(a):
    lo, hi = 0.0, 3.0
    while hi - lo > 0.5:
        mid = 0.5 * (lo + hi)
        if mid**3 > a:
            hi = mid
        else:
            lo = mid
    x = 0.5 * (lo + hi)
    while abs(x**3 - a) > 1e-12:
        x = x - (x**3 - a) / (3 * x**2)
    return x


@program(numbers(5, 2), numbers(2, 2, seed=4), 3)
def soft_k_means(x, centers, n):
    for _ in range(n):
        d = np.sum((x[:, None, :] - centers[None]) ** 2, axis=2)
        w = np.exp(-2.0 * d)
        w = w / w.sum(axis=1, keepdims=True)
        centers = (w.T @ x) / w.sum(axis=0)[:, None]
    return np.sum(centers**2)


@program(numbers(5, 2), np.array([0.5, 1.2]), 0.3)
def gaussian_process(x, lengths, noise):
    z = x / lengths
    d = np.sum((z[:, None] - z[None, :]) ** 2, axis=-1)
    k = np.exp(-0.5 * d) + noise * np.eye(5)
    y = np.sin(x[:, 0])
    return 0.5 * y @ np.linalg.solve(k, y) + 0.5 * np.log(np.linalg.det(k))


@program(numbers(4), 0.1, 5)
def gradient_descent_inside(x0, rate, n):
    a = np.array([1.0, 2.0, 3.0, 4.0])
    x = x0.copy()
    v = np.zeros(4)
    for _ in range(n):
        g = a * x + np.sin(x)
        v *= 0.9
        v -= rate * g
        x += v
    return np.sum(x * x)


@program(np.array([1.0, 0.2, -0.4, 0.1]), 0.7)
def horner_and_clenshaw(c, t):
    p = 0.0
    for k in range(len(c) - 1, -1, -1):
        p = p * t + c[k]
    b1 = b2 = 0.0
    for k in range(len(c) - 1, 0, -1):
        b1, b2 = 2 * t * b1 - b2 + c[k], b1
    return p + t * b1 - b2 + c[0]


@program(numbers(8))
def haar_transform(x):
    y = x.copy()
    n = 8
    while n > 1:
        half = n // 2
        even = y[:n:2].copy()
        odd = y[1:n:2].copy()
        y[:half] = (even + odd) / 2.0
        y[half:n] = (even - odd) / 2.0
        n = half
    return np.sum(np.abs(y) ** 1.5)


@program(numbers(6))
def insertion_sort(x):
    y = x.copy()
    for i in range(1, 6):
        key = y[i]
        j = i - 1
        while j >= 0 and y[j] > key:
            y[j + 1] = y[j]
            j -= 1
        y[j + 1] = key
    return np.sum(y * np.arange(6.0))


@program(numbers(5), np.array([0, 1, 1, 3, 0]), np.array([1, 2, 3, 4, 4]))
def graph_edges(x, src, dst):
    out = np.zeros(5)
    for s, d in zip(src, dst):
        out[d] += np.tanh(x[s]) * x[d]
    return np.sum(out**2)


@program(positive(5))
def simpson(y):
    s = y[0] + y[-1]
    for i in range(1, 4):
        s += (4 if i % 2 else 2) * y[i]
    return s / 3 * np.log(s)


@program(positive(3, 3), 20)
def sinkhorn(c, n):
    k = np.exp(-c)
    u = np.ones(3)
    for _ in range(n):
        v = 1.0 / (k.T @ u)
        u = 1.0 / (k @ v)
    return np.sum(u[:, None] * k * v * c)


@program(numbers(4), numbers(4, seed=1), 0.05)
def leapfrog(q, p, h):
    q, p = q.copy(), p.copy()
    for _ in range(4):
        p -= 0.5 * h * q**3
        q += h * p
        p -= 0.5 * h * q**3
    return 0.5 * np.sum(p**2) + 0.25 * np.sum(q**4)
