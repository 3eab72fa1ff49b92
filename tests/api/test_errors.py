"""Bad input: each is a clear error, and leaves the caller's arrays as they were."""

from __future__ import annotations

import collections
import statistics
import sys
import textwrap
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.errors import ArgumentError, NoRuleError, OverlapError, SourceError
from pullback.frontend.library import FUNCTIONS

X = np.array([1.0, -2.0, 3.0])


def total(x, n=2, flag=True, mode="sum"):
    return np.sum(x) * n if flag and mode == "sum" else np.mean(x)


# -------------------------------------------------------------------------------------------------------- the result


def test_array_result() -> None:
    with pytest.raises(ArgumentError, match="scalar"):
        pb.grad(lambda x: x * x)(X)


def test_shape_1_result() -> None:
    with pytest.raises(ArgumentError, match="scalar"):
        pb.grad(lambda x: x * x)(np.array([3.0]))


@pytest.mark.parametrize(
    "f", [lambda x: (x, x), lambda x: [x], lambda x: {"a": x}, lambda x: None, lambda x: "text"]
)
def test_structured_result(f: Any) -> None:
    with pytest.raises(ArgumentError, match="scalar"):
        pb.grad(f)(3.0)


def test_complex_result() -> None:
    with pytest.raises(ArgumentError, match="real scalar"):
        pb.grad(lambda x: x * 1j)(3.0)


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (lambda x: np.sum(x > 0.5), "an integer"),
        (lambda x: np.argmax(x), "an integer"),
        (lambda x: int(x[0]), "an integer"),
        (lambda x: np.all(x > 0.5), "a boolean"),
    ],
)
def test_an_integer_result_has_no_derivative(f: Any, what: str) -> None:
    with pytest.raises(ArgumentError, match=f"returns {what}, which has no derivative"):
        pb.grad(f)(np.ones(3))


def test_a_loop_that_does_not_run_may_leave_an_integer() -> None:
    def f(x: Any, n: Any) -> Any:
        s = 0
        for i in range(n):
            s += x[i] ** 2
        return s

    np.testing.assert_array_equal(pb.grad(f)(np.ones(2), 0), [0.0, 0.0])
    np.testing.assert_array_equal(pb.grad(f)(np.ones(2), 1), [2.0, 0.0])


def test_has_aux_needs_a_pair() -> None:
    with pytest.raises(ArgumentError, match=r"\(value, aux\)"):
        pb.value_and_grad(lambda x: x, has_aux=True)(3.0)


# --------------------------------------------------------------------------------------------------------- arguments


@pytest.mark.parametrize("value", [3, np.int32(3), np.arange(3), np.arange(3, dtype=np.uint8)])
def test_integer_parameter(value: Any) -> None:
    with pytest.raises(ArgumentError, match=r"`x` is an integer.*int"):
        pb.grad(lambda x: np.sum(x * 2.0))(value)


@pytest.mark.parametrize("value", [np.bool_(True), np.array([True, False])])
def test_boolean_parameter(value: Any) -> None:
    with pytest.raises(ArgumentError, match="`x` is a boolean"):
        pb.grad(lambda x: np.sum(x * 2.0))(value)


@pytest.mark.parametrize("argnum", ["flag", "mode", "n", 1, 2, 3])
def test_parameter_without_gradient(argnum: Any) -> None:
    with pytest.raises(ArgumentError, match="gradient"):
        pb.grad(total, argnums=argnum)(X, 2, True, "sum")


def test_structure_without_floats() -> None:
    with pytest.raises(ArgumentError, match="`p` holds no float"):
        pb.grad(lambda p: p["a"] * 2.0)({"a": 3})


@pytest.mark.parametrize("argnums", [4, -5, "z", True, 1.5, None.__class__, (0, 7), ("x", "q")])
def test_wrong_argnums(argnums: Any) -> None:
    with pytest.raises(ArgumentError, match=r"0: x, 1: n, 2: flag, 3: mode"):
        pb.grad(total, argnums=argnums if argnums is not type(None) else (object(),))


def test_no_or_doubled_argnums() -> None:
    with pytest.raises(ArgumentError, match="empty"):
        pb.grad(total, argnums=())
    with pytest.raises(ArgumentError, match="twice"):
        pb.grad(total, argnums=(0, "x"))


def test_wrong_argnums_of_star_args() -> None:
    f = pb.grad(lambda x, *rest: np.sum(x), argnums=3)
    with pytest.raises(ArgumentError, match=r"0: x, 1: rest\[0\]"):
        f(X, 1.0)


def test_wrong_number_of_arguments_is_pythons_own_error() -> None:
    g = pb.grad(total)
    cases: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((), {}),
        ((X, 1, True, "sum", 5), {}),
        ((X,), {"wrong": 1}),
        ((X,), {"x": X}),
    ]
    for args, kwargs in cases:
        with pytest.raises(TypeError) as ours:
            g(*args, **kwargs)
        with pytest.raises(TypeError) as python:
            total(*args, **kwargs)
        assert str(ours.value) == str(python.value)


class Table:
    """Looks like another library's array class."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return X


Table.__module__ = "pandas.core.frame"
Table.__qualname__ = Table.__name__ = "DataFrame"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.array([1.0, None]), "object"),
        (np.zeros(3, dtype="f8,f8"), "object"),
        (np.array(["a"]), "dtype"),
        (np.array(["2020"], dtype="M8[D]"), "dtype"),
        (np.ma.array([1.0], mask=[True]), "MaskedArray"),
        (np.asmatrix(np.ones((2, 2))), "matrix"),
        (Table(), r"pandas.*DataFrame"),
        (collections.defaultdict(float), "plain dict"),
        ({1.0, 2.0}, "frozenset"),
    ],
)
def test_refused_arguments(value: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=f"(?s)`x`.*{message}") as info:
        pb.grad(lambda x, y: y * 2.0, argnums=1)(value, 3.0)
    assert "way out" in str(info.value)


def test_refused_inside_a_structure() -> None:
    with pytest.raises(ArgumentError, match=r"`p\['a'\]\[1\]`.*object"):
        pb.grad(lambda p: p["a"][0])({"a": [1.0, np.array([None])]})


# ------------------------------------------------------------------------------------------------------------- source


def test_c_functions_and_exec() -> None:
    namespace: dict[str, Any] = {"np": np}
    exec("def f(x): return np.sum(x)", namespace)
    with pytest.raises(SourceError, match="no source"):
        pb.grad(namespace["f"])(X)
    with pytest.raises(SourceError, match="no Python source"):
        pb.grad(np.linalg.norm.__class__)


def test_changed_source_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "changing_module.py"
    file.write_text("def f(x):\n    return x * x\n")
    monkeypatch.syspath_prepend(tmp_path)
    import changing_module  # type: ignore[import-not-found]

    assert changing_module.f(3.0) == 9.0
    file.write_text("def f(x):\n    return x * x * x\n")
    with pytest.raises(SourceError, match="changed"):
        pb.grad(changing_module.f)(3.0)
    sys.modules.pop("changing_module")


# ----------------------------------------------------------------------------------------------- exceptions of the user


def place_of(error: BaseException) -> str:
    """What the traceback tells of the user's source."""
    return "".join(traceback.format_exception(error))


def test_shape_error_shows_the_users_line() -> None:
    def f(x, y):
        z = 2.0 * x
        return np.sum(z @ y)

    x, y = X.copy(), np.ones((2, 2))
    with pytest.raises(ValueError, match="matmul") as info:
        pb.grad(f)(x, y)
    assert "test_errors.py" in place_of(info.value)
    assert "return np.sum(z @ y)" in place_of(info.value)
    assert np.array_equal(x, X)


def test_the_users_own_exception() -> None:
    def f(x):
        s = 0.0
        for i in range(len(x)):
            if x[i] < 0.0:
                raise ValueError("negative entry")
            s = s + np.sqrt(x[i])
        return s

    x = X.copy()
    for _ in range(2):  # the entry of the second call is the specialised one
        with pytest.raises(ValueError, match="negative entry") as info:
            pb.grad(f)(x)
        assert 'raise ValueError("negative entry")' in place_of(info.value)
    assert np.array_equal(x, X)


def test_index_error_in_a_loop() -> None:
    def f(x):
        s = 0.0
        for i in range(5):
            s = s + x[i]
        return s

    with pytest.raises(IndexError) as info:
        pb.grad(f)(X)
    assert "s = s + x[i]" in place_of(info.value)


def test_in_place_function_that_fails_leaves_arguments_alone() -> None:
    def f(x):
        x[0] = 10.0
        x[1:] = x[:-1]
        return np.sum(x @ np.ones(7))

    x = X.copy()
    with pytest.raises(ValueError):
        pb.grad(f)(x)
    assert np.array_equal(x, X)


# --------------------------------------------------------------------------------------------------- shared arguments


def test_overlapping_arguments() -> None:
    def f(x, y):
        x[1:] = y[:-1] * 2.0
        return np.sum(x)

    buffer = np.arange(6.0)
    with pytest.raises(OverlapError, match=r"`x`.*`y`"):
        pb.grad(f)(buffer[:4], buffer[2:])
    with pytest.raises(OverlapError, match=r"`x`.*`y`"):
        pb.grad(f)(buffer, buffer)
    pb.grad(f)(buffer[::2], buffer[1::2])  # interleaved, but apart
    assert np.array_equal(buffer, np.arange(6.0))


def test_overlap_inside_one_structure() -> None:
    def f(p):
        p["a"][0] = 1.0
        return np.sum(p["a"] * p["b"])

    with pytest.raises(OverlapError):
        pb.grad(f)({"a": X, "b": X})


def test_shared_arguments_that_are_only_read() -> None:
    bars = pb.grad(lambda x, y: np.sum(x * y), argnums=(0, 1))(X, X)
    assert np.array_equal(bars[0], X)
    assert np.array_equal(bars[1], X)


def test_unpacking_the_wrong_number_is_a_value_error() -> None:
    def two(x: Any) -> Any:
        a, b = x
        return a * b

    def at_least_four(x: Any) -> Any:
        a, *_, b, c, d = x
        return a * b * c * d

    for fn in (two, at_least_four):
        with pytest.raises(ValueError, match="values to unpack"):
            pb.grad(fn)(np.ones(3))


def test_argument_that_numpy_does_not_know() -> None:
    def f(x: Any) -> Any:
        return np.sum(x, axes=0)  # type: ignore[call-overload]

    with pytest.raises(pb.UnsupportedError, match="unexpected keyword argument 'axes'"):
        pb.grad(f)(np.ones(3))


def test_numpy_says_what_is_wrong_with_an_operand() -> None:
    def f(x: Any) -> Any:
        return np.einsum("ij->i", x).sum()

    with pytest.raises(ValueError, match="too many subscripts"):
        pb.grad(f)(np.ones(3))


def test_a_defect_of_the_compiler_names_the_users_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise KeyError("lost")

    def f(x: Any) -> Any:
        y = x * 2
        return abs(y)

    monkeypatch.setitem(FUNCTIONS, abs, broken)
    with pytest.raises(pb.CompilerError, match="defect") as caught:
        pb.grad(f)(0.5)
    assert caught.value.loc is not None and caught.value.loc.text.strip() == "return abs(y)"


# ------------------------------------------------------------------------------------------- functions without a rule


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.poly(x).sum(),
        lambda x: np.linalg.det(np.poly(x)),
        lambda x: x[0] * len([*np.poly(x)]),
    ],
)
def test_what_a_function_without_rule_returns_names_it(f: Any) -> None:
    with pytest.raises(NoRuleError, match=r"`np\.poly`"):
        pb.grad(f)(X)


def test_a_library_function_that_cannot_be_followed_is_refused_at_the_call() -> None:
    def f(x):
        return np.sum(x) * textwrap.dedent(f"{x}").count("1")

    def g(x):
        return np.sum(x) * statistics.fmean(x)

    for function in (f, g):
        line = function.__code__.co_firstlineno + 1
        with pytest.raises(
            NoRuleError, match=rf"{Path(__file__).name}:{line}: `\w+` of \w+ has no rule"
        ) as info:
            pb.grad(function)(X)
        assert "way out: give `" in str(info.value)


def test_methods_that_an_instance_holds() -> None:
    class Held:
        def __init__(self) -> None:
            self.scaled = self.double

        def double(self, x):
            return 2 * x

    held = Held()
    assert pb.grad(lambda x: held.scaled(x))(3.0) == 2.0


@pytest.mark.skipif(sys.version_info < (3, 11), reason="notes are from 3.11 on")
def test_a_warning_made_an_error_names_the_line() -> None:
    def f(x):
        y = np.exp(x)
        return np.sum(y)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning) as info:
            pb.grad(f)(1000.0 * X)
    (note,) = info.value.__notes__
    assert "y = np.exp(x)" in note
