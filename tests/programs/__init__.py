"""The corpus: user functions as people write them, each with the arguments to try it on.

    @program(numbers(5), 0.3)
    def decay(x, rate): ...

declares an example; several may be stacked.  Expected gradients are never ours: they are differences of the plain
function, or `expect=` worked out by hand where it has a kink.  `wrt` names parameters by position (by default all that
hold floating-point numbers).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Program:
    """One example of one function."""

    name: str
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    wrt: tuple[int, ...]
    expect: tuple[Any, ...] | None  # gradients worked out by hand
    writes: bool  # the function changes its arguments (calling it plainly does, too)
    refused: str  # not supported: part of the refusal's message


_PROGRAMS: list[Program] = []


def program(
    *args: Any,
    wrt: int | tuple[int, ...] | None = None,
    expect: tuple[Any, ...] | None = None,
    writes: bool = False,
    refused: str = "",
) -> Callable[[F], F]:
    """Declare an example of the decorated function, which stays as it is."""
    if wrt is None:
        positions = tuple(i for i, arg in enumerate(args) if _has_floats(arg))
    else:
        positions = (wrt,) if isinstance(wrt, int) else wrt

    def declare(fn: F) -> F:
        short = fn.__module__.rsplit(".", 1)[-1]
        same = sum(p.fn is fn for p in _PROGRAMS)
        name = f"{short}.{fn.__name__}" + (f"-{same + 1}" if same else "")
        _PROGRAMS.append(Program(name, fn, args, positions, expect, writes, refused))
        return fn

    return declare


def all_programs() -> list[Program]:
    """Every program of the corpus, in the order of modules and definitions."""
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        importlib.import_module(f"{__name__}.{module}")
    return list(_PROGRAMS)


def numbers(*shape: int, seed: float = 0.0) -> np.ndarray:
    """Numbers between -1 and 1, distinct and not small, the same on every machine."""
    count = int(np.prod(shape))
    k = np.arange(1, count + 1) * 0.6180339887498949 + 0.37 * seed
    return np.where((k % 1) < 0.5, -1.0, 1.0).reshape(shape) * (0.15 + 0.85 * ((k * 7.3) % 1)).reshape(shape)


def positive(*shape: int, seed: float = 0.0) -> np.ndarray:
    """Numbers between 0.4 and 1.6, distinct."""
    count = int(np.prod(shape))
    return 0.4 + 1.2 * ((np.arange(1, count + 1) * 0.6180339887498949 + 0.29 * seed) % 1).reshape(shape)


def spd(n: int, seed: float = 0.0) -> np.ndarray:
    """A symmetric positive definite matrix."""
    a = numbers(n, n, seed=seed)
    return a @ a.T + n * np.eye(n)


def _has_floats(tree: Any) -> bool:
    return any(np.asarray(leaf).dtype.kind in "fc" for leaf in leaves(tree))


def leaves(tree: Any) -> list[Any]:
    """The numbers and arrays in a structure, in order."""
    found: list[Any] = []

    def note(leaf: Any) -> Any:
        found.append(leaf)
        return leaf

    map_leaves(note, tree)
    return found


def map_leaves(fn: Callable[[Any], Any], tree: Any) -> Any:
    """The structure with each number and array replaced."""
    is_number = isinstance(tree, int | float | complex) and not isinstance(tree, bool)
    if is_number or isinstance(tree, np.ndarray | np.generic):
        return fn(tree)
    if isinstance(tree, dict):
        return {key: map_leaves(fn, value) for key, value in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(map_leaves(fn, value) for value in tree))
    if isinstance(tree, tuple | list):
        return type(tree)(map_leaves(fn, value) for value in tree)
    if hasattr(tree, "__dict__") and not callable(tree) and not isinstance(tree, type):
        new = object.__new__(type(tree))
        for key, value in vars(tree).items():
            object.__setattr__(new, key, map_leaves(fn, value))
        return new
    return tree
