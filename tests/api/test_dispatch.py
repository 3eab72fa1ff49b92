"""The cache of compiled signatures: keys, guards, data from outside, threads."""

from __future__ import annotations

import functools
import linecache
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pullback as pb
from pullback.dispatch import dispatcher as dispatch_module
from pullback.dispatch.keys import key_of

X = np.array([1.0, -2.0, 3.0])
Y = np.array([0.5, 0.25, -1.0])


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the functions compiled during a test."""
    done: list[str] = []
    compile_function = dispatch_module.compile_function

    def counted(fn: Any, *args: Any) -> Any:
        done.append(fn.__name__)
        return compile_function(fn, *args)

    monkeypatch.setattr(dispatch_module, "compile_function", counted)
    yield done


class Notebook:
    """Cells run one after the other in one namespace, with source that can be found."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"np": np, "pb": pb, "__name__": "__main__"}
        self.count = 0

    def run(self, text: str) -> None:
        self.count += 1
        file = f"<cell {id(self)} {self.count}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        exec(compile(text, file, "exec"), self.names)

    def __getitem__(self, name: str) -> Any:
        return self.names[name]


# --------------------------------------------------------------------------------------------------------------- keys


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (np.ones(3), np.zeros(5)),
        (np.ones((2, 1)), np.zeros((7, 1))),
        (1.0, 2.0),
        (1, 2),
        (np.float32(1), np.float32(2)),
        ({"a": 1.0}, {"a": 2.0}),
        ((1.0, np.ones(2)), (3.0, np.ones(4))),
        (lambda x: x, None),
    ],
)
def test_equal_keys(a: Any, b: Any) -> None:
    if callable(a):
        a, b = (functools.partial(lambda k, x: k * x, k) for k in (1.0, 2.0))
    assert key_of(a) == key_of(b)
    assert hash(key_of(a)) == hash(key_of(b))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (np.ones(3), np.ones(1)),
        (np.ones(3), np.ones((3, 3))),
        (np.ones(3), np.ones(3, dtype=np.float32)),
        (np.ones(3), np.ones(6)[::2]),
        (1.0, np.float64(1.0)),
        (1.0, 1),
        (True, 1),
        (True, False),
        ("a", "b"),
        (np.str_("a"), np.str_("b")),
        (None, 0.0),
        ((1.0,), [1.0]),
        ({"a": 1.0}, {"b": 1.0}),
        (slice(0, 1), slice(0, 2)),
        (slice(0, 1), slice(0, 1.0)),
        (frozenset({1}), frozenset({2})),
        (np.float32, np.float64),
        (np.sin, np.cos),
    ],
)
def test_different_keys(a: Any, b: Any) -> None:
    assert key_of(a) != key_of(b)


def test_one_compilation_for_all_shapes(compilations: list[str]) -> None:
    def f(x, y):
        return np.sum(x * y)

    g = pb.grad(f)
    for n in (2, 3, 7, 2):
        assert_allclose(g(np.ones(n), np.full(n, 2.0)), np.full(n, 2.0))
    assert compilations == ["f"]
    g(np.ones(1), np.ones(3))  # broadcasts: another signature
    assert compilations == ["f"] * 2
    g(np.ones(5), np.ones(5))
    assert compilations == ["f"] * 2


def test_alternating_signatures(compilations: list[str]) -> None:
    def f(x, k):
        return np.sum(x * x) * k

    g = pb.grad(f)
    for _ in range(3):
        assert_allclose(g(X, 2.0), 4 * X)
        assert_allclose(g(X.astype(np.float32), 2.0), 4 * X)
        assert type(pb.grad(f)(3.0, 2.0)) is float
        assert_allclose(g(X[::-1], 2.0), 4 * X[::-1])
    assert len(compilations) == 4


def test_strings_and_flags_by_value() -> None:
    def f(x, mode, flag=False):
        y = np.sin(x) if mode == "sin" else np.cos(x)
        return np.sum(y if flag else 2.0 * y)

    g = pb.grad(f)
    for _ in range(2):
        assert_allclose(g(X, "sin"), 2 * np.cos(X))
        assert_allclose(g(X, "cos"), -2 * np.sin(X))
        assert_allclose(g(X, "cos", True), -np.sin(X))


def test_an_integer_needed_when_compiling(compilations: list[str]) -> None:
    def f(x, axis):
        return np.sum(np.sum(x, axis=axis) ** 2)

    x = np.arange(6.0).reshape(2, 3)
    g = pb.grad(f)
    for _ in range(2):
        for axis in (0, 1, -1):
            expected = np.broadcast_to(2 * np.sum(x, axis=axis, keepdims=True), x.shape)
            assert_allclose(g(x, axis), expected)
    assert len(compilations) <= 4  # one for each value, one more to find that it is needed


def test_integers_inside_a_tuple_needed_when_compiling() -> None:
    def f(x, shape):
        return np.sum(np.sum(x, axis=shape[0]) ** 2)

    x = np.arange(6.0).reshape(2, 3)
    g = pb.grad(f)
    for _ in range(2):
        for axis in (0, 1):
            expected = np.broadcast_to(2 * np.sum(x, axis=axis, keepdims=True), x.shape)
            assert_allclose(g(x, (axis, 5)), expected)


def test_an_integer_at_run_time(compilations: list[str]) -> None:
    def f(x, n):
        for _ in range(n):
            x = x * 2.0
        return np.sum(x)

    for n in (0, 1, 5):
        assert_allclose(pb.grad(f)(X, n), np.full(3, 2.0**n))
    assert compilations == ["f"]


def test_at_most_64_signatures() -> None:
    def f(x, mode):
        return np.sum(x) * len(mode)

    g = pb.value_and_grad(f)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(70):
            g(X, "m" * (i + 1))
    assert len([w for w in caught if "64" in str(w.message)]) == 1
    assert str(caught[0].filename) == __file__
    assert_allclose(g(X, "m")[1], np.ones(3))


def test_many_values_of_an_integer_needed_when_compiling() -> None:
    def f(x, n):
        s = x
        for _ in range(2):
            s = np.reshape(s, (1,) * n + (3,))
        return np.sum(s)

    gradient = pb.grad(f)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(16):
            assert_allclose(gradient(X, n), np.ones(3))
        assert not caught
        for n in (16, 17, 3):
            assert_allclose(gradient(X, n), np.ones(3))
    assert [str(w.filename) for w in caught] == [__file__]
    assert "more than 16 values of `n`" in str(caught[0].message)


@pytest.mark.parametrize(
    "part",
    [
        lambda x, k: np.concatenate([x, x * x], axis=k),
        lambda x, k: np.concatenate([x, x * x], k),
        lambda x, k: np.append(x, x, axis=k),
        lambda x, k: np.take(x, [0, 1], axis=k),
        lambda x, k: np.take_along_axis(x, np.argsort(x, axis=k), axis=k),
        lambda x, k: np.split(x, [1], axis=k)[1],
        lambda x, k: np.moveaxis(x, (k, 1 - k), (0, 1)),
        lambda x, k: np.tensordot(x, x.T, axes=k),
    ],
)
def test_an_axis_is_taken_by_value(part: Any) -> None:
    def f(x, k):
        return np.sum(part(x, k) ** 2)

    x = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
    for k in (1, 0):
        pb.check_gradients(f, x, k)


def test_a_fresh_function_at_each_call(compilations: list[str]) -> None:
    def apply(fn, x):
        return np.sum(fn(x))

    g = pb.grad(apply, argnums=1)
    for k in (2.0, 3.0, 4.0):
        assert_allclose(g(lambda v: v * v * k, X), 2 * k * X)  # noqa: B023
    assert compilations == ["apply"]


def test_a_partial_and_its_data(compilations: list[str]) -> None:
    def scaled(w, v):
        return w * v

    def apply(fn, x):
        return np.sum(fn(x))

    g = pb.grad(apply, argnums=1)
    w = Y.copy()
    held = functools.partial(scaled, w)
    assert_allclose(g(held, X), Y)
    w[:] = 5.0
    assert_allclose(g(held, X), np.full(3, 5.0))
    assert_allclose(g(functools.partial(scaled, X), X), X)
    assert compilations == ["apply"]


# -------------------------------------------------------------------------------------------------------------- guards


def test_a_helper_defined_anew() -> None:
    notebook = Notebook()
    notebook.run("def helper(x):\n    return x * x\n")
    notebook.run("def loss(x):\n    return np.sum(helper(x))\n\ngradient = pb.grad(loss)\n")
    assert_allclose(notebook["gradient"](X), 2 * X)
    notebook.run("def helper(x):\n    return x * x * x\n")
    for _ in range(2):
        assert_allclose(notebook["gradient"](X), 3 * X**2)


def test_a_helpers_helper_defined_anew() -> None:
    notebook = Notebook()
    notebook.run("def inner(x):\n    return 2.0 * x\n\ndef outer(x):\n    return inner(x) + x\n")
    notebook.run("def loss(x):\n    return np.sum(outer(x))\n\ngradient = pb.grad(loss)\n")
    assert_allclose(notebook["gradient"](X), np.full(3, 3.0))
    notebook.run("def inner(x):\n    return 5.0 * x\n")
    assert_allclose(notebook["gradient"](X), np.full(3, 6.0))


def test_code_replaced_in_place() -> None:
    notebook = Notebook()
    notebook.run("def helper(x):\n    return x * x\n\ndef loss(x):\n    return np.sum(helper(x))\n")
    gradient = pb.grad(notebook["loss"])
    assert_allclose(gradient(X), 2 * X)
    helper = notebook["helper"]
    notebook.run("def helper(x):\n    return 7.0 * x\n")
    helper.__code__ = notebook["helper"].__code__  # what autoreload does
    notebook.names["helper"] = helper
    assert_allclose(gradient(X), np.full(3, 7.0))
    loss = notebook["loss"]
    notebook.run("def loss(y, k=2.0):\n    return np.sum(y * y) * k\n")
    loss.__code__, loss.__defaults__ = notebook["loss"].__code__, (3.0,)
    assert_allclose(gradient(X), 6 * X)
    assert_allclose(gradient(y=X), 6 * X)
    loss.__defaults__ = (5.0,)
    assert_allclose(gradient(X), 10 * X)


def test_defaults_of_a_helper() -> None:
    notebook = Notebook()
    notebook.run("def helper(x, k=2.0):\n    return k * x\n\ndef loss(x):\n    return np.sum(helper(x))\n")
    gradient = pb.grad(notebook["loss"])
    assert_allclose(gradient(X), np.full(3, 2.0))
    notebook["helper"].__defaults__ = (4.0,)
    assert_allclose(gradient(X), np.full(3, 4.0))


def test_a_module_level_constant() -> None:
    notebook = Notebook()
    notebook.run("mode = 'square'\ndef loss(x):\n    return np.sum(x * x if mode == 'square' else x)\n")
    gradient = pb.grad(notebook["loss"])
    assert_allclose(gradient(X), 2 * X)
    notebook.run("mode = 'plain'\n")
    assert_allclose(gradient(X), np.ones(3))


def test_a_new_rule_is_picked_up() -> None:
    def special(x):
        return x * 0.0

    def loss(x):
        return np.sum(special(x))

    gradient = pb.grad(loss)
    assert_allclose(gradient(X), np.zeros(3))

    @pb.rule(special)
    def _(x, *, out, out_bar):
        return 11.0 * out_bar

    assert_allclose(gradient(X), np.full(3, 11.0))


# ------------------------------------------------------------------------------------------------- data from outside

FACTOR: Any = 2.0
TABLE = {"k": 2.0, "rows": [np.ones(3)]}


def uses_factor(x):
    return np.sum(x * x * FACTOR)


def test_globals_are_read_at_each_call(compilations: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = pb.grad(uses_factor)
    module = uses_factor.__globals__
    assert_allclose(gradient(X), 4 * X)
    monkeypatch.setitem(module, "FACTOR", 5.0)
    assert_allclose(gradient(X), 10 * X)
    assert compilations == ["uses_factor"]
    monkeypatch.setitem(module, "FACTOR", Y)  # of another kind: another signature
    assert_allclose(gradient(X), 2 * X * Y)
    monkeypatch.setitem(module, "FACTOR", 3.0)
    assert_allclose(gradient(X), 6 * X)
    assert compilations == ["uses_factor"] * 2
    monkeypatch.delitem(module, "FACTOR")
    with pytest.raises(pb.PullbackError, match="FACTOR"):
        gradient(X)


def test_containers_outside() -> None:
    def f(x):
        return np.sum(x * TABLE["rows"][0]) * TABLE["k"]

    gradient = pb.grad(f)
    assert_allclose(gradient(X), np.full(3, 2.0))
    TABLE["rows"] = [Y]
    TABLE["k"] = 4.0
    assert_allclose(gradient(X), 4 * Y)


def test_cells_are_read_at_each_call(compilations: list[str]) -> None:
    k = 2.0

    def f(x):
        return np.sum(x * x) * k

    gradient = pb.grad(f)
    assert_allclose(gradient(X), 4 * X)
    k = 3.0
    assert_allclose(gradient(X), 6 * X)
    assert compilations == ["f"]


def test_an_integer_outside_needed_when_compiling() -> None:
    axis = 0

    def f(x):
        return np.sum(np.sum(x, axis=axis) ** 2)

    x = np.arange(6.0).reshape(2, 3)
    gradient = pb.grad(f)
    for axis in (0, 1, 0):
        assert_allclose(gradient(x), np.broadcast_to(2 * np.sum(x, axis=axis, keepdims=True), x.shape))


def test_attributes_of_a_captured_object(compilations: list[str]) -> None:
    class Config:
        def __init__(self) -> None:
            self.scale = 2.0

    config = Config()

    def f(x):
        return np.sum(x) * config.scale

    gradient = pb.grad(f)
    assert_allclose(gradient(X), np.full(3, 2.0))
    config.scale = 7.0
    assert_allclose(gradient(X), np.full(3, 7.0))
    assert compilations == ["f"]


# ------------------------------------------------------------------------------------------------- threads, strong zero


def test_threads_compile_once(compilations: list[str]) -> None:
    def f(x, y):
        return np.sum(np.tanh(x) * y)

    gradient = pb.grad(f)
    start = threading.Barrier(8)
    results: list[Any] = []

    def work(n: int) -> None:
        start.wait()
        for _ in range(5):
            results.append(gradient(np.full(n + 2, 0.5), np.ones(n + 2)))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 40
    for bar in results:
        assert_allclose(bar, np.full(len(bar), 1 - np.tanh(0.5) ** 2))
    assert compilations == ["f"]


def test_strong_zero() -> None:
    def f(x):
        return np.sum(np.where(x > 0, np.sqrt(x), 0.0))

    x = np.array([4.0, 0.0, -1.0])
    with np.errstate(all="ignore"):
        for _ in range(2):
            assert_allclose(pb.grad(f)(x), [0.25, 0.0, 0.0])
        _, pullback = pb.vjp(f, x)
        assert_allclose(pullback(1.0)[0], [0.25, 0.0, 0.0])


def test_a_gradient_that_is_not_finite_is_returned() -> None:
    with np.errstate(all="ignore"):
        for _ in range(2):
            assert np.isinf(pb.grad(lambda x: np.sqrt(x))(0.0))
            assert np.isnan(pb.grad(lambda x: np.sum(x * x))(np.array([np.nan]))[0])
    assert_allclose(pb.grad(lambda x: np.sum(x * x))(np.array([1e200])), [2e200])  # only its square overflows


def test_warnings_come_once_and_from_the_primal() -> None:
    def f(x):
        return np.sum(np.where(x > 0, np.sqrt(x), 0.0))

    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            pb.grad(f)(np.array([4.0, 0.0, -1.0]))
        assert [str(w.message) for w in caught] == ["invalid value encountered in sqrt"]


def test_effects_happen_once(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x):
        print("value", x)
        return np.sqrt(x) if x > 0 else x * np.inf

    with np.errstate(all="ignore"):
        pb.grad(f)(-1.0)
    assert capsys.readouterr().out == "value -1.0\n"


def test_calling_back_into_the_compiler() -> None:
    def inner(x):
        return x * x

    def f(x):
        return x * pb.stop_gradient(inner(x))

    assert pb.grad(f)(3.0) == 9.0


class Body:
    """An object whose class changes."""

    gravity = 10.0

    def __init__(self, mass: Any) -> None:
        self.mass = mass

    def weight(self):
        return self.mass * self.gravity

    @classmethod
    def unit(cls):
        return cls.gravity


def test_class_constants_and_methods_are_guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(body):
        return body.weight() + body.mass * body.unit()

    body = Body(2.0)
    for _ in range(2):
        assert pb.grad(f)(body).mass == 20.0
    monkeypatch.setattr(Body, "gravity", 3.0)
    assert pb.grad(f)(body).mass == 6.0
    monkeypatch.setattr(Body, "weight", lambda self: self.mass * 100.0)
    assert pb.grad(f)(body).mass == 103.0
    monkeypatch.undo()
    assert pb.grad(f)(body).mass == 20.0


def test_code_of_a_function_in_a_container_replaced() -> None:
    notebook = Notebook()
    notebook.run("def a(x):\n    return x * x\n\nTABLE = {'a': a}\ndef loss(x):\n    return TABLE['a'](x)\n")
    gradient = pb.grad(notebook["loss"])
    assert gradient(3.0) == 6.0
    notebook.run("def b(x):\n    return 5.0 * x\n")
    notebook["a"].__code__ = notebook["b"].__code__
    assert gradient(3.0) == 5.0
    notebook["TABLE"]["a"] = notebook["b"]
    assert gradient(3.0) == 5.0


# ----------------------------------------------------------------------------------------------- what the user calls


def test_one_function_whose_code_is_the_entry() -> None:
    def f(x, n=2.0, *, k=1.0):
        return np.sum(x * x) * n * k

    def g(x, n=2.0):
        return np.sum(x * x) * n

    for fn in (f, g):
        gradient = pb.value_and_grad(fn)
        same = gradient
        for _ in range(3):
            assert_allclose(gradient(X)[1], 4 * X)
            assert_allclose(gradient(X, 3.0)[1], 6 * X)
            assert_allclose(gradient(x=X, n=3.0)[1], 6 * X)
            assert_allclose(gradient(X, n=np.float32(3.0))[1], 6 * X)
            with pytest.raises(TypeError, match=r"multiple values for argument 'n'"):
                gradient(X, 1.0, n=2.0)
            with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'x'"):
                gradient(n=2.0)
            with pytest.raises(TypeError, match=r"takes .* positional arguments but 3 were given"):
                gradient(X, 1.0, 2.0)
        assert pb.value_and_grad(fn) is same
    for _ in range(3):
        assert_allclose(pb.grad(f)(X, k=5.0), 20 * X)
        with pytest.raises(TypeError, match="positional"):
            pb.grad(f)(X, 2.0, 5.0)


def test_parameters_called_as_the_entry_calls_things() -> None:
    def f(type, len, map=2.0):
        return np.sum(type * len) * map

    for _ in range(3):
        assert_allclose(pb.grad(f)(X, Y), 2 * Y)
        assert_allclose(pb.grad(f)(X, len=Y, map=3.0), 3 * Y)


def test_parameters_renamed_in_place() -> None:
    notebook = Notebook()
    notebook.run("def loss(a, b, c=1.0):\n    return np.sum(a) - 2.0 * np.sum(b) + c\n")
    loss = notebook["loss"]
    gradient = pb.grad(loss)
    for _ in range(2):
        assert_allclose(gradient(X, Y), np.ones(3))
    notebook.run("def loss(b, a):\n    return np.sum(a) - 2.0 * np.sum(b)\n")
    loss.__code__, loss.__defaults__ = notebook["loss"].__code__, None
    assert_allclose(gradient(a=X, b=Y), np.full(3, -2.0))
    assert_allclose(gradient(X, Y), np.full(3, -2.0))
    notebook.run("def loss(b, *, a=3.0):\n    return np.sum(b) * a\n")
    loss.__code__, loss.__kwdefaults__ = notebook["loss"].__code__, {"a": 3.0}
    for _ in range(2):
        assert_allclose(gradient(X), np.full(3, 3.0))
        assert_allclose(gradient(X, a=4.0), np.full(3, 4.0))
        with pytest.raises(TypeError, match="positional"):
            gradient(X, 4.0)


class Tagged(np.ndarray):
    """An array of a subclass."""


def test_arrays_that_were_seen_and_others(compilations: list[str]) -> None:
    def f(x, y):
        return np.sum(x * y)

    gradient = pb.grad(f)
    x, y = np.arange(6.0), np.ones(6)
    for _ in range(3):
        assert_allclose(gradient(x, y), y)
    assert compilations == ["f"]
    assert_allclose(gradient(x[:3], y[:3]), y[:3])
    assert compilations == ["f"]
    x.resize((2, 3), refcheck=False)  # the same array, of another shape
    y.resize((2, 3), refcheck=False)
    for _ in range(2):
        assert_allclose(gradient(x, y), y)
    assert compilations == ["f"] * 2
    for other in (y.T.copy().T, y.astype(">f8"), y[:, :1], np.float64(1.0), np.array(1.0), y[:1]):
        for _ in range(2):
            assert_allclose(gradient(x, other), np.broadcast_to(other, (2, 3)))
    with pytest.raises(pb.PullbackError, match="Tagged"):
        gradient(x, y.view(Tagged))
    long = np.linspace(0.0, 1.0, 1000)
    for bad in (np.nan, np.inf):
        one = long.copy()
        one[5] = bad
        assert_allclose(gradient(long, one), one)


# ------------------------------------------------------------------------------------------------ scopes of settings


def test_a_scope_is_no_effect() -> None:
    def f(x, mode):
        with np.errstate(divide=mode, invalid="ignore"):
            y = np.sqrt(x) / x
            for _ in range(2):
                with np.errstate(over="raise"):
                    y = y * x
        return np.sum(np.where(x > 0, y, 0.0))

    x = np.array([1.0, 0.0, 2.0])
    source = pb.differentiable(f).source(x, "ignore", form="joint")
    assert 'with np.errstate(divide="ignore", invalid="ignore"):' in source
    assert 'with np.errstate(over="raise"):' in source
    before = np.geterr()
    for mode in ("ignore", "warn"):
        gradient = pb.value_and_grad(f)
        for _ in range(2):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                value, bar = gradient(x, mode)
            assert_allclose(value, f(x, "ignore"))
            assert_allclose(bar, [1.5, 0.0, 1.5 * np.sqrt(2.0)])
            assert len(caught) == 0  # 0 / 0 is invalid, not a division by zero
        _, pullback = pb.vjp(f, x, mode)
        assert_allclose(pullback(1.0)[0], [1.5, 0.0, 1.5 * np.sqrt(2.0)])
    assert np.geterr() == before


def test_warnings_of_a_scope_come_once_and_errors_end_it() -> None:
    def f(x, limit):
        with np.errstate(divide="warn", over=limit):
            y = 1.0 / x
            z = np.exp(x)
        return np.sum(np.where(x > 0, y, 0.0)) + np.sum(z)

    gradient = pb.grad(f)
    before = np.geterr()
    with np.errstate(divide="ignore"):
        for _ in range(3):  # the sweep runs again, guarded: 1 / x is not finite at 0
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                assert_allclose(gradient(np.array([2.0, 0.0]), "ignore"), [np.exp(2.0) - 0.25, 1.0])
            assert [str(w.message) for w in caught] == ["divide by zero encountered in divide"]
    for _ in range(2):
        with pytest.raises(FloatingPointError, match="overflow"):
            gradient(np.array([1.0, 1e4]), "raise")
        assert np.geterr() == before


def test_a_scope_with_an_early_end() -> None:
    def f(x, n):
        s = 0.0
        for i in range(n):
            with np.errstate(all="ignore"):
                s = s + np.sqrt(x[i])
                if x[i] > 2.5:
                    break
                if x[i] < 0.0:
                    raise ValueError("negative")
        return s

    for _ in range(2):
        assert_allclose(pb.grad(f)(np.array([1.0, 4.0, 9.0]), 3), [0.5, 0.25, 0.0])
        with pytest.raises(ValueError, match="negative"):
            pb.grad(f)(np.array([1.0, -4.0, 9.0]), 3)
