"""What the names in a signature mean: axes by the function's own list, all else by the function's module."""

from __future__ import annotations

import builtins
import sys
from types import FunctionType, ModuleType
from typing import Any

from pullback.styles.style import Axis, Dim, fresh_dim

MISSING = object()


class Scope:
    """The names of one function's signature: axes of one name have one length."""

    def __init__(self, fn: FunctionType) -> None:
        self.fn = fn
        self.axes: dict[str, Dim] = {}

    def axis(self, name: str) -> Dim:
        """The axis of a name."""
        return self.axes.setdefault(name, fresh_dim())

    def axis_name(self, axis: Axis) -> str:
        """The name of an axis, its length, or `:`."""
        if isinstance(axis, int):
            return str(axis)
        return next((name for name, dim in self.axes.items() if dim == axis), ":")

    def look_up(self, dotted: str) -> Any:
        """What a dotted name means in the function's module, or as a full path; MISSING where it means nothing."""
        first, *rest = dotted.split(".")
        found = self.fn.__globals__.get(first, getattr(builtins, first, MISSING))
        for name in rest:
            found = getattr(found, name, MISSING)
        return found if found is not MISSING else _by_full_path(dotted)

    def name_of(self, value: Any) -> str | None:
        """A dotted name that `look_up` leads back to an object."""
        for name in sorted(self.fn.__globals__):
            if self.fn.__globals__[name] is value and not name.startswith("__"):
                return name
        own = str(getattr(value, "__qualname__", None) or getattr(value, "__name__", ""))
        enclosing = type(value)
        if (
            not own and hasattr(value, "name") and hasattr(enclosing, "__members__")
        ):  # a member of an enumeration
            inside = self.name_of(enclosing)
            return f"{inside}.{value.name}" if inside else None
        modules = [(n, m) for n, m in sorted(self.fn.__globals__.items()) if isinstance(m, ModuleType)]
        tried = [f"{name}.{own}" for name, _ in modules] + [own, f"{getattr(value, '__module__', '')}.{own}"]
        return next((name for name in tried if own and self.look_up(name) is value), None)


def _by_full_path(dotted: str) -> Any:
    """What the longest imported module at the head of a dotted name holds under the rest."""
    parts = dotted.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        found: Any = sys.modules.get(".".join(parts[:cut]))
        if found is not None:
            for name in parts[cut:]:
                found = getattr(found, name, MISSING)
            return found
    return MISSING
