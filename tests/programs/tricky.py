"""Programs in which a careless compiler goes wrong: versions, sharing and order at close quarters."""

import math

import numpy as np

from . import numbers, positive, program


@program(numbers(4))
def square_saved_then_negated_in_place(x):
    y = x * x
    s = np.sum(y * x)
    np.negative(y, out=y)
    return s * np.sum(y * y)


@program(numbers(4))
def row_read_then_overwritten_in_a_loop(x):
    a = np.outer(x, x)
    s = 0.0
    for i in range(3):
        r = a[i]
        s = s + np.sum(r * r)
        a[i] = a[i + 1] * s
        s = s + np.sum(r)
    return s


@program(numbers(5))
def scalar_read_before_the_write(x):
    a = x * 1.0
    s = 0.0
    for i in range(4):
        left = a[i]
        a[i] = a[i + 1] * left
        s += left * a[i]
    return s


@program(numbers(4))
def exp_of_the_output_overwritten(x):
    y = np.exp(x)
    z = np.tanh(y)
    y[:] = z
    y += np.exp(y)
    return np.sum(y * z)


@program(numbers(3, 3))
def column_and_row_share_an_element(a):
    b = a * 1.0
    c = b[:, 1]
    r = b[1, :]
    c *= 2.0
    r += c
    return np.sum(b * b) + c[1] * r[1]


@program(numbers(6))
def two_overlapping_views(x):
    a = x * 1.0
    p, q = a[:4], a[2:]
    p += q
    q *= p
    return np.sum(a * np.arange(6.0))


@program(numbers(6))
def shifted_add_into_itself(x):
    a = x * 1.0
    a[1:] += a[:-1]
    a[:-1] *= a[1:]
    a[::-1] -= a
    return np.sum(a * np.arange(6.0))


@program(numbers(4))
def old_version_kept_by_copy_in_a_loop(x):
    a = x * 1.0
    old = a.copy()
    for i in range(3):
        old, a = a, old
        a[:] = np.sin(old) + old[i]
    return np.sum(a * old)


@program(numbers(4))
def buffer_reused_for_two_values(x):
    buf = np.empty(4)
    np.multiply(x, x, out=buf)
    s = np.sum(np.sin(buf))
    np.add(x, 1.0, out=buf)
    t = np.sum(buf**3)
    return s * t


@program(numbers(3), 3)
def buffer_reused_in_each_iteration(x, n):
    buf = np.zeros(3)
    total = 0.0
    for i in range(n):
        buf[:] = x * (i + 1)
        buf **= 2
        total += np.sum(buf * x)
    return total


@program(numbers(4))
def sum_of_a_view_after_the_base_changed(x):
    a = x * 1.0
    v = a[1:3]
    s = v.sum()
    a *= 3.0
    t = v.sum()
    a = x * 5.0
    return s * t * v.sum() * a[0]


@program(numbers(4), True)
@program(numbers(4), False)
def written_in_one_branch_only(x, flag):
    a = x * 1.0
    b = np.sin(a)
    if flag:
        a[0] = b[1]
        b *= a
    return np.sum(a * b)


@program(numbers(4))
def conditional_write_in_a_loop(x):
    a = x * 1.0
    for i in range(4):
        if a[i] > 0:
            a[i] = a[i] ** 2
            a[(i + 1) % 4] -= a[i]
        else:
            a *= 1.1
    return np.sum(a * x)


@program(numbers(4))
def break_after_a_write(x):
    a = x * 1.0
    for i in range(4):
        a[i] *= a[i - 1]
        if i == 2:
            break
        a += 0.1
    return np.sum(a * a)


@program(numbers(4))
def continue_before_a_write(x):
    a = x * 1.0
    for i in range(4):
        a = a * 1.1
        if a[i] < 0:
            continue
        a[i] = np.sin(a[i])
    return np.sum(a)


@program(numbers(3))
def nested_loop_writes_the_outer_buffer(x):
    a = np.zeros((3, 3))
    for i in range(3):
        row = x * (i + 1)
        for j in range(3):
            row[j] += a[i - 1, j] if i > 0 else 0.0
            a[i, j] = row[j] * row[j - 1]
    return np.sum(a)


@program(numbers(3))
def gradient_through_an_overwritten_index(x):
    idx = 0
    a = x * 1.0
    for _ in range(3):
        a[idx] = a[idx] * a[(idx + 1) % 3]
        idx = (idx + 2) % 3
    return np.sum(a)


@program(numbers(5))
def write_at_a_data_dependent_index(x):
    a = x * 1.0
    for _ in range(3):
        k = int(np.argmax(a))
        a[k] = a[k] * 0.5
    return np.sum(a**2)


@program(numbers(4), numbers(4, seed=1))
def helper_returns_one_of_two(x, y):
    def larger(a, b):
        return a if np.sum(a) > np.sum(b) else b

    return np.sum(larger(x, y) * x)


@program(numbers(4))
def helper_returns_a_view_that_is_written(x):
    def tail(a):
        return a[1:]

    b = x * 1.0
    t = tail(b)
    t *= 2.0
    t[0] += b[0]
    return np.sum(b * b)


@program(numbers(4))
def helper_writes_and_reads_two_names_of_one(x):
    def add_into(dst, src):
        dst += src
        return np.sum(dst * src)

    b = x * 1.0
    s = add_into(b, b)
    return s + add_into(b[:2], b[2:])


@program(numbers(3))
def default_argument_is_an_array(x):
    def f(v, w=np.array([1.0, 2.0, 3.0])):
        return np.sum(v * w)

    return f(x) * f(x, x)


@program(numbers(3))
def closure_over_an_array_that_is_written(x):
    a = x * 1.0

    def total():
        return np.sum(a * a)

    before = total()
    a[0] = 3.0 * x[1]
    return before * total()


@program(numbers(3))
def closure_over_a_list_that_grows(x):
    log = []

    def push(v):
        log.append(v)
        return v * 2.0

    y = push(x[0]) + push(x[1] * x[2])
    return y * log[0] * log[1]


@program(numbers(4))
def same_value_twice_in_one_call(x):
    y = np.sin(x)
    return np.sum(np.multiply(y, y)) + np.dot(y, y) + np.sum(np.concatenate([y, y]) * 2.0)


@program(numbers(4))
def value_used_after_the_loop_that_saved_it(x):
    s = 0.0
    for i in range(4):
        t = np.sin(x[i]) * x
        s += np.sum(t * t)
    return s * np.sum(t)


@program(numbers(3))
def product_through_zero(x):
    y = x - x
    return np.prod(y + x[0]) + np.sum(y * x) + np.prod(np.array([x[0], 0.0, x[1]]))


@program(np.array([-1.0, 4.0, 0.0]), expect=(np.array([0.0, 0.25, 0.0]),))
def masked_square_root(x):
    y = np.zeros(3)
    m = x > 0
    y[m] = np.sqrt(x[m])
    return np.sum(y)


@program(np.array([0.0, 2.0]), expect=(np.array([0.0, 1.0 + math.log(2.0)]),))
def entropy_with_zero(p):
    with np.errstate(all="ignore"):
        t = np.where(p > 0, p * np.log(p), 0.0)
    return t.sum()


@program(np.array([0.0, 1.0, 2.0]), expect=(np.array([1.0, 2.0, 4.0]),))
def powers_at_zero(x):
    return np.sum(x**0) + np.sum(x**1) - np.sum(x) + np.sum(x**2) + x[0] - 0.0 * x[1]


@program(numbers(5))
def ties_nowhere(x):
    return np.max(x) * np.min(x) + np.sum(np.maximum(x, x[::-1]))


@program(numbers(3), numbers(3, seed=1))
def loop_over_three_arrays(x, y):
    s = 0.0
    for a, b, c in zip(x, y, x[::-1]):
        s += a * b - c * s
    return s


@program(numbers(6))
def loop_bound_changes_inside(x):
    n = 3
    s = 0.0
    for i in range(n):
        n = n + 1
        s += x[i] * n
    return s * n


@program(numbers(6))
def while_with_a_shrinking_slice(x):
    s = 0.0
    while len(x) > 2:
        s += x[0] * x[-1]
        x = x[1:-1]
    return s + np.sum(x)


@program(numbers(4))
def float_counter_as_power(x):
    s = 0.0
    p = 1
    for v in x:
        s += v**p
        p += 1
    return s


@program(numbers(4))
def loop_that_replaces_the_parameter(x):
    for _ in range(3):
        x = x - 0.1 * np.cos(x)
        x[0] = x[1]
    return np.sum(x**2)


@program(numbers(4), writes=True)
def parameter_written_then_replaced(x):
    x += 1.0
    x = x * x
    x += 1.0
    return np.sum(x)


@program(numbers(4), numbers(2, seed=1), writes=True)
def view_of_a_parameter_written(x, v):
    t = x[1:3]
    t *= v
    return np.sum(x * x) + np.sum(t)


@program([numbers(3), numbers(3, seed=1)], writes=True)
def array_in_a_list_parameter_written(p):
    p[0][1] = p[1][0] * 2.0
    return np.sum(p[0] * p[1])


@program({"w": numbers(3), "steps": 2}, writes=True)
def array_in_a_dict_parameter_updated(p):
    for _ in range(p["steps"]):
        p["w"] -= 0.1 * np.sin(p["w"])
    return np.sum(p["w"] ** 2)


@program(numbers(4), 1)
def repeated_stack_and_unstack(x, n):
    parts = [x[:2], x[2:]]
    for _ in range(n + 1):
        parts = [parts[1] * 2.0, parts[0] + parts[1]]
    return np.sum(np.concatenate(parts) ** 2)


@program(numbers(3))
def list_repetition_and_mutation(x):
    acc = [0.0] * 3
    for i in range(6):
        acc[i % 3] += x[i % 3] * i
    acc[-1] *= acc[0]
    return sum(acc)


@program(numbers(3), positive(3))
def two_results_of_one_call_each_used_once(x, y):
    q, r = np.linalg.qr(np.outer(x, x) + np.diag(y) + 2 * np.eye(3))
    return np.sum(np.abs(r)) + np.sum(q @ r)


@program(numbers(4))
def long_chain_of_reassignments(x):
    y = x
    for k in range(1, 6):
        y = y * x + 1.0 / k
        y = y - y.mean()
    return np.sum(y * x)


@program(numbers(3), 2)
def loops_in_sequence_share_names(x, n):
    s = 0.0
    for i in range(n):
        t = x[i] * s + 1.0
        s = s + t
    for i in range(n + 1):
        t = x[i] * s * 0.5
        s = s - t * t
    return s


@program(numbers(3, 4))
def accumulator_per_row(a):
    out = []
    for row in a:
        acc = np.zeros(2)
        for k, v in enumerate(row):
            acc[k % 2] += v * v
        out.append(acc)
    return np.prod(np.array(out))


@program(numbers(4))
def read_only_broadcast_then_write(x):
    b = np.broadcast_to(x, (3, 4)).copy()
    b[1] *= 2.0
    b[:, 0] = x[3]
    return np.sum(b**2)


@program(numbers(4))
def conjugate_of_a_real_is_the_same(x):
    a = x * 1.0
    b = np.real(a)
    b = np.conj(b).copy()
    a[0] = 7.0
    return np.sum(a * b)


@program(numbers(4))
def ascontiguous_and_ravel_may_share(x):
    a = x * 1.0
    b = np.ravel(a)
    s = np.sum(b * b)
    a = a * 2.0
    return s * np.sum(a * b)


@program(numbers(5))
def selection_under_a_selection(x):
    return np.sum(np.where(x > 0, np.sqrt(np.maximum(x, 0.1)), 0.0))


@program(numbers(5), numbers(5, seed=1))
def selections_of_negated_and_doubled(x, y):
    low = np.minimum(-x, y)
    return np.sum(np.where(low < 0, np.maximum(x, y) + np.maximum(x, y), -np.maximum(x, y)) - low)


@program(numbers(4), 0.4)
def cotangents_summed_and_read(x, c):
    u = np.sin(x)
    rows = [u.copy(), x + c]
    a = u
    u *= 0.5
    u[0] += c
    rows = rows + [a - 1.0]
    a *= 0.7
    u[[0, 2]] += c
    s = 0.0
    for r in rows:
        s += np.sum(r * r)
    return np.sum(a * u) + s
