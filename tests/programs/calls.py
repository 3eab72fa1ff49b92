"""Calls: helpers, methods, closures, lambdas, recursion, defaults, stars, decorators, higher-order functions."""

import functools
import math
import operator

import numpy as np

from . import numbers, positive, program, spd


def _square(v):
    return v * v


def _scale_in_place(v, c):
    v *= c


def _returns_its_argument(v):
    v[0] = v[0] * 2.0
    return v


def _two_results(v, w=2.0):
    return v * w, np.sum(v) * w


@program(numbers(3))
def helper_called_thrice(x):
    return np.sum(_square(_square(x) + _square(x[0])))


@program(numbers(4))
def helper_that_mutates(x):
    y = x * 1.0
    _scale_in_place(y, x[0])
    _scale_in_place(y[1:], 3.0)
    return np.sum(y * y)


@program(numbers(4))
def helper_that_returns_its_argument(x):
    y = x * 1.0
    z = _returns_its_argument(y)
    z[1] = z[0] * x[2]
    return np.sum(y * z)


@program(numbers(3), 0.4)
def several_results(x, w):
    a, s = _two_results(x, w)
    b, t = _two_results(a)
    return np.sum(a * b) * s + t


def _keyword_only(x, *, power=2, scale=1.0):
    return np.sum(x**power) * scale


@program(numbers(3), 0.5)
def keywords_and_defaults(x, c):
    return _keyword_only(x) + _keyword_only(x, scale=c) + _keyword_only(power=3, x=x)


def _star(*values, **named):
    total = 0.0
    for k, v in enumerate(values):
        total = total + v * (k + 1)
    for name in sorted(named):
        total = total * named[name]
    return total


@program(0.3, 0.7, 1.1)
def star_arguments(a, b, c):
    args = (b, c)
    more = {"p": c}
    return _star(a, *args, q=a, **more) + _star()


@program(0.3, 0.7)
def star_parameters(*xs):
    s = 1.0
    for x in xs:
        s = s * math.sin(x)
    return s + len(xs)


@program(numbers(4))
def nested_function(x):
    def inner(v, k):
        return v * k + x[0]

    s = 0.0
    for i in range(4):
        s = s + inner(x[i], i)
    return s


@program(numbers(3))
def closure_sees_the_variable(x):
    c = 1.0

    def f(v):
        return v * c

    a = f(x)
    c = x[0]
    b = f(x)
    return np.sum(a * b)


@program(numbers(3), 0.8)
def lambdas_on_one_line(x, k):
    f, g = lambda v: v * k, lambda v: v + k
    return np.sum(f(g(x)) * g(f(x)))


@program(numbers(3))
def lambda_with_default(x):
    s = 0.0
    for i in range(3):
        f = lambda v, i=i: v ** (i + 1)
        s = s + f(x[i])
    return s


def _make_polynomial(coefficients):
    def p(t):
        value = 0.0
        for c in reversed(coefficients):
            value = value * t + c
        return value

    return p


@program([0.3, -0.2, 0.7], 1.4)
def function_returning_a_function(c, t):
    p = _make_polynomial(c)
    return p(t) * p(1.0)


def _factorial_like(x, n):
    if n == 0:
        return 1.0
    return x * n * _factorial_like(x, n - 1)


@program(0.6, 4)
def recursion_on_an_integer(x, n):
    return _factorial_like(x, n) + _factorial_like(x, 2)


def _tree_sum(v):
    n = len(v)
    if n == 1:
        return v[0] ** 2
    return _tree_sum(v[: n // 2]) + 2.0 * _tree_sum(v[n // 2 :])


@program(numbers(7))
def recursive_tree_sum(x):
    return _tree_sum(x)


def _tree_value(node, x):
    if isinstance(node, tuple):
        left, right = node
        return _tree_value(left, x) * 0.5 + math.sin(_tree_value(right, x))
    return node * x


@program(((0.2, 0.3), (0.5, (0.7, 0.1))), 1.3)
def recursion_over_nested_tuples(tree, x):
    return _tree_value(tree, x)


def _is_even(n, x):
    return x if n == 0 else _is_odd(n - 1, x * x)


def _is_odd(n, x):
    return 0.5 * x if n == 0 else _is_even(n - 1, math.sin(x))


@program(0.9, 5)
def mutual_recursion(x, n):
    return _is_even(n, x)


def _ackermann_like(x, m, n):
    if m == 0:
        return x * (n + 1)
    if n == 0:
        return _ackermann_like(x + 0.1, m - 1, 1)
    return _ackermann_like(math.sin(x), m - 1, n - 1) * x


@program(0.4)
def recursion_two_ways(x):
    return _ackermann_like(x, 2, 3)


def _adaptive(f, a, b, fa, fb, depth):
    m = 0.5 * (a + b)
    fm = f(m)
    if depth == 0 or abs(fa + fb - 2.0 * fm) < 1e-3:
        return (b - a) * (fa + 4.0 * fm + fb) / 6.0
    return _adaptive(f, a, m, fa, fm, depth - 1) + _adaptive(f, m, b, fm, fb, depth - 1)


@program(0.7, 1.6)
def adaptive_quadrature(k, end):
    f = lambda t: math.exp(-k * t * t)
    return _adaptive(f, 0.0, end, f(0.0), f(end), 3)


class Scaler:
    """An ordinary class."""

    def __init__(self, mean, scale):
        self.mean = mean
        self.scale = scale

    def transform(self, x):
        return (x - self.mean) / self.scale

    def __call__(self, x):
        return self.transform(x) * 2.0

    @property
    def ratio(self):
        return self.mean / self.scale

    @staticmethod
    def clip(x):
        return np.minimum(x, 5.0)

    @classmethod
    def unit(cls, x):
        return cls(x * 0.0, 1.0)


@program(numbers(4), 0.3, 1.7)
def object_made_inside(x, m, s):
    scaler = Scaler(m, s)
    scaler.scale = scaler.scale * 2.0
    return np.sum(Scaler.clip(scaler(x)) ** 2) * scaler.ratio


@program(Scaler(numbers(3), 1.3), numbers(3, seed=2))
def object_as_parameter(scaler, x):
    return np.sum(scaler.transform(x) ** 2) + scaler.ratio[0]


@program(numbers(3))
def class_method(x):
    return np.sum(Scaler.unit(x)(x) ** 3)


def _doubled(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return 2.0 * fn(*args, **kwargs)

    return wrapper


@_doubled
@_doubled
def _decorated(x, k=1.0):
    return np.sum(x * x) * k


@program(numbers(3), 0.5)
def stacked_decorators(x, k):
    return _decorated(x) + _decorated(x, k=k)


@functools.lru_cache(maxsize=None)
def _cached(n):
    return 1.0 / (n + 1.0)


@program(numbers(3))
def cached_helper(x):
    return sum(x[i] * _cached(i) for i in range(3))


def _power(x, n, offset):
    return x**n + offset


@program(numbers(3), 0.4)
def partial_application(x, c):
    cube = functools.partial(_power, n=3, offset=c)
    return np.sum(cube(x)) * np.sum(functools.partial(_power, x)(2, c))


@program(numbers(3), numbers(3, seed=1), numbers(3, seed=2))
def reduce_and_operator(x, y, z):
    s = functools.reduce(np.add, [x, y, z])
    p = functools.reduce(operator.mul, [x[0], y[1], z[2]], 2.0)
    return np.sum(operator.mul(s, s)) * p + operator.itemgetter(1)(s)


@program([0.2, 0.5, 0.9])
def map_and_sum(xs):
    return sum(map(math.sin, xs)) + sum(map(lambda a, b: a * b, xs, xs[1:]))


def _apply(f, x, n):
    for _ in range(n):
        x = f(x)
    return x


@program(numbers(3))
def functions_as_arguments(x):
    return np.sum(_apply(np.tanh, x, 2)) + np.sum(_apply(_square, x, 3)) + _apply(math.exp, x[0], 2)


_TABLE = {"tanh": np.tanh, "square": _square}


@program(numbers(3), "tanh")
@program(numbers(3), "square")
def function_from_a_table(x, name):
    return np.sum(_TABLE[name](x) * x)


@program(0.4, 1.2)
def math_on_scalars(x, y):
    a = math.sqrt(y) * math.exp(-x) + math.log(y) ** 2
    b = math.atan2(x, y) + math.hypot(x, y) - math.tanh(x)
    return a * b + abs(-x) + pow(y, 3) + max(x, y) * min(x, 2.0) + float(x) + math.pi


@program(numbers(4))
def item_and_float(x):
    a = x[0].item()
    b = float(x[1])
    c = float(np.sum(x))
    return a * b + math.sin(c)


GAIN = np.array([0.5, -1.0, 2.0])
SETTINGS = {"rate": 0.3, "steps": 3}


@program(numbers(3))
def globals_are_read(x):
    y = x * GAIN
    for _ in range(SETTINGS["steps"]):
        y = y - SETTINGS["rate"] * np.sin(y)
    return np.sum(y)


def _with_constant(k):
    factor = np.arange(1.0, 4.0) * k

    @program(numbers(3))
    def captured_array(x):
        return np.sum(factor * x * x)

    return captured_array


captured_array = _with_constant(0.7)


def _long_helper(a, b):
    c = a * b
    d = np.sin(c) + a
    e = np.cos(d) * b
    f = e * c + d
    g = f / (1.0 + e * e)
    h = np.exp(-g * g)
    i = h * f + a
    j = i - b * h
    k = np.tanh(j)
    m = k * g + i
    n = m * m + a * b
    o = np.log(1.0 + n * n)
    p = o * k - m
    q = p / (1.0 + o)
    r = q * p + h
    s = np.sin(r) * np.cos(q)
    t = s + r * 0.1
    u = t * t - q
    v = u * a + t * b
    w = np.tanh(v) + u
    return w * 0.5 + v


@program(0.4, 0.9)
def long_helper_called_apart(x, y):
    return _long_helper(x, y) * _long_helper(y, x) + _long_helper(x + y, x * y)


def _long_helper_with_write(buf, c):
    buf[0] = buf[0] * c
    buf[1] = buf[0] + c
    buf[2] = buf[1] * buf[0]
    return _long_helper(buf[2], c)


@program(numbers(3), 0.7)
def long_helper_that_writes(x, c):
    y = x * 1.0
    a = _long_helper_with_write(y, c)
    b = _long_helper_with_write(y, a)
    return a * b + np.sum(y)


def _integrate(f, y, steps, h, *args):
    for _ in range(steps):
        y = y + h * f(y, *args)
    return y


@program(numbers(2), 0.3)
def higher_order_with_star(y, k):
    def force(state, stiffness):
        return np.array([state[1], -stiffness * state[0]])

    return np.sum(_integrate(force, y, 5, 0.1, k) ** 2)


@program(spd(3), numbers(3))
def immediately_called_lambda(a, b):
    return (lambda m, v: v @ m @ v)(a, b) + (lambda: np.sum(b))()


@program(numbers(3, 2), numbers(2, seed=1))
def helper_with_two_shapes(a, b):
    def norm2(v):
        return np.sum(v * v)

    return norm2(a) * norm2(b) + norm2(a[0, 0])


def _maybe(x, flag):
    if flag:
        return x, None
    return x * x, np.sum(x)


@program(numbers(3))
def none_among_results(x):
    a, extra = _maybe(x, True)
    assert extra is None
    b, s = _maybe(x, False)
    return np.sum(a * b) * s


@program(positive(4))
def recursive_closure(x):
    def go(i):
        return 0.0 if i == 4 else x[i] * (1.0 + go(i + 1))

    return go(0)


def _sine_tower(x, n):
    """The depth is known at run time only; two results."""
    if n == 0:
        return x, np.sum(x * x)
    y, s = _sine_tower(np.sin(x), n - 1)
    return y * 0.9, s + np.sum(y)


@program(numbers(5), 3)
def recursion_with_two_results(x, n):
    y, s = _sine_tower(x, n)
    z = y.copy()
    z[0] = 2.0 * s
    return np.sum(z * z) + s


@program(numbers(4), 2)
def recursion_in_a_loop_that_writes_its_argument(x, n):
    y = x * 1.0
    s = 0.0
    for i in range(3):
        s += np.sum(_sine_tower(y, n)[0])
        y[i] = s * 0.1
    return s + np.sum(y)


def _reversed_often(x, n):
    if n == 0:
        return x
    return _reversed_often(x[::-1], n - 1)


@program(numbers(5), 3)
def recursion_that_returns_views(x, n):
    return np.sum(_reversed_often(x, n) * np.arange(5.0)) + np.sum(_reversed_often(x * 2.0, n) ** 2)


WEIGHTS = np.array([0.3, -0.2, 0.5])


def _even_layer(n, x):
    return x if n == 0 else _odd_layer(n - 1, x * WEIGHTS)


def _odd_layer(n, x):
    return np.sin(x) if n == 0 else _even_layer(n - 1, x + WEIGHTS[0])


@program(numbers(3), 4)
def mutual_recursion_over_a_global_array(x, n):
    return np.sum(_even_layer(n, x))


def _merge_sort(x):
    n = len(x)
    if n <= 1:
        return x.copy()
    a, b = _merge_sort(x[: n // 2]), _merge_sort(x[n // 2 :])
    out = np.zeros(n)
    i = j = 0
    for k in range(n):
        if j >= len(b) or (i < len(a) and a[i] <= b[j]):
            out[k] = a[i]
            i += 1
        else:
            out[k] = b[j]
            j += 1
    return out


@program(numbers(6))
def merge_sort(x):
    return np.sum(_merge_sort(x) * np.arange(6.0) ** 2)


def _quicksort(x, lo, hi):
    if lo >= hi:
        return
    pivot, i = x[hi], lo
    for j in range(lo, hi):
        if x[j] < pivot:
            t = x[i]
            x[i] = x[j]
            x[j] = t
            i += 1
    t = x[i]
    x[i] = x[hi]
    x[hi] = t
    _quicksort(x, lo, i - 1)
    _quicksort(x, i + 1, hi)


@program(numbers(6))
def quicksort_in_place(x):
    y = x * 1.0
    _quicksort(y, 0, len(y) - 1)
    return np.sum(y * np.arange(6.0) ** 2)


@program(numbers(6))
def quicksort_of_a_view(x):
    y = np.sin(x)
    tail = y[1:]
    _quicksort(tail, 0, len(tail) - 1)
    y[0] = 2.0 * tail[0]
    return np.sum(y * np.arange(6.0))


def _grown(x, n):
    if n == 0:
        return x
    x[0] += 0.1 * np.sum(x)
    return _grown(x, n - 1)


@program(numbers(5), 3)
def recursion_that_returns_what_it_writes(x, n):
    y = x.copy()
    z = _grown(y, n)
    z[1] = 3.0 * z[0]
    y[2] = z[3] ** 2
    return np.sum(y * y)


def _exchange(a, b, n):
    if n == 0:
        return
    a[0] = b[1] * 2.0
    b[0] += a[1]
    _exchange(b, a, n - 1)


@program(numbers(4), 3)
def recursion_that_writes_two_arrays(x, n):
    a, b = x.copy(), np.cos(x)
    _exchange(a, b, n)
    return np.sum(a * b)


@program(numbers(4), 3)
def recursion_that_writes_one_array_twice(x, n):
    a = x.copy()
    _exchange(a, a, n)
    return np.sum(a * a)


def _determinant(a):
    n = a.shape[0]
    if n == 1:
        return a[0, 0]
    s = 0.0
    for j in range(n):
        minor = np.concatenate([a[1:, :j], a[1:, j + 1 :]], axis=1)
        s += (-1) ** j * a[0, j] * _determinant(minor)
    return s


@program(numbers(3, 3))
def determinant_by_minors(a):
    return _determinant(a)


def _fft(re, im):
    n = len(re)
    if n == 1:
        return re, im
    even_re, even_im = _fft(re[::2], im[::2])
    odd_re, odd_im = _fft(re[1::2], im[1::2])
    k = np.arange(n // 2)
    c, s = np.cos(2 * np.pi * k / n), -np.sin(2 * np.pi * k / n)
    t_re, t_im = c * odd_re - s * odd_im, c * odd_im + s * odd_re
    return np.concatenate([even_re + t_re, even_re - t_re]), np.concatenate([even_im + t_im, even_im - t_im])


@program(numbers(8), numbers(8, seed=1.0))
def recursive_fft(x, y):
    re, im = _fft(x, y)
    return np.sum(re**2 * np.arange(8.0)) + np.sum(np.sin(im))


def _romberg(f, a, b, k):
    if k == 0:
        return 0.5 * (b - a) * (f(a) + f(b))
    m = 0.5 * (a + b)
    return _romberg(f, a, m, k - 1) + _romberg(f, m, b, k - 1)


@program(1.2, 0.7)
def recursion_with_a_literal_depth(a, b):
    return _romberg(lambda t: np.sin(a * t), 0.0, b, 8)


def _advanced(state, n):
    if n == 0:
        return np.sum(state["w"]) * state["b"]
    return _advanced({"w": np.tanh(state["w"]), "b": state["b"] * 1.1}, n - 1) + state["b"]


@program(numbers(3), 0.4, 3)
def recursion_over_a_dict(x, b, n):
    return _advanced({"w": x, "b": b}, n)


def _long_helper(x, k):
    a = x + 1.0
    b = a * 2.0
    c = b - x
    d = np.sin(c)
    e = d * d
    f = e + a
    g = f * b
    h = np.tanh(g)
    i = h + 1.0
    j = i * 2.0
    m = (j + x) * 0.5
    n = m - 1.0
    o = np.exp(-n * n)
    p = o + n
    q = p * p
    r = q - 1.0
    s = r * 0.1
    t = s + x
    u = t * k
    if k > 1.0:
        u = u + 1.0
    return u


@program(numbers(4))
def long_helper_called_thrice(x):
    y = _long_helper(x, 2.0)
    z = _long_helper(y, 2.0)
    z[0] = 1.0
    y[1] = z[2]
    return np.sum(y * z) + _long_helper(x, 0.5)[3]


@program(0.7, 1.6)
def local_adaptive_quadrature(x, end):
    def f(t):
        return math.exp(-x * t * t)

    def adapt(a, b, fa, fb):
        m = 0.5 * (a + b)
        fm = f(m)
        if abs(fa + fb - 2.0 * fm) < 1e-4:
            return (b - a) * (fa + 4.0 * fm + fb) / 6.0
        return adapt(a, m, fa, fm) + adapt(m, b, fm, fb)

    return adapt(0.0, end, f(0.0), f(end))


@program(numbers(6))
def local_recursion_that_writes_what_it_captures(x):
    y = x.copy()

    def sift(lo, hi):
        if lo >= hi:
            return
        if y[lo] > y[hi]:
            t = y[lo]
            y[lo] = y[hi]
            y[hi] = t
        sift(lo + 1, hi - 1)

    sift(0, len(y) - 1)
    y[0] *= 2.0
    return np.sum(y * np.arange(6.0))


def _make_shrink(c):
    def shrink(v, limit):
        if np.sum(v * v) < limit:
            return v
        return shrink(v * c, limit)

    return shrink


@program(numbers(4), 0.7)
def recursive_closures_made_by_a_function(x, c):
    f, g = _make_shrink(c), _make_shrink(c * c)
    return np.sum(f(x, 0.2) + g(x, 0.1))


@program(numbers(4))
def captured_array_returned_by_a_recursive_function(x):
    a = np.outer(x, x)
    get = lambda: a

    def down(g, s):
        if s > 1.0:
            return g()
        return down(g, s + np.sum(x * x))

    b = down(get, 0.0)
    total = np.sum(b * b)
    return total + np.sum(a)


class Base:
    """What subclasses build on."""

    def __init__(self, w, k=1.0):
        self.w, self.k = w, k

    def loss(self, x):
        return np.sum(self.w * x) * self.k

    @property
    def gain(self):
        return self.k * 2

    @classmethod
    def make(cls, w):
        return cls(w)

    @staticmethod
    def square(v):
        return v * v


class Derived(Base):
    """Calls its parents in every form."""

    def __init__(self, w):
        super().__init__(w, k=2.0)
        self.z = 1.0

    def loss(self, x):
        y = super().loss(x) if x[0] > 0 else 0.0
        return y + self.z * self.gain + sum([v for v in x])

    @property
    def gain(self):
        return super().gain + 1


class Third(Derived):
    """Skips a generation."""

    def loss(self, x):
        return super().loss(x) * super(Third, self).square(2.0) + super(Derived, self).loss(x)

    @classmethod
    def make(cls, w):
        return super().make(2 * w)


@program(numbers(6), numbers(6, seed=1))
def super_in_every_form(w, x):
    return Derived(w).loss(x) + Third(w).loss(x) + Third.make(w).loss(x)


class Left(Base):
    """One side of a diamond."""

    def loss(self, x):
        return super().loss(x) + 1


class Right(Base):
    """The other side."""

    def loss(self, x):
        return super().loss(x) * 3


class Diamond(Left, Right):
    """The order of resolution is Python's."""

    def loss(self, x):
        return super().loss(x) ** 2


@program(numbers(3), numbers(3, seed=1))
def super_in_a_diamond(w, x):
    return Diamond(w).loss(x)


class Bag:
    """An object that can be run over."""

    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(self.items)

    def __contains__(self, v):
        return v == 1


@program(numbers(6))
def objects_that_iterate(x):
    total = 0.0
    for v in Bag(x):
        total += v * v
    pair = Bag([x[0], x[1] * 2])
    p, q = pair
    return total + sum(pair) + p * q + (1 in pair) + list(pair)[1] + sum(u * v for u, v in zip(pair, Bag(x)))


def _decay(t, a, b, c):
    return a * np.exp(-b * t) + c


@program(numbers(3), numbers(6), np.linspace(0.0, 1.0, 6))
def parameters_by_star(p, y, t):
    model = Scaled()
    return np.sum((_decay(t, *p) - y) ** 2) + model(2.0, *p[1:]) + (lambda a, b, c: a * b + c)(*p)


class Scaled:
    """Called as a function."""

    def __call__(self, t, a, b):
        return a * t + b


def _sines(v, w, n):
    if n <= 0:
        return v * w
    return np.sin(_sines(v, w, n - 1)) * w


@program(numbers(5), numbers(5, seed=1.0), numbers(1, seed=2.0), 2)
def recursion_over_one_and_many(x, w, u, n):
    return np.sum(_sines(x, w, n) * _sines(x, u, n))


@program(numbers(5), numbers(5, seed=1.0), numbers(1, seed=2.0), 2)
def recursion_over_many_and_one(x, w, u, n):
    return np.sum(_sines(x, u, n) * _sines(x, w, n) * _sines(x, x[n : n + 1], n))
