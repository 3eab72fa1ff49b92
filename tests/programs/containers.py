"""Tuples, lists, dicts, dataclasses, named tuples: as parameters, locals and results; comprehensions."""

from collections import namedtuple
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from . import numbers, positive, program


class Params(NamedTuple):
    """A named tuple with types."""

    w: np.ndarray
    b: float = 0.5

    def predict(self, x):
        return x @ self.w + self.b


Point = namedtuple("Point", "x y")


@dataclass
class Body:
    """A dataclass with a method and a default."""

    mass: float
    position: np.ndarray
    velocity: np.ndarray = field(default_factory=lambda: np.zeros(2))

    def energy(self):
        return 0.5 * self.mass * np.sum(self.velocity**2)

    def advanced(self, dt):
        return replace(self, position=self.position + dt * self.velocity)


@program((numbers(3), numbers(3, seed=1)))
def tuple_parameter(p):
    a, b = p
    return np.sum(a * b) + a[0]


@program([numbers(3), numbers(3, seed=1), 0.3])
def list_parameter(p):
    s = p[2]
    for v in p[:2]:
        s = s * np.sum(v * v)
    return s


@program({"w": numbers(3, 2), "b": numbers(2, seed=1)}, numbers(4, 3, seed=2))
def dict_parameter(p, x):
    h = np.tanh(x @ p["w"] + p["b"])
    return np.sum(h * h)


@program(
    {"layers": [(numbers(3, 4), numbers(4)), (numbers(4, 2), numbers(2))], "scale": 0.3},
    numbers(5, 3, seed=2),
)
def nested_parameter(p, x):
    h = x
    for w, b in p["layers"]:
        h = np.tanh(h @ w + b)
    return np.sum(h * h) * p["scale"]


@program(Params(numbers(3)), numbers(4, 3, seed=2))
def named_tuple_parameter(p, x):
    return np.sum(p.predict(x) ** 2) + p.b * p[0][1]


@program(Body(1.5, numbers(2), numbers(2, seed=3)), 0.1)
def dataclass_parameter(body, dt):
    later = body.advanced(dt).advanced(dt)
    return later.energy() + np.sum(later.position**2)


@program(numbers(2), numbers(2, seed=3), writes=True)
def dataclass_made_inside(x, v):
    body = Body(2.0, x)
    body.velocity = v * 2.0
    body.position += v
    return body.energy() * np.sum(body.position)


@program(0.4, 0.8)
def named_tuple_local(a, b):
    p = Point(a * b, y=b)
    q = p._replace(x=p.y * 2.0)
    x, y = q
    return p.x * q.x + x * y


@program(numbers(5))
def list_grown_by_append(x):
    out = []
    for v in x:
        out.append(v * v)
    return np.sum(np.array(out) * np.arange(5.0))


@program(numbers(4), 6)
def list_grown_to_a_runtime_length(x, n):
    ys = [x[0]]
    while len(ys) < n:
        ys.append(ys[-1] * x[len(ys) % 4] + 0.1)
    return ys[-1] * ys[2] + sum(ys)


@program(numbers(4))
def stack_with_pop(x):
    stack = [x[0], x[1]]
    for i in range(2, 4):
        b = stack.pop()
        a = stack.pop()
        stack.append(a * b)
        stack.append(x[i])
    return stack[0] * stack.pop() + len(stack)


@program(numbers(3, 4))
def stack_of_rows(a):
    rows = []
    for i in range(3):
        rows.append(np.sin(a[i]) * (i + 1))
    return np.sum(np.stack(rows, axis=1) ** 2) + np.sum(np.concatenate(rows))


@program(numbers(4))
def list_comprehension(x):
    ys = [v * v for v in x]
    zs = [ys[i] * x[j] for i in range(4) for j in range(i) if (i + j) % 2]
    return sum(ys) + np.sum(np.array(zs))


@program(numbers(4), numbers(4, seed=1))
def generator_expressions(x, y):
    return sum(a * b for a, b in zip(x, y)) + max(v for v in [x[0] * 2.0, y[1]]) + np.prod([v for v in x])


@program(numbers(4))
def dict_comprehension(x):
    d = {i: x[i] ** 2 for i in range(4)}
    return sum(v * k for k, v in d.items()) + sum(d.values()) * len(d)


@program({"a": numbers(3), "b": numbers(3, seed=1)})
def dict_iteration(p):
    s = 0.0
    for k, v in p.items():
        s = s + np.sum(v * v) * (2.0 if k == "a" else 1.0)
    for k in p:
        s = s * p[k][0]
    return s + p.get("c", 1.0) + p.get("a")[1]


@program(numbers(3), numbers(3, seed=1))
def dict_updates(x, y):
    d = {"a": x, "b": y}
    d["a"] = d["a"] * d["b"]
    d["c"] = d["a"] * x
    d.update(b=d["c"] + y)
    e = {**d, "a": x}
    gone = e.pop("c")
    return np.sum(e["a"] * e["b"]) + np.sum(gone) + ("z" in e)


@program({"w": numbers(2, 2), "b": numbers(2)}, 0.1)
def update_of_parameters(p, rate):
    g = {k: 2.0 * v for k, v in p.items()}
    q = {k: p[k] - rate * g[k] for k in p}
    return sum(np.sum(v**2) for v in q.values())


@program(numbers(5))
def unpacking_with_a_star(x):
    first, *middle, last = [x[0], x[1], x[2], x[3]]
    (a, b), c = (first, last), x[4]
    return a * b + sum(middle) * c


@program(numbers(2, 3))
def unpacking_rows(m):
    a, b = m
    x, y, z = a
    return x * y * z + np.sum(b * a)


@program(numbers(3))
def tuple_arithmetic(x):
    shape = x.shape + (2,)
    y = np.ones(shape) * x[:, None]
    pair = (x[0], x[1]) + (x[2],)
    return np.sum(y * y) + pair[-1] * pair[0] * len(pair * 2)


@program(numbers(3))
def list_operations(x):
    a = [x[0], x[1]]
    a.extend([x[2], x[0] * x[1]])
    a.insert(0, x[2] ** 2)
    a[1] = a[1] * 3.0
    b = a[::-1] + a[:2]
    a.reverse()
    return b[0] * b[-1] + a[2] * a[-1] + len(b)


@program(numbers(3), 0.5)
def returns_a_tuple(x, c):
    return np.sum(x * c), x * x


@program(numbers(3))
def returns_a_dict(x):
    return {"loss": np.sum(x * x), "terms": [x[0], np.sin(x)], "n": 3}


@program(numbers(3))
def returns_its_argument(x):
    return x


@program(numbers(4))
def returns_views(x):
    y = x * x
    return y[:2], y[2:], y


@program(Point(0.3, 0.8))
def returns_a_named_tuple(p):
    return Point(p.x * p.y, y=p.x**2)


@program(numbers(4))
def list_of_lists(x):
    grid = [[x[0], x[1]], [x[2], x[3]]]
    grid[0][1] = grid[1][0] * 2.0
    grid[1] = [v * v for v in grid[1]]
    return grid[0][0] * grid[0][1] + grid[1][0] + grid[1][1]


@program(numbers(3, 2))
def array_from_nested_lists(a):
    m = np.array([[a[0, 0], a[1, 1] * 2.0], [0.0, a[2, 0]]])
    return np.sum(m @ m) + np.linalg.det(m)


@program([numbers(2), numbers(3, seed=1), numbers(4, seed=2)])
def ragged_list(xs):
    total = 0.0
    for x in xs:
        total += np.sum(x * x) / len(x)
    return total + np.sum(np.concatenate(xs))


@program(positive(3), ["a", "c"])
def static_list_of_names(x, names):
    index = {"a": 0, "b": 1, "c": 2}
    s = 1.0
    for n in names:
        s *= x[index[n]]
    return s


@program([0.1, 0.2, 0.3], [1.0, 2.0, 3.0])
def lists_of_floats(xs, ys):
    return sum([a * b for a, b in zip(xs, ys)]) + max(xs) * min(ys) + sum(xs) / len(xs)


@program(numbers(4))
def any_all_sorted(x):
    if any(v > 0.5 for v in x) and all(v < 2.0 for v in x):
        s = sorted([x[0], x[1], x[2]])
        return s[0] * 2.0 + s[2]
    return x[0]


@program(numbers(6))
def memo_table(x):
    memo = {0: x[0], 1: x[1]}
    for k in range(2, 6):
        memo[k] = memo[k - 1] * x[k] + memo[k - 2]
    return memo[5]


@program(numbers(3), 3)
def adjoint_of_a_queue(x, n):
    queue = [x * 1.0]
    s = 0.0
    while queue:
        item = queue.pop()
        s += np.sum(item * item)
        if n > 0:
            queue.append(np.sin(item) * 0.5)
            n -= 1
    return s


@program(numbers(4))
def slice_of_a_grown_list(x):
    history = [x]
    for _ in range(3):
        history.append(np.tanh(history[-1]))
    return sum(np.sum(h * h) for h in history[1:])


class Counter:
    """State in attributes."""

    def __init__(self, start):
        self.total = start
        self.count = 0

    def add(self, v):
        self.total = self.total + v * v
        self.count += 1
        return self

    def mean(self):
        return self.total / self.count


@program(numbers(4))
def object_with_state(x):
    c = Counter(0.0)
    for v in x:
        c.add(v)
    return c.add(x[0]).mean()


class Layer:
    """A layer of a network."""

    def __init__(self, w, b, activation=np.tanh):
        self.w, self.b, self.activation = w, b, activation

    def __call__(self, x):
        return self.activation(x @ self.w + self.b)


@program(numbers(3, 4), numbers(4), numbers(4, 2), numbers(5, 3, seed=3))
def list_of_layers(w1, b1, w2, x):
    net = [Layer(w1, b1), Layer(w2, 0.1, activation=np.sin)]
    for layer in net:
        x = layer(x)
    return np.mean(x**2)
