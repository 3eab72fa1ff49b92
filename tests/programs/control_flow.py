"""Branches and loops: every way to start, leave and skip an iteration."""

import math

import numpy as np

from . import numbers, positive, program


@program(numbers(4), 1.5)
@program(numbers(4), -1.5)
def branch_on_a_number(x, c):
    if c > 0:
        y = np.sin(x) * c
    else:
        y = np.cos(x) / c
    return np.sum(y * y)


@program(0.3, 0)
@program(0.3, 1)
@program(0.3, 2)
@program(0.3, 7)
def elif_chain(x, mode):
    if mode == 0:
        return x * x
    elif mode == 1:
        return math.sin(x)
    elif mode == 2:
        y = math.exp(x)
    else:
        y = x**3
    return y + 1.0


@program(numbers(5))
def running_sum(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] ** 2
    return s


@program(numbers(5))
def running_product_backwards(x):
    p = 1.0
    for i in range(len(x) - 1, -1, -1):
        p = p * x[i] + 1.0
    return p


@program(positive(6), 2)
@program(positive(6), 0)
@program(positive(6), 9)
def break_when_found(x, stop):
    s = 0.0
    for i in range(6):
        if i == stop:
            break
        s = s + np.log(x[i]) * (i + 1)
    return s


@program(numbers(6))
def continue_on_negative(x):
    s = 0.0
    for v in x:
        if v < 0:
            continue
        s += v**3
    return s


@program(positive(6), 100.0)
@program(positive(6), 1.2)
def for_else(x, limit):
    total = 0.0
    for i in range(6):
        total = total + x[i] ** 2
        if total > limit:
            break
    else:
        total = total * 10.0
    return total * x[0]


@program(positive(6), 3.0)
@program(positive(6), 0.1)
def while_else_with_break(x, limit):
    i = 0
    s = 0.0
    while i < 6:
        s += x[i]
        if s > limit:
            s = s * 2.0
            break
        i += 1
    else:
        s = -s
    return s * x[1]


@program(numbers(4, 3), 0)
@program(numbers(4, 3), 5)
def break_inside_nested_loops(a, k):
    s = 0.0
    for i in range(4):
        for j in range(3):
            if i * 3 + j == k:
                break
            s = s + a[i, j] ** 2 * (i + 1)
        else:
            s = s * 1.5
            continue
        s = s - a[i, 0]
    return s


@program(numbers(4, 3), 0.9)
@program(numbers(4, 3), 5.0)
def return_from_nested_loops(a, limit):
    s = 0.0
    for i in range(4):
        for j in range(3):
            s = s + a[i, j] ** 2
            if s > limit:
                return s * a[i, j]
        s = s * 1.1
    return np.sin(s)


@program(numbers(3, 4))
def labelled_continue_by_flag(a):
    s = 0.0
    for i in range(3):
        bad = False
        for j in range(4):
            if a[i, j] > 0.8:
                bad = True
                break
            if a[i, j] < -0.9:
                continue
            s += a[i, j] * (j + 1)
        if bad:
            continue
        s *= 2.0
    return s**2


@program(numbers(5), 0)
def zero_trip_for(x, n):
    y = x * 2.0
    for i in range(n):
        y = y * x[i]
    return np.sum(y * y)


@program(numbers(5))
def zero_trip_while(x):
    y = np.sin(x)
    k = 0
    while k > 10:
        y = y * 2
        k += 1
    return np.sum(y)


@program(numbers(5), 0)
@program(numbers(5), 3)
def zero_trip_nested(x, n):
    s = x[0] * x[1]
    for i in range(n):
        for j in range(i):
            s = s + x[i] * x[j] * s
    return s


@program(2.0)
@program(30.0)
def newton_square_root(a):
    x = a
    while abs(x * x - a) > 1e-13 * a:
        x = 0.5 * (x + a / x)
    return x


@program(np.array(0.7))
def newton_for_kepler(e):
    m = 1.1
    u = m
    for _ in range(30):
        step = (u - e * np.sin(u) - m) / (1 - e * np.cos(u))
        u = u - step
        if abs(step) < 1e-14:
            break
    return np.cos(u) - e


@program(numbers(3), 40.0)
def grow_until(x, limit):
    n = 0
    total = np.sum(x * x)
    while total < limit:
        total = total * 1.7 + x[n % 3] ** 2
        n += 1
    return total / (n + 1)


@program(numbers(4))
def while_true_with_break(x):
    i = 0
    y = x
    while True:
        y = np.tanh(y * 1.3)
        i += 1
        if i >= 3:
            break
    return np.sum(y * x)


@program(0.4)
def while_true_with_return(x):
    k = 0
    while True:
        k += 1
        x = x * x + 0.3
        if k == 4:
            return x


@program(numbers(3), True)
@program(numbers(3), False)
def value_defined_in_one_branch_only(x, flag):
    if flag:
        scale = np.sum(x)
    y = x * x
    if flag:
        y = y * scale
    return np.sum(y)


@program(numbers(4))
def loop_variable_after_the_loop(x):
    for i in range(1, 4):
        last = x[i] * i
    return last * i + x[i - 1]


@program(numbers(4))
def loop_target_rebound_in_the_body(x):
    s = 0.0
    for v in x:
        v = v * v
        s = s + v * x[0]
    return s


@program(numbers(4))
def range_bounds_from_a_shape(x):
    s = 0.0
    n = x.shape[0]
    for i in range(0, n, 2):
        s += x[i] * x[(i + 1) % n]
    return s


@program(numbers(3, 4))
def rows_of_an_array(a):
    s = 0.0
    for row in a:
        s = s + np.sum(row) ** 2
    return s


@program(numbers(4), numbers(4, seed=1))
def zip_enumerate_reversed(x, y):
    s = 0.0
    for i, (a, b) in enumerate(zip(x, reversed(y))):
        s += a * b * (i + 1)
    return s


@program(numbers(5))
def enumerate_from_one(x):
    s = 0.0
    for k, v in enumerate(x, 1):
        s += v**k
    return s


@program(numbers(4))
def conditional_expression(x):
    s = 0.0
    for i in range(4):
        s += x[i] ** 2 if x[i] > 0 else -3.0 * x[i]
    return s


@program(0.5, 2.0)
def and_or_values(x, y):
    a = x and y
    b = (x > 1.0 and x) or y
    c = x > 0.1 and y > 0.1
    return a * b + (x if c else 0.0)


@program(0.5)
@program(1.5)
def chained_comparison(x):
    if 0.0 < x < 1.0:
        return x * x
    return x**3


@program(numbers(6))
def walrus_in_a_while(x):
    i = -1
    s = 0.0
    while (i := i + 1) < 4:
        s = s * x[i] + x[i + 1]
    return s


@program(numbers(6))
def walrus_in_an_if(x):
    s = 0.0
    for v in x:
        if (w := v * v) > 0.3:
            s += w
        else:
            s += w * w
    return s


@program(numbers(3), "square")
@program(numbers(3), "cube")
@program(numbers(3), "none")
def match_on_a_string(x, kind):
    match kind:
        case "square":
            y = x**2
        case "cube" | "third":
            y = x**3
        case _:
            y = x
    return np.sum(y)


@program(numbers(3), 2)
def match_on_a_number_in_a_loop(x, n):
    s = 0.0
    for i in range(4):
        match i % 3:
            case 0:
                s = s + x[0]
            case 1:
                s = s * x[1]
            case k if k == n:
                s = s - x[2] * k
    return s


@program((0.3, 0.7), 1.0)
@program([0.3, 0.7, 0.2], 1.0)
def match_on_a_shape(p, scale):
    match p:
        case (a, b):
            return a * b * scale
        case [a, b, c]:
            return (a + b) * c * scale


@program(numbers(4))
def assertion_and_raise(x):
    assert x.ndim == 1, "a vector"
    if len(x) < 2:
        raise ValueError(f"too short: {len(x)}")
    s = 0.0
    for v in x:
        assert abs(v) < 100.0
        s += v * v
    return s


@program(positive(4))
def with_errstate(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(x)
        if np.any(y > 100):
            return 0.0 * y[0]
    return np.sum(y / x)


@program(numbers(3))
def prints_and_formats(x):
    label = f"{x.shape[0]} values, ndim {x.ndim}"
    y = x * 3.0
    if y[0] > 1e9:
        print(label, y)
    return np.sum(y * y)


@program(numbers(6), 3)
def data_dependent_trip_count(x, n):
    k = int(np.abs(x[0]) * 10) % 3 + n
    s = 0.0
    for i in range(k):
        s += x[i] * x[i]
    return s


@program(positive(4))
def two_exits_and_else(x):
    s = 0.0
    for i in range(4):
        s += x[i]
        if s > 3.4:
            return s * 2
        if s > 2.2:
            break
        if i == 2:
            continue
        s *= 1.1
    else:
        s = s - x[0]
    return s * x[3]


@program(numbers(5))
def triangular_nest(x):
    s = 0.0
    for i in range(5):
        for j in range(i):
            for k in range(j, i):
                s += x[i] * x[j] * x[k]
    return s


@program(numbers(4), 6)
def collatz_like(x, n):
    s = x[0]
    while n != 1:
        if n % 2 == 0:
            n = n // 2
            s = s * x[1] + x[2]
        else:
            n = 3 * n + 1
            s = s + x[3] * s
    return s


@program(numbers(5))
def alternating_signs(x):
    sign = 1
    s = 0.0
    for v in x:
        s += sign * v * v
        sign = -sign
    return s


@program(positive(5))
def running_maximum(x):
    best = x[0]
    for i in range(1, 5):
        if x[i] > best:
            best = x[i]
    return best * best


@program(numbers(4), None)
@program(numbers(4), positive(4))
def optional_weights(x, w):
    if w is None:
        w = np.ones(4)
    return np.sum(w * x * x)


@program(numbers(3, 3))
def early_return_on_shape(a):
    if a.ndim == 1:
        return np.sum(a)
    if a.shape[0] != a.shape[1]:
        raise ValueError("square")
    return np.trace(a @ a)


@program(positive(3), 5)
def while_with_two_conditions(x, n):
    i = 0
    t = 1.0
    while i < n and t > 1e-3:
        t = t * x[i % 3] * 0.5
        i += 1
    return t + x[0]


@program(numbers(4))
def undefined_until_the_second_iteration(x):
    s = 0.0
    for i in range(4):
        if i > 0:
            s += prev * x[i]
        prev = x[i] ** 2
    return s


@program(numbers(4), numbers(4, 4), True)
@program(numbers(4), numbers(4, 4), False)
def array_of_one_branch_in_a_loop(x, m, flag):
    u = np.tanh(m @ x)
    b = m.copy()
    for i in range(0, 4, 2):
        low = u[i] < u[1] if flag else u[i] < -2.0
        if low:
            q = np.concatenate([x[2:], u[:2]])
        u[i] *= x[i]
        if low:
            b[1] += q * u
    return np.sum(b * b)


@program(numbers(4), 3)
@program(numbers(4), 0)
def number_of_one_branch_in_a_loop(x, n):
    s = 0.0
    for i in range(n):
        late = x[i] < x[i + 1]
        if late:
            scale = np.sum(x[i:]) * s
        s = s + x[i] * x[i]
        if late:
            s = np.sin(s) * scale + s
    return s


@program(numbers(4), 3)
@program(-numbers(4), 0)
def number_stored_in_a_branch_or_loop_only(x, n):
    u = x * 2.0
    y = np.zeros(4)
    s = 0.0
    for i in range(3):
        low = np.sin(u[i])
        scale = low * low
        if low > 0.3:
            u[3 - i] = low
        for j in range(n):
            y[j] = scale
        if low < scale:
            s += low * np.exp(scale)
    return s * np.sum(u) + np.sum(y)


@program(numbers(4), 0.3)
@program(numbers(4), -0.3)
@program(-numbers(4), -0.3)
def number_stored_in_an_inner_branch_only(x, c):
    u = x * c
    rows = [x + c]
    if c > 0.2:
        d = u
    elif u[0] < u[1]:
        rows.append(np.tanh(u + c))
    else:
        d = u
        if d[0] < d[1] + 0.8:
            d[1], d[3] = d[-4], d[1]
    s = np.sum(u * u)
    for r in rows:
        s += np.sum(r * r)
    return s


@program(-np.arange(1.0, 5.0) / 7, numbers(4, 4), 0.3, 2)
def shapes_of_what_another_path_made(x, A, c, n):
    u = x * c
    if x[0] < x[1]:
        h = u[1:3]
        h[0] = c
        return np.sum(u * u)
    for r, row in zip(x * 1.0, A + 0.0):
        c = np.tanh(r * row[0])
    for _ in range(n):
        if c > 0.2 and n > 1:
            c = np.linalg.norm(x + 1.5)
        x[[0, 2]] += c
    u = np.sqrt(1.0 + x**2) - x
    return np.sum(u * x)
