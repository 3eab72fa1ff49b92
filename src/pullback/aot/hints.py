"""Specs and results as text for docstrings and messages, and as type hints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pullback.aot.baked import literal
from pullback.aot.declared import Declared, Place
from pullback.aot.support import _is_literal
from pullback.frontend.signature import Node, Spec, steps_of
from pullback.ir.nodes import Const, Operand, Pack
from pullback.styles.style import Array, Dim, ListOf, Scalar, Static, Style, Tup, not_one

PYTHON = {"f": "float", "i": "int", "c": "complex", "b": "bool"}
_FREE_NAMES = "nmkpqrstuvw"


class Axes:
    """The names of the axes of a signature that have one length: those that the user gave, or letters."""

    def __init__(self, declared: Declared) -> None:
        self.of: dict[Dim, str] = {}
        self.places: dict[Dim, list[tuple[Place, int]]] = {}
        for name, spec in declared.signature.args:
            self._meet((name,), spec)
        given = {at: name for name, ats in declared.dims.items() for at in ats}
        taken = set(given.values())
        free = (f"{c}{i or ''}" for i in range(1000) for c in _FREE_NAMES)
        for dim, ats in self.places.items():
            named = next((given[at] for at in ats if at in given), None)
            if named is None and len(ats) > 1:
                named = next(c for c in free if c not in taken)
            if named is not None:
                self.of[dim] = named

    def _meet(self, place: Place, spec: Spec) -> None:
        if isinstance(spec, Node):
            for step, item in zip(steps_of(spec), spec.items, strict=True):
                self._meet((*place, step), item)
        elif isinstance(spec, Array):
            for i, axis in enumerate(spec.axes or ()):
                if isinstance(axis, Dim):
                    self.places.setdefault(axis, []).append((place, i))

    def text(self, array: Array) -> str:
        """The axes of an array: `n, k`."""
        return ", ".join(
            str(a) if isinstance(a, int) else self.of.get(a, "not 1" if not_one(a) else ":")
            for a in array.axes or ()
        )


def dtype_name(dtype: np.dtype[Any]) -> str:
    """The name of a dtype; with its order of bytes where that is not the machine's."""
    return dtype.name if dtype.isnative else str(dtype.str)


def describe(spec: Spec | Style, axes: Axes) -> str:
    """What an argument is: `float64[n, k]`, `float`, `(float, int)`, `'fast'`."""
    if isinstance(spec, Node):
        return _node(spec, axes)
    if isinstance(spec, Static):
        return _value(spec.value)
    if isinstance(spec, Scalar) and spec.dtype is not None:
        return PYTHON[spec.kind] if spec.weak else f"np.{dtype_name(spec.dtype)}"
    if isinstance(spec, Array) and spec.dtype is not None and spec.axes is not None:
        return f"{dtype_name(spec.dtype)}[{axes.text(spec)}]"
    return "anything"


def _node(spec: Node, axes: Axes) -> str:
    items = [describe(item, axes) for item in spec.items]
    if spec.kind == "dict":
        return f"{{{', '.join(f'{k!r}: {v}' for k, v in zip(spec.meta, items, strict=True))}}}"
    if spec.kind == "list":
        return f"[{', '.join(items)}]"
    if spec.kind == "new":
        cls, names = spec.meta
        names = cls._fields if names is None else names
        return f"{cls.__name__}({', '.join(f'{k}: {v}' for k, v in zip(names, items, strict=True))})"
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _value(value: Any) -> str:
    if isinstance(value, np.dtype | type) or callable(value):
        return str(getattr(value, "__name__", value))
    return repr(value)


# ------------------------------------------------------------------------------------------------- type hints


class Hints:
    """Type hints; `reference` gives the name of a class in the module."""

    def __init__(self, reference: Callable[[Any], str]) -> None:
        self.reference = reference

    def spec(self, spec: Spec) -> str:
        """The hint of an argument."""
        if isinstance(spec, Node):
            return self._structure(spec.kind, spec.meta, [self.spec(x) for x in spec.items])
        return self._style(spec, argument=True)

    def operand(self, operand: Operand) -> str:
        """The hint of a result or of a cotangent."""
        if isinstance(operand, Pack):
            return self._structure(operand.kind, operand.meta, [self.operand(x) for x in operand.items])
        if isinstance(operand, Const):
            return self._of_value(operand.value)
        return self._style(operand.style, argument=False)

    def _style(self, style: Style, argument: bool) -> str:
        if isinstance(style, Static):
            return self._of_value(style.value)
        if isinstance(style, Scalar) and style.dtype is not None and style.weak is not None:
            return PYTHON[style.kind] if style.weak else self._dtype(style.dtype)
        if isinstance(style, Array) and style.dtype is not None and style.axes is not None:
            return f"NDArray[{self._dtype(style.dtype)}]"
        if isinstance(style, ListOf):
            return f"list[{self._style(style.elem, argument)}]"
        if isinstance(style, Tup):
            return self._structure(style.kind, None, [self._style(x, argument) for x in style.items])
        return "Any"

    def _dtype(self, dtype: np.dtype[Any]) -> str:
        return "np.bool_" if dtype.kind == "b" else f"np.{dtype.name}"

    def _of_value(self, value: Any) -> str:
        if value is None:
            return "None"
        cls = type(value)
        if cls in (bool, int, float, complex, str, bytes):
            return cls.__name__
        return self._dtype(value.dtype) if isinstance(value, np.generic) else "Any"

    def _structure(self, kind: str, meta: Any, items: list[str]) -> str:
        if kind == "tuple":
            return f"tuple[{', '.join(items) or '()'}]"
        alternatives = items[0] if len(set(items)) == 1 else "Any"
        if kind == "list":
            return f"list[{alternatives}]"
        if kind == "dict":
            keys = " | ".join(dict.fromkeys(self._of_value(k) for k in meta)) or "Any"
            return f"dict[{keys}, {alternatives}]"
        if kind == "new":
            return str(self.reference(meta[0]))
        return "Any"


def default_text(spec: Spec, default: Any, reference: Callable[[Any], str]) -> str | None:
    """A default as an expression; None where it has none, or is not of the type that the module is compiled for."""
    if isinstance(spec, Node):
        return _tuple_text(spec, default, reference)
    referred = callable(default) or (hasattr(default, "name") and not isinstance(default, np.dtype))
    if isinstance(spec, Static) and default is spec.value and referred:
        return reference(default)
    if isinstance(spec, Static):
        fits = _is_literal(default, spec.value)
    elif isinstance(spec, Scalar) and spec.weak:
        fits = type(default) in _PYTHON_NUMBERS[spec.kind]
    elif isinstance(spec, Scalar):
        fits = isinstance(default, np.generic) and default.dtype == spec.dtype
    else:
        fits = False
    plain = default is None or type(default) in (bool, int, float, complex, str, bytes)
    plain = plain or isinstance(default, np.generic | np.dtype | slice | range)
    return literal(default) if fits and plain else None


def _tuple_text(spec: Node, default: Any, reference: Callable[[Any], str]) -> str | None:
    """A tuple of literals."""
    if spec.kind != "tuple" or type(default) is not tuple or len(default) != len(spec.items):
        return None
    items = [default_text(x, value, reference) for x, value in zip(spec.items, default, strict=True)]
    texts = [text for text in items if text is not None]
    if len(texts) < len(items):
        return None
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


_PYTHON_NUMBERS: dict[str, tuple[type, ...]] = {
    "f": (float, int),
    "i": (int,),
    "c": (complex,),
    "b": (bool,),
}
