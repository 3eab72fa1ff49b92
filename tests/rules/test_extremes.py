"""Rules where a formula that is right elsewhere goes wrong: zeros, ties, infinities, cancellation."""
# ruff: noqa: E501

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from apply_rule import cotangents
from style_check import Symbols, style_of_value

from pullback.rules.lookup import Site, resolve
from pullback.rules.registry import op_of
from pullback.styles.style import Static

INF, NAN = np.inf, np.nan


def pull(fn: Any, *args: Any, bar: Any = None, **options: Any) -> list[Any]:
    """The cotangents of a function's operands, by the rule that serves them."""
    op = op_of(fn)
    assert op is not None
    symbols = Symbols(exact=True)
    operands = tuple(Static(a) if type(a) in (int, float) else style_of_value(a, symbols) for a in args)
    kwargs = tuple((k, Static(v)) for k, v in options.items())
    rule = resolve(Site(fn, "ufunc" if op.elementwise else "call", operands, kwargs)).rule
    assert rule is not None
    with np.errstate(all="ignore"):
        out = fn(*args, **options)
    out = tuple(out) if isinstance(out, tuple) else out
    found = cotangents(rule, args, options, out, np.ones_like(out) if bar is None else bar)
    return [found.get(i) for i in range(len(args))]


def a(*values: float) -> Any:
    return np.array(values)


CASES: list[tuple[str, list[Any], list[Any]]] = [
    ("sinc near zero", pull(np.sinc, a(1e-8, -1e-6, 0.0)), [-(np.pi**2) / 3 * a(1e-8, -1e-6, 0.0)]),
    ("arcsinh of something huge", pull(np.arcsinh, a(2.0, 1e200)), [a(1 / np.sqrt(5), 1e-200)]),
    ("arccosh of something huge", pull(np.arccosh, a(1e200)), [a(1e-200)]),
    ("hypot at the origin", pull(np.hypot, a(0.0, 3e200), a(0.0, 4e200)), [a(0, 0.6), a(0, 0.8)]),
    ("arctan2 on the axes", pull(np.arctan2, a(1.0, 0, -1), a(0.0, 2, 0)), [a(0, 0.5, 0), a(-1, 0, 1)]),
    ("arctan2 far out", pull(np.arctan2, a(1e200), a(1e200)), [a(5e-201), a(-5e-201)]),
    ("power of zero", pull(np.power, np.zeros(4), a(0.0, 1, 2, 3)), [a(0, 1, 0, 0), np.zeros(4)]),
    ("power of zero, constant exponent", pull(np.power, a(0.0), 0), [a(0), None]),
    ("power one of zero", pull(np.power, a(0.0), 1.0), [a(1), None]),
    ("square root at zero", pull(np.power, a(0.0), 0.5), [a(INF), None]),
    ("logaddexp of equals", pull(np.logaddexp, a(1.5), a(1.5)), [a(0.5), a(0.5)]),
    ("logaddexp of nothing", pull(np.logaddexp, a(-INF, -INF, 2.0), a(-INF, 1.0, -INF)), [a(0, 0, 1), a(0, 1, 0)]),
    ("logaddexp of huge", pull(np.logaddexp, a(1e4), a(-1e4)), [a(1), a(0)]),
    ("logaddexp2 of equals", pull(np.logaddexp2, a(-INF, 3.0), a(-INF, 3.0)), [a(0, 0.5), a(0, 0.5)]),
    ("abs at zero", pull(np.abs, a(0.0, -2.0)), [a(0, -1)]),
    ("maximum: ties are shared", pull(np.maximum, a(1.0, 2, INF), a(1.0, 3, INF)), [a(0.5, 0, 0.5), a(0.5, 1, 0.5)]),
    ("minimum: ties are shared", pull(np.minimum, a(1.0, 2), a(1.0, 3)), [a(0.5, 1), a(0.5, 0)]),
    ("fmax takes what is a number", pull(np.fmax, a(NAN, 2.0, 1.0), a(1.0, NAN, 1.0)), [a(0, 1, 0.5), a(1, 0, 0.5)]),
    ("clip: the bound that binds", pull(np.clip, a(-5.0, 0.2, 9), a(-1.0), a(4.0)), [a(0, 1, 0), a(1), a(1)]),
    ("max: ties are shared", pull(np.max, a(3.0, 1, 3), bar=1.0), [a(0.5, 0, 0.5)]),
    ("min over an axis", pull(np.min, np.ones((2, 2)), axis=0, bar=a(1.0, 3)), [np.array([[0.5, 1.5], [0.5, 1.5]])]),
    ("std of equals", pull(np.std, np.ones(3), bar=1.0), [np.zeros(3)]),
    ("var of one value", pull(np.var, np.ones((1, 2)), axis=0, bar=a(1.0, 2)), [np.zeros((1, 2))]),
    ("nanmean", pull(np.nanmean, a(1.0, NAN, 3), bar=1.0), [a(0.5, 0, 0.5)]),
    ("nansum", pull(np.nansum, a(1.0, NAN, 3), bar=1.0), [a(1, 0, 1)]),
    ("nanprod", pull(np.nanprod, a(2.0, NAN, 3), bar=1.0), [a(3, 0, 2)]),
    ("nanmax", pull(np.nanmax, a(2.0, NAN, 3), bar=1.0), [a(0, 0, 1)]),
    ("nanvar", pull(np.nanvar, a(1.0, NAN, 3), bar=1.0), [a(-1, 0, 1)]),
    ("nancumsum", pull(np.nancumsum, a(1.0, NAN, 3)), [a(3, 0, 1)]),
    ("nancumprod", pull(np.nancumprod, a(2.0, NAN, 3)), [a(5, 0, 2)]),
    ("nanmedian", pull(np.nanmedian, a(1.0, NAN, 3, 7), bar=1.0), [a(0, 0, 1, 0)]),
    ("prod with one zero", pull(np.prod, a(2.0, 0, 3, 4), bar=1.0), [a(0, 24, 0, 0)]),
    ("prod with two zeros", pull(np.prod, a(2.0, 0, 0, 4), bar=1.0), [a(0, 0, 0, 0)]),
    ("prod of nothing", pull(np.prod, np.zeros(0), bar=1.0), [np.zeros(0)]),
    ("prod over an empty axis", pull(np.prod, np.zeros((0, 2)), axis=0, bar=np.ones(2)), [np.zeros((0, 2))]),
    ("cumprod with a zero", pull(np.cumprod, a(1.0, 0.0), bar=a(2.0, 0.0)), [a(2, 0)]),
    ("sum of nothing", pull(np.sum, np.zeros((0, 3)), axis=0, bar=np.ones(3)), [np.zeros((0, 3))]),
    ("mean of nothing", pull(np.mean, np.zeros((3, 0)), axis=0, bar=np.zeros(0)), [np.zeros((3, 0))]),
    ("norm at zero", pull(np.linalg.norm, np.zeros(3), bar=1.0), [np.zeros(3)]),
    ("1-norm at zero", pull(np.linalg.norm, a(0.0, -2.0), 1, bar=1.0), [a(0, -1), None]),
    ("largest: ties are shared", pull(np.linalg.norm, a(2.0, -2, 1), INF, bar=1.0), [a(0.5, -0.5, 0), None]),
    ("det of a singular matrix", pull(np.linalg.det, np.array([[1.0, 2], [2, 4]]), bar=1.0), [np.array([[4.0, -2], [-2, 1]])]),
    ("det of zero", pull(np.linalg.det, np.zeros((3, 3)), bar=1.0), [np.zeros((3, 3))]),
    ("det of one number", pull(np.linalg.det, np.array([[5.0]]), bar=1.0), [np.ones((1, 1))]),
    ("masked where", pull(np.where, np.array([True, False]), a(1.0, 2), a(3.0, 4), bar=a(INF, 1.0)), [None, a(INF, 0), a(0, 1)]),
    ("sort of equals", pull(np.sort, a(2.0, 1, 2), bar=a(1.0, 2, 3)), [a(2, 1, 3)]),
    ("diff of one value", pull(np.diff, a(1.0), bar=np.zeros(0)), [a(0)]),
    ("diff of nothing", pull(np.diff, np.zeros(0), bar=np.zeros(0)), [np.zeros(0)]),
    ("second diff of one value", pull(np.diff, a(1.0), 2, bar=np.zeros(0)), [a(0), None]),
    ("tanh far out", pull(np.tanh, a(400.0)), [a(0)]),
    ("expm1 near zero", pull(np.expm1, a(1e-20)), [a(1)]),
    ("log1p near zero", pull(np.log1p, a(1e-20)), [a(1)]),
    ("nan_to_num", pull(np.nan_to_num, a(NAN, INF, 2.0)), [a(0, 0, 1)]),
]  # fmt: skip


@pytest.mark.parametrize(("found", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_extreme_spots(found: list[Any], expected: list[Any]) -> None:
    for bar, right in zip(found, expected, strict=True):
        if right is None:
            continue
        np.testing.assert_allclose(bar, right, rtol=1e-6, atol=0 if np.any(right) else 1e-300)


def test_functions_of_equal_eigenvalues() -> None:
    """A symmetric function of eigenvalues that meet is smooth."""
    w, v = np.linalg.eigh(np.diag([4.0, 1.0, 1.0]))
    (bar,) = pull(np.linalg.eigh, np.diag([4.0, 1.0, 1.0]), bar=(2 * w, None))
    np.testing.assert_allclose(bar, np.diag([8.0, 2.0, 2.0]), atol=1e-12)
    projection = v @ np.diag(w**2) @ v.T
    assert projection.shape == (3, 3)
