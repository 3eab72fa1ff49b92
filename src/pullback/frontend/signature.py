"""What a call looks like to the compiler: the specs of its arguments, which key the cache of compiled functions.

    Spec = Style | Node(kind, items, meta)      a leaf's style, or a structure of specs (as `ir.nodes.Pack`)

Numbers and arrays are described by style (per axis: one or not one); functions, strings, None and other immutable
objects are part of the signature by value.  An object of which neither can be said is `Anything`.
"""

from __future__ import annotations

import enum
import functools
import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, TypeAlias

import numpy as np

from pullback.errors import ArgumentError
from pullback.frontend.instances import field_names, more_than_a_tuple
from pullback.ir.nodes import Const, Operand, Pack
from pullback.styles.style import (
    Anything,
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


CALLABLES = (FunctionType, BuiltinFunctionType, MethodType, functools.partial, np.ufunc)
_BY_VALUE = (
    type(None),
    str,
    bytes,
    bool,
    np.dtype,
    type,
    slice,
    type(Ellipsis),
    range,
    frozenset,
    ModuleType,
    enum.Enum,
)
_ARRAY_LIBRARIES = (
    "pandas",
    "xarray",
    "polars",
    "torch",
    "jax",
    "jaxlib",
    "cupy",
    "dask",
    "tensorflow",
    "sparse",
)


def spec_of(value: Any, name: str, static: frozenset[str] = frozenset()) -> Spec:
    """The spec of an argument.  `name` is how messages call it; ints whose names are in `static` go by value.

    Raises ArgumentError for what the compiler can make nothing of: object arrays, other libraries' arrays.
    """
    return _Reader(static).spec(value, name, ())


class _Reader:
    """Reads specs off values; `above` are the objects around a value, so that a circle ends."""

    def __init__(self, static: frozenset[str]) -> None:
        self.static = static

    def spec(self, value: Any, name: str, above: tuple[int, ...]) -> Spec:
        if isinstance(value, np.ndarray):
            return _array_spec(value, name)
        if isinstance(value, _BY_VALUE):
            return Static(value)
        number = style_of_number(value)
        if number is not None:
            return Static(value) if name in self.static and type(value) is int else number
        if isinstance(value, np.generic):
            raise ArgumentError(
                f"`{name}` is a NumPy scalar of dtype {value.dtype}, which carries no numbers",
                hint="pass a number",
            )
        if isinstance(value, int | float | complex):  # a subclass of a number: it may mean anything
            return Static(value)
        return self._structure(value, name, above)

    def _structure(self, value: Any, name: str, above: tuple[int, ...]) -> Spec:
        if id(value) in above:
            return Anything()
        above = (*above, id(value))
        if isinstance(value, tuple):
            _check_tuple(value, name)
            items = tuple(self.spec(x, f"{name}[{i}]", above) for i, x in enumerate(value))
            return (
                Node("new", items, (type(value), None))
                if hasattr(type(value), "_fields")
                else Node("tuple", items)
            )
        if type(value) is list:
            return Node("list", tuple(self.spec(x, f"{name}[{i}]", above) for i, x in enumerate(value)))
        if type(value) is dict or type(value) is OrderedDict:
            items = tuple(self.spec(x, f"{name}[{k!r}]", above) for k, x in value.items())
            return Node("dict", items, tuple(value))
        if isinstance(value, CALLABLES):
            return Static(value)
        return self._object(value, name, above)

    def _object(self, value: Any, name: str, above: tuple[int, ...]) -> Spec:
        _refuse_foreign(value, name)
        cls = type(value)
        names = field_names(value)
        if names is None:
            return Static(value) if _is_hashable(value) else Anything()
        items = tuple(self._field(getattr(value, n), f"{name}.{n}", above) for n in names)
        return Node("new", items, (cls, names))

    def _field(self, value: Any, name: str, above: tuple[int, ...]) -> Spec:
        """An attribute, which the function may not need at all: what cannot be described is just carried."""
        try:
            return self.spec(value, name, above)
        except ArgumentError:
            return Anything()


def _check_tuple(value: tuple[Any, ...], name: str) -> None:
    cls = type(value)
    more = None if cls is tuple else more_than_a_tuple(cls, value)
    if more is not None:
        raise ArgumentError(
            f"`{name}` is a {cls.__name__}, a class made from tuple, which {more}",
            hint="pass a plain tuple, a plain named tuple, or a dataclass",
        )


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _refuse_foreign(value: Any, name: str) -> None:
    cls = type(value)
    library = str(cls.__module__).split(".")[0]
    if hasattr(cls, "__array__") or hasattr(cls, "__array_ufunc__") or library in _ARRAY_LIBRARIES:
        raise ArgumentError(
            f"`{name}` is a {cls.__module__}.{cls.__name__}",
            hint="pass the NumPy array it holds: np.asarray(...), or .to_numpy()",
        )
    for plain in (dict, list, set):
        if isinstance(value, plain):
            raise ArgumentError(f"`{name}` is a {cls.__name__}", hint=_PLAIN[plain])


_PLAIN = {dict: "pass a plain dict", list: "pass a plain list", set: "pass a frozenset, or a sorted tuple"}


def _array_spec(value: np.ndarray[Any, Any], name: str) -> Array:
    if type(value) is not np.ndarray:
        raise ArgumentError(
            f"`{name}` is a {type(value).__module__}.{type(value).__name__}, not a plain ndarray",
            hint="pass np.asarray(...) of it",
        )
    if kind_of(value.dtype) == "O":
        raise ArgumentError(
            f"`{name}` is an array of dtype {value.dtype} ({_what(value.dtype)})",
            hint="convert it to a numeric dtype first",
        )
    axes = tuple(1 if n == 1 else fresh_dim(True) for n in value.shape)
    return Array(value.dtype, axes, bool(value.flags.c_contiguous))


def _what(dtype: np.dtype[Any]) -> str:
    if dtype.hasobject:
        return "arrays of object are not supported"
    return "only numbers can be differentiated, not structured or object data"


def bind(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by parameter, defaults filled in.  Raises TypeError where they do not fit."""
    bound = inspect.signature(fn, follow_wrapped=False).bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def signature_of(arguments: Mapping[str, Any], static: frozenset[str] = frozenset()) -> Signature:
    """The signature of bound arguments; the integers named in `static` (`n`, `axes[0]`) are taken by value."""
    return Signature(tuple((name, spec_of(value, name, static)) for name, value in arguments.items()))


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


Step: TypeAlias = tuple[str, Any]


def steps_of(node: Node | Pack) -> Iterator[Step]:
    """How each item of a structure is reached: ("item", key) or ("attr", name)."""
    if node.kind == "dict":
        return (("item", key) for key in node.meta)
    if node.kind == "new" and node.meta[1] is not None:
        return (("attr", name) for name in node.meta[1])
    return (("item", i) for i in range(len(node.items)))


def step_name(name: str, step: Step) -> str:
    """The name of an item of the structure called `name`, as `spec_of` gives it."""
    kind, key = step
    return f"{name}.{key}" if kind == "attr" else f"{name}[{key!r}]"


def take_step(value: Any, step: Step) -> Any:
    """The item of a run-time structure."""
    kind, key = step
    return getattr(value, key) if kind == "attr" else value[key]
