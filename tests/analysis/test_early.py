"""Values that an array had before a loop: which need not be saved; none is taken for one that was overwritten."""

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

RNG = np.random.default_rng(4)
A, B = RNG.random((4, 4)), RNG.random((4, 3))
V = np.array([0.3, 0.9, 0.6, 0.4, 0.8])


def check(function: Any, *args: Any) -> None:
    """The gradients by all arguments, beside differences."""
    wrt = tuple(range(len(args)))
    found = pb.grad(function, argnums=wrt)(*args)
    wanted = [leaves[0] for leaves in numerical_gradients(function, args, wrt, 1.0)]
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


def rows_below(A: Any, B: Any) -> Any:
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    return np.sum(B * B)


def the_next_item(x: Any) -> Any:
    for i in range(len(x) - 1):
        x[i] = x[i] * x[i + 1]
    return np.sum(x)


def downwards(x: Any) -> Any:
    y = x * 2.0
    for i in range(len(x) - 1, 0, -1):
        y[i] *= y[i - 1]
    return np.sum(y * y)


def in_a_branch(x: Any) -> Any:
    for i in range(len(x) - 1):
        if x[i] > 0.5:
            x[i] = x[i + 1] ** 2
        else:
            x[i] = np.sin(x[i + 1])
    return np.sum(x)


def after_another_loop(x: Any) -> Any:
    for i in range(1, len(x)):
        x[i] = x[i] + 0.5 * x[i - 1]
    for i in range(len(x) - 1):
        x[i] *= x[i + 1]
    return np.sum(x)


def square(v: Any) -> Any:
    return v * v


def by_a_call(x: Any) -> Any:
    for i in range(len(x) - 1):
        x[i] = square(x[i + 1]) * x[i]
    return np.sum(x)


@pytest.mark.parametrize(
    "function, args",
    [
        (rows_below, (A, B)),
        (the_next_item, (V,)),
        (downwards, (V,)),
        (in_a_branch, (V,)),
        (after_another_loop, (V,)),
        (by_a_call, (V,)),
    ],
)
def test_what_is_not_yet_overwritten_is_not_saved(function: Any, args: tuple[Any, ...]) -> None:
    made = pb.differentiable(function)
    assert ".append(" not in made.source(*args, argnums=tuple(range(len(args))), form="joint")
    check(function, *args)


def a_view_is_written(x: Any) -> Any:
    y = x * 1.0
    ahead = y[1:]
    for i in range(len(x) - 1):
        ahead[i] = y[i + 1] * y[i]
    return np.sum(y * y)


def reversed_view(x: Any) -> Any:
    y = x * 1.0
    back = y[::-1]
    for i in range(len(x) - 1):
        back[i] = y[i] * y[i + 1]
    return np.sum(y * y)


def an_alias(x: Any) -> Any:
    y = z = x * 1.0
    for i in range(len(x) - 1):
        z[i + 1] += 0.1
        y[i] = z[i + 1] * y[i]
    return np.sum(y * y)


def rounds(x: Any) -> Any:
    y = x * 1.0
    for _ in range(3):
        for i in range(len(x) - 1):
            y[i] = y[i] * y[i + 1]
    return np.sum(y)


def written_by_a_callee(y: Any, i: int) -> None:
    y[i + 1] *= 1.5


def a_callee_writes(x: Any) -> Any:
    y = x * 1.0
    for i in range(len(x) - 1):
        written_by_a_callee(y, i)
        y[i] = y[i + 1] ** 2
    return np.sum(y)


def two_at_once(x: Any) -> Any:
    y = x * 1.0
    for i in range(len(x) - 2):
        y[i : i + 2] = y[i + 1 : i + 3] * y[i]
    return np.sum(y * y)


def from_the_end(x: Any) -> Any:
    y = x * 1.0
    for i in range(len(x) - 1):
        y[-i - 1] = y[i + 1] * y[-i - 2]
    return np.sum(y * y)


def an_index_that_jumps(x: Any) -> Any:
    y, k = x * 1.0, 1
    for i in range(len(x) - 1):
        y[k] = np.sin(y[i + 1] * y[i])
        k = (k + 3) % len(x)
    return np.sum(y * y)


def while_it_runs(x: Any) -> Any:
    y, i = x * 1.0, 0
    while i < len(x) - 1:
        y[i] = y[i + 1] * y[i]
        i = i + 1
    return np.sum(y * y)


def leaves_early(x: Any) -> Any:
    y = x * 1.0
    for i in range(len(x) - 1):
        y[i] = y[i + 1] * y[i]
        if y[i] < 0.3:
            break
    return np.sum(y * y)


def the_array_is_another(x: Any) -> Any:
    y = x * 1.0
    for i in range(len(x) - 1):
        y[i] = y[i + 1] * y[i]
        if i == 1:
            y = np.sin(y)
    return np.sum(y * y)


def a_list_of_places(x: Any) -> Any:
    y = x * 1.0
    for i in range(len(x) - 2):
        y[[i, i + 2]] = y[[i + 1, i + 2]] * y[i]
    return np.sum(y * y)


@pytest.mark.parametrize(
    "function",
    [
        a_view_is_written,
        reversed_view,
        an_alias,
        rounds,
        a_callee_writes,
        two_at_once,
        from_the_end,
        an_index_that_jumps,
        while_it_runs,
        leaves_early,
        the_array_is_another,
        a_list_of_places,
    ],
)
@pytest.mark.parametrize("target", ["numpy", "native"])
def test_what_may_be_overwritten(function: Any, target: str) -> None:
    function = pb.differentiable(function, target=target)
    check(function, V)


def test_the_array_of_the_caller_stays() -> None:
    x = V.copy()
    value, bar = pb.value_and_grad(the_next_item)(x)
    np.testing.assert_array_equal(x, V)
    primal, pull = pb.vjp(the_next_item, x)
    x[:] = 7.0
    np.testing.assert_allclose(pull(1.0)[0], bar)
    assert value == primal


def test_memory_is_that_of_the_array() -> None:
    source = pb.differentiable(rows_below).source(A, B, argnums=(0, 1), form="joint")
    assert source.count(".copy()") == 1  # that which is written instead of the caller's


NESTS = """
def f{number}(x):
    n, y = len(x) - 1, np.outer(x, x)
    for i in {outer}:
        for j in {inner}:
            v = {read}
            {write} = np.sin(v) * 0.7 + x[i] * y[i, j]
    return np.sum(y * y)
"""
OUTER = ("range(1, n)", "range(n - 1, 0, -1)", "reversed(range(n - 1))", "range(1, n - 1, 2)")
INNER = ("range(1, n)", "range(i, n)", "range(i)", "range(n - 1, i, -1)", "range(i + 1, n)")
READS = (
    *(
        "y[i + 1, j]",
        "y[i, j + 1]",
        "y[i - 1, j]",
        "y[j, i]",
        "y[j, j]",
        "y[n - i, j]",
        "np.sum(y[i + 1:, j])",
    ),
    *("np.sum(y[:i, j])", "np.sum(y[i + 1:, i])", "np.sum(y[i, j + 1:])", "np.sum(y[j:, i])"),
)
WRITES = (
    "y[i, j]",
    "y[j, i]",
    "y[i, j - 1]",
    "y[i - 1, j]",
    "y[i, 0]",
    "y[i, :]",
    "y[:i, j]",
    "y[i + 1:, j]",
)
CHOICES = list(itertools.product(OUTER, INNER, READS, WRITES))[::37]


@pytest.fixture(scope="module")
def nests(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path = Path(tmp_path_factory.mktemp("early")) / "programs_of_nests.py"
    texts = [
        NESTS.format(number=k, outer=outer, inner=inner, read=read, write=write)
        for k, (outer, inner, read, write) in enumerate(CHOICES)
    ]
    path.write_text("import numpy as np\n" + "".join(texts))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("number", range(len(CHOICES)))
def test_nests_of_loops(nests: ModuleType, number: int) -> None:
    check(getattr(nests, f"f{number}"), V)
