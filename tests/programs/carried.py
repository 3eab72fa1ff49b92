"""Values carried by loops: type, rank, structure and identity change on the way."""

import numpy as np

from . import numbers, positive, program


@program(numbers(4))
def zero_becomes_a_float(x):
    s = 0
    for i in range(4):
        s = s + x[i] * x[i]
    return s


@program(numbers(3, 4))
def zero_becomes_a_vector(a):
    s = 0
    for i in range(3):
        s = s + a[i] * (i + 1)
    return np.sum(s * s)


@program(numbers(3, 4))
def none_becomes_a_vector(a):
    h = None
    for i in range(3):
        if h is None:
            h = a[i]
        else:
            h = np.tanh(h) * a[i]
    return np.sum(h)


@program(numbers(4))
def rank_grows(x):
    y = x
    for _ in range(2):
        y = y[..., None] * x
    return np.sum(y * y)


@program(numbers(4), 3)
def rank_settles_by_broadcasting(x, n):
    y = 1.0
    for i in range(n):
        y = y * x + i
    return np.sum(y)


@program(numbers(2, 3), 4)
def shape_grows(a, n):
    b = a
    for _ in range(n):
        b = np.concatenate([b, b[-1:] * 0.5 + a[:1]], axis=0)
    return np.sum(b * b)


@program(numbers(6))
def shape_shrinks(x):
    while x.shape[0] > 1:
        x = x[1:] * x[:-1] + x[0]
    return x[0]


@program(numbers(4))
def integer_then_float(x):
    n = 1
    for i in range(4):
        n = n * 2 if i < 2 else n * x[i]
    return n * x[0]


@program(numbers(3))
def swap_in_a_loop(x):
    a, b = x[0], x[1]
    for i in range(5):
        a, b = b, a * b + x[2]
    return a - 2 * b


@program(numbers(4), numbers(4, seed=2))
def swap_arrays_in_a_loop(x, y):
    a = x * 1.0
    b = y * 1.0
    for i in range(3):
        a, b = b, a
        a[i] = a[i] * b[i + 1]
    return np.sum(a * np.arange(4.0)) + np.sum(b)


@program(numbers(5))
def carried_tuple(x):
    state = (x[0], x[1])
    for i in range(2, 5):
        state = (state[1] * x[i], state[0] + x[i])
    return state[0] * state[1]


@program(numbers(5))
def carried_tuple_with_a_counter(x):
    state = (0, 1.0)
    while state[0] < 5:
        k, v = state
        state = (k + 1, v * x[k] + 1.0)
    return state[1]


@program(numbers(4))
def carried_dict(x):
    d = {"sum": 0.0, "last": 1.0}
    for v in x:
        d["sum"] = d["sum"] + v * d["last"]
        d["last"] = v
    return d["sum"]


@program(numbers(4, 4))
def carried_list_of_two(a):
    pair = [a[0], a[1]]
    for i in range(2, 4):
        pair[0], pair[1] = pair[1], pair[0] * a[i]
    return np.sum(pair[0] * pair[1])


@program(numbers(4), 3)
def value_from_the_iteration_before(x, n):
    prev = x
    cur = np.sin(x)
    for _ in range(n):
        nxt = 2.0 * cur - prev + 0.1 * x
        prev = cur
        cur = nxt
    return np.sum(cur**2)


@program(numbers(4))
def float32_meets_float64(x):
    s = np.float32(0.0)
    for v in x:
        s = s + v * v
    return s


@program(positive(4))
def best_so_far(x):
    best = None
    where = -1
    for i in range(4):
        v = x[i] * (i - 1.5) ** 2
        if best is None or v < best:
            best = v
            where = i
    return best + where * x[where]


@program(numbers(5))
def fibonacci_table(x):
    a, b = 0.0, 1.0
    out = 0.0
    for v in x:
        a, b = b, a + b * v
        out += a
    return out + b


@program(numbers(3), 4)
def matrix_power(x, n):
    m = np.eye(3)
    a = np.outer(x, x) * 0.5
    while n > 0:
        if n % 2 == 1:
            m = m @ a
        a = a @ a
        n //= 2
    return np.sum(m)


@program(numbers(4))
def a_counter_as_float(x):
    t = 0.0
    s = 0.0
    while t < 1.0:
        s += np.sum(x * t) ** 2
        t += 0.25
    return s


@program(numbers(6))
def sliding_pairs(x):
    pairs = 0.0
    left = x[0]
    for right in x[1:]:
        pairs += (right - left) ** 2
        left = right
    return pairs


@program(numbers(3), numbers(3, seed=4), 2)
@program(numbers(3), numbers(3, seed=4), 0)
def which_array_after_the_loop(x, y, n):
    z = x
    for _ in range(n):
        z = y
    return np.sum(z * x)
