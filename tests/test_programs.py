"""Every program of the corpus, compiled in every way, against the plain function and its differences."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import numpy as np
import pytest

import pullback as pb
from differences import float_leaves, is_float, numerical_gradients, seed_for
from programs import Program, all_programs, leaves

PROGRAMS = {p.name: p for p in all_programs()}
MODES: dict[str, dict[str, bool]] = {
    "optimised": {},
    "unoptimised": {"optimize": False},
    "copying": {"bufferize": False},
}


@cache
def reference(name: str) -> tuple[Any, Any, list[list[Any]]]:
    """Value, seed and gradients of the plain function."""
    program = PROGRAMS[name]
    value = program.fn(*copy.deepcopy(program.args))
    seed = seed_for(value)
    if program.expect is not None:
        return value, seed, [leaves(g) for g in program.expect]
    return value, seed, numerical_gradients(program.fn, program.args, program.wrt, seed)


def is_scalar(value: Any) -> bool:
    return isinstance(value, float | np.floating) or (isinstance(value, np.ndarray) and value.shape == ())


def same_leaves(got: Any, expected: Any, rtol: float) -> None:
    """Structures agree leaf by leaf."""
    for a, b in zip(leaves(got), leaves(expected), strict=True):
        assert np.asarray(a).shape == np.asarray(b).shape
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-300 if rtol == 0 else rtol)


def check_gradients(program: Program, args: Any, gradients: Any) -> None:
    """Gradients have the structure, dtypes and values that differences give."""
    _, _, expected = reference(program.name)
    found = [float_leaves(args[i], g) for i, g in zip(program.wrt, gradients, strict=True)]
    largest = max([1.0, *(float(np.max(np.abs(e), initial=0.0)) for one in expected for e in one)])
    for position, got, want in zip(program.wrt, found, expected, strict=True):
        primals = [leaf for leaf in leaves(args[position]) if is_float(leaf)]
        assert len(got) == len(want) == len(primals)
        for number, (g, w, p) in enumerate(zip(got, want, primals, strict=True)):
            assert np.shape(g) == np.shape(p), f"parameter {position}, leaf {number}: shape"
            assert np.asarray(g).dtype == np.asarray(p).dtype, f"parameter {position}, leaf {number}: dtype"
            message = f"parameter {position}, leaf {number}"
            np.testing.assert_allclose(g, w, rtol=0, atol=1e-6 * largest, err_msg=message)


def unchanged(args: Any, program: Program) -> None:
    """The caller's arrays are as they were, bit for bit."""
    for a, b in zip(leaves(args), leaves(program.args), strict=True):
        assert np.array_equal(a, b), "the caller's array was changed"


def run(program: Program, options: dict[str, bool]) -> list[Any]:
    """Value and gradients by the pair and, for a scalar, jointly; each checked."""
    value, seed, _ = reference(program.name)
    fn = pb.differentiable(**options)(program.fn) if options else pb.differentiable(program.fn)
    args = copy.deepcopy(program.args)
    results = []
    if is_scalar(value):
        got, gradients = pb.value_and_grad(fn, argnums=program.wrt)(*args)
        same_leaves(got, value, 1e-12)
        check_gradients(program, args, gradients)
        unchanged(args, program)
        results += [got, *gradients]
    got, pullback = pb.vjp(fn, *args, argnums=program.wrt)
    same_leaves(got, value, 1e-12)
    unchanged(args, program)
    for leaf in leaves(args):  # the caller overwrites its arguments between vjp and pullback
        if isinstance(leaf, np.ndarray):
            leaf[...] = 77
    for _ in range(2):  # a pullback may be called twice
        gradients = pullback(seed)
        check_gradients(program, program.args, gradients)
    return [*results, got, *gradients]


@pytest.mark.parametrize("name", [n for n, p in PROGRAMS.items() if not p.refused])
def test_program(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = PROGRAMS[name]
    results = {}
    for mode, options in MODES.items():
        monkeypatch.setenv("PULLBACK_VERIFY", "1" if mode == "optimised" else "")
        results[mode] = run(program, options)
    for a, b in zip(leaves(results["optimised"]), leaves(results["copying"]), strict=True):
        assert np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind in "fc"), (
            "copying every store changes bits"
        )


@pytest.mark.parametrize("name", [n for n, p in PROGRAMS.items() if p.refused])
def test_refused_program(name: str) -> None:
    program = PROGRAMS[name]
    with pytest.raises(pb.UnsupportedError, match=program.refused) as caught:
        run(program, {})
    assert caught.value.loc is not None and caught.value.loc.line


def test_the_corpus_is_large() -> None:
    assert len({p.fn for p in PROGRAMS.values() if not p.refused}) >= 120
