"""What is known of the values of a kernel, and the mathematics that is then enough."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.native.maths_loops import SEED, Array, Loop, compiled, instruction_sets, run, source, ulps

import pullback as pb
from pullback.backend.native.emit.ranges import ALL, Range, Ranges
from pullback.ir.builder import Builder
from pullback.ir.nodes import Call, Const, Operand, Var
from pullback.rules.registry import op_of
from pullback.styles.style import FLOAT64, Dim
from pullback.styles.style import Array as ArrayStyle

FLAGS = instruction_sets()
if not FLAGS:
    pytest.skip("no C compiler", allow_module_level=True)

# name: NumPy's function, where it is enough, the bound in ulp
ENOUGH: dict[str, tuple[Callable[..., Array], float, float, float]] = {
    "exp_below": (np.exp, -760.0, 290.0, 1.3),
    "log_normal": (np.log, 2.0**-1022, 1e308, 1.0),
    "log1p_unit": (np.log1p, 0.0, 1.0, 2.8),
}
LOOPS = {name: Loop(f"pb_{name}(a)", ("float64",), "float64") for name in ENOUGH}
TEXT = source(LOOPS)
WIDE = np.longdouble if np.finfo(np.longdouble).nmant >= 63 else np.float64


@pytest.fixture(scope="module", params=FLAGS)
def library(request: pytest.FixtureRequest) -> ctypes.CDLL:
    return compiled(TEXT, FLAGS[request.param])


def between(low: float, high: float) -> Array:
    """Points of all sizes between two numbers."""
    rng = np.random.default_rng(SEED)
    even = rng.uniform(low, min(high, 1e6), 60000)
    sizes = np.exp(rng.uniform(np.log(max(low, 5e-324)), np.log(high), 60000))
    return np.concatenate([even, sizes[(sizes >= low) & (sizes <= high)], [max(low, 5e-324), min(high, 1e6)]])


@pytest.mark.parametrize("name", ENOUGH)
def test_errors(library: ctypes.CDLL, name: str) -> None:
    function, low, high, bound = ENOUGH[name]
    x = between(low, high)
    with np.errstate(all="ignore"):
        wanted = function(x.astype(WIDE))
    assert ulps(run(library, name, LOOPS[name], x), wanted).max() <= bound + (
        0.0 if WIDE is np.longdouble else 1.0
    )


@pytest.mark.parametrize("name", ENOUGH)
def test_special_cases(library: ctypes.CDLL, name: str) -> None:
    function, low, high, _ = ENOUGH[name]
    x = np.array([np.nan, -np.nan, 0.0, -0.0, 5e-324, 1e-310, 1.0, np.inf, -np.inf, -745.0, -745.2, -1e300])
    x = x[
        np.isnan(x)
        | ((x >= low) & ((x <= high) | (name == "log_normal")))
        | ((x < low) & (name == "exp_below"))
    ]
    found = run(library, name, LOOPS[name], x)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(found, function(x), rtol=1e-15, atol=0.0)


def chain(*steps: Any) -> tuple[list[Call], list[Var]]:
    """Calls of NumPy's functions, each of an earlier value (its number; -1 is the argument) and of constants."""
    build = Builder()
    made = [Var("x", ArrayStyle(FLOAT64, (Dim(0),)))]
    for fn, *operands in steps:
        op = op_of(fn)
        assert op is not None
        args: list[Operand] = [made[a + 1] if type(a) is int else Const(a) for a in operands]
        made.append(build.call(op, *args))
    return [s for s in build.finish().stmts if isinstance(s, Call)], made


STEPS: list[tuple[Any, ...]] = [
    (np.absolute, -1), (np.negative, 0), (np.exp, 1), (np.log1p, 2), (np.add, 2, 1.0),
    (np.divide, 1.0, 4), (np.log, 4), (np.tanh, -1), (np.multiply, 7, 7), (np.subtract, 1.0, 8),
    (np.sqrt, 0), (np.maximum, -1, 0.5), (np.minimum, 11, 3.0), (np.multiply, 12, -2.0), (np.exp, 13),
    (np.power, -1, 2), (np.reciprocal, 4), (np.divide, -1, 12), (np.sign, -1),
]  # fmt: skip


def test_bounds_hold() -> None:
    calls, made = chain(*STEPS)
    ranges = Ranges()
    for call in calls:
        ranges.made(call, FLOAT64)
    x = np.concatenate([np.linspace(-30.0, 30.0, 1001), [0.0, -0.0, 1e-300, 1e300, -1e300, np.inf, -np.inf]])
    values: dict[Var, Array] = {made[0]: x}
    known = 0
    for call in calls:
        operands = [values[a] if isinstance(a, Var) else a.value for a in call.args]  # type: ignore[union-attr]
        with np.errstate(all="ignore"):
            value = values[call.targets[0]] = np.asarray(call.op.fn(*operands))  # type: ignore[operator]
        found = ranges.of(call.targets[0])
        numbers = value[~np.isnan(value)]
        assert np.all((found.low <= numbers) & (numbers <= found.high)), call
        known += found != ALL
    assert known == len(STEPS) - 2
    assert ranges.of(made[3]) == Range(0.0, 1.0 + 1e-15)


def softplus(x: Any) -> Any:
    return np.sum(np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x))))


def logistic(x: Any) -> Any:
    return np.sum(np.log(1.0 + np.exp(-x)) * np.tanh(x))


@pytest.mark.parametrize(
    ("f", "names"), [(softplus, ("exp_below", "log1p_unit")), (logistic, ("log_normal",))]
)
def test_a_chain(f: Any, names: tuple[str, ...]) -> None:
    gradient = pb.value_and_grad(f, target="native")
    x = np.array([0.0, -0.0, 1.0, -3.0, 40.0, -40.0, 700.0, -690.0, 1e-310, 0.4, -0.9])
    value, bar = gradient(x)
    wanted, wanted_bar = pb.value_and_grad(f, target="numpy")(x)
    np.testing.assert_allclose(value, wanted, rtol=1e-15)
    np.testing.assert_allclose(bar, wanted_bar, rtol=1e-14, atol=1e-300)
    text = gradient.source(x, target="c")
    assert all(f"pb_{name}(" in text for name in names)
    assert np.isnan(gradient(np.array([1.0, np.nan]))[0])


def quotients(x: Any) -> Any:
    return np.sum(np.tanh(x) / (1.0 + x * x) + 2.0 / (1.0 + x * x))


def unbounded(x: Any) -> Any:
    return np.sum(np.tanh(x) / x + 2.0 / x)


@pytest.mark.parametrize(("f", "shared"), [(quotients, True), (unbounded, False)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_quotients_by_one_divisor(f: Any, shared: bool, dtype: str) -> None:
    """They share its inverse where that cannot overflow, and an infinite divisor gives what it gives."""
    gradient = pb.value_and_grad(f, target="native")
    values = [1.0, -0.3, 5e10, 1e-40, 7.0] if f is unbounded else [0.0, -0.3, 5e10, 1e200, np.inf]
    with np.errstate(all="ignore"):
        x = np.array(values).astype(dtype)
        value, bar = gradient(x)
        wanted, wanted_bar = pb.value_and_grad(f, target="numpy")(x)
    rtol = 1e-14 if dtype == "float64" else 1e-5
    np.testing.assert_allclose(value, wanted, rtol=rtol)
    np.testing.assert_allclose(bar, wanted_bar, rtol=rtol, atol=1e-300)
    assert ("pb_inverse0 = 1 /" in gradient.source(x, target="c")) is shared


def test_a_sum_of_products_is_exact_where_numpy_s_is() -> None:
    gradient = pb.value_and_grad(lambda x, y: np.sum(x * y), target="native")
    x, y = np.arange(-50.0, 50.0), np.arange(100.0) * 3.0
    value, bar = gradient(x, y)
    assert value == np.sum(x * y)
    np.testing.assert_array_equal(bar, y)
    assert np.isnan(gradient(np.array([np.inf, 1.0]), np.array([0.0, 1.0]))[0])


def long_chain(x: Any, y: Any) -> Any:
    z = np.exp(-x * y) + np.where(x > 0.0, np.tanh(x), y)
    return np.sum(np.log(1.0 + z * z) * np.sin(y) / (2.0 + np.cos(x * y)), axis=-1)


@pytest.mark.parametrize("length", [1, 3, 127, 128, 129, 256, 257, 300, 5000])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_stages(length: int, dtype: str) -> None:
    """A row taken in stretches: shorter than one, of one, of several and a rest; rows of a matrix."""
    rng = np.random.default_rng(length)
    x, y = (rng.normal(size=(2, length)).astype(dtype) for _ in range(2))

    def total(x: Any, y: Any) -> Any:
        return np.sum(long_chain(x, y) ** 2)

    found = pb.value_and_grad(total, (0, 1), target="native")
    value, bars = found(x, y)
    wanted, wanted_bars = pb.value_and_grad(total, (0, 1), target="numpy")(x, y)
    rtol = 1e-11 if dtype == "float64" else 2e-3
    np.testing.assert_allclose(value, wanted, rtol=rtol)
    for bar, other in zip(bars, wanted_bars, strict=True):
        np.testing.assert_allclose(bar, other, rtol=rtol, atol=rtol * np.abs(other).max())
    assert "pb_from" in found.source(x, y, target="c")


def test_stages_of_a_chain_in_place() -> None:
    """What is read in one stage and written in the last is the same place."""

    def f(x: Any) -> Any:
        y = x * 1.0
        y *= np.exp(-np.abs(y)) * np.tanh(y + 1.0)
        y[:] = np.log1p(y * y) + y * np.exp(y * 0.1)
        return np.sum(y * y)

    x = np.linspace(-2.0, 2.0, 1001)
    value, bar = pb.value_and_grad(f, target="native")(x)
    wanted, wanted_bar = pb.value_and_grad(f, target="numpy")(x)
    np.testing.assert_allclose(value, wanted, rtol=1e-13)
    np.testing.assert_allclose(bar, wanted_bar, rtol=1e-11, atol=1e-13)
