"""Where an object made from a function is found again by name, as pickle finds functions.

Compiled code is never pickled: what is pickled is the user's function, or the name under which its module has what was
made of it, and the other process compiles its own, once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any


def name_in_module(made: Any, fn: Callable[..., Any]) -> str | None:
    """The dotted name under which the module of `fn` has `made`, an object made from `fn`; None where it has it not.

    That is the function's own name where it was decorated, or any other that a statement of the module gave.
    """
    module = sys.modules.get(getattr(fn, "__module__", None) or "")
    if module is None:
        return None
    return next((name for name in _names(module, fn) if _found(module, name) is made), None)


def _names(module: Any, fn: Callable[..., Any]) -> Iterator[str]:
    yield getattr(fn, "__qualname__", "")
    yield from list(vars(module))


def _found(module: Any, name: str) -> Any:
    """What a dotted name leads to."""
    found = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found
