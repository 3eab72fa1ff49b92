"""Which helpers a module carries: those that are used and those that these use, with their source."""

from __future__ import annotations

import ast
import inspect
from types import FunctionType

from pullback import runtime
from pullback.aot import support

HELPERS: dict[str, FunctionType] = {
    name: obj
    for home in (runtime, support)
    for name, obj in vars(home).items()
    if isinstance(obj, FunctionType) and obj.__module__ == home.__name__
}


def with_needed(names: set[str]) -> list[str]:
    """Helpers and the helpers that they call, in the order in which they are defined."""
    found: set[str] = set()
    pending = sorted(names)
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += sorted(_read(name) & HELPERS.keys())
    return [name for name in HELPERS if name in found]


def source_of_helper(name: str) -> str:
    """The text of a helper."""
    return inspect.getsource(HELPERS[name]).rstrip()


def _read(name: str) -> set[str]:
    """The names that a helper reads."""
    return {node.id for node in ast.walk(ast.parse(source_of_helper(name))) if isinstance(node, ast.Name)}
