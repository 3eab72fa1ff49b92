"""The founding examples S1 to S7: values, gradients, and the trace of each rule lookup.

Values cannot reveal the founding bug (a style inserted before the rules of H1 are asked); traces do.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np
import pytest

import pullback as pb

from .seed_functions import hops, leakyrelu, register_leakyrelu, site_of

X = np.array([1.0, 2.0, 3.0])
SIGNED = np.array([[-1.0, 2.0], [0.0, -3.0]], np.float32)
SLOPE = np.float32(0.2)


def sine(x: Any) -> Any:
    return np.sum(np.sin(x - 1))


def implicit_abs(x: Any) -> Any:
    return np.sum(np.abs(x))


def explicit_abs(x: Any) -> Any:
    return np.sum(pb.broadcast(np.abs, x))


def explicit_builtin_abs(x: Any) -> Any:
    return np.sum(pb.broadcast(abs, x))


def leaky_loss(x: Any, a: Any) -> Any:
    return np.sum(leakyrelu(x, a))


def test_s1_values() -> None:
    value, x_bar = pb.value_and_grad(sine)(X)
    assert value == pytest.approx(1.7507684116335782, rel=1e-12)
    np.testing.assert_allclose(x_bar, [1, 0.5403023058681398, -0.4161468365471424], rtol=1e-12)


def test_s1_trace() -> None:
    subtract, sin = site_of(sine, "subtract", X), site_of(sine, "sin", X)
    assert (subtract.hop, subtract.path) == ("H1", "rule")
    assert (sin.hop, sin.path) == ("H2", "partials")
    assert hops(sin) == ["H0", "H1", "H2", "H3"]


def test_s1_bug_shows_in_the_trace_only() -> None:
    fixed, bug = pb.differentiable(sine), pb.differentiable(resolution="chainrules")(sine)
    np.testing.assert_array_equal(fixed.grad(X), bug.grad(X))
    assert site_of(sine, "subtract", X).hop == "H1"
    buggy_site = site_of(sine, "subtract", X, resolution="chainrules")
    assert (buggy_site.hop, buggy_site.path) == ("H2", "partials")
    assert "H1" not in hops(buggy_site)


@pytest.mark.parametrize("f", [implicit_abs, explicit_abs, explicit_builtin_abs])
@pytest.mark.parametrize(
    ("x", "value", "gradient"), [([1.0, 2.0, 3.0], 6.0, [1, 1, 1]), ([-1.0, 0.0, 2.0], 3.0, [-1, 0, 1])]
)
def test_s2_s3_values(f: Any, x: list[float], value: float, gradient: list[float]) -> None:
    found, x_bar = pb.value_and_grad(f)(np.array(x))
    assert found == value
    np.testing.assert_array_equal(x_bar, gradient)


def test_s2_s3_end_at_the_same_rule() -> None:
    implicit, explicit = site_of(implicit_abs, "absolute", X), site_of(explicit_abs, "absolute", X)
    assert implicit.rule == explicit.rule
    assert (implicit.hop, implicit.path) == (explicit.hop, explicit.path) == ("H2", "partials")


def test_s4_values_and_dtypes() -> None:
    register_leakyrelu()
    value, (x_bar, a_bar) = pb.value_and_grad(leaky_loss, argnums=(0, 1))(SIGNED, SLOPE)
    assert value.dtype == x_bar.dtype == a_bar.dtype == np.float32
    assert float(value) == pytest.approx(1.2, rel=1e-6)
    np.testing.assert_array_equal(x_bar, np.array([[0.2, 1], [0.2, 0.2]], np.float32))
    assert a_bar == np.float32(-4.0)


def test_s4_the_third_party_rule_wins_at_h1() -> None:
    register_leakyrelu()
    site = site_of(leaky_loss, "leakyrelu", SIGNED, SLOPE)
    assert (site.hop, site.path) == ("H1", "rule")
    assert "leakyrelu" in site.rule
    assert "H2" not in hops(site)


def test_s4_bug_the_generic_rule_shadows_it() -> None:
    register_leakyrelu()
    site = site_of(leaky_loss, "leakyrelu", SIGNED, SLOPE, resolution="chainrules")
    assert site.hop == "H2"


def test_s4_negative_slope() -> None:
    register_leakyrelu()
    x_bar, a_bar = pb.grad(leaky_loss, argnums=(0, 1))(np.array([-1.0, 2.0]), -0.5)
    np.testing.assert_array_equal(x_bar, [-0.5, 1])
    assert a_bar == -1.0


def test_s5_lookup_names_the_third_party_rule() -> None:
    register_leakyrelu()
    assert "seed_functions" in site_of(leaky_loss, "leakyrelu", SIGNED, SLOPE).rule


@pytest.mark.parametrize("add", [np.add, operator.add])
def test_s6_an_operator_as_a_value(add: Any) -> None:
    def total(x: Any, y: Any) -> Any:
        return np.sum(functools.reduce(add, [x, y]))

    x, y = X, np.array([10.0, 20.0, 30.0])
    value, bars = pb.value_and_grad(total, argnums=(0, 1))(x, y)
    assert value == 66.0
    for bar in bars:
        np.testing.assert_array_equal(bar, np.ones(3))
    written = pb.differentiable(lambda x, y: np.sum(x + y))
    assert {s.rule for s in written.explain(x, y).sites} == {
        s.rule for s in pb.differentiable(total).explain(x, y).sites
    }


def test_s7_no_work_for_an_integer_constant() -> None:
    source = pb.differentiable(sine).source(X, form="joint")
    assert "int" not in source and "zeros" not in source and "unbroadcast" not in source
    assert source.count("_bar") <= 4, source
