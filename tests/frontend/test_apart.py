"""Functions compiled apart: how many there are, what is refused, and what their callers may rely on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.dispatch.dispatcher import Dispatcher


def definitions(fn: Any, *args: Any, **options: Any) -> list[str]:
    """The functions in a generated module."""
    text = pb.differentiable(fn).source(*args, **options)
    return [line[4:].split("(")[0] for line in text.splitlines() if line.startswith("def ")]


def tower(x: Any, n: Any) -> Any:
    if n == 0:
        return x
    return tower(np.sin(x), n - 1) * 2.0


def through_tower(x: Any, n: Any) -> Any:
    return np.sum(tower(x, n))


def test_one_pair_serves_every_depth() -> None:
    names = ["through_tower_value_and_grad", "tower_primal", "tower_pullback"]
    assert definitions(through_tower, np.ones(2), 3, argnums=0, form="joint") == names
    gradient = pb.grad(through_tower, argnums=0)
    for n in (0, 1, 2, 40, 300):
        wanted = 2.0**n * np.ones(2)
        x = np.full(2, 0.3)
        for _ in range(n):
            wanted, x = wanted * np.cos(x), np.sin(x)
        np.testing.assert_allclose(gradient(np.full(2, 0.3), n), wanted, rtol=1e-12)


def halves(a: Any, b: Any, depth: int) -> Any:
    m = 0.5 * (a + b)
    if depth == 0:
        return (b - a) * np.exp(m)
    return halves(a, m, depth - 1) + halves(m, b, depth - 1)


@pytest.mark.parametrize("depth", [5, 9])
def test_a_literal_depth_does_not_make_the_source_longer(depth: int) -> None:
    by_depth = {5: lambda a, b: halves(a, b, 5), 9: lambda a, b: halves(a, b, 9)}
    assert len(definitions(by_depth[depth], 0.1, 0.9, form="pair")) <= 6
    slope = (by_depth[depth](0.1, 0.9 + 1e-6) - by_depth[depth](0.1, 0.9 - 1e-6)) / 2e-6
    np.testing.assert_allclose(pb.grad(by_depth[depth], argnums=1)(0.1, 0.9), slope, rtol=1e-7)


def test_a_call_that_is_not_active_is_the_plain_function() -> None:
    def f(x: Any, y: Any, n: Any) -> Any:
        return np.sum(x) * np.sum(tower(y, n))

    assert definitions(f, np.ones(2), np.ones(2), 2, argnums=0, form="joint") == ["f_value_and_grad", "tower"]


def sum(x: Any) -> Any:
    if len(x) == 1:
        return x[0] ** 2
    return sum(x[:1]) + sum(x[1:])


def test_names_leave_builtins_alone() -> None:
    def f(x: Any) -> Any:
        return sum(x) * 0.5

    assert not {"sum", "sum_2"} - {"sum_2"} & set(definitions(f, np.ones(3), form="joint"))
    np.testing.assert_allclose(pb.grad(f)(np.array([1.0, 2.0, 3.0])), [1.0, 2.0, 3.0])


def test_what_a_pullback_needs_is_the_caller_s_no_more() -> None:
    x = np.array([0.3, 0.4])
    wanted = pb.grad(through_tower, argnums=0)(x.copy(), 3)
    _, pull = pb.vjp(through_tower, x, 3, argnums=0)
    x[...] = np.nan
    np.testing.assert_array_equal(pull(1.0), wanted)
    np.testing.assert_array_equal(pull(1.0), wanted)


def noisy(x: Any, n: Any) -> Any:
    if n == 0:
        return x
    print("level", n)
    return noisy(x * 2.0, n - 1)


def test_effects_happen_once_and_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    gradient = pb.grad(lambda x, n: np.sum(noisy(x, n)), argnums=0)
    np.testing.assert_array_equal(gradient(np.ones(2), 2), [4.0, 4.0])
    assert capsys.readouterr().out == "level 2\nlevel 1\n"


def failing(x: Any, n: Any) -> Any:
    if n == 0:
        if x[0] > 0:
            raise ValueError("at the bottom")
        return x
    return failing(x * 2.0, n - 1)


def test_an_exception_at_some_depth_is_the_user_s() -> None:
    gradient = pb.grad(lambda x, n: np.sum(failing(x, n)), argnums=0)
    with pytest.raises(ValueError, match="at the bottom") as caught:
        gradient(np.ones(2), 3)
    if hasattr(caught.value, "__notes__"):
        assert "raise ValueError" in "".join(caught.value.__notes__)
    np.testing.assert_array_equal(gradient(-np.ones(2), 3), [8.0, 8.0])


def test_debug_mode_looks_into_it() -> None:
    def f(x: Any, n: Any) -> Any:
        return np.sum(logs(x, n))

    def logs(x: Any, n: Any) -> Any:
        return x if n == 0 else f_logs(x, n)

    def f_logs(x: Any, n: Any) -> Any:
        return np.log(x)

    with np.errstate(all="ignore"), pytest.raises(pb.DebugError, match="not finite"):
        pb.differentiable(debug=True)(f).value_and_grad(np.zeros(2), 1, argnums=0)


WEIGHT = np.array([2.0, 3.0])


def weighted(x: Any, n: Any) -> Any:
    return x if n == 0 else weighted(x * WEIGHT, n - 1)


def test_implicit_parameters_reach_it(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = pb.grad(lambda x, n: np.sum(weighted(x, n)), argnums=0)
    np.testing.assert_array_equal(gradient(np.ones(2), 2), [4.0, 9.0])
    monkeypatch.setitem(globals(), "WEIGHT", np.array([1.0, 5.0]))
    np.testing.assert_array_equal(gradient(np.ones(2), 2), [1.0, 25.0])


def test_it_is_guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(x: Any, n: Any) -> Any:
        return x * 7.0

    gradient = pb.grad(through_tower, argnums=0)
    assert gradient(np.zeros(1), 2) == 4.0
    monkeypatch.setattr(tower, "__code__", other.__code__)
    assert gradient(np.zeros(1), 2) == 7.0


def kinds(x: Any, n: Any) -> Any:
    if n == 0:
        return 1.0
    return x * kinds(x, n - 1)


def test_paths_of_different_kinds_are_served_for_each_depth() -> None:
    gradient = pb.grad(lambda x, n: np.sum(kinds(x, n)), argnums=0)
    np.testing.assert_allclose(gradient(np.array([2.0, 3.0]), 3), [12.0, 27.0])


def changes(d: Any, x: Any) -> Any:
    if np.sum(x) < 1.0:
        return np.sum(d["s"])
    d["s"] = d["s"] * 2.0
    return changes(d, x * 0.5)


def test_a_container_that_is_changed_is_refused() -> None:
    with pytest.raises(pb.UnsupportedError, match=r"changes a list, dict or object") as caught:
        pb.grad(lambda x: changes({"s": x}, x))(np.ones(3))
    assert "changes(" in str(caught.value)


def test_it_is_lowered_once_for_like_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered: list[Any] = []
    original = Dispatcher._lower
    monkeypatch.setattr(Dispatcher, "_lower", lambda self, v: lowered.append(v) or original(self, v))
    gradient = pb.grad(lambda x, n: through_tower(x, n) + 1.0, argnums=0)
    for n in range(5):
        gradient(np.ones(2), n)
    assert len(lowered) == 1
