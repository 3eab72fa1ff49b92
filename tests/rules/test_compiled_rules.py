"""Every rule through the compiler: a program for each case, its gradient against differences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from apply_rule import differences, seed
from compiled import Program, gradients, load_programs
from test_rules import OTHERS, ROWS, cases_of, close, describe, positions, row_cases, rule_id

from pullback.rules.kinds import Row, Rule
from pullback.rules.registry import op_of


def check(rule: Rule, path: Path) -> None:
    rng = np.random.default_rng(11)
    cases = list(row_cases(rule, rng)) if isinstance(rule, Row) else list(cases_of(rule))
    op = op_of(rule.fn)
    assert op is not None
    kept = []
    for case in cases:
        with np.errstate(all="ignore"):
            out = rule.fn(*case.args, **case.kwargs)
        active = positions(rule, case)
        if active:
            out_bar = seed(out, rng)
            kept.append((case, active, out_bar, Program(op.numpy_path, case, active, out_bar)))
    module = load_programs([k[3] for k in kept], path, "programs")
    wrong = []
    for i, (case, active, out_bar, program) in enumerate(kept):
        found = gradients(getattr(module, f"f{i}"), program)
        for k in active:
            expected = differences(rule.fn, case.args, case.kwargs, k, out_bar)
            if not close(found[k], expected, 2e-7):
                wrong.append(
                    f"{describe(case)}: operand {k}: {found[k]} found, {expected} expected\n{program.text}"
                )
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("rule", ROWS, ids=rule_id)
def test_rows(rule: Row, tmp_path: Path) -> None:
    check(rule, tmp_path)


@pytest.mark.parametrize("rule", OTHERS, ids=rule_id)
def test_other_rules(rule: Rule, tmp_path: Path) -> None:
    check(rule, tmp_path)


LISTED = (
    np.divide,
    np.power,
    np.arctan2,
    np.clip,
    np.where,
    np.interp,
    np.matmul,
    np.dot,
    np.inner,
    np.linalg.solve,
    np.convolve,
)


@pytest.mark.parametrize("fn", LISTED, ids=lambda f: f.__name__)
def test_lists_are_taken_for_arrays(fn: Any, tmp_path: Path) -> None:
    """The operands that are not differentiated written as displays."""
    rng = np.random.default_rng(2)
    rule = next(
        r
        for r in [*ROWS, *OTHERS]
        if r.fn is fn and not any(p.rank for p in r.when) and len(positions_of(r)) > 1
    )
    cases = list(row_cases(rule, rng))[1:2] if isinstance(rule, Row) else list(cases_of(rule))[:2]
    op = op_of(fn)
    assert op is not None
    for i, case in enumerate(cases):
        for k in positions(rule, case):
            out_bar = seed(fn(*case.args, **case.kwargs), rng)
            program = Program(op.numpy_path, case, (k,), out_bar, displays=True)
            module = load_programs([program], tmp_path, f"listed{i}_{k}")
            found = gradients(module.f0, program)[k]
            expected = differences(fn, case.args, case.kwargs, k, out_bar)
            assert close(found, expected, 2e-7), program.text


def positions_of(rule: Rule) -> tuple[Any, ...]:
    return tuple(rule.partials) if isinstance(rule, Row) else tuple(getattr(rule, "wrt", ()))
