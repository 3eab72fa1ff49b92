"""What `explain` says of a compilation: the rules are in test_public, here is what is saved for the pullback."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import pullback as pb

X = np.linspace(0.1, 0.9, 6)
A = np.arange(12.0).reshape(4, 3)
scale = 2.5
weights = np.linspace(0.5, 1.5, 6)


def nbytes(tree: Any) -> int:
    """The numbers in a structure, eight bytes each, or as arrays hold them."""
    if isinstance(tree, np.ndarray | np.generic):
        return tree.nbytes
    if isinstance(tree, list | tuple):
        return sum(map(nbytes, tree))
    return 0 if tree is None else 8


def model(w, x, y):
    r = np.tanh(x @ w) - y
    return np.sum(r * r) / len(y)


def chain(W, b, x, n):
    h = x
    for _ in range(n):
        h = np.tanh(W @ h + b)
    return np.sum(h * h)


def by_what(explanation: Any) -> dict[str, Any]:
    return {s.name or s.text: s for s in explanation.saved}


def test_arguments_and_values() -> None:
    e = pb.differentiable(model).explain(np.ones(3), A, np.ones(4))
    saved = by_what(e)
    x, r, tanh = saved["x"], saved["r"], saved["np.tanh(x @ w)"]
    assert (x.kind, x.style, x.formula, x.size) == ("argument", "f64[m, k]", "8·m·k", 96)
    assert (r.kind, r.style, r.formula, r.size) == ("value", "f64[m]", "8·m", 32)
    assert (tanh.name, tanh.size, tanh.entries) == ("", 32, None)
    assert r.line == tanh.line == x.line + 1
    assert r.file.endswith("test_explain.py")
    assert (e.lengths["m"], e.lengths["k"]) == (4, 3)
    assert "r: f64[m], 8·m = 32 bytes" in str(r)
    assert "(argument)" in str(x)


def test_a_list_has_an_entry_for_each_iteration() -> None:
    e = pb.differentiable(chain).explain(np.eye(3), np.ones(3), np.ones(3), 7)
    states = next(s for s in e.saved if s.kind == "list")
    assert (states.name, states.entries, states.size) == ("h", 7, 7 * 24)
    assert states.style.startswith("f64[")
    assert "(8·q each, 7 of them)" in str(states)
    e = pb.differentiable(chain).explain(np.eye(3), np.ones(3), np.ones(3), 7, argnums="b")
    shape = next(s for s in e.saved if s.kind == "shape")
    assert (shape.name, shape.text, shape.size) == ("b", "the shape of b", 8)


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (model, (np.ones(3), A, np.ones(4))),
        (chain, (np.eye(3), np.ones(3), np.ones(3), 5)),
        (lambda x: np.sum(np.where(x > 0.5, np.sqrt(x), 0.0)), (X,)),
        (lambda x: np.sum(x.astype(np.float32) ** 3), (X,)),
        (lambda z: np.sum(np.abs(np.exp(z)) ** 2), (X * 1j,)),
    ],
)
def test_sizes_are_those_of_the_residuals(fn: Any, args: tuple[Any, ...]) -> None:
    f = pb.differentiable(fn)
    e = f.explain(*args)
    _, residuals = f.primal(*args, argnums=0)
    assert e.size == nbytes(residuals.values)
    for saved in e.saved:
        factors = [e.lengths.get(x, x) for x in saved.formula.split("·")]
        if saved.kind != "list" and all(str(x).isdigit() for x in factors):
            assert math.prod(map(int, factors)) == saved.size


def test_values_from_outside() -> None:
    def f(x):
        return np.sum(np.sin(weights * x) * scale)

    saved = by_what(pb.differentiable(f).explain(X))
    assert {saved["weights"].kind, saved["scale"].kind} == {"outside"}
    assert saved["weights"].size == 48
    assert saved["scale"].size == 8


def test_items_of_structures_have_their_path() -> None:
    def f(p):
        return np.sum(p["w"] * p["more"][0])

    saved = by_what(pb.differentiable(f).explain({"w": X, "more": [X]}))
    assert set(saved) == {"p['w']", "p['more'][0]"}


def test_a_value_of_a_branch_is_told_by_its_line() -> None:
    def f(x):
        if x > 1.0:
            y = np.exp(x)
            return y * x
        return x * x

    saved = by_what(pb.differentiable(f).explain(2.0))
    assert saved["y"].line == f.__code__.co_firstlineno + 2


def test_what_a_function_compiled_apart_saves() -> None:
    def halves(x):
        return x if x < 1.0 else np.sin(x) * halves(x / 2.0)

    f = pb.differentiable(halves)
    e = f.explain(5.0)
    call = next(s for s in e.saved if s.kind == "call")
    assert "halves(x / 2.0)" in call.text
    assert call.line == halves.__code__.co_firstlineno + 1
    _, residuals = f.primal(5.0, argnums=0)
    assert e.size == nbytes(residuals.values)


def test_what_is_computed_or_read_again() -> None:
    def f(x):
        y = np.zeros(len(x))
        y[0] = x[0]
        for i in range(1, len(x)):
            y[i] = y[i - 1] * np.cos(y[i - 1]) + x[i]
        a, b = x[0] * 2.0, x[1] * 3.0
        return np.sum(y) * (a * b)

    e = pb.differentiable(f).explain(X)
    assert any(a.how == "read" and a.text == "y[...]" for a in e.again)
    assert {a.how for a in e.again} <= {"read", "computed"}
    assert "y[...]: read again" in str(e)

    def g(x, c):
        u = c * x
        return np.sum(np.sin(u) * x) * np.sum(u)

    e = pb.differentiable(g).explain(X, 2.0)
    assert [(a.name, a.how) for a in e.again] == [("u", "computed")]
    assert "u" not in by_what(e)


def test_a_function_with_effects_is_not_run_for_its_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x):
        print("running")
        return np.sum(np.exp(x))

    e = pb.differentiable(f).explain(X)
    assert capsys.readouterr().out == ""
    assert e.size is None
    (exp,) = e.saved
    assert (exp.formula, exp.size) == ("8·n", None)
    assert "8·n bytes" in str(exp)
    assert e.lengths == {"n": 6}


def test_a_function_that_fails_for_the_arguments_is_explained_without_sizes() -> None:
    def f(x):
        y = np.linalg.inv(x)
        return np.sum(y * y)

    e = pb.differentiable(f).explain(np.zeros((2, 2)))
    assert e.size is None
    assert e.saved


def test_nothing_is_saved() -> None:
    e = pb.differentiable(lambda x: 3.0 * x).explain(2.0)
    assert e.saved == ()
    assert e.size == 0
    assert "nothing is saved for the pullback" in str(e)


def test_as_dict_is_json() -> None:
    e = pb.differentiable(model).explain(np.ones(3), A, np.ones(4))
    data = json.loads(json.dumps(e.as_dict()))
    parts = {"function", "sites", "copies", "saved", "again", "lengths", "size", "target", "blocks"}
    assert set(data) == parts
    assert data["function"] == "model"
    assert data["size"] == e.size
    keys = {"name", "kind", "text", "line", "file", "style", "formula", "size", "entries"}
    assert all(set(s) == keys for s in data["saved"])
    tanh = next(s for s in data["sites"] if "tanh" in s["site"])
    assert tanh["trace"][2]["candidates"][0]["verdict"] == "chosen"
    assert set(tanh) == {"site", "line", "file", "text", "hop", "rule", "path", "rejected", "trace"}
