"""Every pass on every program of the corpus: the interpreter gives the same before and after."""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.ir.callee import reachable
from pullback.ir.interp import run
from pullback.ir.nodes import Function
from pullback.passes import PASSES, optimize
from pullback.passes.bufferize import bufferize
from pullback.passes.fuse import fuse

sys.path.insert(0, str(Path(__file__).parents[1]))
from differences import seed_for
from in_place import run_in_place
from programs import all_programs, leaves

PROGRAMS = {p.name: p for p in all_programs() if not p.refused}


def assert_same(got: Any, expected: Any, what: str) -> None:
    """Results agree to rounding: passes may reassociate products of cotangents."""
    for a, b in zip(leaves(got), leaves(expected), strict=True):
        scale = float(np.max(np.abs(b), initial=1.0))
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * scale, err_msg=what)


def check_passes(function: Function, args: Any) -> Any:
    """Run the passes one after the other, twice round; the results of the function."""
    expected = run(function, copy.deepcopy(args))
    for step in (*PASSES, *PASSES):
        changed = step(function)
        if changed is not function:
            assert_same(run(changed, copy.deepcopy(args)), expected, f"after {step.__name__}")
        function = changed
    check_fusion(function, args, expected)
    return expected


def check_fusion(function: Function, args: Any, expected: Any) -> None:
    """Fused for either target: the same results, pure or in place, each kernel's loop element by element."""
    done = bufferize(function).function
    for options in ({}, {"single": True}, {"single": True, "sums_overlap": True}):
        fused = fuse(done, **options)
        assert_same(run(fused, copy.deepcopy(args)), expected, f"fused, {options}")
        assert_same(run_in_place(fused, copy.deepcopy(args)), expected, f"fused in place, {options}")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    program = PROGRAMS[name]
    value = program.fn(*copy.deepcopy(program.args))
    fn = pb.differentiable(optimize=False)(program.fn)
    gradient = fn._gradient(program.wrt)
    variant, args = gradient.find(gradient.bind(copy.deepcopy(program.args), {}))
    compiled = variant.compiled
    check_passes(compiled.lowered.function, args)
    primal, pullback = compiled.gradient_functions("pair")
    _, residuals = check_passes(primal, args)
    gradients = check_passes(pullback, (residuals, seed_for(value)))
    if isinstance(value, float | np.floating) or (isinstance(value, np.ndarray) and value.shape == ()):
        (joint,) = compiled.gradient_functions("joint")
        assert_same(check_passes(joint, args)[1:], gradients, "joint form against the pair")
    for callee in reachable((primal, pullback)):
        callee.function = optimize(callee.body())
    _, residuals = run(primal, copy.deepcopy(args))
    assert_same(run(pullback, (residuals, seed_for(value))), gradients, "after the passes on what is called")
