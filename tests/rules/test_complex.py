"""Every structured rule with complex operands: right, or refused.  Rows say themselves whether they are holomorphic."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from apply_rule import differences, seed
from compiled import Program, gradients, load_programs
from test_rules import OTHERS, cases_of, close, describe, positions, rule_id

import pullback as pb
from pullback.errors import UnsupportedError
from pullback.rules.kinds import Case, Rule
from pullback.rules.registry import op_of


def turned(value: Any, number: int) -> Any:
    """The value with imaginary parts."""
    if isinstance(value, list | tuple):
        return type(value)(turned(v, number + i) for i, v in enumerate(value))
    if isinstance(value, float | np.ndarray) and np.asarray(value).dtype == np.float64:
        made = value + 1j * (0.3 + 0.2 * np.cos(np.arange(np.size(value)) + number)).reshape(np.shape(value))
        return made if isinstance(value, np.ndarray) else complex(made)
    return value


def complex_cases(rule: Rule) -> list[tuple[Case, tuple[int, ...], Any]]:
    """The cases that NumPy takes with complex operands, with what is differentiated and a seed."""
    found = []
    rng = np.random.default_rng(7)
    for case in list(cases_of(rule)):
        active = positions(rule, case)
        args = tuple(turned(v, i) if i in active else v for i, v in enumerate(case.args))
        made = replace(case, args=args)
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("error", np.exceptions.ComplexWarning)
                out = rule.fn(*made.args, **made.kwargs)
                bar = seed(out, rng)
        except (TypeError, ValueError, np.exceptions.ComplexWarning):
            continue
        if active and any(_is_complex(args[i]) for i in active):
            found.append((made, active, bar))
    return found


def _is_complex(value: Any) -> bool:
    return any(map(_is_complex, value)) if isinstance(value, list | tuple) else np.iscomplexobj(value)


# Complex eigenvectors are any multiple of themselves: only functions that do not depend on which have derivatives.
RULES = [r for r in OTHERS if r.fn is not np.linalg.eigh]


@pytest.mark.parametrize("rule", RULES, ids=rule_id)
def test_complex_operands(rule: Rule, tmp_path: Path) -> None:
    op = op_of(rule.fn)
    assert op is not None
    wrong = []
    for i, (case, active, bar) in enumerate(complex_cases(rule)):
        program = Program(op.numpy_path, case, active, bar)
        module = load_programs([program], tmp_path, f"complex{i}")
        try:
            found = gradients(module.f0, program)
        except UnsupportedError:
            continue
        for k in active:
            expected = differences(rule.fn, case.args, case.kwargs, k, bar)
            if not close(found[k], expected, 1e-6):
                wrong.append(f"{describe(case)}: operand {k}: {found[k]} found, {expected} expected")
    assert not wrong, "\n".join(wrong)


HERMITIAN = np.array([[2.0, 0.5 - 0.3j, 0.1j], [0.5 + 0.3j, -1.0, 0.7], [-0.1j, 0.7, 0.4]])


def test_eigenvectors_of_any_phase() -> None:
    def f(a: Any) -> Any:
        w, v = np.linalg.eigh(a)
        return np.sum(w * np.abs(v[0]) ** 2) + np.abs(v[1, 1] * np.conj(v[2, 1]))

    pb.check_gradients(f, HERMITIAN)


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_what_depends_on_the_phase_of_eigenvectors_is_refused(dtype: Any) -> None:
    def f(a: Any) -> Any:
        return np.sum(np.linalg.eigh(a)[1].real)

    a = HERMITIAN.astype(dtype)
    with pytest.raises(ValueError, match="depends on the phase"):
        pb.grad(f)(a)
    _, pull = pb.vjp(f, a)
    with pytest.raises(ValueError, match="depends on the phase"):
        pull(dtype(1).real)
