"""The public interface: every name, in the ways it is meant to be used."""

from __future__ import annotations

import dataclasses
import functools
import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pullback as pb
from pullback.errors import ArgumentError, GradientMismatchError, PullbackError, SourceError, UnsupportedError

X = np.array([1.0, -2.0, 3.0])
Y = np.array([0.5, 0.25, -1.0])


def dot(x, y):
    return np.sum(x * y)


def shifted(x, y=2.0, *more, scale=3.0, **rest):
    total = np.sum(x) * y * scale
    for m in more:
        total = total + np.sum(m * m)
    return total + rest["bias"] if rest else total


@pb.differentiable
def energy(x, k):
    """The energy."""
    return 0.5 * k * np.sum(x * x)


def test_every_public_name_is_there() -> None:
    for name in pb.__all__:
        assert getattr(pb, name) is not None
        assert name in dir(pb)


def test_a_name_that_does_not_exist() -> None:
    with pytest.raises(AttributeError, match="no attribute 'jit'"):
        _ = pb.jit  # type: ignore[attr-defined]


# ------------------------------------------------------------------------------------------- grad and value_and_grad


def test_grad_of_a_plain_function() -> None:
    assert_allclose(pb.grad(dot)(X, Y), Y)


def test_value_and_grad() -> None:
    value, bar = pb.value_and_grad(dot)(X, Y)
    assert value == dot(X, Y)
    assert_allclose(bar, Y)


@pytest.mark.parametrize("argnums", [1, "y", -1, np.int64(1)])
def test_argnums_one(argnums: Any) -> None:
    assert_allclose(pb.grad(dot, argnums=argnums)(X, Y), X)


@pytest.mark.parametrize("argnums", [(0, 1), [0, "y"], ("x", -1)])
def test_argnums_several_give_a_tuple(argnums: Any) -> None:
    bars = pb.grad(dot, argnums=argnums)(X, Y)
    assert type(bars) is tuple
    assert_allclose(bars[0], Y)
    assert_allclose(bars[1], X)


def test_argnums_tuple_of_one_gives_a_tuple() -> None:
    (bar,) = pb.grad(dot, argnums=(0,))(X, Y)
    assert_allclose(bar, Y)


def test_argnums_member_of_star_args() -> None:
    bars = pb.grad(shifted, argnums=(2, 3))(X, 2.0, X, Y)
    assert_allclose(bars[0], 2 * X)
    assert_allclose(bars[1], 2 * Y)
    assert_allclose(pb.grad(shifted, argnums=-1)(X, 2.0, X, Y), 2 * Y)


def test_argnums_keyword_only() -> None:
    assert_allclose(pb.grad(shifted, argnums="scale")(X, scale=1.0), 4.0)
    assert_allclose(pb.grad(shifted, argnums="scale")(X), 4.0)


def test_arguments_by_keyword_and_defaults() -> None:
    assert_allclose(pb.grad(dot)(y=Y, x=X), Y)
    assert_allclose(pb.grad(shifted)(X), np.full(3, 6.0))
    assert_allclose(pb.grad(shifted)(X, bias=10.0), np.full(3, 6.0))


def test_has_aux() -> None:
    def f(x):
        r = x * x
        return np.sum(r), {"r": r, "n": len(x)}

    (value, aux), bar = pb.value_and_grad(f, has_aux=True)(X)
    assert value == 14.0
    assert_allclose(aux["r"], X * X)
    assert aux["n"] == 3
    assert_allclose(bar, 2 * X)
    bar, aux = pb.grad(f, has_aux=True)(X)
    assert_allclose(bar, 2 * X)
    assert_allclose(aux["r"], X * X)


# -------------------------------------------------------------------------------------------- kinds of the gradient


def test_python_float_gives_a_python_float() -> None:
    assert type(pb.grad(lambda x: x * x)(3.0)) is float


def test_numpy_scalar_gives_its_own_kind() -> None:
    bar = pb.grad(lambda x: x * x)(np.float32(3.0))
    assert type(bar) is np.float32
    assert bar == 6.0


def test_rank_0_array_gives_a_rank_0_array() -> None:
    bar = pb.grad(lambda x: x * x)(np.array(3.0))
    assert isinstance(bar, np.ndarray)
    assert bar.shape == ()
    assert bar == 6.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_array_gives_its_dtype(dtype: Any) -> None:
    x = X.astype(dtype)
    bar = pb.grad(lambda x: np.sum(x * x) * 2.0)(x)
    assert bar.dtype == dtype
    assert_allclose(bar, 4 * x)


def test_gradients_own_their_memory() -> None:
    x, y = X.copy(), Y.copy()
    x_bar, y_bar = pb.grad(dot, argnums=(0, 1))(x, y)
    arrays = [x, y, x_bar, y_bar]
    for i, a in enumerate(arrays):
        for b in arrays[:i]:
            assert not np.shares_memory(a, b)
    assert x_bar.flags.owndata
    assert x_bar.flags.writeable


# ---------------------------------------------------------------------------------------------------------- pytrees


class Point(NamedTuple):
    x: Any
    y: Any


@dataclasses.dataclass
class Layer:
    W: Any
    b: Any
    name: str = "layer"
    size: int = 3


class Model:
    def __init__(self, w: Any) -> None:
        self.w = w
        self.steps = 2

    def loss(self, x):
        return np.sum(self.w * x) * self.steps

    @pb.differentiable
    def decorated(self, x, y=1.0):
        return np.sum(self.w * x) * y

    @staticmethod
    @pb.differentiable
    def static(x):
        return x * x


def test_dict_and_list() -> None:
    def f(params, x):
        return np.sum(params["w"] * x) + params["more"][0] * params["more"][1]

    bar = pb.grad(f)({"w": X, "more": [2.0, 5.0], "flag": True, "n": 4, "s": "text", "none": None}, Y)
    assert list(bar) == ["w", "more", "flag", "n", "s", "none"]
    assert_allclose(bar["w"], Y)
    assert bar["more"] == [5.0, 2.0]
    assert [bar[k] for k in ("flag", "n", "s", "none")] == [None] * 4


def test_named_tuple() -> None:
    bar = pb.grad(lambda p: np.sum(p.x * p.y))(Point(X, Y))
    assert type(bar) is Point
    assert_allclose(bar.x, Y)
    assert_allclose(bar.y, X)


def test_dataclass() -> None:
    bar = pb.grad(lambda layer, x: np.sum(layer.W * x + layer.b) * layer.size)(Layer(X, 2.0), Y)
    assert type(bar) is Layer
    assert_allclose(bar.W, 3 * Y)
    assert bar.b == 9.0
    assert bar.name is None


def test_object() -> None:
    bar = pb.grad(lambda m, x: m.loss(x))(Model(X), Y)
    assert type(bar) is Model
    assert_allclose(bar.w, 2 * Y)
    assert bar.steps is None


# ---------------------------------------------------------------------------------------------------- differentiable


def test_a_differentiable_function_is_the_users() -> None:
    assert energy(X, 2.0) == 14.0
    assert energy.__name__ == "energy"
    assert energy.__doc__ == "The energy."
    assert "energy" in repr(energy)
    with pytest.raises(TypeError, match=r"energy\(\) missing 1 required positional argument: 'k'"):
        energy(X)


def test_differentiable_methods_of_the_object() -> None:
    value, bar = energy.value_and_grad(X, 2.0)
    assert value == 14.0
    assert_allclose(bar, 2 * X)
    assert energy.grad(X, 2.0, argnums="k") == 7.0
    assert_allclose(pb.grad(energy)(X, 2.0), 2 * X)


def test_differentiable_with_options() -> None:
    @pb.differentiable(optimize=False, bufferize=False)
    def f(x):
        y = np.zeros(3)
        y[1:] = x[1:] ** 2
        return np.sum(y)

    assert_allclose(f.grad(X), [0.0, -4.0, 6.0])
    with pytest.raises(TypeError, match="no_such_option"):
        pb.differentiable(no_such_option=True)
    with pytest.raises(TypeError, match="takes a function"):
        pb.differentiable(3.0)  # type: ignore[call-overload]


def test_methods() -> None:
    m, n = Model(X), Model(Y)
    assert m.decorated(Y) == np.sum(X * Y)
    assert_allclose(m.decorated.grad(Y), X)
    assert_allclose(n.decorated.grad(Y), Y)
    assert m.decorated.grad(Y, 2.0, argnums="y") == np.sum(X * Y)
    assert m.decorated.grad(Y, 2.0, argnums=1) == np.sum(X * Y)
    assert_allclose(m.decorated.grad(Y, argnums="self").w, Y)
    assert_allclose(pb.grad(m.decorated)(Y), X)
    assert_allclose(pb.grad(m.loss)(Y), 2 * X)
    assert Model.static.grad(3.0) == 6.0
    assert_allclose(Model.decorated.grad(m, Y, argnums=1), X)


def test_methods_share_what_is_compiled() -> None:
    first, second = Model(X).decorated, Model(Y).decorated
    assert first._gradient(0).gradient is second._gradient(0).gradient


def test_partial_cache_and_callable_object() -> None:
    class Twice:
        def __init__(self, factor: Any) -> None:
            self.factor = factor

        def __call__(self, x):
            return self.factor * x * x

    assert_allclose(pb.grad(functools.partial(dot, Y))(X), Y)
    assert_allclose(pb.grad(functools.partial(dot, y=Y))(X), Y)
    assert pb.grad(functools.lru_cache(lambda x: x * x))(3.0) == 6.0
    assert pb.grad(Twice(5.0))(3.0) == 30.0


def test_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(energy)) is energy


def test_a_function_is_compiled_once() -> None:
    pb.grad(dot)(X, Y)
    first = pb.value_and_grad(dot)
    assert pb.value_and_grad(dot) is first


# ---------------------------------------------------------------------------------------------------- vjp and the pair


def test_vjp_of_an_array() -> None:
    value, pullback = pb.vjp(lambda x, y: x * y, X, Y)
    assert_allclose(value, X * Y)
    x_bar, y_bar = pullback(np.ones(3))
    assert_allclose(x_bar, Y)
    assert_allclose(y_bar, X)
    x_bar, _ = pullback(2 * np.ones(3))  # a pullback may be called again
    assert_allclose(x_bar, 2 * Y)


def test_vjp_leaves_out_what_has_no_gradient() -> None:
    def f(x, n, name, flag):
        return x * n if flag and name else x

    _, pullback = pb.vjp(f, X, 3, "name", True)
    x_bar, *others = pullback(np.ones(3))
    assert_allclose(x_bar, np.full(3, 3.0))
    assert others == [None, None, None]


def test_vjp_is_of_the_arguments_given_by_position() -> None:
    def f(x, k=2.0, *more, scale=3.0):
        return np.sum(x) * k * scale + sum(more)

    _, pullback = pb.vjp(f, X)
    (x_bar,) = pullback(1.0)
    assert_allclose(x_bar, np.full(3, 6.0))
    assert_allclose(pb.vjp(f, X, k=5.0)[1](1.0)[0], np.full(3, 15.0))
    assert pb.vjp(f, X, 5.0, 1.0, 7.0, scale=2.0)[1](1.0)[1:] == (4.0, 1.0, 1.0)
    assert_allclose(pb.vjp(functools.partial(f, X), 2.0)[1](1.0), (6.0,))
    with pytest.raises(ArgumentError, match="given by position"):
        pb.vjp(f, x=X)
    _, residuals = energy.primal(X, k=2.0)
    assert len(energy.pullback(residuals, 1.0)) == 1
    _, pullback = Model(X).decorated.vjp(Y)
    assert_allclose(pullback(1.0)[0], X)


def test_vjp_argnums_and_keywords() -> None:
    _, pullback = pb.vjp(dot, X, y=Y, argnums="y")
    assert_allclose(pullback(1.0), X)


def test_vjp_structured_value() -> None:
    _, pullback = pb.vjp(lambda x: {"a": x * x, "b": (np.sum(x), 3)}, X)
    (bar,) = pullback({"a": np.ones(3), "b": (1.0, None)})
    assert_allclose(bar, 2 * X + 1)


def test_vjp_does_not_see_later_changes() -> None:
    x, y = X.copy(), Y.copy()
    value, pullback = pb.vjp(lambda x, y: np.tanh(x) * y, x, y)
    x[:], y[:], value[:] = 0.0, 0.0, 0.0
    x_bar, y_bar = pullback(np.ones(3))
    assert_allclose(x_bar, (1 - np.tanh(X) ** 2) * Y)
    assert_allclose(y_bar, np.tanh(X))


def test_primal_and_pullback() -> None:
    value, residuals = energy.primal(X, 2.0)
    assert value == 14.0
    assert_allclose(energy.pullback(residuals, 1.0)[0], 2 * X)
    value, residuals = energy.primal(X, 2.0, argnums=0, copy=False)
    assert_allclose(energy.pullback(residuals, 0.5), X)
    assert "energy" in repr(residuals)
    with pytest.raises(ArgumentError, match="residuals"):
        energy.pullback((1, 2), 1.0)  # type: ignore[arg-type]


def test_copy_false_copies_nothing() -> None:
    @pb.differentiable
    def f(x, y):
        return x * y

    x, y = X.copy(), Y.copy()
    _, residuals = f.primal(x, y, copy=False)
    x[:] = 0.0
    assert_allclose(f.pullback(residuals, np.ones(3))[1], np.zeros(3))


@pytest.mark.parametrize(
    ("seed", "message"),
    [
        (np.ones(4), r"shape \(4,\).*shape \(3,\)"),
        (1.0, r"shape \(\)"),
        (np.ones(3, dtype=complex), "complex128"),
        (np.array(["a", "b", "c"]), "dtype"),
        ((np.ones(3),), "shape"),
    ],
)
def test_wrong_seeds(seed: Any, message: str) -> None:
    _, pullback = pb.vjp(lambda x: x * x, X)
    with pytest.raises(ArgumentError, match=message):
        pullback(seed)


def test_wrong_structure_of_a_seed() -> None:
    _, pullback = pb.vjp(lambda x: (x, 2 * x), X)
    for seed in (X, (X,), {"a": X, "b": X}):
        with pytest.raises(ArgumentError, match="the value is a tuple of 2"):
            pullback(seed)
    assert_allclose(pullback([X, X])[0], 3 * X)


def test_integer_seed_is_converted() -> None:
    _, pullback = pb.vjp(lambda x: x * x, X)
    (bar,) = pullback(np.ones(3, dtype=int))
    assert bar.dtype == np.float64


# ---------------------------------------------------------------------------------------------------------- markers


def test_stop_gradient() -> None:
    assert pb.grad(lambda x: x * pb.stop_gradient(x))(3.0) == 3.0
    assert pb.stop_gradient(2.0) == 2.0


def test_broadcast() -> None:
    def soft(v, k):
        return v * k if v > 0 else 0.1 * v

    def f(x, k):
        return np.sum(pb.broadcast(soft, x, k))

    assert_allclose(f(X, 2.0), 2.0 - 0.2 + 6.0)
    assert_allclose(pb.grad(f)(X, 2.0), [2.0, 0.1, 2.0])
    assert_allclose(pb.grad(f, argnums=1)(X, 2.0), 4.0)


# ------------------------------------------------------------------------------------------------- source and explain


def test_source() -> None:
    pair = energy.source(X, 2.0)
    assert "def energy_primal(x, k):" in pair
    assert "def energy_pullback(residuals, value_bar):" in pair
    assert "def energy_value_and_grad(x, k):" in energy.source(X, 2.0, form="joint")
    assert energy.source(X, 2.0) == pair
    with pytest.raises(ArgumentError, match="form"):
        energy.source(X, 2.0, form="triple")


def test_explain_as_data_and_text() -> None:
    @pb.differentiable
    def f(x):
        y = x.copy()
        y[0] = 1.0
        return np.sum(np.tanh(y))

    report = f.explain(X)
    tanh = next(s for s in report.sites if "tanh" in s.site)
    assert tanh.hop == "H2"
    assert tanh.path == "partials"
    assert "np.tanh" in tanh.rule
    assert tanh.line > 0
    assert [t.hop for t in tanh.trace] == ["H0", "H1", "H2", "H3"]
    assert report.copies == ()
    assert tanh.text == "return np.sum(np.tanh(y))"
    header, *rows = str(report).splitlines()
    assert header.split() == ["line", "call", "hop", "path", "rule"]
    assert any("np.tanh (ufunc)" in row and "H2" in row for row in rows)
    assert rows[-1] == "no array is copied"
    assert "H3: row for np.tanh" in str(tanh)


def test_explain_shows_copies_and_rejected_rules() -> None:
    @pb.differentiable
    def f(x, y):
        x[0] = 2.0
        return np.sum(x * y)

    report = f.explain(X, Y)
    (copy,) = report.copies
    assert (copy.name, copy.line) == ("x", report.sites[0].line - 1)
    assert str(copy) in str(report)

    def special(x):
        return 2.0 * x

    for priority in (1, 2):

        @pb.rule(special, priority=priority, when=(lambda *styles: False) if priority == 2 else None)
        def _(x, *, out, out_bar):
            return 2.0 * out_bar

    @pb.differentiable
    def g(x):
        return np.sum(special(x))

    sites = [s for s in g.explain(X).sites if s.rejected]
    assert sites
    assert "looked at and not used" in str(g.explain(X))


# --------------------------------------------------------------------------------------------------- check_gradients


def test_check_gradients_passes() -> None:
    pb.check_gradients(dot, X, Y)
    pb.check_gradients(energy, X, 2.0)
    pb.check_gradients(dot, X, Y, argnums=("x", 1))
    pb.check_gradients(lambda p, n: p["w"] ** n * p["b"][0], {"w": X, "b": (2.0, 3)}, 2)
    pb.check_gradients(lambda x: np.sum(x * x) * 2, X.astype(np.float32))
    pb.check_gradients(dot, X, y=Y, argnums="y")


def test_check_gradients_of_a_function_with_defaults() -> None:
    def scaled(x, k=2.0, *rest, shift=0.5):
        return k * np.sum(x * x) + shift * sum(rest)

    pb.check_gradients(scaled, X)
    pb.check_gradients(scaled, X, 3.0, 4.0, 5.0, shift=1.5)
    pb.check_gradients(scaled, X, argnums=("k", "shift"))


def test_check_gradients_says_which_entry() -> None:
    def wrong(x):
        return np.sum(x * pb.stop_gradient(x))

    with pytest.raises(
        GradientMismatchError, match=r"argument 0.* at entry \[2\]: 3.0 against [56].*off by 3"
    ) as info:
        pb.check_gradients(wrong, X)
    assert "3 of 3 entries" in str(info.value)
    with pytest.raises(GradientMismatchError, match=r"argument 0\['w'\]"):
        pb.check_gradients(lambda p: wrong(p["w"]) + p["b"], {"w": X, "b": 1.0})


def test_check_gradients_leaves_arguments_alone() -> None:
    def f(x):
        x[0] = 5.0
        return np.sum(x * x)

    x = X.copy()
    pb.check_gradients(f, x)
    assert_allclose(x, X)


# --------------------------------------------------------------------------------------------------- what is refused


def test_a_structured_result_is_named_by_its_class() -> None:
    with pytest.raises(ArgumentError, match="returns a Point; a gradient is of a scalar"):
        pb.grad(lambda x: Point(x, x))(3.0)


def test_a_list_of_run_time_length_is_no_scalar() -> None:
    with pytest.raises(ArgumentError, match="returns a list; a gradient is of a scalar"):
        pb.grad(lambda x: [v * 2.0 for v in x])(X)


def test_gradient_of_a_gradient_is_refused() -> None:
    for f in (pb.grad(dot), pb.value_and_grad(dot)):
        with pytest.raises(UnsupportedError, match="gradient already"):
            pb.grad(f)


def test_no_python_source() -> None:
    with pytest.raises(SourceError, match="has no Python source"):
        pb.grad(len)
    with pytest.raises(SourceError, match="sin"):
        pb.grad(np.sin)
    with pytest.raises(TypeError, match="a function is needed"):
        pb.grad(3.0)  # type: ignore[arg-type]


def test_errors_are_one_family() -> None:
    for name in pb.__all__:
        if name.endswith("Error"):
            assert issubclass(getattr(pb, name), PullbackError)
