"""Scripts as people have them: several features at once, in the styles of many hands."""

import math
import operator
from dataclasses import dataclass
from functools import partial, reduce
from itertools import accumulate, chain, combinations, pairwise, product

import numpy as np
from numpy import cos, exp, newaxis, pi, sin
from numpy.linalg import inv, norm, solve

from . import numbers, positive, program, spd


@program(numbers(3), numbers(3, seed=2))
def cross_and_angle(u, v):
    w = np.array([u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]])
    c = u.dot(v) / (norm(u) * norm(v))
    return norm(w) + np.arccos(c) + np.sum(np.cross(u, v) * w)


@program(0.4, numbers(2))
def rotation(theta, p):
    c, s = cos(theta), sin(theta)
    r = np.array([[c, -s], [s, c]])
    return (r @ p)[0] * pi


@program(numbers(3, 3), 4)
def expm_by_series(a, n):
    term = np.eye(3)
    total = np.eye(3)
    for k in range(1, n + 1):
        term = term @ a / k
        total = total + term
    return np.trace(total)


@program(numbers(4), numbers(3, seed=1))
def polynomial_fit(x, y_extra):
    v = np.vander(x, 3, increasing=True)
    y = np.append(y_extra, 1.0)
    w = solve(v.T @ v + 0.1 * np.eye(3), v.T @ y)
    return np.sum((v @ w - y) ** 2)


@program(numbers(5), 0.3)
def huber(r, delta):
    a = np.abs(r)
    return np.mean(np.where(a <= delta, 0.5 * r**2, delta * (a - 0.5 * delta)))


@program(numbers(3, 4))
def log_sum_exp(a):
    m = a.max(axis=-1, keepdims=True)
    return np.sum(m.squeeze(-1) + np.log(exp(a - m).sum(-1)))


@program(numbers(6), np.array([0, 1, 0, 2, 1, 0]))
def group_means(x, labels):
    total = 0.0
    for g in range(3):
        members = x[labels == g]
        total += members.mean() ** 2 * len(members)
    return total


@program(numbers(6), np.array([0, 1, 0, 2, 1, 0]))
def group_sums_by_bincount(x, labels):
    sums = np.zeros(3)
    counts = np.zeros(3, dtype=int)
    for v, g in zip(x, labels):
        sums[g] += v
        counts[g] += 1
    return np.sum((sums / counts) ** 2)


@program(numbers(4, 2))
def pairwise_distances(x):
    n = len(x)
    total = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            d = x[i] - x[j]
            total += np.sqrt(d @ d + 1e-2)
    return total


@program(numbers(2, 3))
def product_of_ranges(a):
    s = 0.0
    for i, j in product(range(2), range(3)):
        s = s * 0.5 + a[i, j] ** 2
    return s


@program([0.3, 0.5, 0.7])
def pairs_of_a_list(xs):
    return sum(a * b * b for a, b in combinations(xs, 2))


@program([0.3, 0.5], [0.2, 0.9])
def chained_lists(a, b):
    s = 0.0
    for v in chain(a, b):
        s = s * v + v
    return s


@program(numbers(5), 3)
def moving_average_by_slices(x, k):
    s = 0.0
    for i in range(len(x)):
        window = x[max(0, i - k + 1) : i + 1]
        s += (sum(window) / len(window)) ** 2 + window[0]
    return s


@program(numbers(3), 0.1)
def with_a_callback(x, rate):
    losses = []

    def record(v):
        losses.append(np.sum(v * v))

    for _ in range(3):
        record(x)
        x = x - rate * 2.0 * x
    return sum(losses)


@program(numbers(4))
def accumulate_in_two_names(x):
    lo = hi = x[0]
    for v in x[1:]:
        lo, hi = min(lo, v), max(hi, v)
    return (hi - lo) ** 2


@program(0.7, 12)
def continued_fraction(x, n):
    f = 0.0
    for k in range(n, 0, -1):
        f = k * x / (1.0 + f)
    return f


@program(0.6)
def series_until_small(x):
    term, total, k = 1.0, 0.0, 0
    while abs(term) > 1e-15:
        total += term
        k += 1
        term *= x / k
    return total


@program(numbers(3), 10)
def fixed_point(b, n):
    a = np.array([[0.2, 0.1, 0.0], [0.0, 0.3, 0.1], [0.1, 0.0, 0.2]])
    x = np.zeros(3)
    for it in range(n):
        new = np.tanh(a @ x + b)
        if np.max(np.abs(new - x)) < 1e-30:
            break
        x = new
    else:
        it += 1
    return np.sum(x) + 0 * it


@program(numbers(4, 4))
def game_of_neighbours(a):
    out = np.zeros_like(a)
    rows, cols = a.shape
    for r in range(rows):
        for c in range(cols):
            for dr, dc in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                rr, cc = r + dr, c + dc
                if not (0 <= rr < rows and 0 <= cc < cols):
                    continue
                out[r, c] += a[rr, cc] * (1 + dr)
    return (out**2).sum()


@dataclass
class Config:
    """Numbers and options."""

    rate: float = 0.2
    steps: int = 3
    kind: str = "gd"


@program(numbers(3), Config(0.15))
@program(numbers(3), Config(0.15, 2, "momentum"))
def configured(x, cfg):
    v = np.zeros_like(x)
    for _ in range(cfg.steps):
        g = x + np.sin(x)
        if cfg.kind == "momentum":
            v = 0.9 * v - cfg.rate * g
            x = x + v
        else:
            x = x - cfg.rate * g
    return np.sum(x**2)


class Module:
    """A base class with parameters in attributes."""

    def __init__(self, **params):
        self.params = params

    def loss(self, x, y):
        return np.mean((self.forward(x) - y) ** 2) + self.penalty()

    def penalty(self):
        return 1e-2 * sum(np.sum(p**2) for p in self.params.values())


class Linear(Module):
    """A model by inheritance."""

    def forward(self, x):
        return x @ self.params["w"] + self.params["b"]


class Mlp(Linear):
    """A deeper one that calls super."""

    def forward(self, x):
        return np.tanh(super().forward(x))


@program(numbers(3), 0.2, numbers(4, 3, seed=1), numbers(4, seed=2))
def inheritance(w, b, x, y):
    return Linear(w=w, b=b).loss(x, y)


@program(numbers(3), 0.2, numbers(4, 3, seed=1), numbers(4, seed=2))
def inheritance_with_super(w, b, x, y):
    return Mlp(w=w, b=b).loss(x, y)


class Vec:
    """Operators of an ordinary class."""

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k)

    def __neg__(self):
        return Vec(-self.x, -self.y)

    def __getitem__(self, i):
        return self.x if i == 0 else self.y

    def __len__(self):
        return 2

    def norm2(self):
        return self.x**2 + self.y**2


@program(0.3, 0.8)
def operator_overloading(a, b):
    v = Vec(a, b) + Vec(b, 1.0) * a
    w = -v
    return w.norm2() * v[1] + len(v)


@program(numbers(3))
def generator_passed_to_functions(x):
    return sum(v * v for v in x) + math.prod([x[0], x[1]]) + max(abs(v) for v in x) * min(x[0], x[1])


@program(numbers(3))
def numpy_on_lists(x):
    parts = [x[0] * 2, x[1], x[2] ** 2]
    return np.sum(parts) + np.mean([p * 2 for p in parts]) + np.max(parts) + np.dot(parts, [1.0, 2.0, 3.0])


@program(numbers(2, 2), numbers(2, seed=3))
def block_matrices(a, v):
    m = np.block([[a, v[:, None]], [v[None, :], np.ones((1, 1))]])
    return np.linalg.det(m)


@program(numbers(5))
def padding_and_windows(x):
    p = np.pad(x, 1)
    return np.sum((p[2:] - 2 * p[1:-1] + p[:-2]) ** 2)


@program(numbers(4), 3.0)
def trapezoid(f, h):
    return h * (np.sum(f) - 0.5 * (f[0] + f[-1])) + np.trapezoid(f**2, dx=0.5)


@program(positive(5), np.array([0.1, 0.4, 0.45, 0.8, 1.0]), wrt=0)
def interpolation(y, t):
    return np.sum(np.interp([0.2, 0.5, 0.9], t, y) ** 2)


@program(numbers(3, 3))
def in_place_operators_on_expressions(a):
    b = a @ a
    b -= np.mean(b)
    b[b < 0] = 0.0
    b /= 1.0 + np.max(b)
    return np.sum(b**2)


@program(numbers(2, 3), numbers(2, 3, seed=5))
def list_of_updates(a, b):
    params = [a, b]
    grads = [2 * a, np.cos(b)]
    for i in range(len(params)):
        params[i] = params[i] - 0.1 * grads[i]
    return np.sum(params[0] * params[1])


@program([numbers(2, 3), numbers(3, 2, seed=1)], [numbers(3), numbers(2, seed=1)], numbers(4, 2, seed=3))
def network_from_zipped_lists(ws, bs, x):
    last = len(ws) - 1
    for i, (w, b) in enumerate(zip(ws, bs)):
        x = x @ w + b
        if i != last:
            x = np.maximum(x, 0.1 * x)
    return np.mean(x**2)


@program(numbers(6), 2)
def split_by_index(x, k):
    head, tail = x[:k], x[k:]
    head = head * 2.0
    return np.sum(head) ** 2 + np.prod(tail)


@program(numbers(4), numbers(4, seed=1))
def boolean_algebra_in_numbers(x, y):
    sign = (x > 0) * 2 - 1
    return np.sum(sign * y * x) + float(np.any(x > 2)) * x[0]


@program(numbers(4))
def early_exit_by_exception_not_taken(x):
    for i in range(4):
        if x[i] > 50:
            raise RuntimeError(f"bad value {x[i]} at {i}")
        x = x * 1.1
    return np.sum(x)


@program(numbers(4, 3))
def mean_and_covariance(x):
    mu = x.mean(0)
    c = (x - mu).T @ (x - mu) / (len(x) - 1)
    return np.sum(c * np.arange(9.0).reshape(3, 3))


@program(spd(3), numbers(3), numbers(3, seed=1))
def gaussian_log_density(s, x, mu):
    d = x - mu
    sign, logdet = np.linalg.slogdet(s)
    return -0.5 * (d @ inv(s) @ d + logdet + len(x) * np.log(2 * np.pi))


@program(numbers(3, 2), numbers(2, 3, seed=1))
def keyword_calls_of_numpy(a, b):
    c = np.matmul(a, b)
    s = np.sum(a=c, axis=0) if False else np.sum(c, axis=0)
    return np.sum(np.clip(s, a_min=-0.5, a_max=0.7)) + np.reshape(c, (9,), order="C")[4] + c.sum(axis=(0, 1))


@program(numbers(4))
def lambda_sorted_by_key(x):
    pairs = [(abs(x[i]), x[i]) for i in range(4)]
    s = 0.0
    for k, (a, v) in enumerate(pairs):
        s += k * a * v
    return s


@program(numbers(3))
def partial_of_a_closure(x):
    def scaled(k, v):
        return k * v * x[0]

    twice = partial(scaled, 2.0)
    return reduce(lambda s, v: s + twice(v), x[1:], 0.0)


@program([0.2, 0.7, 0.4])
def itertools_accumulate(xs):
    return sum(accumulate(xs))


@program(numbers(4))
def nested_conditional_expressions(x):
    s = 0.0
    for v in x:
        s += v if v > 0.5 else (v * v if v > 0 else -v)
    return s


@program(numbers(2, 3))
def shape_unpacking(a):
    n, m = a.shape
    out = 0.0
    for i in range(n):
        for j in range(m):
            out += a[i][j] * (i - j) ** 2
    return out / (n * m)


@program(numbers(3), numbers(4, seed=1))
def newaxis_and_outer(x, y):
    g = x[:, newaxis] - y[newaxis, :]
    return np.sum(exp(-(g**2)))


@program(numbers(5))
def index_expressions(x):
    n = len(x)
    mid = n // 2
    y = x.copy()
    y[mid - 1 : mid + 2] *= 2
    y[-mid:] -= y[:mid]
    return y[mid] * y[n - 1] + y[~0]


@program(np.arange(12.0).reshape(3, 4) / 7.0)
def mixed_indexing(a):
    rows = [0, 2]
    b = a[rows][:, 1:3]
    c = a[[0, 1], [2, 3]]
    d = a[:, [0, 0, 1]]
    e = a[a[:, 0] > 0.1]
    a2 = a.copy()
    a2[rows, 1:3] = b * 2
    return np.sum(b**2) + np.sum(c) + np.sum(d**3) + np.sum(e) + np.sum(a2**2)


@program(numbers(3), 2)
def integer_division_and_modulo(x, n):
    k = (7 * n) // 3
    r, q = divmod(k, 3)
    return np.sum(x * r) + x[q % 3] * (k % 5) + (x[0] % 0.25) + x[1] // 10.0


@program(numbers(4))
def del_and_rebind(x):
    y = x * 2.0
    z = y
    del y
    y = z + 1.0
    return np.sum(y * z)


@program(numbers(3))
def multiple_returns_of_different_branches(x):
    def classify(v):
        if v > 0.5:
            return v * 2
        if v > 0:
            return v * v
        return -v

    return classify(x[0]) + classify(x[1]) * classify(x[2])


@program(numbers(3), numbers(3, seed=1))
def annotated_assignments(x: np.ndarray, y: np.ndarray) -> float:
    z: np.ndarray = x * y
    total: float
    total = float(np.sum(z))
    return total * total


@program(numbers(4, 4))
def determinant_by_elimination(a):
    a = a.copy()
    det = 1.0
    for k in range(4):
        p = k
        for i in range(k + 1, 4):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        if p != k:
            a[k], a[p] = a[p].copy(), a[k].copy()
            det = -det
        det *= a[k, k]
        for i in range(k + 1, 4):
            a[i] -= a[k] * (a[i, k] / a[k, k])
    return det


@program(numbers(3, 3), numbers(3, 3, seed=2))
def matmul_by_hand(a, b):
    n = 3
    c = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            for k in range(n):
                c[i][j] += a[i, k] * b[k, j]
    return sum(sum(row) for row in c) + c[0][1] * c[2][0]


@program(numbers(8))
def recursive_fft_like(x):
    n = 8
    re = x.copy()
    step = 1
    while step < n:
        out = np.empty(n)
        for i in range(0, n, 2 * step):
            for j in range(step):
                a, b = re[i + j], re[i + j + step]
                out[i + j] = a + b
                out[i + j + step] = (a - b) * np.cos(j)
        re = out
        step *= 2
    return np.sum(re**2 * np.arange(8.0))


@program(numbers(6), numbers(3, seed=1))
def convolve_and_correlate(x, k):
    return np.sum(np.convolve(x, k) ** 2) + np.sum(np.correlate(x, k) ** 3)


@program(numbers(4))
def finite_check_and_report(x):
    if not np.all(np.isfinite(x)):
        return np.nan
    if np.isnan(x).any() or np.allclose(x, 0):
        return 0.0
    return np.sum(x**2) if isinstance(x, np.ndarray) else x


@program(numbers(3))
def string_formatting_of_names(x):
    params = {f"w{i}": x[i] for i in range(3)}
    return params["w0"] * params["w" + str(1)] + params["w{}".format(2)]


@program(0.5, 1.5, 20)
def monte_carlo_with_fixed_draws(mu, sigma, n):
    z = np.random.default_rng(3).normal(size=n)
    s = np.exp(mu + sigma * z)
    return np.mean(np.maximum(s - 0.7, 0.0))


@program(numbers(4), numbers(4, seed=1))
def assert_shapes_in_a_helper(x, y):
    def check(a, b):
        assert a.shape == b.shape, (a.shape, b.shape)
        return a

    return np.sum(check(x, y) * y)


@program(numbers(2, 5))
def argmax_gather(a):
    k = np.argmax(a, axis=1)
    return (
        np.sum(a[np.arange(2), k] ** 2)
        + a[0, np.argmin(a[0])]
        + np.take_along_axis(a, k[:, None], axis=1).sum()
    )


@program(numbers(4))
def while_with_else_and_state(x):
    i, acc = 0, []
    while i < len(x):
        if x[i] > 5:
            break
        acc.append(x[i] * i)
        i += 1
    else:
        acc.append(1.0)
    return sum(acc) * len(acc)


@program(positive(3), positive(3, seed=1))
def sums_of_logs(a, b):
    loglik = 0
    for p, q in zip(a, b):
        loglik += math.log(p) if p > q else math.log(q) - math.log1p(p * q)
    return -loglik


@program(3.0, 2)
def int_and_float_mixed(x, n):
    y = x
    for i in range(n):
        y = y / 2 + i
    z = n * y + int(y)
    return z**2 if z > 1 else float(n)


@program(numbers(5))
def covariances(x):
    a = np.cov(x, x**2)[0, 1] + np.cov(np.outer(x, x) + np.diag(x)).sum() + np.cov(x, ddof=0)
    b = np.cov(np.outer(x[:4], x), rowvar=False)[1, 2] + np.cov(x, x**2, bias=True)[0, 0]
    return a + b + np.corrcoef(x, x**2)[0, 1] * np.corrcoef(np.array([x, x**2, x**3]))[0, 2]


@program(numbers(5))
def iterators_over_vectors(x):
    total = sum(a * b for a, b in pairwise(x)) + list(accumulate(x, operator.mul))[3]
    for i, v in np.ndenumerate(x):
        total += i[0] * v
    for (i, j), v in np.ndenumerate(np.outer(x, x)):
        total += i * j * v
    return total + operator.methodcaller("sum", axis=0)(x)


@program(numbers(5))
def einsum_by_lists_of_axes(x):
    a = np.outer(x, x**2)
    return (
        np.einsum(x, [0], a, [0, 1], [1])[2]
        + np.einsum(a, [..., 1], x, [1], [...]).sum()
        + np.einsum(x, [0], x, [0])
    )
