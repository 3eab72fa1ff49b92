"""What C holds of a value: its leaves.

    Number(dtype, weak)   a C number: a Python number (weak) or a NumPy scalar
    ArrayLeaf(dtype, rank)  a `pb_arrayR`
    ListLeaf(items)       a `pb_list`; each item has these leaves

A number that is an int or a float (`Loose`) is a double, and whether it is an int.  A tuple has the leaves of its items one after the other; what is known at compile time has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from pullback.backend.native.emit.dtypes import Loose, MaybeZero
from pullback.backend.native.emit.errors import Untaken
from pullback.ir.nodes import Const, Operand, Pack, Var
from pullback.styles.style import Anything, Array, ListOf, Scalar, Static, Style, Tup, Undef

DTYPES: dict[str, tuple[int, str]] = {
    "bool": (0, "uint8_t"), "int8": (1, "int8_t"), "uint8": (2, "uint8_t"), "int16": (3, "int16_t"),
    "uint16": (4, "uint16_t"), "int32": (5, "int32_t"), "uint32": (6, "uint32_t"), "int64": (7, "int64_t"),
    "uint64": (8, "uint64_t"), "float32": (9, "float"), "float64": (10, "double"),
    "complex64": (11, "float _Complex"), "complex128": (12, "double _Complex"),
}  # fmt: skip
MAX_RANK = 8


@dataclass(frozen=True, slots=True)
class Number:
    """A number.  `weak`: True for a Python number, False for a NumPy scalar, None where that is not known."""

    dtype: np.dtype[Any]
    weak: bool | None


@dataclass(frozen=True, slots=True)
class ArrayLeaf:
    """An array of a known dtype and rank.  `loose`: or a zero without a shape, which has no data."""

    dtype: np.dtype[Any]
    rank: int
    loose: bool = False


@dataclass(frozen=True, slots=True)
class ListLeaf:
    """A list of run-time length.  `boxed`: what a function saved, of which the caller knows nothing."""

    items: tuple[Leaf, ...]
    boxed: bool = False


Leaf: TypeAlias = Number | ArrayLeaf | ListLeaf
BOX = ListLeaf((), True)


def c_type(dtype: np.dtype[Any]) -> str:
    """The C type of items of a dtype."""
    return DTYPES[dtype.name][1]


def code_of(dtype: np.dtype[Any]) -> int:
    """The number by which the interface calls a dtype."""
    return DTYPES[dtype.name][0]


def declared(leaf: Leaf) -> str:
    """The C type of a leaf."""
    match leaf:
        case Number(dtype):
            return c_type(dtype)
        case ArrayLeaf(_, rank):
            return f"pb_array{rank}"
        case ListLeaf():
            return "pb_list *"


def leaves_of(style: Style) -> tuple[Leaf, ...]:
    """The leaves of a style.  Raises Untaken where C has nothing for it."""
    match style:
        case Static() | Undef():
            return ()
        case Loose():
            return (Number(np.dtype(np.float64), None), Number(np.dtype(np.bool_), True))
        case Scalar(dtype, weak):
            if dtype is None:
                raise Untaken("a number whose dtype is not known")
            _check(dtype)
            return (Number(dtype, weak),)
        case Array():
            return (_array_leaf(style),)
        case Tup(items, kind) if kind in ("tuple", "list", "dict", "new"):
            return tuple(leaf for item in items for leaf in leaves_of(item))
        case Anything(""):
            return (BOX,)
        case ListOf(elem):
            return (ListLeaf(leaves_of(elem)),)
    raise Untaken("a value that is no number, array, tuple or list of these")


def _array_leaf(style: Array) -> ArrayLeaf:
    if style.dtype is None or style.axes is None:
        raise Untaken("an array whose dtype or rank is not known")
    _check(style.dtype)
    if len(style.axes) > MAX_RANK:
        raise Untaken(f"an array of more than {MAX_RANK} axes")
    return ArrayLeaf(style.dtype, len(style.axes), isinstance(style, MaybeZero))


def plain(leaf: Leaf) -> Leaf:
    """A leaf without what C does not tell apart."""
    if isinstance(leaf, Number):
        return Number(leaf.dtype, None)
    if isinstance(leaf, ListLeaf):
        return ListLeaf(tuple(plain(x) for x in leaf.items), leaf.boxed)
    return leaf


def _check(dtype: np.dtype[Any]) -> None:
    if dtype.name not in DTYPES or not dtype.isnative:
        raise Untaken(f"values of dtype {dtype}")


def operand_style(operand: Operand) -> Style:
    """The style of a Var or a constant; of a tuple, that of its items."""
    match operand:
        case Var():
            return operand.style
        case Const(value):
            return Static(value)
        case Pack(kind, items):
            return Tup(tuple(operand_style(x) for x in items), kind)
