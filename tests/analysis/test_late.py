"""Values that an array keeps: which need not be saved, and that none is taken for one that is overwritten."""

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


def numeric_gradient(function: Any, x: Any) -> Any:
    return numerical_gradients(function, (x,), (0,), 1.0)[0][0]


def recurrence(x: Any, a: Any) -> Any:
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = np.sin(a * y[i - 1]) + x[i]
    return np.sum(y * y)


def cholesky(A: Any) -> Any:
    n = A.shape[0]
    L = np.zeros((n, n))
    for j in range(n):
        L[j, j] = np.sqrt(A[j, j] - L[j, :j] @ L[j, :j])
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - L[i, :j] @ L[j, :j]) / L[j, j]
    return np.sum(L)


def back_substitution(U: Any, b: Any) -> Any:
    n = len(b)
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - U[i, i + 1 :] @ x[i + 1 :]) / U[i, i]
    return np.sum(x * x)


def anew_each_time(x: Any) -> Any:
    total = 0.0
    for k in range(3):
        y = np.zeros(len(x) + 1)
        for i in range(len(x)):
            y[i + 1] = y[i] * x[i] + k
        total += y[-1]
    return total


def branch_in_loop(x: Any) -> Any:
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        if x[i] > 0.5:
            y[i] = y[i - 1] * x[i]
        else:
            y[i] = y[i - 1] ** 2
    return np.sum(y)


S = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
V = np.array([0.3, 0.9, 0.6, 0.4])


@pytest.mark.parametrize(
    "function, args",
    [
        (recurrence, (V, 0.7)),
        (cholesky, (S,)),
        (back_substitution, (S, V[:3])),
        (branch_in_loop, (V,)),
    ],
)
def test_nothing_is_saved_in_the_loop(function: Any, args: tuple[Any, ...]) -> None:
    source = pb.differentiable(function).source(*args, form="joint")
    assert ".append(" not in source
    assert not [c for c in pb.differentiable(function).explain(*args).copies if "before" not in c.reason]


def test_an_array_made_in_a_loop_is_saved_whole() -> None:
    source = pb.differentiable(anew_each_time).source(V, form="joint")
    assert source.count(".append(") == 1
    np.testing.assert_allclose(pb.grad(anew_each_time)(V), numeric_gradient(anew_each_time, V), rtol=1e-6)


def overwritten_round_by_round(x: Any) -> Any:
    y = x * 1.0
    for _ in range(2):
        for i in range(1, len(x)):
            y[i] = y[i - 1] * y[i]
    return np.sum(y)


def test_what_a_later_round_overwrites_is_saved_by_element() -> None:
    explained = pb.differentiable(overwritten_round_by_round).explain(V)
    assert not [c for c in explained.copies if "before" not in c.reason]
    assert ".append(" in pb.differentiable(overwritten_round_by_round).source(V, form="joint")


RANGES = (
    "range(1, n)",
    "range(n - 1)",
    "range(n - 2, 0, -1)",
    "reversed(range(n - 1))",
    "range(1, n - 1, 2)",
)
READS = (
    *("y[i]", "y[i - 1]", "y[i + 1]", "y[n - 1 - i]", "y[-1]", "y[-i]", "y[k]"),
    *("np.sum(y[:i])", "np.sum(y[i:])", "np.sum(y[i + 1:])", "np.sum(y[1:-1])", "np.sum(y[max(i - 2, 0):i])"),
)
WRITES = (
    "y[i]",
    "y[i - 1]",
    "y[i + 1]",
    "y[n - 1 - i]",
    "y[-1]",
    "y[:i]",
    "y[i:]",
    "y[i + 1:]",
    "y[k]",
    "y[-i]",
)
ONE_LOOP = """
def f{number}(x):
    n, y, k = len(x) - 1, x * 1.0, 2
    for i in {loop}:
        v = {read}
        {write} = np.sin(v) * 0.7 + x[i]
        k = (k + 2) % n
    return np.sum(y * y)
"""
TWO_LOOPS = """
def f{number}(x):
    n, y, k = len(x) - 1, x * 1.0, 2
    for i in {loop}:
        for j in range(i, n):
            v = {read} * 0.5
            {write} = np.sin(v) * 0.7 + x[j]
        k = (k + 2) % n
    return np.sum(y * y)
"""
CHOICES = list(itertools.product((ONE_LOOP, TWO_LOOPS), RANGES, READS, WRITES))[::13]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path = Path(tmp_path_factory.mktemp("late")) / "programs_of_indices.py"
    texts = [
        form.format(
            number=k, loop=loop, read=read, write=write if form is ONE_LOOP else write.replace("i]", "j]")
        )
        for k, (form, loop, read, write) in enumerate(CHOICES)
    ]
    path.write_text("import numpy as np\n" + "".join(texts))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("number", range(len(CHOICES)))
def test_reads_and_writes_in_every_order(programs: ModuleType, number: int) -> None:
    function, x = getattr(programs, f"f{number}"), np.array([0.3, 0.9, 0.6, 0.4, 0.8])
    try:
        function(x)
    except ValueError:  # a read of the wrong length for its write
        with pytest.raises(ValueError):
            pb.grad(function)(x)
        return
    np.testing.assert_allclose(pb.grad(function)(x), numeric_gradient(function, x), rtol=1e-6, atol=1e-7)
