"""The corpus as standalone modules: the same bits as in the process, in the layout of formatters, clean to a linter."""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb
from differences import seed_for
from programs import Program, all_programs, leaves
from pullback.aot.declared import Declared
from pullback.aot.entries import Entry
from pullback.aot.module import Module, make
from pullback.frontend.signature import bind, signature_of

PROGRAMS = [p for p in all_programs() if not p.refused]
CHUNKS = 12
REFUSED: dict[str, str] = {}  # what a file cannot hold, and part of the reason


def is_scalar(value: Any) -> bool:
    return isinstance(value, float | np.floating) or (isinstance(value, np.ndarray) and value.shape == ())


def module(program: Program, fn: Any, scalar: bool) -> Module:
    """The module of a program, for its arguments as they are: what the process compiles for them."""
    gradient = fn.gradient(program.wrt)
    variant, _ = gradient.find(gradient.bind(copy.deepcopy(program.args), {}))
    static = variant.compiled.lowered.environment.static_params
    signature = signature_of(bind(program.fn, program.args, {}), static)
    forms = ("value_and_grad", "grad", "pair", "vjp") if scalar else ("pair", "vjp")
    return make([Entry(fn, Declared(signature, "", {}, {}), program.wrt, forms=forms)], "test")


def assert_same(found: Any, expected: Any) -> None:
    """Equal in structure, types, dtypes and bits."""
    assert type(found) is type(expected)
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        found, expected = list(found.values()), list(expected.values())
    if isinstance(expected, tuple | list):
        for a, b in zip(found, expected, strict=True):
            assert_same(a, b)
    elif isinstance(expected, np.ndarray | np.generic | float | complex):
        a, b = np.asarray(found), np.asarray(expected)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.tobytes() == b.tobytes()
    elif hasattr(expected, "__dict__") and not callable(expected):
        assert_same(vars(found), vars(expected))


def check_bits(program: Program, fn: Any, made: Module, value: Any) -> None:
    """The same bits as in the process, by every form."""
    loaded, label = made.load(), program.fn.__name__
    args, before = program.args, copy.deepcopy(program.args)
    seed = seed_for(value)
    value, pullback = fn.vjp(*copy.deepcopy(args), argnums=program.wrt)
    bars = pullback(seed)
    found, pull = getattr(loaded, f"{label}_vjp")(*args)
    assert_same(found, value)
    assert_same(pull(seed), bars)
    found, residuals = getattr(loaded, f"{label}_primal")(*args)
    assert_same(found, value)
    for _ in range(2):
        assert_same(getattr(loaded, f"{label}_pullback")(residuals, seed), bars)
    if f"{label}_grad" in made.names:
        both = fn.value_and_grad(*copy.deepcopy(args), argnums=program.wrt)
        assert_same(getattr(loaded, f"{label}_value_and_grad")(*args), both)
        assert_same(getattr(loaded, f"{label}_grad")(*args), both[1])
    for a, b in zip(leaves(args), leaves(before), strict=True):
        assert np.array_equal(a, b), "the caller's array was changed"


def ruff(*arguments: str, cwd: Path) -> str:
    """What ruff says in a folder, with its own default settings."""
    command = [sys.executable, "-m", "ruff", *arguments, "."]
    run = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    return run.stdout + run.stderr if run.returncode else ""


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_corpus(chunk: int, tmp_path: Path) -> None:
    wrong = {}
    for program in PROGRAMS[chunk::CHUNKS]:
        value = program.fn(*copy.deepcopy(program.args))
        fn = pb.differentiable(program.fn)
        try:
            made = module(program, fn, is_scalar(value))
            made.write(tmp_path / f"{program.name.replace('.', '_').replace('-', '_')}.py")
            check_bits(program, fn, made, value)
        except (AssertionError, pb.PullbackError, NameError, TypeError, ValueError, SyntaxError) as error:
            if REFUSED.get(program.name, "never") not in str(error):
                wrong[program.name] = f"{type(error).__name__}: {error}"
    assert not wrong, "\n".join(f"{name}: {text}" for name, text in wrong.items())
    assert not ruff("check", "--isolated", cwd=tmp_path)
    for width in ("88", "110"):
        assert not ruff("format", "--isolated", "--check", "--line-length", width, cwd=tmp_path)
