"""Every rule's text lowered by the front end: it computes the same, all styles hold, options fold.

With exact lengths and with a symbol for each; results are compared with those of the plain Python function.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from apply_rule import leaves, seed
from style_check import Symbols, check_style, style_of_value
from test_rules import OTHERS, ROWS, cases_of, describe, positions, row_cases, rule_id

from pullback.frontend.inline import inline_expression, inline_function
from pullback.ir import interp
from pullback.ir.builder import Builder
from pullback.ir.nodes import Block, Const, For, Function, If, Operand, Pack, Param, Var, While
from pullback.ir.pretty import pretty
from pullback.ir.verify import verify
from pullback.ir.walk import statements, variables_in
from pullback.rules.kinds import BuilderRule, Case, Row, Structured

LOOPS = {
    "np.cumprod",
    "np.nancumprod",
    "np.cumulative_prod",
    "np.lib.stride_tricks.sliding_window_view",
    "np.linalg.qr",
    "np.linalg.svd",
    "np.diff",
    "np.linalg.matrix_power",
}  # by their nature


class Given:
    """Operands for values; remembers which Var holds what."""

    def __init__(self, exact: bool) -> None:
        self.symbols = Symbols(exact)
        self.values: dict[Var, Any] = {}

    def operand(self, value: Any, static: bool = False) -> Operand:
        if isinstance(value, list | tuple) and any(
            isinstance(v, np.ndarray | np.generic | float | list) for v in value
        ):
            items = tuple(self.operand(v, static) for v in value)
            return Pack("list" if isinstance(value, list) else "tuple", items)
        if static and not isinstance(value, np.ndarray):
            return Const(value)
        if isinstance(value, np.ndarray | np.generic | float | complex) and not isinstance(value, bool):
            var = Var("x", style_of_value(value, self.symbols))
            self.values[var] = value
            return var
        return Const(value)


def check_function(given: Given, builder: Builder, results: tuple[Operand, ...]) -> list[Any]:
    """Verify, run, hold every value against its style; the values of the results."""
    params = tuple(Param(f"p{i}", v) for i, v in enumerate(given.values))
    function = Function("rule", params, builder.finish(), results)
    verify(function)
    machine = interp.Machine()
    machine.values.update(given.values)
    with np.errstate(all="ignore"):
        machine.block(function.body)
    for var, value in machine.values.items():
        wrong = (
            check_style(var.style, value, given.symbols)
            if isinstance(value, np.ndarray | np.generic | float)
            else ""
        )
        assert not wrong or wrong == "nothing claimed", f"{var}: {wrong}\n{pretty(function)}"
    return [machine.use(x) for x in results]


def same(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    left, right = leaves(a), leaves(b)
    return len(left) == len(right) and all(
        x.shape == y.shape and np.allclose(x, y, rtol=1e-12, atol=1e-12, equal_nan=True)
        for x, y in zip(left, right, strict=True)
    )


def results_of(fn: Any, case: Case) -> tuple[Any, Any]:
    with np.errstate(all="ignore"):
        out = fn(*case.args, **case.kwargs)
    out_bar = seed(out, np.random.default_rng(5))
    return (tuple(out) if isinstance(out, list | tuple) else out), out_bar


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "symbols"])
@pytest.mark.parametrize("rule", [r for r in OTHERS if isinstance(r, Structured)], ids=rule_id)
def test_structured_rules_lowered(rule: Structured, exact: bool) -> None:
    for case in cases_of(rule):
        out, out_bar = results_of(rule.fn, case)
        given, builder = Given(exact), Builder()
        active = positions(rule, case)
        names = list(rule.signature.parameters)
        named = {names[i]: given.operand(a, i not in active) for i, a in enumerate(case.args)}
        named |= {k: given.operand(v, k not in rule.wrt) for k, v in case.kwargs.items()}
        kinds = rule.signature.parameters
        args = [x for n, x in named.items() if kinds[n].kind is not kinds[n].KEYWORD_ONLY]
        keywords = {n: x for n, x in named.items() if kinds[n].kind is kinds[n].KEYWORD_ONLY}
        keywords |= {n: x for n, x in named.items() if n in case.kwargs}
        args = [x for n, x in named.items() if n not in keywords]
        keywords |= {"out": given.operand(out), "out_bar": given.operand(out_bar)}
        results = inline_function(builder, rule.pullback, args, keywords)  # type: ignore[arg-type]
        block = Block(tuple(builder._open[0]))
        found = check_function(given, builder, results)
        bound = rule.signature.bind(*case.args, **case.kwargs)
        with np.errstate(all="ignore"):
            expected = rule.pullback(*bound.args, **bound.kwargs, out=out, out_bar=out_bar)
        expected = expected if isinstance(expected, tuple) and len(results) == len(expected) else (expected,)
        assert all(same(a, b) for a, b in zip(found, expected, strict=True)), (
            f"{describe(case)}: {found} {expected}"
        )
        if rule.name not in LOOPS:
            left = [s for s in statements(block) if isinstance(s, If | For | While)]
            assert not left, f"{describe(case)}: branches or loops are left"


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "symbols"])
@pytest.mark.parametrize("rule", [r for r in OTHERS if isinstance(r, BuilderRule)], ids=rule_id)
def test_builders_on_symbols(rule: BuilderRule, exact: bool) -> None:
    for case in cases_of(rule):
        out, out_bar = results_of(rule.fn, case)
        given, builder = Given(exact), Builder()
        args = tuple(given.operand(a) for a in case.args)
        kwargs = {k: given.operand(v, True) for k, v in case.kwargs.items()}
        bars = rule.build(builder, args, kwargs, given.operand(out), given.operand(out_bar))
        check_function(given, builder, tuple(b for b in bars if b is not None))


@pytest.mark.parametrize("rule", ROWS, ids=rule_id)
def test_rows_lowered(rule: Row) -> None:
    rng = np.random.default_rng(7)
    for case in row_cases(rule, rng):
        out, _ = results_of(rule.fn, case)
        for exact in (True, False):
            given, builder = Given(exact), Builder()
            values = rule.bind(case.args, case.kwargs)
            operands = {
                n: given.operand(
                    v, (any(p.name == "static number" for p in rule.when) and n == "y") or v is None
                )
                for n, v in values.items()
            }
            operands["out"] = given.operand(out)
            results = tuple(
                inline_expression(builder, text, operands, rule.namespace)
                for name, text in rule.partials.items()
                if values[name] is not None
            )
            assert not [s for s in builder._open[0] if isinstance(s, If)], "a branch is left"
            used = set(variables_in(results)) | set(given.values)
            assert used is not None
            check_function(given, builder, results)
