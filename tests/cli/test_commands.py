"""The commands on good input: what they print, as text and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from tests.cli.models import SIG

import pullback as pb

Run = Callable[..., Result]


def test_version_and_help(pullback: Run) -> None:
    assert pullback("--version").stdout == f"pullback {pb.__version__}\n"
    assert "Examples:" in pullback("--help").stdout
    bare = pullback()
    assert bare.exit_code == 0
    assert bare.stdout == pullback("--help").stdout
    assert bare.stderr == ""


@pytest.mark.parametrize("command", ["compile", "source", "explain", "check", "rules", "cache", "bench"])
def test_every_command_has_help_with_examples(pullback: Run, command: str) -> None:
    for flag in ("--help", "-h"):
        text = pullback(command, flag).stdout
        assert f"pullback {command} " in text.partition("Examples:")[2]
        assert "--json" in text


# ------------------------------------------------------------------------------------------------------ source


def test_source_is_the_generated_source_and_nothing_else(pullback: Run) -> None:
    result = pullback("source", "model.py:loss", "--sig", SIG)
    assert result.exit_code == 0
    assert "a word on import" in result.stderr
    namespace: dict[str, Any] = {}
    exec(result.stdout, namespace)
    w, x, y = np.array([0.5, -0.3]), np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([0.1, 0.4])
    value, w_bar = namespace["loss_value_and_grad"](w, x, y)
    r = np.tanh(x @ w) - y
    assert value == np.sum(r * r) / 2
    np.testing.assert_allclose(w_bar, x.T @ (r * (1 - np.tanh(x @ w) ** 2)), rtol=1e-14)


def test_source_of_the_pair_with_respect_to_several(pullback: Run) -> None:
    text = pullback("source", "model.py:loss", "--sig", SIG, "--form", "pair", "--wrt", "w,y").stdout
    assert re.findall(r"^def (\w+)", text, re.M) == ["loss_primal", "loss_pullback"]
    assert "return w_bar, y_bar" in text


def test_source_of_a_method_is_with_respect_to_what_follows_the_instance(pullback: Run) -> None:
    assert "return value, x_bar" in pullback("source", "model.py:Model.energy").stdout


def test_stages_are_listed_and_shown(pullback: Run) -> None:
    listed = [
        line.split()[0]
        for line in pullback("source", "model.py:annotated", "--stage", "list").stdout.splitlines()
    ]
    assert listed[:2] == ["lower", "primal"] and listed[-2:] == ["bufferised", "source"]
    assert {"joint", "joint-optimized"} <= set(listed)
    passes = [name for name in listed if name.startswith("joint/")]
    assert passes
    for stage in ("lower", "joint", passes[0], "bufferised"):
        text = pullback("source", "model.py:annotated", "--stage", stage).stdout
        assert re.match(r"(primal|joint) annotated\w*\(", text)
    both = pullback("source", "model.py:annotated", "--form", "pair", "--stage", "pair").stdout
    assert "annotated_primal(" in both and "annotated_pullback(" in both


def test_source_as_json(pullback: Run) -> None:
    document = json.loads(pullback("source", "model.py:annotated", "--json").stdout)
    assert document["signature"] == "p: Params(w: f8[n], b: float), x: f8[m, n], steps: int"
    assert document["wrt"] == ["p"] and document["form"] == "joint" and document["stage"] == "source"
    assert document["text"].rstrip("\n") == pullback("source", "model.py:annotated").stdout.rstrip("\n")
    stages = json.loads(pullback("source", "model.py:annotated", "--stage", "list", "--json").stdout)[
        "stages"
    ]
    assert stages[0]["name"] == "lower"


def test_the_environment_variable_and_the_command_show_the_same_stage(
    pullback: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = pullback("source", "model.py:loss", "--sig", SIG, "--stage", "joint-optimized").stdout
    monkeypatch.setenv("PULLBACK_DUMP", "joint-optimized")
    dumped = pullback("source", "model.py:loss", "--sig", SIG).stderr.partition("# joint-optimized\n")[2]

    def plain(text: str) -> str:
        return re.sub(r"\s+", " ", text).strip()

    assert plain(dumped) == plain(shown)


# ----------------------------------------------------------------------------------------------------- explain


def test_explain_tells_rules_traces_and_what_is_saved(pullback: Run) -> None:
    text = pullback("explain", "model.py:loss", "--sig", SIG).stdout
    assert "np.tanh (ufunc)" in text and "row for np.tanh" in text
    assert "H0: no rule" in text and ": chosen" in text
    assert "saved for the pullback:" in text and "8·m·n" in text
    assert "no array is copied" in text


def test_explain_of_an_example_tells_the_bytes(pullback: Run) -> None:
    document = json.loads(
        pullback("explain", "model.py:loss", "--example", "model.py:arguments", "--json").stdout
    )
    assert document["signature"] == "w: f8[:], x: f8[:, :], y: f8[:]"
    (x,) = [saved for saved in document["saved"] if saved["name"] == "x"]
    assert x["size"] == 6 * 8
    assert {site["site"] for site in document["sites"]} >= {"np.tanh (ufunc)", "np.sum (call)"}


# ------------------------------------------------------------------------------------------------------- check


def test_check_on_random_and_on_example_arguments(pullback: Run) -> None:
    for arguments in (
        ["--sig", SIG],
        ["--sig", SIG, "--size", "n=2,m=6"],
        ["--example", "model.py:arguments"],
    ):
        result = pullback("check", "model.py:loss", *arguments)
        assert result.exit_code == 0, result.output
        names = [line.split()[0] for line in result.stdout.splitlines()[2:]]
        assert names == ["w", "x", "y"]


def test_check_reads_annotations_and_looks_into_structures(pullback: Run) -> None:
    result = pullback("check", "model.py:annotated", "--json", "--seed", "3")
    document = json.loads(result.stdout)
    assert document["ok"] and document["seed"] == 3
    assert [(p["name"], p["shape"]) for p in document["parameters"]] == [
        ("p[0]", [3]),
        ("p[1]", []),
        ("x", [4, 3]),
    ]
    assert "a word in a call" in result.stderr


def test_check_draws_positive_numbers_where_the_function_needs_them(pullback: Run) -> None:
    result = pullback("check", "model.py:roots")
    assert result.exit_code == 0 and "random (positive)" in result.stdout


def test_check_of_a_large_array_looks_at_some_entries(pullback: Run) -> None:
    result = pullback("check", "model.py:roots", "--size", ":=1000", "--entries", "7")
    assert result.exit_code == 0 and "ok, 7 checked, of 1000" in result.stdout
    wrong = pullback("check", "model.py:wrong", "--size", ":=1000", "--json")
    (x,) = json.loads(wrong.stdout)["parameters"]
    assert wrong.exit_code == 1
    assert (x["entries"], x["checked"]) == (1000, 200) and 0 < x["wrong"] <= 200
    assert all(entry["error"] > x["allowed"] for entry in x["worst"])


def test_check_draws_integers_that_do_something_and_shows_them(pullback: Run) -> None:
    result = pullback("check", "model.py:turned", "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == 0 and list(document["integers"]) == ["steps"]
    assert 3 <= document["integers"]["steps"] <= 7
    vacuous = {p["name"]: p["vacuous"] for p in document["parameters"]}
    assert vacuous == {"x": "", "u": "all zero", "none": "empty"}
    text = pullback("check", "model.py:turned").stdout
    assert f"drawn: steps = {document['integers']['steps']}" in text
    assert "all zero: nothing was checked" in text and "empty: nothing was checked" in text


def test_check_draws_small_integers_where_large_ones_fail(pullback: Run) -> None:
    result = pullback("check", "model.py:of_first", "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == 0 and "small integers" in document["arguments"]


def test_check_says_that_nothing_was_checked(pullback: Run) -> None:
    result = pullback("check", "model.py:still")
    assert result.exit_code == 0 and "nothing was checked (give --example" in result.stderr


def test_options_are_told_with_their_own_defaults(pullback: Run) -> None:
    assert "[all that hold floats]" in pullback("check", "--help").stdout
    assert "[the first]" in pullback("source", "--help").stdout


def test_explain_has_a_legend(pullback: Run) -> None:
    assert "H3 the scalar function" in pullback("explain", "model.py:roots").stdout


def test_check_of_some_parameters(pullback: Run) -> None:
    document = json.loads(pullback("check", "model.py:loss", "--sig", SIG, "--wrt", "y", "--json").stdout)
    assert [p["name"] for p in document["parameters"]] == ["y"]


def test_check_of_a_value_with_something_beside_it(pullback: Run) -> None:
    assert pullback("check", "model.py:with_aux", "--has-aux").exit_code == 0


def test_check_of_a_method(pullback: Run) -> None:
    document = json.loads(pullback("check", "model.py:Model.energy", "--json").stdout)
    assert document["ok"] and [p["name"] for p in document["parameters"]] == ["self.scale", "x"]


def test_check_of_a_wrong_gradient_ends_with_1_and_the_worst_entries(pullback: Run) -> None:
    result = pullback("check", "model.py:wrong")
    assert result.exit_code == 1
    assert "4 of 4 wrong" in result.stdout and "the worst entries" in result.stdout
    document = json.loads(pullback("check", "model.py:wrong", "--json").stdout)
    (x,) = document["parameters"]
    assert not document["ok"] and x["wrong"] == 4
    errors = [entry["error"] for entry in x["worst"]]
    assert errors == sorted(errors, reverse=True) and errors[0] == x["largest_error"]
    for entry in x["worst"]:  # 2 x² was given for 3 x²
        assert entry["gradient"] / entry["difference"] == pytest.approx(2 / 3)


# ------------------------------------------------------------------------------------------------------- rules


def test_rules_lists_what_is_covered(pullback: Run) -> None:
    text = pullback("rules").stdout
    assert "np.linalg.inv" in text and "functions; `pullback rules NAME`" in text


@pytest.mark.parametrize("name", ["np.cbrt", "cbrt", "numpy.cbrt"])
def test_rules_of_one_function(pullback: Run, name: str) -> None:
    rules = json.loads(pullback("rules", name, "--json").stdout)["rules"]
    (found,) = [rule for rule in rules if rule["name"] == "np.cbrt"]
    assert found["kind"] == "row" and found["derivative"][0] == "d np.cbrt / d x = 1 / (3 * out * out)"
    assert found["hop"] in ("H1", "H3") and found["alias"] == "fresh" and found["domain"]
    assert "1 / (3 * out * out)" in pullback("rules", name).stdout


def test_rules_of_a_module(pullback: Run) -> None:
    rules = json.loads(pullback("rules", "np.linalg", "--json").stdout)["rules"]
    names = {rule["name"] for rule in rules}
    assert {"np.linalg.inv", "np.linalg.det"} <= names and all(n.startswith("np.linalg.") for n in names)
    assert "np.linalg.inv" in pullback("rules", "numpy.linalg").stdout


def test_rules_tells_functions_without_derivative_and_without_rule(pullback: Run) -> None:
    assert "no derivative" in pullback("rules", "np.floor").stdout


# ------------------------------------------------------------------------------------------------------ colour


def test_no_colour_where_there_is_no_terminal(pullback: Run) -> None:
    for args in (["source", "model.py:loss", "--sig", SIG], ["check", "model.py:wrong"], ["rules", "tanh"]):
        assert "\x1b" not in pullback(*args).output
