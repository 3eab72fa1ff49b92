"""A package that imports its generated module can make it: where it is missing, broken, or lacks a new name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]

TABLE = """\
[[tool.pullback.module]]
output = "mymodels/epi_grad.py"
targets = ["mymodels/model.py:epi"]
"""
MODEL = """\
import numpy as np


def epi(x: "f8[n]"):
    return np.sum(x * x)
"""
DIRECT = ("compile", "mymodels.model:epi", "-o", "mymodels/epi_grad.py")


@pytest.fixture
def package(folder: Path) -> Path:
    made = folder / "mymodels"
    made.mkdir()
    (made / "__init__.py").write_text("from .epi_grad import epi_value_and_grad as gradient\n")
    (made / "model.py").write_text(MODEL)
    (folder / "pyproject.toml").write_text(TABLE)
    return made


def forget() -> None:
    """What a new process does not know."""
    for name in [n for n in sys.modules if n.partition(".")[0] == "mymodels"]:
        del sys.modules[name]


@pytest.mark.parametrize("command", [("compile",), DIRECT])
@pytest.mark.parametrize(
    "broken", [None, "<<<<<<< conflict\n", "import nothing_of_the_kind\n", "other = 1\n"]
)
def test_a_module_that_its_package_imports_is_made(
    package: Path, pullback: Run, command: tuple[str, ...], broken: str | None
) -> None:
    output = package / "epi_grad.py"
    if broken is not None:
        output.write_text('"""compiled ahead of time by pullback"""\n' + broken)
    status = "missing" if broken is None else "stale"
    result = pullback(*command, "--check")
    assert result.exit_code == 1 and result.stdout.startswith(f"{status}: mymodels/epi_grad.py")
    assert "mymodels.epi_grad" not in sys.modules
    forget()
    result = pullback(*command)
    assert result.exit_code == 0 and "written: mymodels/epi_grad.py" in result.stderr
    forget()
    assert pullback(*command, "--check").exit_code == 0
    forget()
    result = pullback("check", "mymodels.model:epi")
    assert result.exit_code == 0, result.stderr


def test_other_commands_do_without_the_listed_modules_too(package: Path, pullback: Run) -> None:
    assert pullback("check", "mymodels.model:epi").exit_code == 0


def test_a_placeholder_cannot_be_called(package: Path, pullback: Run) -> None:
    (package / "model.py").write_text(f"{MODEL}\nfrom . import gradient\n\nSLOPE = gradient(np.ones(2))\n")
    result = pullback("compile")
    assert result.exit_code == 2
    assert "`mymodels.epi_grad.epi_value_and_grad` is not made yet" in result.stderr


def test_other_modules_that_are_missing_are_errors(package: Path, pullback: Run) -> None:
    (package / "__init__.py").write_text("from .other_grad import f\n")
    result = pullback("compile")
    assert result.exit_code == 2 and "No module named 'mymodels.other_grad'" in result.stderr
