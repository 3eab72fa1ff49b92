"""What a function finds outside may change between two calls: the gradient is always of the function as it is."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

X = np.array([0.5, 1.5, 2.0])


def slopes(fn: Callable[..., Any]) -> Any:
    """The gradient by differences."""
    found = np.zeros_like(X)
    for i in range(X.size):
        step = np.zeros_like(X)
        step[i] = 1e-6
        found[i] = (fn(X + step) - fn(X - step)) / 2e-6
    return found


def follow(fn: Callable[..., Any], *changes: Callable[[], Any]) -> None:
    """The gradient follows each change, through the entry and without it."""
    gradient = pb.grad(fn)
    for change in (lambda: None, *changes):
        change()
        expected = slopes(fn)
        for _ in range(3):
            np.testing.assert_allclose(gradient(X), expected, rtol=1e-6, atol=1e-6)


class Parent:
    def step(self, x: Any) -> Any:
        return x * 2


class Between(Parent):
    pass


class Child(Between):
    scale = 2.0

    def __init__(self, w: float, n: int = 2) -> None:
        self.w = w
        self.n = n
        self.items = [1.0] * n

    def step(self, x: Any) -> Any:
        return super().step(x) * self.w

    def apply(self, x: Any) -> Any:
        return x * self.w * self.scale

    @property
    def twice(self) -> float:
        return self.w * 2

    def __len__(self) -> int:
        return self.n

    def __eq__(self, other: Any) -> bool:
        return bool(self.n == other)

    def __hash__(self) -> int:
        return 1

    def __contains__(self, k: int) -> bool:
        return k < self.n

    def __add__(self, other: Any) -> Any:
        return self.n + other

    def __neg__(self) -> Any:
        return -self.n

    def __getitem__(self, i: int) -> float:
        return self.items[i]

    def __call__(self, x: Any) -> Any:
        return x**self.n

    def __str__(self) -> str:
        return f"n{self.n}"

    def __float__(self) -> float:
        return float(self.n)


def cubed(self: Child, x: Any) -> Any:
    return x**3 * self.w


@pytest.fixture
def cls() -> type[Child]:
    """The class, for one test."""
    return type("Mine", (Child,), {})


def test_a_method_of_the_instance(cls: type[Child]) -> None:
    thing, other = cls(1.5), cls(4.0)

    def fn(x: Any) -> Any:
        return np.sum(thing.apply(x))

    follow(
        fn,
        lambda: setattr(thing, "apply", types.MethodType(cubed, thing)),
        lambda: setattr(thing, "apply", other.apply),
        lambda: setattr(thing, "apply", np.sin),
        lambda: delattr(thing, "apply"),
        lambda: setattr(cls, "apply", cubed),
        lambda: setattr(cls, "scale", 5.0),
    )


def test_an_instance_that_begins_with_a_method_of_its_own(cls: type[Child]) -> None:
    thing = cls(1.5)
    thing.apply = types.MethodType(cubed, thing)  # type: ignore[method-assign]

    def fn(x: Any) -> Any:
        return np.sum(thing.apply(x))

    follow(fn, lambda: delattr(thing, "apply"))


def test_a_property(cls: type[Child]) -> None:
    thing = cls(1.5)

    def fn(x: Any) -> Any:
        return np.sum(x) * thing.twice

    follow(fn, lambda: setattr(cls, "twice", property(lambda self: self.w * 7)))


def test_super_finds_a_class_between(cls: type[Child]) -> None:
    thing = cls(1.5)

    def fn(x: Any) -> Any:
        return np.sum(thing.step(x))

    def between(self: Any, x: Any) -> Any:
        return x * x

    follow(
        fn,
        lambda: setattr(Between, "step", between),
        lambda: delattr(Between, "step"),
    )


def test_a_class_whose_instances_are_made(cls: type[Child]) -> None:
    def fn(x: Any) -> Any:
        thing = cls(x[0])  # type: ignore[arg-type]
        return np.sum(thing.w * x) * len(thing)

    def start(self: Any, w: Any) -> None:
        self.w = w * 5
        self.n = 3

    follow(
        fn,
        lambda: setattr(cls, "__init__", start),
        lambda: setattr(cls, "__len__", lambda self: self.n + 4),
    )


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "length": lambda x, thing: np.sum(x) * len(thing),
    "truth": lambda x, thing: np.sum(x) if thing else np.sum(x * x),
    "negation": lambda x, thing: np.sum(x) if not thing else np.sum(x * x),
    "comparison": lambda x, thing: np.sum(x) if thing == 2 else np.sum(x * x),
    "membership": lambda x, thing: np.sum(x) if 2 in thing else np.sum(x * x),
    "sum": lambda x, thing: np.sum(x) * (thing + 1.0),
    "minus": lambda x, thing: np.sum(x) * (-thing),
    "item": lambda x, thing: np.sum(x) * thing[0],
    "call": lambda x, thing: np.sum(thing(x)),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_on_an_object_follow_its_state(name: str, cls: type[Child]) -> None:
    thing, operation = cls(1.5), OPERATIONS[name]

    def fn(x: Any) -> Any:
        return operation(x, thing)

    def change(n: int) -> None:
        thing.n = n
        thing.items = [float(n)] * n

    follow(fn, lambda: change(3), lambda: change(0) if name != "item" else None)


def test_conversions_of_an_object_are_refused(cls: type[Child]) -> None:
    thing = cls(1.5)
    with pytest.raises(pb.UnsupportedError, match="needed at compile time"):
        pb.grad(lambda x: np.sum(x) * float(thing))(X)  # type: ignore[arg-type]
    with pytest.raises(pb.UnsupportedError, match="needed at compile time"):
        pb.grad(lambda x: np.sum(x) if str(thing) == "n2" else np.sum(x * x))(X)


def test_attributes_asked_for() -> None:
    module = types.ModuleType("settings")

    def fn(x: Any) -> Any:
        return np.sum(x) * getattr(module, "k", 3.0) * (2.0 if hasattr(module, "j") else 1.0)

    follow(fn, lambda: setattr(module, "k", 5.0), lambda: setattr(module, "j", 1))


MODES = {"a"}


def test_a_set() -> None:
    def fn(x: Any) -> Any:
        return np.sum(x) if "a" in MODES else np.sum(x * x)

    follow(fn, MODES.clear, lambda: MODES.add("a"))


def test_a_builtin_that_the_module_hides(monkeypatch: pytest.MonkeyPatch) -> None:
    def fn(x: Any) -> Any:
        return abs(x[0]) * max(x[1], x[2])

    follow(
        fn,
        lambda: monkeypatch.setitem(globals(), "abs", lambda v: v * 3),
        lambda: monkeypatch.setitem(globals(), "max", lambda a, b: a * b),
        lambda: monkeypatch.undo(),
    )
    assert "abs" not in globals() and abs is builtins.abs


class Doubling:
    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value * 2)


class Constant:
    def __get__(self, instance: Any, owner: Any) -> float:
        return 4.0

    def __set__(self, instance: Any, value: Any) -> None:
        pass


class Described:
    level = Constant()


def test_attributes_that_are_not_plain_are_refused() -> None:
    def doubling(x: Any) -> Any:
        thing = Doubling()
        thing.a = x
        return np.sum(thing.a)

    def described(x: Any) -> Any:
        thing = Described()
        thing.level = 3.0
        return np.sum(x) * thing.level

    for fn in (doubling, described):
        with pytest.raises(pb.UnsupportedError):
            pb.grad(fn)(X)
