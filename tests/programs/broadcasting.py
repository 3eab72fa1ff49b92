"""Broadcasting, reductions, dtypes, shapes and the corners of their derivatives."""

import numpy
import numpy as np
import numpy.linalg as la

from . import numbers, positive, program


@program(numbers(3, 1), numbers(1, 4, seed=1), numbers(4, seed=2), 0.5)
def every_way_to_broadcast(a, b, v, c):
    return np.sum((a + b) * v - c * a / (2.0 + b * b))


@program(numbers(1), numbers(3, seed=1))
def axis_of_one_at_run_time(a, b):
    return np.sum(a * b + a)


@program(numbers(1, 1), numbers(2, 3, seed=1))
def axes_of_one(a, b):
    y = a * b
    y += a
    return np.sum(y * y)


@program(numbers(5), numbers(5, seed=1))
def computed_lengths(x, y):
    k = 2
    a = x[x > 0]
    b = y[k : k + 1]
    return np.sum(a * b) + np.sum(x[:k] * y[-k:])


@program(numbers(3, 4))
def reductions(a):
    m = a.mean(axis=0)
    s = a.std(axis=1, keepdims=True)
    v = a.var(ddof=1)
    return np.sum(((a - m) / s) ** 3) * v + a.max() - a.min(axis=1).sum() + np.ptp(a)


@program(positive(3, 4))
def products_and_scans(a):
    return a.prod(axis=1).sum() + np.sum(np.cumsum(a, axis=0) * a) + np.cumprod(a[0])[-1]


@program(numbers(3, 4))
def reduction_with_where(a):
    m = a > 0
    return np.sum(a**2, where=m) + np.sum(np.mean(a, axis=1, where=np.array([True, False, True, True])))


@program(numbers(2, 3, 4))
def shaping(a):
    b = a.transpose(2, 0, 1).reshape(4, -1)
    c = np.swapaxes(a, 0, 1)[:, None]
    d = np.moveaxis(a, 0, -1).ravel()
    e = np.squeeze(c[:1], axis=0)
    return (
        np.sum(b[0] * b[1]) + np.sum(d * np.arange(24.0)) + np.sum(e**2) + np.sum(np.expand_dims(a, 1) * 2.0)
    )


@program(numbers(4), numbers(4, seed=1))
def joining_and_splitting(x, y):
    z = np.concatenate([x, y * 2.0, x[:1]])
    a, b, c = np.split(z, 3)
    s = np.stack([x, y], axis=-1)
    h = np.hstack([x, y]) * np.vstack([x, y]).ravel()
    return np.sum(a * b * c) + np.sum(s[:, 0] * s[:, 1]) + np.sum(h) + np.sum(np.column_stack([x, y]) ** 3)


@program(numbers(2, 3))
def tiling(a):
    t = np.tile(a, (2, 2))
    r = np.repeat(a, 2, axis=1)
    return (
        np.sum(t * np.arange(24.0).reshape(4, 6))
        + np.sum(r * np.arange(12.0).reshape(2, 6) ** 2)
        + np.sum(np.flip(a) * a)
        + np.sum(np.roll(a, 1, axis=1) * a)
    )


@program(numbers(3, 4), numbers(4, 2, seed=1), numbers(3, seed=2))
def matrix_products(a, b, v):
    c = a @ b
    d = np.dot(v, c)
    e = np.einsum("ij,jk,i->k", a, b, v)
    f = np.tensordot(a, b, axes=1)
    return np.sum(c * f) + np.sum(d * e) + np.vdot(v, v) + np.sum(np.outer(v, d)) + np.inner(v, v)


@program(numbers(2, 3, 3), numbers(3, 3, seed=1))
def stacked_matrices(a, b):
    return np.sum(np.matmul(a, b) ** 2) + np.sum(np.linalg.det(a)) + np.sum(a @ np.ones(3))


@program(numbers(3, 3) + 3 * np.eye(3), numbers(3))
def linear_algebra(a, b):
    x = np.linalg.solve(a, b)
    return la.norm(x) + np.trace(np.linalg.inv(a)) + numpy.linalg.det(a) + np.linalg.norm(a)


@program(
    np.array([0.5, 0.0, -2.0, 3.0]), expect=(np.array([0.5 / np.sqrt(0.5), 0.0, 0.0, 0.5 / np.sqrt(3.0)]),)
)
def where_with_a_dead_branch(x):
    with np.errstate(invalid="ignore"):
        return np.sum(np.where(x > 0, np.sqrt(x), 0.0))


@program(np.array([0.0, 0.0, 0.0]), expect=(np.zeros(3),))
def norm_at_zero(x):
    return np.linalg.norm(x)


@program(np.array([1.0, 3.0, 3.0]), expect=(np.array([0.0, 0.5, 0.5]),))
def tie_of_max(x):
    return np.max(x)


@program(np.array([0.0, -2.0]), expect=(np.array([0.0, -1.0]),))
def abs_at_zero(x):
    return np.sum(np.abs(x))


@program(np.array([2.0, 0.0, 3.0]), expect=(np.array([0.0, 6.0, 0.0]),))
def product_with_a_zero(x):
    return np.prod(x)


@program(numbers(6), np.array([4, 0, 0, 2]))
def take_and_gather(x, idx):
    y = x[idx]
    z = np.take(x, idx[1:]) * x[-1]
    return np.sum(y**2) + np.sum(z) + x[idx[0]]


@program(numbers(6))
def select_and_clip(x):
    y = np.select([x > 0.5, x > 0], [x**2, x * 3.0], default=-x)
    return np.sum(np.clip(x, -0.4, 0.45) * y)


@program(numbers(5))
def minimum_maximum_relu(x):
    return np.sum(np.maximum(x, 0.0) * np.minimum(x, 0.3)) + np.sum(np.fmax(x, -0.2)) + max(x[0], 0.1)


@program(numbers(5).astype(np.float32).astype(float))
def through_float32(x):
    y = x.astype(np.float64)
    return np.sum(y * y) + y.dtype.itemsize


@program(np.array([0.45, 1.25, -0.35, 0.85]))
def astype_integer_passes_nothing(x):
    k = (x * 10).astype(int)
    return np.sum(k * x)


@program(3, numbers(3))
def integer_parameter(n, x):
    return np.sum(x**n) * n


@program(numbers(2, 3) + 1j * numbers(2, 3, seed=3))
def complex_parameter(z):
    w = z * z.conj() + np.exp(1j * z.real)
    return np.sum(np.abs(w) ** 2) + np.sum(z.imag * z.real)


@program(numbers(4), numbers(4, seed=2))
def complex_inside(x, y):
    z = x + 1j * y
    w = np.exp(z) * z
    return np.sum(w.real**2 + w.imag)


@program(numbers(0))
@program(numbers(3))
def empty_arrays(x):
    return np.sum(x * x) + 1.0


@program(numbers(3, 4)[:, ::-1].T)
def not_contiguous(a):
    return np.sum(np.ravel(a) * np.arange(12.0)) + np.sum(a[1] * a[2])


@program(numbers(4))
def numpy_scalars(x):
    a = x[0] * np.float64(2.0)
    b = np.sin(a) + a**2
    c = np.array([a, b, 1.0])
    return c[0] * c[1] + np.sum(c) + np.float64(a)


@program(numbers(5))
def diff_and_friends(x):
    d = np.diff(x)
    m = np.triu(np.outer(x, x), 1) + np.diag(x)
    return (
        np.sum(d * d)
        + np.sum(np.tril(m))
        + np.trace(m)
        + np.sum(np.diag(m) ** 2)
        + np.sum(np.sort(x) * d.sum())
    )


@program(numbers(3, 4))
def methods_and_attributes(a):
    b = a.T.copy()
    n = a.size * a.ndim + b.shape[0]
    return a.sum() * n + (b @ a).trace() + a.dot(b).diagonal().sum() + a.flatten()[::5].prod()


@program(numbers(4))
def creation(x):
    z = (
        np.zeros_like(x)
        + np.ones(4)
        + np.full(4, x[0])
        + np.arange(4)
        + np.eye(4)[1] * np.linspace(0.0, 1.0, 4)
    )
    return np.sum(z * x) + np.sum(np.full_like(x, 2.0) * x)


@program(numbers(4), 2.5)
def powers(x, p):
    y = 1.0 + x * x
    return np.sum(y**p + y**-2 + 2.0**x + np.power(y, x) + np.sqrt(y) + x**3)


@program(numbers(4), numbers(4, seed=1))
def numbers_and_comparisons(x, y):
    m = (x > y) & (y < 0.5) | ~(x < 0)
    return np.sum(m * x) + np.count_nonzero(m) * y[0] + np.sum(x[np.nonzero(m)])


@program(numbers(6), numbers(6, seed=2))
def statistics(x, y):
    xc = x - np.mean(x)
    yc = y - y.mean()
    r = np.sum(xc * yc) / np.sqrt(np.sum(xc**2) * np.sum(yc**2))
    return r + np.std(x, ddof=1) * np.var(y)


@program(numbers(3, 4), numbers(4, 2), numbers(2), numbers(5, 3, seed=3), numbers(5, 2, seed=4))
def two_layers(w1, w2, b, x, y):
    h = np.maximum(x @ w1, 0.01 * (x @ w1))
    out = h @ w2 + b
    return np.mean((out - y) ** 2) + 1e-2 * (np.sum(w1**2) + np.sum(w2**2))


@program(numbers(3), numbers(3, seed=1))
def unused_and_constant(x, y):
    y = y * 0.0
    return 3.0 * np.sum(x)


@program(numbers(3))
def constant_result(x):
    return 2.0


@program(numbers(3), numbers(2, seed=1))
def array_result(x, y):
    return np.outer(np.sin(x), y) * x[0]


@program(np.array(0.3), np.array([0.4]))
def rank_zero_and_length_one(x, y):
    return np.sum(x * y) + x * y[0]


@program(numbers(3))
def names_that_clash(x):
    out = x * 2.0
    x_bar = out * out
    value = x_bar + 1.0
    np_ = value * x
    range_ = np_ + out
    t = range_ * x_bar
    t1 = t + value
    return np.sum(t1 * t)


@program(numbers(4))
def numpy_under_other_names(x):
    import numpy as jnp
    from numpy import sin as s

    return jnp.sum(s(x) * numpy.cos(x)) + np.add.reduce(x * x)


@program(numbers(4), "sum")
@program(numbers(4), "mean")
def options_by_value(x, reduction):
    loss = np.exp(x)
    axis = None if reduction == "sum" else 0
    return getattr(np, reduction)(loss, axis=axis) * 2.0


@program(numbers(5))
def lists_of_numbers_as_arrays(x):
    a, b = np.sqrt([x[0] ** 2, x[1] ** 2]), np.sin((x[2], x[3]))
    c = np.hypot([x[0], x[1]], np.array([[x[2]], [3.0], [x[4]]]))
    d = np.exp([[x[0], x[1]], [1.0, x[2]]])
    e = np.broadcast_to([x[0], x[1]], (3, 2))
    f = np.transpose([[x[0], x[1]]])
    return a.sum() * b.prod() + c.prod() + d.prod() + e.prod() + np.sum(f * e[0])


@program(numbers(5))
def lists_of_numbers_as_operands(x):
    y = x[:2]
    s = [x[0], x[1]] @ y + y @ [x[2], 1] + np.sum([[x[0], x[1]], [1, 2]] @ y)
    return s + np.prod((x[3], 2.0) - y) + np.sum(np.array([2.0, 3.0]) ** [x[0], x[1]]) + np.sum(y ** [1, 2])


@program(numbers(5))
def spaced_numbers(x):
    a = np.arange(x[0], x[0] + 2, 0.4)
    b = np.arange(0, 3, abs(x[1]))
    c = np.fft.fftfreq(5, x[2])
    return np.prod(a) + np.sum(b * b) + c[1] * x[0] + np.linalg.norm(x, 0) + np.linalg.norm(x, -1)


@program(numbers(6))
def roots_of_what_is_cut_off(x):
    a = np.sqrt(np.maximum(x, 0)) + np.sqrt(np.clip(x, 0, None)) + np.sqrt(-np.minimum(x, 0.0))
    return a.sum() + np.sum(np.maximum(x, 0) ** 0.5) + np.sum(np.power(np.fmax(x, 0), 0.3))


@program(numbers(4) + 1j * numbers(4, seed=2))
def complex_products(z):
    a, b = np.prod(z), np.cumprod(z)
    c = np.average(z, weights=z * z)
    return np.abs(a) ** 2 + np.abs(b).sum() + np.real(c) + np.imag(np.trapezoid(z, z * 1j))


@program(numbers(4, 6), numbers(6, 4, seed=1))
def views_of_everything(x, w):
    y = x * 1.0
    total = np.sum(np.reshape(y, (6, 4)) * w) + np.sum(y.ravel()[::-1] * w.ravel() ** 2)
    total += np.sum(y.T * w * y.T) + np.sum(np.flip(y, 0) * x) + np.sum(np.flip(y) * w.T)
    total += np.sum(y[:, None, :] * w.T[None]) + np.sum(y[::-1, ::-1] * np.swapaxes(w, 0, 1))
    cube = y.reshape(2, 2, 6)
    total += np.sum(np.transpose(cube, (2, 0, 1)) * w.reshape(6, 2, 2) * cube[0, 0, 0])
    total += np.sum(np.moveaxis(cube, 0, 2)[:, ::-1] ** 2 * w.reshape(2, 6, 2))
    total += np.sum(np.expand_dims(y, 1)[..., 0] * w[0, 0]) + np.sum(np.squeeze(y[:1]) * w[:, 0])
    return total + np.sum(np.fliplr(y) * y) + np.sum(np.flipud(y)[1:] * w.T[1:])


@program(numbers(5), 3)
def views_in_a_loop(x, n):
    y = x * 1.0
    for i in range(n):
        y[:] = y + np.flip(y[: i + 2])[0] * x[::-1]
        y[i:] += np.flip(y[i:]) * np.flip(x[i:])
        y[...] = y[:][...] * x
        outer = y[:, None] * x[None, :]
        y = y + outer.sum(axis=1) * outer[0][:]
    return np.sum(y.reshape(1, -1) * x) + np.sum(y[::-1] ** 2)
