"""What has just been stored is used, not loaded; what is overwritten unseen is not stored; and nothing else changes."""

from __future__ import annotations

import importlib.util
import itertools
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pullback as pb
from differences import numerical_gradients

V = np.array([0.3, 0.9, 0.6, 0.4, 0.8])


def check(function: Any, x: Any) -> None:
    wanted = numerical_gradients(function, (x,), (0,), 1.0)[0][0]
    for target in ("numpy", "native"):
        np.testing.assert_allclose(pb.grad(function, target=target)(x), wanted, rtol=1e-6, atol=1e-7)


def divided(x: Any) -> Any:
    R, Q = np.zeros((2, 2)), np.zeros((2, len(x)))
    for k in range(2):
        R[k, k] = np.sqrt(x @ x) + k
        Q[k, :] = x / R[k, k]
    return np.sum(Q * Q[0, 1]) + np.sum(R)


def test_a_number_that_was_stored_is_used() -> None:
    lines = pb.differentiable(divided).source(V, form="pair").splitlines()
    assert not [line for line in lines if "/ R[" in line and "#" not in line]
    check(divided, V)


def twice(x: Any) -> Any:
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] * 2.0
        y[i] = np.sin(y[i]) * x[i]
    return np.sum(y)


def test_what_is_overwritten_is_not_stored() -> None:
    lines = pb.differentiable(twice).source(V, form="pair").splitlines()
    assert len([line for line in lines if line.strip().startswith("y[i] =")]) == 1
    check(twice, V)


def rows(x: Any) -> Any:
    y, z = np.zeros((3, len(x))), np.zeros((3, len(x)))
    y[0, :] = x
    for t in range(2):
        z[t, :] = y[t, :] * x
        y[t + 1, :] = np.tanh(z[t, :])
    return np.sum(y[2] * z[0])


def test_a_row_that_was_stored_is_read_where_it_stands_in_the_reverse_sweep() -> None:
    assert ".append(" not in pb.differentiable(rows).source(V, form="joint")
    check(rows, V)


def cast(x: Any) -> Any:
    y = np.zeros(len(x), dtype=np.float32)
    k = np.zeros(len(x), dtype=np.int64)
    y[1] = x[0] * x[1]
    k[2] = 2.7
    return np.float64(y[1]) * x[k[2]] + y[1]


def test_what_is_cast_is_loaded() -> None:
    value, _ = pb.value_and_grad(cast)(V)
    assert value == cast(V)
    assert pb.differentiable(cast).source(V, form="pair").count("y[1]") > 2


def broadcast(x: Any) -> Any:
    y = np.zeros((3, len(x)))
    y[1, :] = x[2]
    y[:, 2] = x[:1]
    y[2, 1:4] = x[3:4] * x[0]
    return np.sum(y[1, :] * x) + np.sum(y[:, 2] ** 2) + np.sum(y[2, 1:4] * x[1:4])


def repeated(x: Any) -> Any:
    y = x * 1.0
    y[[0, 0, 1]] = x[:3] * 3.0
    z = y[[0, 0, 1]]
    y[y > 1.0] = y[y > 1.0] * x[0]
    return np.sum(z * z) + np.sum(y * y)


def changed_in_a_loop(x: Any) -> Any:
    y = x * 1.0
    y[1] = x[0] * 2.0
    for i in range(3):
        y[i] = y[1] * x[i] + y[i]
    return np.sum(y * y) + y[1]


def stored_in_a_branch(x: Any) -> Any:
    y = x * 1.0
    for i in range(1, len(x)):
        y[i] = x[i] ** 2
        if x[i] > 0.5:
            y[i] = y[i] * y[i - 1]
            y[0] += 1.0
        y[i] += y[i] * y[0]
    return np.sum(y)


def seen_in_between(x: Any) -> Any:
    y = x * 1.0
    total = 0.0
    for i in range(1, len(x)):
        y[i] = x[i] * 2.0
        total += np.sum(y * y)
        y[i] = x[i - 1] * total
    return np.sum(y) + total


def a_view_in_between(x: Any) -> Any:
    y = x * 1.0
    v = y[1:3]
    for i in range(3):
        y[i] = x[i] * 2.0
        v *= 1.5
        y[0] += y[i] * v[1]
    return np.sum(y) + v[0]


@pytest.mark.parametrize(
    "function",
    [broadcast, repeated, changed_in_a_loop, stored_in_a_branch, seen_in_between, a_view_in_between],
)
def test_what_stays_as_it_is(function: Any) -> None:
    check(function, V)


PLACES = ("y[i]", "y[i - 1]", "y[j]", "y[:i]", "y[i:]", "y[i + 1:]", "y[-1]", "y[k]", "y[::2]", "y[0]")
PROGRAM = """
def f{number}(x):
    n, y, k = len(x) - 1, x * 1.0, 2
    for i in range(1, n):
        for j in range(i, n):
            {first} = np.sum(x[j]) * 0.7
            {second} {sign}= np.sum({read}) * x[i] * 0.3
            {third} = np.sum({first}) * 0.5 + x[j]
            {read} += np.sum({second}) * 0.1 + np.sum({third})
        k = (k + 2) % n
    return np.sum(y * y)
"""
CHOICES = list(itertools.product(PLACES, PLACES, PLACES, PLACES, ("", "+", "*")))[::499]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path = Path(tmp_path_factory.mktemp("forward")) / "programs_of_places.py"
    texts = [
        PROGRAM.format(number=k, first=a, second=b, third=c, read=d, sign=sign)
        for k, (a, b, c, d, sign) in enumerate(CHOICES)
    ]
    path.write_text("import numpy as np\n" + "".join(texts))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("number", range(len(CHOICES)))
def test_stores_and_loads_in_every_order(programs: ModuleType, number: int) -> None:
    function = getattr(programs, f"f{number}")
    wanted = numerical_gradients(function, (V,), (0,), 1.0)[0][0]
    np.testing.assert_allclose(pb.grad(function, target="numpy")(V), wanted, rtol=1e-5, atol=1e-6)
