"""What a call looks like to the compiler: the specs of its arguments, which key the cache of compiled functions.

    Spec = Style | Node(kind, items, meta)      a leaf's style, or a structure of specs (as `ir.nodes.Pack`)

Numbers and arrays are described by style (per axis: one or not one), everything else is part of the signature by value.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, TypeAlias

import numpy as np

from pullback.errors import ArgumentError
from pullback.ir.nodes import Const, Operand, Pack
from pullback.styles.style import (
    Array,
    Static,
    Style,
    fresh_dim,
    kind_of,
    style_of_number,
)


@dataclass(frozen=True, slots=True)
class Node:
    """A structure of specs: kind "tuple" | "list" | "dict" (meta: keys) | "new" (meta: constructor, field names)."""

    kind: str
    items: tuple[Spec, ...]
    meta: Any = None


Spec: TypeAlias = Style | Node


@dataclass(frozen=True, slots=True)
class Signature:
    """The specs of every parameter by name, in order; *args is a "tuple" Node, **kwargs a "dict" Node."""

    args: tuple[tuple[str, Spec], ...]

    def of(self, name: str) -> Spec:
        """The spec of a parameter."""
        return dict(self.args)[name]


_BY_VALUE = (type(None), str, bytes, bool, np.dtype, type, slice, type(Ellipsis), range, frozenset, ModuleType)


def spec_of(value: Any, name: str) -> Spec:
    """The spec of an argument."""
    if isinstance(value, np.ndarray):
        return _array_spec(value, name)
    if isinstance(value, _BY_VALUE):
        return Static(value)
    number = style_of_number(value)
    if number is not None:
        return number
    if isinstance(value, np.generic):
        raise ArgumentError(f"`{name}` is a NumPy scalar of dtype {value.dtype}, which carries no numbers",
                            hint="pass a number")
    if isinstance(value, int | float | complex):  # a subclass: an enum member, a boolean-like
        return Static(value)
    structure = _structure(value, name)
    if structure is not None:
        return structure
    if callable(value) and isinstance(value, FunctionType | BuiltinFunctionType | MethodType | np.ufunc | type):
        return Static(value)
    return _object_spec(value, name)


def _array_spec(value: np.ndarray[Any, Any], name: str) -> Array:
    if type(value) is not np.ndarray:
        raise ArgumentError(f"`{name}` is a {type(value).__module__}.{type(value).__name__}, not a plain ndarray",
                            hint="pass np.asarray(...) of it")
    if kind_of(value.dtype) == "O":
        raise ArgumentError(f"`{name}` is an array of dtype {value.dtype} ({_what(value.dtype)})",
                            hint="convert it to a numeric dtype first")
    axes = tuple(1 if n == 1 else fresh_dim(True) for n in value.shape)
    return Array(value.dtype, axes, bool(value.flags.c_contiguous))


def _what(dtype: np.dtype[Any]) -> str:
    return "object arrays are not supported" if dtype == object else "only numbers can be differentiated"


def _structure(value: Any, name: str) -> Node | None:
    if isinstance(value, tuple):
        items = tuple(spec_of(x, f"{name}[{i}]") for i, x in enumerate(value))
        named = hasattr(type(value), "_fields")
        return Node("new", items, (type(value), None)) if named else Node("tuple", items)
    if type(value) is list:
        return Node("list", tuple(spec_of(x, f"{name}[{i}]") for i, x in enumerate(value)))
    if type(value) is dict:
        items = tuple(spec_of(x, f"{name}[{k!r}]") for k, x in value.items())
        return Node("dict", items, tuple(value))
    return None


def _object_spec(value: Any, name: str) -> Spec:
    cls = type(value)
    if hasattr(cls, "__array__") or hasattr(cls, "__array_ufunc__") or cls.__module__.split(".")[0] in ("pandas", "xarray"):
        raise ArgumentError(f"`{name}` is a {cls.__module__}.{cls.__name__}",
                            hint="pass the NumPy array it holds: np.asarray(...), or .to_numpy()")
    if dataclasses.is_dataclass(value):
        names = tuple(f.name for f in dataclasses.fields(value))
    elif hasattr(value, "__dict__") and not callable(value):
        names = tuple(vars(value))
    else:
        return Static(value)
    items = tuple(spec_of(getattr(value, n), f"{name}.{n}") for n in names)
    return Node("new", items, (cls, names))


def bind(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by parameter, defaults filled in.  Raises Python's own TypeError."""
    bound = inspect.signature(fn, follow_wrapped=False).bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def signature_of(arguments: Mapping[str, Any], static: frozenset[str] = frozenset()) -> Signature:
    """The signature of bound arguments; `static` integers are taken by value."""
    specs = []
    for name, value in arguments.items():
        spec: Spec = Static(value) if name in static else spec_of(value, name)
        specs.append((name, spec))
    return Signature(tuple(specs))


def leaves(tree: Operand, value: Any) -> list[tuple[Operand, Any]]:
    """The leaves of a parameter's operand tree with the run-time objects at them."""
    if isinstance(tree, Const):
        return []
    if not isinstance(tree, Pack):
        return [(tree, value)]
    found = []
    for item, part in zip(tree.items, parts(tree, value), strict=True):
        found += leaves(item, part)
    return found


def parts(tree: Pack, value: Any) -> list[Any]:
    """The items of a run-time structure, in the order of the tree's."""
    if tree.kind == "dict":
        return [value[k] for k in tree.meta]
    if tree.kind == "new" and tree.meta[1] is not None:
        return [getattr(value, n) for n in tree.meta[1]]
    return list(value)
