"""The descent through the hops: the founding examples' traces, ranking, opt-out, decline, ambiguity,
layers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pullback.errors import AmbiguousRuleError, PullbackError
from pullback.rules import registry
from pullback.rules.kinds import ANY, DECLINE, Generic, Layer, NonDifferentiable, Row, Rule, Structured
from pullback.rules.lookup import Decision, Site, resolve
from pullback.rules.registry import (
    all_rules,
    generation,
    nondifferentiable,
    opaque,
    opt_out,
    register_package,
    row,
    rule,
)
from pullback.rules.tables import tables
from pullback.styles.style import PY_FLOAT, Array, Foreign, Static, Style

VECTOR = Array(np.dtype(float), (3,), True)
MATRIX = Array(np.dtype(float), (2, 3), True)
COMPLEX = Array(np.dtype(complex), (3,), True)


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    """Rules registered by a test go when it ends."""
    before = set(map(id, all_rules()))
    yield
    for added in [r for r in all_rules() if id(r) not in before]:
        registry.remove(added)


def lookup(fn: Any, *operands: Style, form: str = "ufunc", **options: Any) -> Decision:
    return resolve(Site(fn, form, operands), **options)


def hops(decision: Decision) -> list[str]:
    return [t.hop for t in decision.trace]


def leakyrelu(x: Any, a: Any) -> Any:
    return np.where(x > 0, x, a * x)


def third_party_leakyrelu() -> None:
    row(
        leakyrelu, "x, a", x="np.where(x > 0, 1, a)", a="np.where(x > 0, 0, x)", hop="H1", layer="third_party"
    )


# -------------------------------------------------------------------------------------- the founding examples


def test_s1_subtract_at_h1_sin_at_h2() -> None:
    subtract, sin = lookup(np.subtract, VECTOR, Static(1), form="operator"), lookup(np.sin, VECTOR)
    assert (subtract.hop, subtract.path) == ("H1", "rule")
    assert isinstance(subtract.rule, Row) and subtract.rule.fn is np.subtract
    assert (sin.hop, sin.path) == ("H2", "partials")
    assert isinstance(sin.found, Generic) and isinstance(sin.rule, Row)
    assert hops(sin) == ["H0", "H1", "H2", "H3"]


def test_s1_bug_beside_its_fix() -> None:
    bug = lookup(np.subtract, VECTOR, Static(1), form="operator", resolution="chainrules")
    assert (bug.hop, bug.path) == ("H2", "partials")
    assert "H1" not in hops(bug)
    assert bug.rule is lookup(np.subtract, VECTOR, Static(1), form="operator").rule, (
        "values cannot reveal the bug"
    )


def test_s2_s3_end_at_the_same_rule() -> None:
    implicit, explicit = lookup(np.abs, VECTOR, form="broadcasted"), lookup(np.abs, VECTOR, form="broadcast")
    assert implicit.rule is explicit.rule
    assert hops(explicit) == ["H0", *hops(implicit)]
    assert (explicit.hop, explicit.path) == ("H2", "partials")


def test_s4_third_party_h1_rule_before_a_generic_one_that_needs_the_compiler() -> None:
    third_party_leakyrelu()
    opaque(ANY, hop="H1", config=True, layer="user")(lambda f, *args: None)
    decision = lookup(leakyrelu, VECTOR, PY_FLOAT, form="broadcasted")
    assert decision.hop == "H1" and decision.rule is not None
    assert decision.rule.fn is leakyrelu and decision.rule.layer is Layer.THIRD_PARTY
    bug = lookup(leakyrelu, VECTOR, PY_FLOAT, form="broadcasted", resolution="chainrules")
    assert bug.hop == "H2" and isinstance(bug.found, Generic)


def test_s4_bug_config_first_at_one_hop() -> None:
    row(leakyrelu, "x, a", x="1", hop="H2")
    opaque(ANY, hop="H2", config=True, priority=1)(lambda f, *args: None)
    fixed = lookup(leakyrelu, VECTOR, PY_FLOAT)
    bug = lookup(leakyrelu, VECTOR, PY_FLOAT, resolution="chainrules")
    assert fixed.rule is not None and fixed.rule.fn is leakyrelu
    assert bug.rule is not None and bug.rule.fn is ANY


def test_s6_one_rule_for_operator_and_ufunc() -> None:
    assert lookup(np.add, VECTOR, VECTOR, form="operator").rule is lookup(np.add, VECTOR, VECTOR).rule


# ---------------------------------------------------------------------------------------------------- ranking


def plain(x: Any) -> Any:
    return x * 2.0


def rules_for(fn: Any) -> list[Rule]:
    return list(registry.rules_of(fn))


def test_specific_then_opt_out_then_decline() -> None:
    opaque(ANY, hop="H2", config=True, priority=1)(lambda f, *args: None)
    row(plain, "x", x="2", hop="H2")
    assert lookup(plain, VECTOR).rule is rules_for(plain)[0]
    opt_out(plain)
    decision = lookup(plain, VECTOR)
    assert decision.rule is not None and decision.rule.fn is ANY
    assert any("opted out" in c.verdict for t in decision.trace for c in t.candidates)


def test_a_more_specific_rule_beats_an_opt_out() -> None:
    row(plain, "x", x="2", when="array")
    opt_out(plain)
    assert lookup(plain, VECTOR).rule is rules_for(plain)[0]
    opt_out(plain, when="array")
    assert lookup(plain, VECTOR).rule is None


def test_a_rule_that_declines_lets_the_next_one_serve() -> None:
    row(plain, "x", x="3", guard=lambda site: DECLINE, hop="H1")
    row(plain, "x", x="2", hop="H3")
    decision = lookup(plain, VECTOR)
    assert decision.hop == "H2" and isinstance(decision.rule, Row) and decision.rule.partials["x"] == "2"
    assert "declined" in str(decision)


def test_two_equal_rules_are_an_error_that_names_both() -> None:
    row(plain, "x", x="2")
    row(plain, "x", x="3")
    with pytest.raises(AmbiguousRuleError) as error:
        lookup(plain, VECTOR)
    lines = {str(r.origin.line) for r in rules_for(plain)}
    assert all(line in str(error.value) for line in lines) and str(error.value).count("test_lookup.py") == 2


def test_incomparable_patterns_are_equal() -> None:
    row(leakyrelu, "x, a", x="1", when=("array", "any"))
    row(leakyrelu, "x, a", x="2", when=("any", "array"))
    with pytest.raises(AmbiguousRuleError):
        lookup(leakyrelu, VECTOR, VECTOR)
    assert lookup(leakyrelu, VECTOR, PY_FLOAT).rule is rules_for(leakyrelu)[0]


def test_specificity_before_priority_before_layer() -> None:
    row(plain, "x", x="1", when="any", priority=9)
    row(plain, "x", x="2", when="array:2")
    row(plain, "x", x="3", when="array", layer="third_party", priority=1)
    row(plain, "x", x="4", when="array", layer="user")
    row(plain, "x", x="5", when="scalar", layer="third_party")
    row(plain, "x", x="6", when="scalar", layer="user")
    found = [lookup(plain, s).rule for s in (MATRIX, VECTOR, PY_FLOAT)]
    assert [r.partials["x"] for r in found if isinstance(r, Row)] == ["2", "3", "6"]


def test_needing_the_compiler_is_a_tie_break_only() -> None:
    opaque(plain, hop="H2", config=True)(lambda x: None)
    row(plain, "x", x="2", hop="H2")
    assert isinstance(lookup(plain, VECTOR).rule, Row)


def test_a_user_rule_replaces_a_built_in_one() -> None:
    row(np.sin, "x", x="np.cos(x) * 7")
    assert lookup(np.sin, VECTOR).rule is rules_for(np.sin)[-1]
    opt_out(np.cos)
    assert lookup(np.cos, VECTOR).rule is None


def test_the_same_place_registers_once() -> None:
    for text in ("2", "3"):
        row(plain, "x", x=text)
    assert len(rules_for(plain)) == 1
    assert lookup(plain, VECTOR).rule is rules_for(plain)[0]


def test_registering_changes_the_generation() -> None:
    before = generation()
    nondifferentiable(plain)
    assert generation() > before
    assert lookup(plain, VECTOR).path == "trivial"


# ----------------------------------------------------------------------------------- what rules are asked for


def test_h1_rules_are_for_arrays_and_scalars_unless_they_say_otherwise() -> None:
    class Series:
        pass

    third_party_leakyrelu()
    decision = lookup(leakyrelu, Foreign(Series), PY_FLOAT)
    assert decision.hop != "H1"
    row(leakyrelu, "x, a", x="1", hop="H1", when=(Series, "any"))
    assert lookup(leakyrelu, Foreign(Series), PY_FLOAT).hop == "H1"


def test_modes_that_a_rule_requires() -> None:
    opaque(plain, hop="H2", requires={"forward"})(lambda x: None)
    assert lookup(plain, VECTOR).rule is None
    assert resolve(Site(plain, "ufunc", (VECTOR,), modes=frozenset({"reverse", "forward"}))).rule is not None


def test_paths_of_the_generic_rule() -> None:
    def own(x: Any) -> Any:
        return x

    assert lookup(np.less, VECTOR, VECTOR).path == "trivial"
    assert lookup(np.floor_divide, VECTOR, VECTOR).path == "trivial"
    assert lookup(np.add, Array(np.dtype(int), (3,)), Static(1)).hop == "H1"
    assert lookup(np.sin, PY_FLOAT).path == "scalar"
    assert lookup(np.sin, VECTOR).path == "partials"
    assert lookup(own, VECTOR).path == "own source"
    opaque(plain)(lambda x: None)
    assert lookup(plain, VECTOR).path == "opaque"
    assert isinstance(lookup(np.isnan, VECTOR).rule, NonDifferentiable)


def test_complex_operands_choose_the_structured_rule() -> None:
    assert isinstance(lookup(np.abs, VECTOR).rule, Row)
    assert isinstance(lookup(np.abs, COMPLEX).rule, Structured)
    assert lookup(np.sign, COMPLEX).rule is None


def test_static_exponents_choose_their_row() -> None:
    general, squared = lookup(np.power, VECTOR, VECTOR).rule, lookup(np.power, VECTOR, Static(2)).rule
    assert isinstance(general, Row) and isinstance(squared, Row) and general is not squared


def test_keyword_options_that_a_rule_does_not_know() -> None:
    decision = resolve(Site(np.cumsum, "call", (VECTOR,), (("nonsense", Static(1)),)))
    assert decision.rule is None and "does not take these arguments" in str(decision)


def test_explain_is_text_and_data() -> None:
    decision = lookup(np.sin, VECTOR)
    assert str(decision).splitlines()[0].startswith("np.sin (ufunc): H2 partials by row for np.sin")
    assert decision.trace[-1].candidates[0].verdict == "chosen"


def test_packages_and_origins() -> None:
    register_package("tests_of_a_package")
    assert tables.packages.pop("tests_of_a_package") is Layer.THIRD_PARTY
    row(plain, "x", x="2")
    assert rules_for(plain)[0].layer is Layer.USER
    assert rules_for(plain)[0].origin.module == __name__


def test_a_row_is_checked_when_it_is_registered() -> None:
    with pytest.raises(PullbackError, match="nonsense"):
        row(plain, "x", x="nonsense * x")
    with pytest.raises(PullbackError, match="operands"):
        row(plain, "x", y="1")
    with pytest.raises(PullbackError, match="resolution"):
        lookup(np.sin, VECTOR, resolution="other")


def test_structured_user_rule_serves_the_function_in_every_form() -> None:
    @rule(plain)
    def plain_pullback(x: Any, *, out: Any, out_bar: Any) -> Any:
        return 2.0 * out_bar

    for form in ("call", "ufunc", "broadcast"):
        assert lookup(plain, VECTOR, form=form).rule is rules_for(plain)[0]
    op = registry.op_of(plain)
    assert op is not None and op.style(VECTOR) == Array(np.dtype(float), (3,), False)
