"""Where an object made from a function is found again by name, as pickle finds functions.

Compiled code is never pickled: what is pickled is the user's function, or, where pickle cannot find that (a lambda, a
decorated function), the name under which its module has what was made of it.  The other process compiles its own, once.
"""

from __future__ import annotations

import importlib
import pickle
import sys
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any


def by_name(made: Any, fn: Callable[..., Any]) -> Any:
    """How pickle is to find an object made from a function; None where pickle finds the function itself, or neither.

    The name is the function's own, where it was decorated, or any other that a statement of its module gave.
    """
    module = sys.modules.get(getattr(fn, "__module__", None) or "")
    if module is None or not isinstance(fn, FunctionType) or _found(module, fn.__qualname__) is fn:
        return None
    name = next((name for name in _names(module, fn) if _found(module, name) is made), None)
    return None if name is None else (found_again, (fn.__module__, name, _mark(fn)))


def found_again(module: str, name: str, mark: tuple[Any, ...]) -> Any:
    """What a module has under a name.  Raises UnpicklingError where that is not made of the same text any more."""
    made = _found(importlib.import_module(module), name)
    behind = made
    while behind is not None and not isinstance(behind, FunctionType):
        behind = getattr(behind, "__wrapped__", None)
    if behind is None or _mark(behind) != mark:
        raise pickle.UnpicklingError(
            f"`{name}` of {module} is not what it was where this was pickled; give the function a name of its own"
        )
    return made


def _mark(fn: FunctionType) -> tuple[Any, ...]:
    """What tells one function of a module from another."""
    code = fn.__code__
    return code.co_name, code.co_firstlineno, code.co_code, code.co_names


def _names(module: Any, fn: FunctionType) -> Iterator[str]:
    yield fn.__qualname__
    yield from list(vars(module))


def _found(module: Any, name: str) -> Any:
    """What a dotted name leads to."""
    found = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found
