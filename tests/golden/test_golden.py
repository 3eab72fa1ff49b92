"""The generated source of twenty programs: kept, importable, right, and the same bytes in every run."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pullback as pb

from .programs import PROGRAMS

HERE = Path(__file__).parent
KEPT = HERE / "generated"


def generate(name: str) -> str:
    """Both forms of a program's gradient, as one file."""
    fn, args, wrt = PROGRAMS[name]
    made = pb.differentiable(fn)
    argnums = wrt if len(wrt) > 1 else wrt[0]
    joint = made.source(*args, argnums=argnums, form="joint")
    pair = made.source(*args, argnums=argnums, form="pair")
    head, _, body = pair.partition("\n\n\n")
    joint_head, _, joint_body = joint.partition("\n\n\n")
    return f"{merged_imports(joint_head, head)}\n\n\n{joint_body.rstrip()}\n\n\n{body.rstrip()}\n"


def merged_imports(*heads: str) -> str:
    """The imports of both forms, each once."""
    lines = [line for head in heads for line in head.splitlines() if line]
    plain = sorted({line for line in lines if line.startswith("import ")})
    helper = "from pullback.runtime import "
    names = {n for line in lines if line.startswith(helper) for n in line.removeprefix(helper).split(", ")}
    return "\n".join(plain) + (f"\n\n{helper}{', '.join(sorted(names))}" if names else "")


def load(name: str) -> ModuleType:
    """The kept file as a module."""
    spec = importlib.util.spec_from_file_location(f"golden_{name}", KEPT / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", PROGRAMS)
def test_source_is_the_kept_one(name: str, request: pytest.FixtureRequest) -> None:
    source, path = generate(name), KEPT / f"{name}.py"
    if request.config.getoption("--update-golden"):
        path.write_text(source)
    assert path.exists(), f"no golden file; `pytest tests/golden --update-golden` writes it:\n{source}"
    assert source == path.read_text()


def assert_same(found: Any, expected: Any) -> None:
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        found, expected = list(found.values()), list(expected.values())
    if isinstance(expected, tuple | list):
        for a, b in zip(found, expected, strict=True):
            assert_same(a, b)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", PROGRAMS)
def test_kept_source_runs_without_the_compiler(name: str) -> None:
    fn, args, wrt = PROGRAMS[name]
    value, bars = pb.value_and_grad(fn, argnums=wrt if len(wrt) > 1 else wrt[0])(*args)
    module = load(name)
    kept_value, kept_bars = getattr(module, f"{name}_value_and_grad")(*args)
    assert_same((kept_value, kept_bars), (value, bars))
    assert kept_value == fn(*args)
    pair_value, residuals = getattr(module, f"{name}_primal")(*args)
    assert pair_value == kept_value
    pulled = getattr(module, f"{name}_pullback")(residuals, type(value)(1.0))
    again = getattr(module, f"{name}_pullback")(residuals, type(value)(1.0))
    assert_same(again, pulled)


def test_the_same_bytes_in_another_process() -> None:
    script = (
        "from tests.golden.test_golden import generate; from tests.golden.programs import PROGRAMS;"
        "print('\\f'.join(map(generate, PROGRAMS)), end='')"
    )
    root = HERE.parent.parent
    path = os.pathsep.join([str(root), str(Path(pb.__file__).parent.parent)])
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        run = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, cwd=root
        )
        assert run.returncode == 0, run.stderr
        assert run.stdout.split("\f") == [generate(name) for name in PROGRAMS]


def test_no_golden_file_is_left_over() -> None:
    assert {p.stem for p in KEPT.glob("*.py")} == set(PROGRAMS)
    assert len(PROGRAMS) == 20
