"""Verdicts on results that are made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pullback.bench.differences import derivative
from pullback.bench.peers import Result
from pullback.bench.suite import Case, cases, find
from pullback.bench.verify import Judge, Verdict

HEAD = """
import numpy as np

PRESETS = {"S": {}}
WRT = ("x", "y")


def inputs(rng):
    return rng.uniform(0.5, 1.5, 40), rng.uniform(0.5, 1.5, 3)


"""


@pytest.fixture
def make(tmp_path: Path) -> Any:
    def case(body: str) -> Case:
        (tmp_path / "made").mkdir()
        (tmp_path / "made" / "kernel.py").write_text(HEAD + body)
        (found,) = cases(find(tmp_path, ["made"]), "S")
        return found

    return case


def judge(case: Case, **gradients: Any) -> dict[str, Verdict]:
    args = case.inputs()
    value = case.kernel.module().loss(*args)
    results = {name: Result(value, [list(bars)]) for name, bars in gradients.items()}
    return Judge(case, args, value, []).verdicts(results)


SMOOTH = "def loss(x, y):\n    return np.sum(x ** 3) + np.sum(np.exp(y))\n"


def test_the_right_gradient_passes(make: Any) -> None:
    case = make(SMOOTH)
    x, y = case.inputs()
    (verdict,) = judge(case, only=(3 * x**2, np.exp(y))).values()
    assert verdict.status == "ok" and verdict.error < 1e-9


@pytest.mark.parametrize("which, index, name", [(0, 17, "x[17]"), (1, 2, "y[2]")])
def test_one_wrong_entry_is_found_without_another_contender(
    make: Any, which: int, index: int, name: str
) -> None:
    case = make(SMOOTH)
    x, y = case.inputs()
    bars = [3 * x**2, np.exp(y)]
    bars[which][index] *= 1.001
    (verdict,) = judge(case, only=bars).values()
    assert verdict.status == "wrong"
    wrong, right = (
        float(word) for word in verdict.reason.replace(name + ": ", "").split(", differences give ")
    )
    assert wrong / right == pytest.approx(1.001, abs=1e-5)


def test_an_error_too_small_for_a_random_direction_is_found_beside_another(make: Any) -> None:
    case = make("def loss(x, y):\n    return np.sum(x ** 3) * 1e4 + np.sum(np.exp(y))\n")
    x, y = case.inputs()
    off = np.exp(y)
    off[1] *= 1.0 + 1e-5
    verdicts = judge(case, good=(3e4 * x**2, np.exp(y)), bad=(3e4 * x**2, off))
    assert verdicts["good"].status == "ok"
    assert verdicts["bad"].status == "wrong" and verdicts["bad"].reason.startswith("y[1]")


@pytest.mark.parametrize(
    "bars, words",
    [
        (lambda x, y: (3 * x**2,), "shapes"),
        (lambda x, y: (3 * x, np.exp(y)[:2]), "shapes"),
        (lambda x, y: (np.where(x == x[4], np.nan, x), np.exp(y)), "not finite at x[4]"),
    ],
)
def test_a_result_of_another_form_is_wrong(make: Any, bars: Any, words: str) -> None:
    case = make(SMOOTH)
    (verdict,) = judge(case, only=bars(*case.inputs())).values()
    assert verdict.status == "wrong" and words in verdict.reason


def test_a_wrong_value_is_wrong(make: Any) -> None:
    case = make(SMOOTH)
    args = case.inputs()
    value = case.kernel.module().loss(*args)
    result = Result(value * (1 + 1e-6), [[3 * args[0] ** 2, np.exp(args[1])]])
    (verdict,) = Judge(case, args, value, []).verdicts({"only": result}).values()
    assert verdict.status == "wrong" and "value off" in verdict.reason


def test_what_all_say_against_differences_is_not_called_right(make: Any) -> None:
    case = make("def loss(x, y):\n    return np.sum(np.floor(x)) + np.sum(y)\n")
    x, y = case.inputs()
    verdicts = judge(case, a=(np.ones_like(x), np.ones_like(y)), b=(np.ones_like(x), np.ones_like(y)))
    assert {v.status for v in verdicts.values()} == {"unverified"}


def test_kinks_do_not_hide_what_is_right(make: Any) -> None:
    case = make("def loss(x, y):\n    return np.sum(np.maximum(x, 1.0)) + np.sum(y * y)\n")
    x, y = case.inputs()
    (verdict,) = judge(case, only=(np.where(x > 1.0, 1.0, 0.0), 2 * y)).values()
    assert verdict.status == "ok"


def test_numpy_scalars_and_numbers_move_too(make: Any) -> None:
    case = make("def loss(x, y):\n    return x[0] * y[1]\n")
    x, y = case.inputs()
    x_bar, y_bar = np.zeros_like(x), np.zeros_like(y)
    x_bar[0], y_bar[1] = y[1], x[0]
    (verdict,) = judge(case, only=(x_bar, y_bar)).values()
    assert verdict.status == "ok"


@pytest.mark.parametrize(
    "function, slope",
    [
        (lambda t: np.exp(3 * t), 3.0),
        (lambda t: np.sqrt(1e-3 + t), 0.5 / np.sqrt(1e-3)),  # the first steps leave the domain
        (lambda t: abs(t + 1e-3), 1.0),  # a kink within reach of the first steps
        (lambda t: 1e6 + t, 1.0),
    ],
)
def test_differences_and_their_error(function: Any, slope: float) -> None:
    with np.errstate(invalid="ignore"):
        found = derivative(function)
    assert abs(found.value - slope) <= max(4 * found.error, 1e-12 * abs(slope))
    assert found.error < 1e-6 * abs(slope)


def test_the_place_of_an_error_is_looked_for_only_so_long(make: Any) -> None:
    case = make(SMOOTH)
    args = case.inputs()
    bars = [3 * args[0] ** 2, 1.001 * np.exp(args[1])]
    judge_ = Judge(case, args, case.kernel.module().loss(*args), [])
    (verdict,) = judge_.verdicts({"only": Result(judge_.value, [bars])}, seconds=0.0).values()
    assert (verdict.status, verdict.reason) == ("wrong", "somewhere in x, y")


def test_a_gradient_of_zeros_is_verified(make: Any) -> None:
    case = make("def loss(x, y):\n    return np.sum(np.floor(x)) + 3.0\n")
    x, y = case.inputs()
    zeros = (np.zeros_like(x), np.zeros_like(y))
    verdicts = judge(case, right=zeros, wrong=(np.ones_like(x), np.zeros_like(y)))
    assert verdicts["right"].status == "ok" and verdicts["right"].error == 0.0
    assert verdicts["wrong"].status == "wrong"


def test_zeros_that_are_wrong_are_found_at_an_entry(make: Any) -> None:
    case = make("def loss(x, y):\n    return x[7] * x[7]\n")
    x, y = case.inputs()
    right = np.zeros_like(x)
    right[7] = 2 * x[7]
    verdicts = judge(case, right=(right, np.zeros_like(y)), zeros=(np.zeros_like(x), np.zeros_like(y)))
    assert verdicts["right"].status == "ok"
    assert verdicts["zeros"].status == "wrong" and verdicts["zeros"].reason.startswith("x[7]: 0, ")
    (alone,) = judge(case, zeros=(np.zeros_like(x), np.zeros_like(y))).values()
    assert alone.status == "wrong" and alone.reason.startswith("x[7]: 0, differences give ")
