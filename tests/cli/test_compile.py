"""`pullback compile`: what is written, what is checked, what is never touched."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from tests.cli.models import SIG

Run = Callable[..., Result]

TABLE = """\
[tool.pullback]
[[tool.pullback.module]]
output = "model_grad.py"
targets = [
    "model.py:annotated",
    { target = "model.py:loss", sig = "w: f8[n], x: f8[m, n], y: f8[m]", wrt = ["w", "y"], forms = ["pair"] },
]
[[tool.pullback.module]]
output = "made/roots_grad.py"
targets = ["model.py:roots"]
"""


def command_of_text(text: str) -> str:
    """The command in a module's header."""
    found = re.search(r"^ +(pullback compile(?:.*\\\n)*.*)$", text, re.M)
    assert found is not None
    return re.sub(r" \\\n +", " ", found.group(1))


def command_of(path: Path) -> str:
    """The command in the header of a file."""
    return command_of_text(path.read_text())


def load(path: Path) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "made"}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    return namespace


def test_a_module_is_written_and_works(folder: Path, pullback: Run) -> None:
    result = pullback("compile", "model.py:loss", "-o", "model_grad.py", "--sig", SIG)
    assert result.exit_code == 0 and result.stdout == ""
    assert "written: model_grad.py (loss_value_and_grad)" in result.stderr
    text = (folder / "model_grad.py").read_text()
    assert "import pullback" not in text and str(folder) not in text
    w, x, y = np.array([0.5, -0.3]), np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([0.1, 0.4])
    value, w_bar = load(folder / "model_grad.py")["loss_value_and_grad"](w, x, y)
    r = np.tanh(x @ w) - y
    assert value == np.sum(r * r) / 2
    np.testing.assert_allclose(w_bar, x.T @ (r * (1 - np.tanh(x @ w) ** 2)), rtol=1e-14)
    assert os.listdir(folder / "..") and sorted(p.name for p in folder.glob("*grad*")) == ["model_grad.py"]


def test_what_is_current_is_left_alone(folder: Path, pullback: Run) -> None:
    pullback("compile", "model.py:roots", "-o", "g.py")
    before = (folder / "g.py").stat().st_mtime_ns
    assert "unchanged: g.py" in pullback("compile", "model.py:roots", "-o", "g.py").stderr
    assert (folder / "g.py").stat().st_mtime_ns == before


def test_to_stdout(pullback: Run) -> None:
    result = pullback("compile", "model.py:roots", "-o", "-")
    namespace: dict[str, Any] = {"__name__": "made"}
    exec(result.stdout, namespace)
    value, x_bar = namespace["roots_value_and_grad"](np.array([4.0, 16.0]))
    assert value == 6.0 and x_bar.tolist() == [0.25, 0.125]


def test_forms_labels_and_several_targets(folder: Path, pullback: Run) -> None:
    forms = ["--value-and-grad", "--grad", "--pair", "--vjp"]
    pullback("compile", "model.py:loss", "-o", "g.py", "--sig", SIG, "--wrt", "y", *forms)
    names = ["loss_grad", "loss_primal", "loss_pullback", "loss_value_and_grad", "loss_vjp"]
    assert sorted(load(folder / "g.py")["__all__"]) == names
    result = pullback(
        "compile", "model.py:roots", "model.py:roots", "-o", "h.py", "--label", "a", "--label", "b"
    )
    assert result.exit_code == 0
    assert sorted(load(folder / "h.py")["__all__"]) == ["a_value_and_grad", "b_value_and_grad"]


def test_has_aux(folder: Path, pullback: Run) -> None:
    assert pullback("compile", "model.py:with_aux", "-o", "g.py", "--has-aux").exit_code == 0
    assert load(folder / "g.py")["with_aux_value_and_grad"](3.0, 7) == ((9.0, 7), 6.0)


def test_the_header_has_a_command_that_makes_the_same_from_any_folder(folder: Path, pullback: Run) -> None:
    (folder / "pyproject.toml").write_text("")
    (folder / "deep").mkdir()
    wrt = ["--wrt", "w,y", "--pair"]
    pullback("compile", "model.py:loss", "-o", "deep/g.py", "--sig", "w:f8[n],x:f8[m,n],y:f8[m]", *wrt)
    first = (folder / "deep" / "g.py").read_text()
    assert command_of(folder / "deep" / "g.py") == (
        f'pullback compile model.py:loss -o deep/g.py --sig "{SIG}" --wrt w,y --pair'
    )
    os.chdir(folder / "deep")
    again = pullback("compile", "../model.py:loss", "-o", "g.py", "--sig", SIG, *wrt, "--check")
    assert again.exit_code == 0, again.output
    os.chdir(folder)
    (folder / "deep" / "g.py").unlink()
    assert pullback(*shlex.split(command_of_text(first))[1:]).exit_code == 0
    assert (folder / "deep" / "g.py").read_text() == first


@pytest.mark.parametrize(
    ("args", "written"),
    [
        (["model:roots", "-o", "g.py"], "pullback compile model:roots -o g.py"),
        (
            ["model.py:loss", "-o", "g.py", "--example", "./model.py:arguments"],
            "pullback compile model.py:loss -o g.py --example model.py:arguments",
        ),
        (
            ["model.py:moded", "-o", "g.py", "--sig", 'x: f8[:], mode: "it\'s"'],
            "pullback compile model.py:moded -o g.py --sig 'x: f8[:], mode: \"it'\"'\"'s\"'",
        ),
        (
            [
                "model.py:roots",
                "model.py:cube",
                "-o",
                "g.py",
                "--sig",
                "x: f8[:]",
                "--sig",
                "x: float",
                "--wrt",
                "x",
            ],
            'pullback compile model.py:roots model.py:cube -o g.py --sig "x: f8[:]" --sig "x: float" --wrt x',
        ),
    ],
)
def test_the_command_of_the_header(folder: Path, pullback: Run, args: list[str], written: str) -> None:
    with (folder / "model.py").open("a") as file:
        file.write("\ndef moded(x, mode):\n    return np.sum(x) if mode else 0.0\n")
    assert pullback("compile", *args).exit_code == 0
    assert command_of(folder / "g.py") == written


# ------------------------------------------------------------------------------------------------- --check, table


def test_check_tells_the_first_line_that_differs_and_writes_nothing(folder: Path, pullback: Run) -> None:
    missing = pullback("compile", "model.py:roots", "-o", "g.py", "--check")
    assert missing.exit_code == 1 and missing.stdout == "missing: g.py\n"
    assert not (folder / "g.py").exists()
    pullback("compile", "model.py:roots", "-o", "g.py")
    assert pullback("compile", "model.py:roots", "-o", "g.py", "--check").exit_code == 0
    fresh = (folder / "g.py").read_text()
    lines = fresh.split("\n")
    lines[6] += "  # changed"
    (folder / "g.py").write_text("\n".join(lines))
    stale = pullback("compile", "model.py:roots", "-o", "g.py", "--check")
    assert stale.exit_code == 1
    assert stale.stdout.startswith("stale: g.py: line 7 is ") and stale.stdout.count("\n") == 1
    document = json.loads(pullback("compile", "model.py:roots", "-o", "g.py", "--check", "--json").stdout)
    assert document["ok"] is False
    assert document["modules"][0]["status"] == "stale" and document["modules"][0]["line"] == 7
    assert (folder / "g.py").read_text() == "\n".join(lines)


def test_the_table_of_a_project(folder: Path, pullback: Run) -> None:
    (folder / "pyproject.toml").write_text(TABLE)
    (folder / "made").mkdir()
    assert pullback("compile", "--check").stdout == "missing: model_grad.py\nmissing: made/roots_grad.py\n"
    document = json.loads(pullback("compile", "--json").stdout)
    assert [m["status"] for m in document["modules"]] == ["written", "written"]
    assert sorted(load(folder / "model_grad.py")["__all__"]) == [
        "annotated_value_and_grad",
        "loss_primal",
        "loss_pullback",
    ]
    assert command_of(folder / "model_grad.py") == "pullback compile"
    os.chdir(folder / "made")
    assert pullback("compile", "--check").exit_code == 0
    text = (folder / "model.py").read_text()
    (folder / "model.py").write_text(text.replace("np.sqrt(x)", "np.cbrt(x)"))
    stale = pullback("compile", "--check")
    assert stale.exit_code == 1 and stale.stdout.startswith("stale: roots_grad.py: line ")


def test_a_source_folder_of_the_table_is_searched(folder: Path, pullback: Run) -> None:
    (folder / "src").mkdir()
    (folder / "src" / "inner_of_table.py").write_text('def f(x: "f8"):\n    return x * x\n')
    (folder / "pyproject.toml").write_text(
        '[tool.pullback]\npythonpath = ["src"]\n'
        '[[tool.pullback.module]]\noutput = "g.py"\ntargets = ["inner_of_table:f"]\n'
    )
    path = list(sys.path)
    assert pullback("compile").exit_code == 0
    assert sys.path == path and (folder / "g.py").exists()


MODULE = "[tool.pullback]\n[[tool.pullback.module]]\n"
WRONG = [  # the pyproject.toml, what the line says, the way out
    (None, "no pyproject.toml here or above", "name a target"),
    ("x = ", "no TOML", "mend it"),
    ("[tool.other]\n", "no table [tool.pullback]", "[[tool.pullback.module]]"),
    ("[tool.pullback]\n", "lists no module", "output and targets"),
    ("[tool.pullback]\nmodules = []\n", "unknown key 'modules'", "did you mean 'module'?"),
    (MODULE, "has no 'output'", "output ="),
    (f"{MODULE}output = 3\ntargets = ['a']\n", "wrong 'output'", "a text"),
    (f"{MODULE}output = 'g.py'\n", "has no 'targets'", "targets ="),
    (f"{MODULE}output = 'g.py'\ntargets = 'a'\n", "wrong 'targets'", "an array"),
    (f"{MODULE}output = 'g.py'\ntarget = ['a']\n", "unknown key 'target'", "did you mean 'targets'?"),
    (f"{MODULE}output = 'g.py'\ntargets = [3]\n", "target 1 is no table", "--help"),
    (f"{MODULE}output = 'g.py'\ntargets = [{{sig = 'x: f8'}}]\n", "has no 'target'", "target ="),
    (f"{MODULE}output = 'g.py'\ntargets = [{{target = 'a', forms = ['pairs']}}]\n", "form 'pairs'", "'pair'"),
    (f"{MODULE}output = 'g.py'\ntargets = [{{target = 'a', has_au = true}}]\n", "'has-au'", "'has-aux'"),
    (f"{MODULE}output = 'g.py'\ntargets = [{{target = 'a', wrt = [1]}}]\n", "wrong 'wrt'", "array of texts"),
    (
        f"{MODULE}output = 'g.py'\ntargets = [{{target = 'a', sig = 'x', example = 'y'}}]\n",
        "both",
        "keep one",
    ),
    (f"{MODULE}output = 'g.py'\ntargets = ['model.py:los']\n", "has no `los`", "did you mean `loss`?"),
]


@pytest.mark.parametrize(("text", "reason", "way_out"), WRONG, ids=[r for _, r, _ in WRONG])
def test_a_wrong_table_is_one_line(
    folder: Path, pullback: Run, text: str | None, reason: str, way_out: str
) -> None:
    if text is not None:
        (folder / "pyproject.toml").write_text(text)
    result = pullback("compile")
    lines = [line for line in result.stderr.splitlines() if not line.startswith("a word")]
    assert result.exit_code == 2 and len(lines) == 1
    assert reason in lines[0] and way_out in lines[0]


# ------------------------------------------------------------------------------------------------------ bad input

BAD = [
    (["model.py:roots"], "where to write is not said", "-o model_grad.py"),
    (["model.py:roots", "-o", "-", "--check"], "not with stdout", "-o model_grad.py"),
    (["-o", "g.py"], "no target", "name a target"),
    (["model.py:loss", "-o", "g.py", "--sig", SIG, "--sig", SIG], "2 --sig for 1 target", "in order"),
    (
        ["model.py:loss", "-o", "g.py", "--sig", SIG, "--example", "model.py:arguments"],
        "both say the types",
        "one",
    ),
    (["model.py:loss", "-o", "g.py", "--sig", "w: f8[n"], "`]` is missing", "write `]`"),
    (["model.py:roots", "-o", "model.py"], "was not made by pullback", "another file"),
    (["model.py:roots", "-o", "nowhere/g.py"], "nowhere/g.py", "folder"),
    (["model.py:roots", "-o", "model.py/g.py"], "model.py/g.py", "folder"),
    (["model.py:roots", "-o", "g.c", "--emit", "c", "--native"], "--emit c writes C alone", "one of them"),
    (["model.py:roots", "-o", "g.py", "--emit", "c"], "`g.py` is no name of a C text", "-o g.c"),
    (["model.py:roots", "-o", "g.py", "--march", "native"], "--march is for a library", "--native too"),
    (["model.py:roots", "-o", "-", "--native"], "--native writes several files", "-o model_grad.py"),
    (["model.py:roots", "model.py:roots", "-o", "g.py"], "roots_value_and_grad", "label"),
    (["model.py:axis_needed", "-o", "g.py"], "`axis`", "value"),
    (["model.py:roots", "-o", "g.py", "--jvp"], "no such option", "--help"),
]


@pytest.mark.parametrize(("args", "reason", "way_out"), BAD, ids=[" ".join(a) for a, _, _ in BAD])
def test_bad_input_is_one_line(
    folder: Path, pullback: Run, args: list[str], reason: str, way_out: str
) -> None:
    (folder / "folder_here").mkdir()
    before = {p: p.read_bytes() for p in folder.rglob("*.py")}
    result = pullback("compile", *args)
    lines = [line for line in result.stderr.splitlines() if not line.startswith("a word")]
    assert result.exit_code == 2 and result.stdout == ""
    assert lines[0].startswith("pullback: error: ") and reason in lines[0] and way_out in lines[0]
    assert {p: p.read_bytes() for p in folder.rglob("*.py")} == before
    assert not [p for p in folder.rglob("*") if p.suffix == ".tmp"]


def test_a_refused_function_leaves_the_old_file(folder: Path, pullback: Run) -> None:
    pullback("compile", "model.py:roots", "-o", "g.py")
    before = (folder / "g.py").read_bytes()
    result = pullback("compile", "model.py:refused", "-o", "g.py")
    assert result.exit_code == 2 and "^" in result.stderr
    assert (folder / "g.py").read_bytes() == before


def test_nothing_is_written_where_one_of_the_modules_fails(folder: Path, pullback: Run) -> None:
    (folder / "pyproject.toml").write_text(TABLE.replace("model.py:roots", "model.py:refused"))
    (folder / "made").mkdir()
    assert pullback("compile").exit_code == 2
    assert not list(folder.rglob("*_grad.py"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_folder(folder: Path, pullback: Run) -> None:
    (folder / "shut").mkdir()
    (folder / "shut").chmod(0o500)
    result = pullback("compile", "model.py:roots", "-o", "shut/g.py")
    (folder / "shut").chmod(0o700)
    assert result.exit_code == 2 and "Permission denied" in result.stderr


def test_the_hooks_for_pre_commit_run_commands_that_exist(pullback: Run) -> None:
    text = (Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text()
    entries = re.findall(r"^  entry: pullback (.*)$", text, re.M)
    assert entries == ["compile", "compile --check"]
    for entry in entries:
        assert pullback(*entry.split(), "--help").exit_code == 0


# ------------------------------------------------------------------------------------------------- small words


def test_what_a_module_imports_is_said(folder: Path, pullback: Run) -> None:
    (folder / "params.py").write_text(
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Params:\n    w: 'f8[n]'\n    b: float\n"
    )
    (folder / "fit.py").write_text(
        "from params import Params\n\n\ndef fit(p: Params):\n    return p.b * p.w.sum()\n"
    )
    assert "(fit_value_and_grad; imports params)" in pullback("compile", "fit.py:fit", "-o", "g.py").stderr
    document = json.loads(pullback("compile", "fit.py:fit", "-o", "g.py", "--json").stdout)
    assert document["modules"][0]["imports"] == ["params"]
    assert "(roots_value_and_grad)" in pullback("compile", "model.py:roots", "-o", "r.py").stderr


def test_check_says_that_all_is_well(folder: Path, pullback: Run) -> None:
    (folder / "pyproject.toml").write_text(TABLE)
    (folder / "made").mkdir()
    pullback("compile")
    assert "2 modules are current" in pullback("compile", "--check").stderr
    pullback("compile", "model.py:roots", "-o", "g.py")
    assert "1 module is current" in pullback("compile", "model.py:roots", "-o", "g.py", "--check").stderr


def test_hyphens_and_underscores_are_the_same(folder: Path, pullback: Run) -> None:
    written = pullback("compile", "model.py:with_aux", "-o", "-", "--value_and_grad", "--has_aux")
    assert written.exit_code == 0
    assert written.stdout == pullback("compile", "model.py:with_aux", "-o", "-", "--has-aux").stdout
    entry = '{ target = "model.py:with_aux", has_aux = true, forms = ["value_and_grad", "vjp"] }'
    (folder / "pyproject.toml").write_text(
        f'[[tool.pullback.module]]\noutput = "g.py"\ntargets = [{entry}]\n'
    )
    assert "with_aux_value_and_grad, with_aux_vjp" in pullback("compile").stderr


def test_a_wrong_entry_of_the_table_is_named(folder: Path, pullback: Run) -> None:
    entry = '{ target = "model.py:roots", wrt = ["y"] }'
    (folder / "pyproject.toml").write_text(
        f'[[tool.pullback.module]]\noutput = "g.py"\ntargets = [{entry}]\n'
    )
    told = pullback("compile").stderr
    assert (
        "pyproject.toml: [[tool.pullback.module]] number 1, target 1: wrt: `roots` has no parameter `y`"
        in told
    )
    assert "--wrt" not in told
    (folder / "pyproject.toml").write_text(
        '[tool.pullback.module]\noutput = "g.py"\ntargets = ["model.py:roots"]\n'
    )
    assert "write [[tool.pullback.module]]" in pullback("compile").stderr


def test_c_alone(folder: Path, pullback: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")  # no compiler is needed
    command = ("compile", "model.py:loss", "-o", "made/", "--sig", SIG, "--emit", "c")
    result = pullback(*command)
    files = ["made/loss_grad.c", "made/loss_grad.h", "made/loss_grad_example.c"]
    assert result.exit_code == 0 and [f for f in files if f in result.stderr] == files
    assert sorted(p.name for p in (folder / "made").iterdir()) == [Path(f).name for f in files]
    assert pullback(*command, "--check").exit_code == 0
    (folder / files[1]).write_text((folder / files[1]).read_text().replace("double", "float", 1))
    report = json.loads(pullback(*command, "--check", "--json").stdout)
    assert not report["ok"] and report["modules"][0]["file"] == files[1]
    document = json.loads(pullback(*command, "--json").stdout)["modules"][0]
    assert document["status"] == "written" and document["files"] == files
    (folder / files[2]).write_text("int main(void) { return 0; }\n")
    result = pullback(*command)
    assert result.exit_code == 2 and "was not made by pullback" in result.stderr
    command = shlex.split(re.sub(r" \\\n +", " ", (folder / files[0]).read_text().split("\n\n")[2].strip()))
    assert command[:3] == ["pullback", "compile", "../model.py:loss"] and command[-2:] == ["--emit", "c"]


def test_a_library_needs_a_compiler(folder: Path, pullback: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("pullback.backend.native.toolchain.find_spec", lambda name: None)
    result = pullback("compile", "model.py:loss", "-o", "g.py", "--sig", SIG, "--native")
    assert result.exit_code == 2 and "pip install 'pullback[native]'" in result.stderr
    assert not list(folder.glob("g*")) and not list(folder.glob("*g.*so"))


def test_a_project_lists_c(folder: Path, pullback: Run) -> None:
    table = '[[tool.pullback.module]]\noutput = "roots.{}"\ntargets = ["model.py:roots"]\n{}\n'
    (folder / "pyproject.toml").write_text(table.format("c", 'emit = "c"'))
    assert pullback("compile").exit_code == 0 and (folder / "roots.h").is_file()
    assert pullback("compile", "--check").exit_code == 0
    for suffix, line, reason in (
        ("py", 'emit = "c"', "ends in .c"),
        ("c", 'emit = "rust"', 'emit = "c"'),
        ("py", 'march = "native"', "native = true"),
        ("c", 'emit = "c"\nnative = true', "keep one"),
    ):
        (folder / "pyproject.toml").write_text(table.format(suffix, line))
        result = pullback("compile")
        assert result.exit_code == 2 and reason in result.stderr
