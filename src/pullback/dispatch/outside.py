"""Data and objects outside the function, found anew at each call.

A path starts at a function.  Where that function is itself an argument, the path starts, at each call, at the
argument then given.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any, TypeAlias

from pullback.frontend.environment import Guard, Path
from pullback.frontend.signature import Node, Spec, Step, steps_of, take_step
from pullback.styles.style import Static

Root: TypeAlias = tuple[int, tuple[Step, ...]]  # a parameter, then steps to the function in it
MISSING = (NameError, AttributeError, LookupError)


@dataclass(frozen=True, slots=True)
class Outside:
    """A datum outside: an implicit parameter.  `root` says where its function is among the arguments, if it is."""

    path: Path
    root: Root | None = None

    def at(self, values: Sequence[Any]) -> Path:
        """The path, for the arguments of a call."""
        if self.root is None:
            return self.path
        return self.path.of(_follow(self.root, values))

    def fetch(self, values: Sequence[Any]) -> Any:
        """The datum now."""
        return self.at(values).fetch()


@dataclass(frozen=True, slots=True)
class Watch:
    """A guard, and where the function that it starts from is among the arguments."""

    guard: Guard
    root: Root | None = None

    def holds(self, values: Sequence[Any]) -> bool:
        """Whether what was found at compile time is still found."""
        if self.root is None:
            return self.guard.holds()
        return self.guard.holds(self.guard.path.of(_follow(self.root, values)))


def _follow(root: Root, values: Sequence[Any]) -> Any:
    value = values[root[0]]
    for step in root[1]:
        value = take_step(value, step)
    return value


def callables_of(specs: Sequence[Spec]) -> Mapping[int, tuple[Any, Root]]:
    """The functions among the arguments, by identity: each with its place."""
    found: dict[int, tuple[Any, Root]] = {}

    def visit(spec: Spec, root: Root) -> None:
        if isinstance(spec, Node):
            for item, step in zip(spec.items, steps_of(spec), strict=True):
                visit(item, (root[0], (*root[1], step)))
        elif isinstance(spec, Static) and isinstance(
            spec.value, FunctionType | MethodType | functools.partial
        ):
            found.setdefault(id(spec.value), (spec.value, root))
            visit_partial(spec.value, root)

    def visit_partial(value: Any, root: Root) -> None:
        if isinstance(value, functools.partial):
            visit(Static(value.func), (root[0], (*root[1], ("attr", "func"))))
        elif isinstance(value, MethodType):
            visit(Static(value.__func__), (root[0], (*root[1], ("attr", "__func__"))))

    for i, spec in enumerate(specs):
        visit(spec, (i, ()))
    return found
