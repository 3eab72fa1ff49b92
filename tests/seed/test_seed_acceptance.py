"""The acceptance tests 1 to 12 of the founding thread, numbered as there.

Not here: fused kernels (tests 1 and 6) and try/except (test 11), which come later.  Tests 1 to 3 are in
test_seed_table.py.
"""

from __future__ import annotations

import ast
import functools
import operator
import re
import sys
import tracemalloc
from typing import Any

import numpy as np
import pytest

import pullback as pb

from .seed_functions import site_of

TIGHT = {"rtol": 1e-12, "atol": 1e-14}
SHORT = {"rtol": 1e-7, "atol": 1e-9}  # for literals given with few digits


# -------------------------------------------------------------------------- 4: precedence, opt-out, invalidation


def doubled(x: Any) -> Any:
    return 2.0 * x


def doubled_loss(x: Any) -> Any:
    return np.sum(doubled(x))


def test_4_specific_before_generic_then_opt_out() -> None:
    from pullback.rules.kinds import ANY

    calls = {"generic": 0, "specific": 0}

    def generic(f: Any, x: Any) -> Any:
        calls["generic"] += 1
        return f(x), lambda out_bar: 2.0 * out_bar

    def specific(x: Any) -> Any:
        calls["specific"] += 1
        return doubled(x), lambda out_bar: 2.0 * out_bar

    pb.opaque(ANY, hop="H2", config=True, priority=1)(generic)
    pb.opaque(doubled, hop="H2")(specific)
    gradient = pb.grad(doubled_loss)
    np.testing.assert_array_equal(gradient(np.ones(3)), [2, 2, 2])
    assert calls == {"generic": 0, "specific": 1}

    pb.opt_out(doubled)  # the cached gradient is stale now
    np.testing.assert_array_equal(gradient(np.ones(3)), [2, 2, 2])
    assert calls == {"generic": 1, "specific": 1}


def test_4_a_declining_rule_passes_the_call_on() -> None:
    from pullback.rules.kinds import DECLINE

    pb.row(doubled, "x", x="100", hop="H1", guard=lambda site: DECLINE)
    pb.row(doubled, "x", x="2", hop="H2")
    np.testing.assert_array_equal(pb.grad(doubled_loss)(np.ones(2)), [2, 2])


def test_4_two_equal_rules_are_an_error_that_names_both() -> None:
    pb.row(doubled, "x", x="2", hop="H1")
    pb.row(doubled, "x", x="2 + 0", hop="H1")
    with pytest.raises(pb.AmbiguousRuleError) as caught:
        pb.grad(doubled_loss)(np.ones(2))
    places = re.findall(r"row at \S*test_seed_acceptance\.py:(\d+)", str(caught.value))
    assert len(set(places)) == 2, str(caught.value)


def test_4_a_rule_added_later_is_picked_up() -> None:
    gradient = pb.grad(doubled_loss)
    np.testing.assert_array_equal(gradient(np.ones(2)), [2, 2])
    pb.row(doubled, "x", x="7", hop="H1")
    np.testing.assert_array_equal(gradient(np.ones(2)), [7, 7])


# --------------------------------------------------------------------------------------- 5: operators as values

A, B = np.ones((2, 3)), np.array([1.0, 2.0, 3.0])


def reduced(a: Any, b: Any) -> Any:
    return np.sum(functools.reduce(np.add, [a, b, 1.0]))


def reduced_with_operator(a: Any, b: Any) -> Any:
    return np.sum(functools.reduce(operator.add, [a, b, 1.0]))


def given_a_name(a: Any, b: Any) -> Any:
    op = np.add
    return np.sum(op(op(a, b), 1.0))


def written_out(a: Any, b: Any) -> Any:
    return np.sum(a + b + 1.0)


@pytest.mark.parametrize("f", [reduced, reduced_with_operator, given_a_name, written_out])
def test_5_reduce_of_add(f: Any) -> None:
    a_bar, b_bar = pb.grad(f, argnums=(0, 1))(A, B)
    np.testing.assert_array_equal(a_bar, np.ones((2, 3)))
    np.testing.assert_array_equal(b_bar, [2, 2, 2])
    rules = {s.rule for s in pb.differentiable(f).explain(A, B).sites}
    assert rules == {s.rule for s in pb.differentiable(written_out).explain(A, B).sites}


def test_5_map_of_multiply() -> None:
    def paired(a: Any, b: Any) -> Any:
        return np.sum(sum(map(np.multiply, [a, a], [b, 2.0])))

    a_bar, b_bar = pb.grad(paired, argnums=(0, 1))(A, B)
    np.testing.assert_array_equal(a_bar, np.tile(B + 2.0, (2, 1)))
    np.testing.assert_array_equal(b_bar, [2, 2, 2])


# -------------------------------------------------------------------------------------- 6: chains, no re-evaluation


def test_6_chain() -> None:
    def chain(x: Any) -> Any:
        return np.sum(((x + 1) * 2 - 3) ** 2 / 4)

    value, x_bar = pb.value_and_grad(chain)(np.array([1.0, 2.0, 3.0]))
    assert value == pytest.approx(8.75, rel=1e-12)
    np.testing.assert_allclose(x_bar, [1, 3, 5], **TIGHT)


def chain_of(depth: int) -> str:
    lines = [f"    x = np.sin(x) * {1.5 + i}" for i in range(depth)]
    return "\n".join(["def chain(x):", *lines, "    return np.sum(x)", ""])


def test_6_work_is_linear_in_the_depth(tmp_path: Any) -> None:
    def elementwise_calls(depth: int) -> int:
        path = tmp_path / f"chain_{depth}.py"
        path.write_text("import numpy as np\n" + chain_of(depth))
        namespace: dict[str, Any] = {}
        exec(compile(path.read_text(), str(path), "exec"), namespace)
        source = pb.differentiable(namespace["chain"]).source(np.ones(3), form="joint")
        return source.count("np.sin(") + source.count("np.cos(") + source.count(" * ") + source.count(" *= ")

    assert elementwise_calls(20) <= 2.2 * elementwise_calls(10)


# ---------------------------------------------------------------------------------------------- 7: unbroadcast


def test_7_unbroadcast() -> None:
    a, b = np.array([[1.0], [2.0]]), np.array([[1.0, 2.0, 4.0]])
    value, (a_bar, b_bar) = pb.value_and_grad(lambda a, b: np.sum(np.arctan2(a, b)), argnums=(0, 1))(a, b)
    assert value == pytest.approx(3.8502189257174635, rel=1e-12)
    assert (a_bar.shape, b_bar.shape) == ((2, 1), (1, 3))
    np.testing.assert_allclose(a_bar, [[1.1352941176470588], [0.65]], **TIGHT)
    np.testing.assert_allclose(b_bar, [[-0.9, -0.45, -0.1588235294117647]], **TIGHT)


def test_7_zero_size() -> None:
    x_bar, b_bar = pb.grad(lambda x, b: np.sum(x + b), argnums=(0, 1))(np.zeros((0, 3)), np.ones(3))
    assert x_bar.shape == (0, 3)
    np.testing.assert_array_equal(b_bar, np.zeros(3))
    a_bar, b_bar = pb.grad(lambda a, b: np.sum(a * b), argnums=(0, 1))(np.zeros((1, 0)), np.zeros((4, 0)))
    assert (a_bar.shape, b_bar.shape) == ((1, 0), (4, 0))


# ------------------------------------------------------------------------------ 8: captured variables, static operands


def test_8_closure_capture() -> None:
    def captured(x: Any, c: Any) -> Any:
        return np.sum(pb.broadcast(lambda v: np.sin(c * v), x))

    value, (x_bar, c_bar) = pb.value_and_grad(captured, argnums=(0, 1))(np.array([1.0, 2.0, 3.0]), 0.5)
    assert value == pytest.approx(2.318391510016154, rel=1e-12)
    assert c_bar == pytest.approx(2.170398778629761, rel=1e-12)
    np.testing.assert_allclose(x_bar, [0.4387912809, 0.2701511529, 0.0353686008], **SHORT)


def evalpoly(x: Any, coefficients: Any) -> Any:
    total = 0.0 * x
    for k in range(len(coefficients) - 1, -1, -1):
        total = total * x + coefficients[k]
    return total


def test_8_a_whole_array_for_each_element() -> None:
    def polynomials(x: Any, coefficients: Any) -> Any:
        return np.sum(pb.broadcast(lambda v: evalpoly(v, coefficients), x))

    coefficients = np.array([1.0, 2.0, 3.5])
    value, bars = pb.value_and_grad(polynomials, argnums=(0, 1))(np.array([2.0, 3.0]), coefficients)
    assert value == pytest.approx(57.5, rel=1e-12)
    np.testing.assert_allclose(bars[0], [16, 23], **TIGHT)
    np.testing.assert_allclose(bars[1], [2, 5, 13], **TIGHT)


# ---------------------------------------------------------------------------------------- 9: projection, complex

Z = np.array([1 + 2j, 3 - 1j])


def test_9_real_scalar_times_complex_array() -> None:
    value, (r_bar, z_bar) = pb.value_and_grad(lambda r, z: np.sum(np.abs(r * z) ** 2), argnums=(0, 1))(1.5, Z)
    assert value == pytest.approx(33.75, rel=1e-12)
    assert isinstance(r_bar, float) and r_bar == pytest.approx(45.0, rel=1e-12)
    np.testing.assert_allclose(z_bar, 4.5 * Z, **TIGHT)


def test_9_complex_product() -> None:
    value, (z_bar, w_bar) = pb.value_and_grad(lambda z, w: np.sum(np.abs(z * w) ** 2), argnums=(0, 1))(
        Z, 2 - 1j
    )
    assert value == pytest.approx(75, rel=1e-12)
    np.testing.assert_allclose(z_bar, [10 + 20j, 30 - 10j], **TIGHT)
    np.testing.assert_allclose(w_bar, 60 - 30j, **TIGHT)


def test_9_float32_array_times_float64_scalar() -> None:
    x = np.array([1.0, 2.0], np.float32)
    x_bar, c_bar = pb.grad(lambda x, c: np.sum(x * c), argnums=(0, 1))(x, np.float64(2.0))
    assert x_bar.dtype == np.float32
    assert c_bar.dtype == np.float64


# ------------------------------------------------------------------------------------------------ 10: strong zeros


@pytest.mark.parametrize(
    ("f", "x", "value", "gradient"),
    [
        (lambda x: np.sum(np.maximum(np.sqrt(x), 1)), [0.0, 4.0], 3, [0, 0.25]),
        (lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0)), [0.0, 4.0], 2, [0, 0.25]),
        (lambda x: np.sum(np.minimum(1, 1 / x)), [0.0], 1, [0]),
        (lambda x: np.sum(x * (x == np.max(x))), [1.0, 3.0, 2.0], 3, [0, 1, 0]),
    ],
    ids=["maximum of sqrt", "where of sqrt", "minimum of 1/x", "mask of the maximum"],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_10_strong_zero(f: Any, x: list[float], value: float, gradient: list[float]) -> None:
    found, x_bar = pb.value_and_grad(f)(np.array(x))
    assert found == value
    np.testing.assert_array_equal(x_bar, gradient)


def test_10_a_mask_needs_no_cotangent() -> None:
    def masked(x: Any) -> Any:
        mask = x == np.max(x)
        return np.sum(x * mask)

    assert "mask_bar" not in pb.differentiable(masked).source(np.array([1.0, 3.0, 2.0]))


# ------------------------------------------------------------------------------------------------ 11: control flow


def test_11_one_gradient_for_both_branches() -> None:
    def branch(x: Any) -> Any:
        if x > 0:
            return x**2
        return -x

    gradient = pb.grad(branch)
    assert gradient(3.0) == 6.0
    assert gradient(-2.0) == -1.0


def test_11_loop() -> None:
    def loop(v: Any) -> Any:
        for _ in range(3):
            v = v * np.sin(v) + v
        return v

    value, v_bar = pb.value_and_grad(loop)(0.7)
    assert value == pytest.approx(3.97968709384335, rel=1e-12)
    assert v_bar == pytest.approx(2.637965399747294, rel=1e-12)


# --------------------------------------------------------------------------------------------------- 12: mutation


def in_place(x: Any) -> Any:
    y = x.copy()
    y[1:] += x[:-1] ** 2
    y *= x
    return np.sum(y)


def with_out(x: Any) -> Any:
    y = x.copy()
    np.add(y[1:], x[:-1] ** 2, out=y[1:])
    np.multiply(y, x, out=y)
    return np.sum(y)


@pytest.mark.parametrize("f", [in_place, with_out])
def test_12_mutation(f: Any) -> None:
    x = np.array([1.0, 2.0, 3.0])
    value, x_bar = pb.value_and_grad(f)(x)
    assert value == 28
    np.testing.assert_allclose(x_bar, [6, 17, 10], **TIGHT)
    np.testing.assert_array_equal(x, [1, 2, 3])


def sum_of_squares(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s += x[i] ** 2
    return s


def lines_run(fn: Any, x: Any) -> int:
    """How many lines a call runs."""
    count = 0

    def seen(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return seen

    before = sys.gettrace()
    sys.settrace(seen)
    try:
        fn(x)
    finally:
        sys.settrace(before)
    return count


def loop_bodies(source: str) -> list[str]:
    """The statements inside the loops of a source."""
    loops = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.For)]
    return [ast.unparse(stmt) for loop in loops for stmt in loop.body]


def test_12_elements_in_a_loop_cost_linear_time_and_memory() -> None:
    gradient = pb.grad(sum_of_squares)
    small, large = np.linspace(0.0, 1.0, 1_000), np.linspace(0.0, 1.0, 10_000)
    np.testing.assert_allclose(gradient(small), 2 * small, **TIGHT)
    assert lines_run(gradient, large) <= 10.1 * lines_run(gradient, small)
    inside = loop_bodies(pb.differentiable(sum_of_squares).source(small, form="joint"))
    assert inside and not [line for line in inside if "np." in line or "copy" in line]  # nothing of O(n)
    tracemalloc.start()
    gradient(large)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 400 * large.size


def test_trace_of_the_fused_example_is_data() -> None:
    site = site_of(lambda x: np.sum(np.exp(x) * 2.0), "exp", np.ones(2))
    assert site.line > 0 and site.trace and isinstance(site.rejected, tuple)
    assert str(site.line) in str(site)


def test_4_where_every_rule_declines_the_functions_own_source_serves() -> None:
    from pullback.rules.kinds import DECLINE

    def called(x: Any) -> Any:
        return np.sum(doubled(x) * x)

    pb.row(doubled, "x", x="100", hop="H1", guard=lambda site: DECLINE)  # the scalar function's row, too
    x = np.array([1.0, -2.0])
    np.testing.assert_array_equal(pb.grad(doubled_loss)(x), [2, 2])
    np.testing.assert_array_equal(pb.grad(called)(x), 4 * x)
    spread = pb.differentiable(lambda x: np.sum(pb.broadcast(doubled, x)))
    np.testing.assert_array_equal(spread.grad(x), [2, 2])
    for loss in (doubled_loss, called, spread):
        sites = [s for s in pb.differentiable(loss).explain(x).sites if s.path == "own source"]
        assert len(sites) == 1 and "doubled" in sites[0].site
        assert any("declined" in text for text in sites[0].rejected)


def test_4_the_own_source_of_a_function_defined_inside_is_explained() -> None:
    def loss(x: Any, k: Any) -> Any:
        def scalar(v: Any) -> Any:
            return v * v if v > 0 else k * v

        return np.sum(pb.broadcast(scalar, x)) + np.sum(pb.broadcast(lambda v: v * k, x))

    x = np.array([1.0, -2.0])
    np.testing.assert_array_equal(pb.grad(loss, argnums=(0, 1))(x, 3.0)[0], [5.0, 6.0])
    assert pb.grad(loss, argnums=1)(x, 3.0) == -3.0
    sites = [s for s in pb.differentiable(loss).explain(x, 3.0).sites if s.path == "own source"]
    assert [(s.site, s.hop) for s in sites] == [("scalar (broadcast)", "H2"), ("<lambda> (broadcast)", "H2")]
