"""Bad input: one line with the way out, exit code 2, nothing on stdout but what --json promises."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import Result
from tests.cli.models import SIG

Run = Callable[..., Result]

BAD = [  # arguments, what the line says, the way out
    (["chekc", "model.py:loss"], "there is no command 'chekc'", "did you mean `check`?"),
    (["check"], "missing argument 'TARGET'", "pullback check --help"),
    (
        ["check", "model.py:loss", "--sgi", "x"],
        "no such option '--sgi'; did you mean `--sig`",
        "pullback check --help",
    ),
    (["check", "model.py:roots", "--pair"], "no such option '--pair'", "it is one of `pullback compile`"),
    (
        ["source", "model.py:loss", "--example", "arguments"],
        "--example 'arguments'",
        "write model.py:arguments",
    ),
    (["check", "model.py:nowhere"], "`nowhere` itself is nan", "--example, or another --seed"),
    (["source", "model.py:loss", "--form", "triple"], "'triple' is not one of", "pullback source --help"),
    (["source", "nowhere.py:loss"], "there is no file `nowhere.py`", "current folder"),
    (["source", "nowhere_at_all:loss"], "there is no module `nowhere_at_all`", "folder/model.py"),
    (["source", "model.py"], "names no function", "file.py:function"),
    (["source", "model.py:los"], "has no `los`", "did you mean `loss`?"),
    (
        ["source", "broken.py:f"],
        "`broken.py` fails to import: NameError: name 'oops' is not defined",
        "mend it",
    ),
    (["source", "model.py:loss"], "does not say the type of `w`", "--sig"),
    (["source", "model.py:loss", "--sig", "w: f9[n]"], "`f9` is no type", "did you mean `f8`?"),
    (["source", "model.py:loss", "--sig", "w: f8[n], z: f8"], "no parameter `z`", "w, x, y"),
    (["source", "model.py:loss", "--sig", SIG, "--wrt", "v"], "no parameter `v`", "w, x, y"),
    (["source", "model.py:loss", "--sig", SIG, "--wrt", "w,w"], "twice", "once"),
    (["source", "model.py:with_aux", "--wrt", "n", "--has-aux"], "`n` is an integer", "leave it out"),
    (["source", "model.py:axis_needed"], "needs the value of `axis`", '--sig "axis: 1"'),
    (["source", "model.py:loss", "--example", "model.py:argumnets"], "has no `argumnets`", "`arguments`"),
    (["source", "model.py:loss", "--example", "model.py:too_few"], "does not fit `loss`", "w, x, y"),
    (["source", "model.py:loss", "--example", "model.py:failing"], "RuntimeError: no data (model.py:", ""),
    (["source", "model.py:roots", "--stage", "lowr"], "there is no stage 'lowr'", "did you mean `lower`?"),
    (["check", "model.py:roots", "--rtol", "-1"], "--rtol", "pullback check --help"),
    (["check", "model.py:roots", "--size", "n"], "not of the form n=5", "pullback check --help"),
    (["check", "model.py:roots", "--size", "n=5"], "no axis `n`", "named axes"),
    (["check", "model.py:raises"], "`raises` raises ValueError: of no use (model.py:", "--example"),
    (["rules", "np.tanhh"], "no rule for `np.tanhh`", "did you mean `np.tanh`"),
]


@pytest.mark.parametrize(
    ("args", "reason", "way_out"), BAD, ids=lambda x: " ".join(x) if isinstance(x, list) else ""
)
def test_bad_input_is_one_line(folder, pullback: Run, args: list[str], reason: str, way_out: str) -> None:
    (folder / "broken.py").write_text("oops\n")
    result = pullback(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    lines = [line for line in result.stderr.splitlines() if not line.startswith("a word")]
    assert lines[0].startswith("pullback: error: ")
    assert reason in lines[0] and way_out in lines[0]
    assert all(line.startswith("    ") for line in lines[1:])  # a signature, with a caret
    assert "Traceback" not in result.stderr


def test_a_wrong_signature_is_shown_with_a_caret(pullback: Run) -> None:
    lines = pullback("source", "model.py:loss", "--sig", "w: f8[n], x: f9[m, n]").stderr.splitlines()
    assert lines[-2].strip() == "w: f8[n], x: f9[m, n]"
    assert lines[-1].index("^") == lines[-2].index("f9")


def test_a_refusal_keeps_its_place_in_the_source(pullback: Run) -> None:
    result = pullback("source", "model.py:refused")
    assert result.exit_code == 2
    assert "model.py:" in result.stderr and "^" in result.stderr and "way out: " in result.stderr


def test_errors_as_json(pullback: Run) -> None:
    result = pullback("source", "model.py:los", "--json")
    assert result.exit_code == 2
    error = json.loads(result.stdout)["error"]
    assert error["kind"] == "TargetError" and "los" in error["message"] and "loss" in error["way_out"]


def test_a_defect_of_ours_is_told_from_a_failed_check(pullback: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("pullback.cli.rules.find", broken)
    result = pullback("rules", "tanh")
    assert result.exit_code == 2
    assert "ZeroDivisionError" in result.stderr and "this is a defect of pullback" in result.stderr
