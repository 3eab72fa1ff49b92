"""Which helpers a module carries: those that are used and those that these use, with their source."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType

from pullback import runtime
from pullback.aot import support


def _helpers(home: ModuleType) -> dict[str, str]:
    """The functions of a module, with their text."""
    text = inspect.getsource(home)
    found = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    lines = text.splitlines()
    return {f.name: "\n".join(lines[f.lineno - 1 : f.end_lineno]) for f in found}


HELPERS: dict[str, str] = {**_helpers(runtime), **_helpers(support)}


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


def _read(name: str) -> set[str]:
    """The names that a helper reads."""
    return {node.id for node in ast.walk(ast.parse(HELPERS[name])) if isinstance(node, ast.Name)}
