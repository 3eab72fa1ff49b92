"""Two names for one array, views of views, containers of arrays, arguments given twice."""

import numpy as np

from . import numbers, program


@program(numbers(3), numbers(3, seed=1))
def two_names_one_array(x, y):
    a = x * 1.0
    b = a
    b += y
    return np.sum(a * b)


@program(numbers(4))
def write_through_a_view(x):
    a = x * 2.0
    v = a[1:3]
    v *= x[:2]
    v[0] = x[3]
    return np.sum(a * a)


@program(numbers(4))
def view_sees_a_later_write(x):
    a = x * 1.0
    v = a[:2]
    a[0] = x[3] * 5.0
    return np.sum(v * v)


@program(numbers(4, 5))
def view_of_a_view(m):
    a = m.copy()
    v = a[1:][:, ::2]
    w = v.T[0]
    w += 1.0
    v[0, 1] = m[0, 0] * m[1, 1]
    return np.sum(a * a) + np.sum(w)


@program(numbers(6))
def reshape_is_a_view(x):
    a = x * 1.0
    m = a.reshape(2, 3)
    m[1] *= m[0]
    m.T[2] = 0.5
    return np.sum(a * np.arange(6.0))


@program(numbers(3, 3))
def transpose_is_a_view(m):
    a = m * 1.0
    t = a.T
    t[0, 1] = m[2, 2] ** 2
    a[1, 2] += t[0, 1]
    return np.sum(a * t)


@program(numbers(4))
def copy_breaks_the_alias(x):
    a = x * 1.0
    b = a.copy()
    b[0] = 9.0
    a *= 2.0
    return np.sum(a * b)


@program(numbers(4))
def element_is_not_a_view(x):
    a = x * 1.0
    first = a[0]
    a[0] = 3.0
    return first * np.sum(a)


@program(numbers(4))
def ellipsis_element_is_a_view(x):
    a = x * 1.0
    first = a[0, ...]
    a[0] = x[1] * x[2]
    return first * np.sum(a)


@program(numbers(6), 4)
def jacobi_ping_pong(b, sweeps):
    old = np.zeros(6)
    new = np.zeros(6)
    for _ in range(sweeps):
        for i in range(1, 5):
            new[i] = 0.5 * (old[i - 1] + old[i + 1] + b[i])
        old, new = new, old
    return np.sum(old * old)


@program(numbers(3, 4))
def rows_in_a_list(m):
    a = m * 1.0
    rows = [a[0], a[1], a[2]]
    rows[1] += rows[0]
    rows[2][0] = m[0, 3]
    return np.sum(a * a)


@program(numbers(3, 4))
def rows_by_comprehension(m):
    a = m * 1.0
    rows = [row for row in a]
    return np.sum(rows[0] * rows[2]) + np.sum(rows[1])


@program(numbers(3, 4))
def iterating_rows_writes_through(m):
    a = m.copy()
    for i, row in enumerate(a):
        row *= i + 1.0
        row[0] = m[i, 3]
    return np.sum(a * a)


@program(numbers(4))
def alias_in_one_branch(x):
    a = x * 1.0
    if x[0] > 10.0:
        b = a.copy()
    else:
        b = a.copy()
        a[0] = 1.0
    b += a
    return np.sum(a * b)


@program(numbers(4), numbers(4, seed=3), True)
@program(numbers(4), numbers(4, seed=3), False)
def alias_chosen_by_a_flag(x, y, flag):
    a = x * 1.0
    b = y * 1.0
    c = a if flag else b
    s = np.sum(c * c)
    return s * np.sum(a) + np.sum(b)


def _scaled_sum(x, y):
    return np.sum(x * y) + x[0] * y[1]


_same = numbers(3)


@program(_same, _same)
def the_same_argument_twice(x, y):
    return _scaled_sum(x, y) + _scaled_sum(x, x)


@program(numbers(4))
def parameter_and_alias_of_it(x):
    y = x
    z = y[1:]
    return np.sum(y[:-1] * z) + np.sum(x * y)


@program(numbers(5))
def rebinding_is_not_a_write(x):
    y = x
    y = y * 2.0
    x = x + y
    y = y - x
    return np.sum(x * y)


@program(numbers(4))
def augmented_scalar_is_not_shared(x):
    a = x[0]
    b = a
    a += x[1]
    a *= b
    return a * b


@program(numbers(4))
def view_moves_with_the_index(x):
    a = np.zeros((4, 3))
    for i in range(4):
        row = a[i]
        row[0] = x[i]
        row[1:] = x[i] * row[0]
    return np.sum(a * a)


@program(numbers(6))
def window_moves_along(x):
    a = x * 1.0
    for i in range(4):
        w = a[i : i + 3]
        w[1] += w[0] * w[2]
    return np.sum(a * np.arange(6.0))


@program(numbers(4))
def chained_assignment(x):
    a = b = x * 1.0
    a[0] = x[1] * 2.0
    b[1] += a[0]
    return np.sum(a * b)


@program(numbers(4))
def diagonal_and_ravel(x):
    m = np.outer(x, x)
    flat = m.ravel()
    flat[5] = x[0]
    d = np.diagonal(m)
    return np.sum(d * x) + np.sum(m)


@program(numbers(2, 3))
def asarray_is_the_same(m):
    a = m * 1.0
    b = np.asarray(a)
    b[0, 0] = m[1, 2] ** 2
    return np.sum(a * m)


@program(numbers(3))
def tuple_shares_the_array(x):
    a = x * 1.0
    pair = (a, a)
    pair[0][0] = x[1] * 4.0
    return np.sum(pair[1] * pair[0])


@program(numbers(3))
def dict_shares_the_array(x):
    d = {"p": x * 1.0}
    q = d["p"]
    q[1] = x[0]
    d["p"] *= 2.0
    return np.sum(q * d["p"])


@program(numbers(4, 4))
def in_place_on_blocks(m):
    a = m.copy()
    top = a[:2, :2]
    bottom = a[2:, 2:]
    top += bottom
    bottom -= top @ top
    return np.sum(a * a)


@program(numbers(5))
def reversed_view_of_itself(x):
    a = x * 1.0
    a += a[::-1]
    r = a[::-1]
    r[0] = x[0] * x[1]
    return np.sum(a * np.arange(5.0))


@program(numbers(3))
def frozen_then_copied(x):
    buffers = []
    a = x * 1.0
    for i in range(3):
        a = a.copy()
        a[i] = a[i] * 2.0 + a[0]
        buffers.append(a)
    return np.sum(buffers[0] * buffers[1] * buffers[2])


@program(numbers(3), 4)
def history_of_copies(x, n):
    state = x * 1.0
    history = []
    for k in range(n):
        state += 0.1 * np.sin(state)
        history.append(state.copy())
    s = 0.0
    for h in history:
        s += np.sum(h * h)
    return s


@program(numbers(4, 4), 0.3)
@program(numbers(4, 4), -0.3)
def bound_anew_on_one_path_in_a_loop_over_rows(m, c):
    b = m.copy()
    for row in b * 1.5:
        if row[0] > 0.8:
            row += row
            continue
        elif c < 0.2:
            b = b[::-1] * 0.7
        np.fill_diagonal(b, c)
        b[0] += row
    return np.sum(b * b)


@program(numbers(4), numbers(4, 4), 0.3)
def bound_anew_on_one_path_in_a_loop_over_several(x, m, c):
    b = m.copy()
    for i, (v, row) in enumerate(zip(x + 1.0, reversed(b * 2.0))):
        if v > 1.5:
            b *= v
        elif c > 0.2:
            b = b[::-1] * 0.7
        b[i] = c * row
    return np.sum(b * b)


@program(numbers(4), numbers(4, 4), 0.3, refused="may share memory with another value")
def rows_of_what_is_bound_anew(x, m, c):
    b = m.copy()
    s = 0.0
    for row in b:
        if c > 0.2:
            b = b[::-1] * 0.7
        b[1] = c * row
        s += np.sum(b * row * x)
    return s


@program(numbers(4), 0.3)
def an_iterator_sees_a_later_write(x, c):
    b = x.copy()
    pairs = zip(b, x)
    if c > 0.0:
        b[0] = c * x[1]
    b = b * 2.0
    s = b[0]
    for v, w in pairs:
        s += v * w * c
    return s


@program(numbers(4), 0.3, refused="may share memory with `pairs`")
def an_iterator_over_one_of_two_arrays(x, c):
    a, b = x.copy(), x * 2.0
    one = a if c > 0.0 else b
    pairs = enumerate(one)
    one[0] = 5.0
    s = 0.0
    for i, v in pairs:
        s += v * (i + 1)
    return s


def _halve(u):
    u *= 0.5
    return u


@program(numbers(4, 4), refused="may share memory with another value")
def array_or_number_changed_by_a_helper(m):
    v = np.sin(np.squeeze(m[1:2]))
    w = _halve(v)
    return np.sum(v * w)


@program(numbers(4, 4), refused="may share memory with `w`")
def array_or_number_of_two_names(m):
    v = np.sin(np.squeeze(m[1:2]))
    w = v
    v *= 0.5
    return np.sum(v * w)


@program(numbers(4, 4), refused="may share memory with `w`")
def array_or_number_of_two_names_in_a_loop(m):
    v = np.sin(np.squeeze(m[1:2]))
    w = v
    for _ in range(3):
        v *= 0.5
        w = v * w
    return np.sum(v * w)


@program(numbers(4, 4))
def array_or_number_of_one_name(m):
    v = np.sin(np.squeeze(m[1:2]))
    for _ in range(3):
        v *= np.sum(v)
        w = v
        w -= 0.1
        v = w * 2.0
    return np.sum(v)
