"""Values, gradients (of parameters too, negative ones included), dtypes, and that these rules are the ones used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nnlib_rules
import numpy as np
import pytest

import pullback as pb

X = np.array([-4.3, -1.2, -0.3, 0.4, 0.9, 3.7])  # at no kink of any of them

CASES: list[tuple[Callable[..., Any], tuple[float, ...]]] = [
    (nnlib_rules.sigmoid, ()),
    (nnlib_rules.relu, ()),
    (nnlib_rules.leakyrelu, (0.2,)),
    (nnlib_rules.leakyrelu, (-0.5,)),
    (nnlib_rules.trelu, (0.6,)),
    (nnlib_rules.trelu, (-0.6,)),
    (nnlib_rules.elu, (0.7,)),
    (nnlib_rules.elu, (-0.7,)),
    (nnlib_rules.celu, (1.3,)),
    (nnlib_rules.celu, (-1.3,)),
    (nnlib_rules.selu, ()),
    (nnlib_rules.softplus, ()),
    (nnlib_rules.hardsigmoid, ()),
    (nnlib_rules.swish, ()),
    (nnlib_rules.gelu, ()),
    (nnlib_rules.softshrink, (0.5,)),
    (nnlib_rules.logcosh, ()),
]
IDS = [f"{f.__name__}{list(p) if p else ''}" for f, p in CASES]
BY_NAME = {f.__name__: (f, p) for f, p in CASES}


def loss_of(f: Callable[..., Any], parameters: int) -> Callable[..., Any]:
    """A weighted sum of an activation, so that each entry has a cotangent of its own."""
    if parameters:
        return lambda x, a: np.sum(f(x, a) * np.arange(1.0, 7.0))
    return lambda x: np.sum(f(x) * np.arange(1.0, 7.0))


@pytest.mark.parametrize(("f", "parameters"), CASES, ids=IDS)
def test_gradient_against_differences(f: Callable[..., Any], parameters: tuple[float, ...]) -> None:
    argnums = tuple(range(1 + len(parameters)))
    pb.check_gradients(loss_of(f, len(parameters)), X, *parameters, argnums=argnums, rtol=1e-7)


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_float32_stays_float32(name: str) -> None:
    f, parameters = BY_NAME[name]
    x = X.astype(np.float32)
    value = f(x, *map(np.float32, parameters))
    bar = pb.grad(lambda x, *rest: np.sum(f(x, *rest)))(x, *map(np.float32, parameters))
    assert value.dtype == np.float32
    assert bar.dtype == np.float32


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_the_rule_of_this_package_serves_the_call(name: str) -> None:
    f, parameters = BY_NAME[name]
    loss = pb.differentiable(loss_of(f, len(parameters)))
    (site,) = [s for s in loss.explain(X, *parameters).sites if "nnlib_rules" in s.rule]
    assert (site.hop, site.path) == ("H1", "rule")


@pytest.mark.parametrize(
    "f", [nnlib_rules.sigmoid, nnlib_rules.softplus, nnlib_rules.swish, nnlib_rules.logcosh]
)
def test_no_overflow_far_out(f: Callable[..., Any]) -> None:
    far = np.array([-800.0, 800.0])
    with np.errstate(all="raise", under="ignore"):
        assert np.all(np.isfinite(f(far)))
    assert np.all(np.isfinite(pb.grad(lambda x: np.sum(f(x)))(far)))


def test_defaults_of_parameters() -> None:
    assert np.allclose(pb.grad(lambda x: np.sum(nnlib_rules.leakyrelu(x)))(X), np.where(X > 0, 1.0, 0.01))


def test_array_valued_slope() -> None:
    slopes = np.linspace(-0.5, 0.5, X.size)
    x_bar, a_bar = pb.grad(lambda x, a: np.sum(nnlib_rules.leakyrelu(x, a)), argnums=(0, 1))(X, slopes)
    assert np.allclose(x_bar, np.where(X > 0, 1.0, slopes))
    assert np.allclose(a_bar, np.where(X > 0, 0.0, X))
