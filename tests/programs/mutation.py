"""Stores of every kind into arrays that the function made, and into its arguments."""

import numpy as np

from . import numbers, positive, program


@program(numbers(4))
def store_each_element(x):
    y = np.zeros(4)
    for i in range(4):
        y[i] = x[i] ** 2
    return np.sum(y * np.arange(1.0, 5.0))


@program(numbers(5), 0.7)
def linear_recurrence(x, a):
    y = np.zeros(5)
    y[0] = x[0]
    for i in range(1, 5):
        y[i] = a * y[i - 1] + x[i]
    return np.sum(y * y)


@program(numbers(4))
def overwrite_kills(x):
    y = x * 2.0
    y[1] = 3.0
    y[2] = x[0] * x[3]
    return np.sum(y * y)


@program(numbers(6))
def whole_array_augmented(x):
    y = x * 1.0
    y += x
    y *= x
    y -= 1.0
    y /= 2.0
    y **= 2
    return np.sum(y)


@program(numbers(3, 4), numbers(4, seed=1))
def augmented_row(a, v):
    b = a.copy()
    b[1, :] += v
    b[:, 2] *= 3.0
    b[0] -= v * v
    return np.sum(b**2)


@program(numbers(7), numbers(4, seed=1))
def slices_with_steps(x, v):
    y = np.zeros(7)
    y[::2] = v
    y[1::2] = x[5:0:-2]
    y[::-1][:2] += v[:2]
    return np.sum(y * np.arange(1.0, 8.0) * x)


@program(numbers(6))
def overlapping_slices(x):
    y = x * 1.0
    y[1:] = y[:-1]
    y[:-1] += y[1:]
    return np.sum(y * np.arange(6.0))


@program(numbers(6))
def boolean_mask_store(x):
    y = x * 2.0
    m = x > 0
    y[m] = y[m] ** 2
    y[~m] = 0.5
    return np.sum(y * x)


@program(numbers(6))
def boolean_mask_augmented(x):
    y = x.copy()
    y[y < 0] *= -2.0
    y[y > 0.9] = 0.9
    return np.sum(y * y)


@program(numbers(4), numbers(5, seed=1))
def repeated_indices_last_wins(x, v):
    y = x * 1.0
    y[[0, 2, 0, 3, 2]] = v
    return np.sum(y * np.array([1.0, 2.0, 3.0, 4.0]))


@program(numbers(4), numbers(5, seed=1))
def repeated_indices_augmented(x, v):
    y = x * 1.0
    y[[0, 2, 0, 3, 2]] += v * v
    return np.sum(y * y)


@program(numbers(4), numbers(5, seed=1))
def ufunc_at(x, v):
    y = x * 1.0
    idx = np.array([0, 2, 0, 3, 2])
    np.add.at(y, idx, v)
    np.subtract.at(y, [1, 1], 2.0 * v[:2])
    return np.sum(y * y)


@program(numbers(3, 3), numbers(3, seed=1))
def integer_pairs(a, v):
    b = np.zeros((3, 3))
    i = np.array([0, 1, 2])
    b[i, i] = v
    b[i, i[::-1]] += a[i, 0]
    return np.sum(b * a)


@program(numbers(4), numbers(4, seed=3))
def out_argument(x, y):
    z = np.empty(4)
    np.multiply(x, y, out=z)
    np.sin(z, out=z)
    np.add(z, x, out=z)
    return np.sum(z * z)


@program(positive(5))
def where_argument(x):
    out = np.zeros(5)
    np.log(x, out=out, where=x > 0.8)
    return np.sum(out * x)


@program(numbers(5), numbers(5, seed=1))
def copyto_with_mask(x, y):
    z = x * 1.0
    np.copyto(z, y * y, where=y > 0)
    return np.sum(z * x)


@program(numbers(3, 3), 0.4)
def fill_diagonal(a, d):
    b = a.copy()
    np.fill_diagonal(b, d)
    return np.sum(b @ b)


@program(numbers(5), numbers(2, seed=1))
def put(x, v):
    y = x * 1.0
    np.put(y, [1, 3], v)
    return np.sum(y**3)


@program(numbers(4))
def fill_method(x):
    y = np.empty(4)
    y.fill(x[0])
    y[1:3].fill(x[1] * 2)
    return np.sum(y * x)


@program(numbers(5))
def sort_in_place(x):
    y = x * 1.0
    y.sort()
    return np.sum(y * np.arange(1.0, 6.0))


@program(numbers(3, 4))
def sort_a_view_in_place(a):
    b = a.copy()
    b[1].sort()
    b[:, 0].sort()
    return np.sum(b * np.arange(12.0).reshape(3, 4))


@program(numbers(5))
def swap_elements(x):
    y = x.copy()
    y[0], y[4] = y[4], y[0]
    y[1], y[2] = y[2] * 2.0, y[1]
    return np.sum(y * np.arange(5.0) * x)


@program(numbers(3, 3))
def swap_rows_by_index(a):
    b = a.copy()
    b[[0, 2]] = b[[2, 0]]
    b[:, [0, 1]] = b[:, [1, 0]]
    return np.sum(b * np.arange(9.0).reshape(3, 3))


@program(numbers(3, 4))
def swap_rows_by_copy(a):
    b = a * 1.0
    t = b[0].copy()
    b[0] = b[1]
    b[1] = t
    return np.sum(b[0] * a[2]) + np.sum(b[1] ** 3)


@program(numbers(4))
def store_in_a_branch_of_a_loop(d):
    s = np.zeros((4, 4))
    for i in range(4):
        s[i, 2] = 1.0
        if i == 2:
            s[i, i] += d[i]
        elif d[i] > 0:
            s[i, 0] = d[i] * s[i, 2]
    return np.sum(s * s)


@program(np.array([0.45, 1.25, -0.35, 0.85]))
def integer_buffer_passes_nothing(x):
    y = np.zeros(4, dtype=int)
    y[:] = x * 10
    return np.sum(y * x)


@program(numbers(4))
def truncating_store_into_a_float32_buffer(x):
    y = np.zeros(4, dtype=np.float32)
    y[:2] = x[2:]
    return np.sum(y.astype(float) * 0.0) + np.sum(x * x)


@program(numbers(4), writes=True)
def writes_its_argument(x):
    x[0] = x[1] * x[2]
    x[1:] *= 2.0
    return np.sum(x * x)


@program(numbers(4), numbers(4, seed=1), writes=True)
def normalises_in_place(x, w):
    x /= np.sqrt(np.sum(x * x))
    return np.dot(w, x)


@program(numbers(5), writes=True)
def writes_its_argument_in_a_loop(x):
    for i in range(1, 5):
        x[i] += 0.5 * x[i - 1] ** 2
    return x[4] * x[0]


@program(numbers(3, 4), numbers(4, seed=2))
def broadcasting_store(a, v):
    b = np.empty((3, 4))
    b[...] = v
    b[1:] = b[1:] * a[1:]
    b[:, :1] = a[0, 0]
    return np.sum(b * b)


@program(0.7, numbers(3))
def scalar_into_a_slice(c, x):
    y = np.ones(5)
    y[1:4] = c
    y[2:] *= x
    return np.sum(y * np.arange(1.0, 6.0))


@program(np.array(0.6))
def rank_zero_array(x):
    y = np.array(x)
    y[...] = y * y
    y += x
    return y * 2.0


@program(numbers(2, 3, 4))
def ellipsis_and_newaxis(a):
    b = np.zeros((2, 3, 4))
    b[..., 1] = a[..., 0]
    b[0, ..., 2] += a[1, :, 3]
    c = b[:, None, 1:, ::2]
    return np.sum(c * c) + np.sum(b[..., 1] * a[..., 1])


@program(numbers(4))
def written_after_saved(x):
    y = np.exp(x)
    z = y * y
    y[0] = 5.0
    y *= x
    return np.sum(z * y)


@program(numbers(4), 3)
def written_after_saved_in_a_loop(x, n):
    y = x * 1.0
    s = 0.0
    for i in range(n):
        s = s + np.sum(y * y)
        y[i] = np.sin(y[i] + s)
        y *= 0.9
    return s + np.sum(y)


@program(numbers(5))
def build_then_reduce(x):
    table = np.zeros((5, 5))
    for i in range(5):
        for j in range(i + 1):
            table[i, j] = x[i] * x[j] + (table[i - 1, j] if i > 0 else 0.0)
    return np.sum(table**2)


@program(numbers(6))
def cumulative_in_place(x):
    y = x.copy()
    for i in range(1, 6):
        y[i] += y[i - 1]
    y[::2] -= y[1::2]
    return np.sum(y * y)


@program(numbers(4), numbers(4, seed=1))
def chart_with_one_cell(y, w):
    c = np.zeros((1, 1))
    for i in range(4):
        c[0, 0] = np.sum(np.array([y[i] * w[i], 2.0 * c[0, 0]]))
    return c[0, 0] ** 2


@program(numbers(4))
def argument_copied_then_written(x):
    x = x.copy()
    x[0] = 2.0 * x[1]
    x /= np.sum(x * x)
    return np.sum(x * np.arange(4.0))


@program(numbers(3, 3))
def upper_triangle_indices(a):
    m = np.zeros((3, 3))
    i, j = np.triu_indices(3)
    m[i, j] = a[i, j] ** 2
    m[j, i] = m[i, j]
    return np.sum(m * a)


@program(numbers(5))
def argsort_gather_and_scatter(x):
    order = np.argsort(x)
    y = np.empty(5)
    y[order] = x[order] * np.arange(5.0)
    return np.sum(y * x)


@program(numbers(4))
def store_reads_itself(x):
    y = x * 1.0
    y[1:3] = y[0:2] * y[2:4]
    y[0] = y[0] + y[1] * y[1]
    return np.sum(y * y * x)


@program(numbers(6))
def minus_one_and_negative_indices(x):
    y = x.copy()
    y[-1] = y[-2] * y[0]
    y[-3:] *= x[:3]
    return y[-1] + np.sum(y[-4:-1])


@program(numbers(3), numbers(3, seed=5))
def complex_buffer(x, y):
    z = np.zeros(3, dtype=complex)
    z.real = x
    z.imag[:] = y * y
    return np.sum((z * z).real)


@program(numbers(5))
def lists_of_numbers_stored(x):
    y = np.zeros((3, 2))
    y[...] = [x[0], x[1]]
    y[1] = (x[2], 1.0)
    y[:, 0] += [x[1], x[2], x[3]]
    y[[2, 0], 1] = [x[4], x[0] ** 2]
    y *= [[x[0], x[1]], [1, 2.0], (x[2], x[3])]
    y[np.array([True, False, False])] = [x[0], 2.0]
    np.add.at(y, (0, [1, 1]), [x[0], x[1]])
    return np.sum(y * np.arange(6.0).reshape(3, 2))


@program(numbers(5))
def lists_of_numbers_by_functions(x):
    y = np.zeros((2, 3))
    np.copyto(y, [x[0], x[1], x[2]])
    np.put(y, [0, 3], [x[0], x[1]])
    np.multiply(y, [x[0], 1.0, x[1]], out=y)
    y[...] += [[x[0]], [x[1]]]
    return np.sum(y * np.arange(6.0).reshape(2, 3))


@program(np.array(0.3))
def mask_of_rank_zero(x):
    y = x.copy()
    y[y > 0] = 2.0 * x
    z = y.view()
    z[...] *= 3.0
    return y * x[x > 0].sum() + x[True].sum()


@program(numbers(4, 5), numbers(5, seed=1))
def additions_to_parts(x, v):
    y = np.zeros((4, 5))
    for i in range(4):
        y[i] += x[i] * v
        y[i, 1:-1] = y[i, 1:-1] - np.sin(x[i, 2:]) * 2
        y[i, i] = v[i] ** 2 + y[i, i]
        y[:, i] += x[0, 0]
        y[i, :] -= 0.5
        y.T[i] = y.T[i] + x[:, i] * y[0, :4]
    return np.sum(y * y * x)


@program(numbers(5), numbers(5, seed=1))
def additions_where_an_index_repeats(x, v):
    y = x * 2.0
    idx = np.array([0, 1, 1, 3, 3])
    y[idx] = y[idx] + v * v
    y[x > 0] += v[x > 0] * x[1]
    y[idx] -= np.sin(v)
    return np.sum(y * y)


@program(numbers(3, 4), numbers(3, 4, seed=1))
def additions_that_are_read_again(x, v):
    y = x * 1.0
    old = y[1]
    new = y[1] + v[0]
    y[1] = new
    y[2] += y[1] * new
    y[1:] += y[:-1] * v[1:]
    y[:, 1:] = y[:, :-1] + y[:, 1:]
    y[0] = y[0] + v[2].reshape(1, 4)
    y *= v
    y[0] *= old
    return np.sum(y * y) + np.sum(new)


@program(
    np.array([1.0, 2.0, 3.0, 4.0], np.float32),
    np.array([0.5, 0.25, -0.5, 1.0]),
    expect=(np.array([2.0, 16.0, 22.0, 42.0], np.float32), np.array([2.0, 16.0, 22.0, 42.0])),
)
def additions_of_another_dtype(x, v):
    y = x * np.float32(2)
    y[1:] += v[1:] * 2
    y[0] = y[0] + v[0]
    y[:2] -= 1
    z = np.zeros(4, dtype=complex)
    z[1:] += y[1:] * 1j
    z[0] += v[0]
    return np.sum(np.abs(z) ** 2) + np.sum(y)


@program(numbers(3, 4), numbers(2, 4, seed=1))
def values_with_more_axes_than_their_place(x, v):
    y = np.zeros((3, 4))
    y[0] = x[0] * v[1].reshape(1, 4)
    y[1] = v[:1] * x[0, 0]
    y[2, 1:3] = (x[:1, 1:3] * v[0, 0]).reshape(1, 1, 2)
    y[1:2] = y[1:2] + v[0] + x[2]
    return np.sum(y * y)
