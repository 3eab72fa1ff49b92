"""The lattice: least upper bounds of styles, and the order.

Used where control flow meets: at the end of an `if`, at the head of a loop, for the items of a run-time list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pullback.styles.style import (
    Anything,
    Array,
    Axis,
    Dim,
    ListOf,
    Scalar,
    Static,
    Style,
    Tup,
    Undef,
    fresh_dim,
    is_varying,
    max_kind,
    not_one,
    numeric,
    same_length,
    varying,
)

JoinAxis: TypeAlias = Callable[[Axis, Axis], Axis]


def join_items(a: Style, b: Style) -> Style:
    """The style of the items of a list that holds both: axes that differ vary from item to item."""
    return _join(a, b, _varying_axis)


def join(a: Style, b: Style) -> Style:
    """The least style that covers both.  Parts that differ become unknown."""
    return _join(a, b, join_axis)


def _join(a: Style, b: Style, axis: JoinAxis) -> Style:
    if a == b:
        return a
    if isinstance(a, Undef):
        return b
    if isinstance(b, Undef):
        return a
    a, b = numeric(a), numeric(b)
    match a, b:
        case Scalar(), Scalar():
            return _join_scalars(a, b)
        case Array(), Array():
            return _join_arrays(a, b, axis)
        case Array(), Scalar():
            return _join_arrays(a, Array(b.dtype, (), True, b.kind), axis)
        case Scalar(), Array():
            return _join_arrays(Array(a.dtype, (), True, a.kind), b, axis)
        case Tup(), Tup() if a.kind == b.kind and len(a.items) == len(b.items):
            return Tup(tuple(_join(x, y, axis) for x, y in zip(a.items, b.items, strict=True)), a.kind)
        case ((ListOf() | Tup()), (ListOf() | Tup())) if _is_list(a) and _is_list(b):
            return ListOf(join_items(_elem(a), _elem(b)))
    return a if a == b else Anything()


def covering(*styles: Style) -> Style:
    """A style that holds every value of some styles: their join; of unknown rank where numbers meet arrays."""
    out: Style = Undef()
    for style in styles:
        out = join(out, style)
    if isinstance(out, Array) and not all(below(style, out, free=lambda dim: True) for style in styles):
        return Array(out.dtype, None, False, out.kind)
    return out


def _is_list(s: Style) -> bool:
    return isinstance(s, ListOf) or (isinstance(s, Tup) and s.kind == "list")


def _elem(s: Style) -> Style:
    if isinstance(s, ListOf):
        return s.elem
    assert isinstance(s, Tup)
    out: Style = Undef()
    for item in s.items:
        out = join_items(out, item)
    return out


def _join_scalars(a: Scalar, b: Scalar) -> Scalar:
    dtype = a.dtype if a.dtype == b.dtype else None
    weak = a.weak if a.weak == b.weak else None
    length = a.length if a.length is not None and a.length == b.length else None
    return Scalar(dtype, weak, max_kind(a.kind, b.kind), length)


def _join_arrays(a: Array, b: Array, axis: JoinAxis) -> Array:
    dtype = a.dtype if a.dtype == b.dtype else None
    axes = None
    if a.axes is not None and b.axes is not None and len(a.axes) == len(b.axes):
        axes = tuple(axis(x, y) for x, y in zip(a.axes, b.axes, strict=True))
    return Array(dtype, axes, a.contiguous and b.contiguous, max_kind(a.kind, b.kind))


def join_axis(a: Axis, b: Axis) -> Axis:
    """An axis that covers both lengths."""
    if same_length(a, b):
        return a
    return fresh_dim(not_one(a) and not_one(b))


def _varying_axis(a: Axis, b: Axis) -> Axis:
    return a if same_length(a, b) else varying(not_one(a) and not_one(b))


def below(a: Style, b: Style, free: Callable[[Dim], bool] = lambda dim: False) -> bool:
    """Whether every value of style `a` is one of style `b`.

    `free(dim)` says that an axis of `b` stands for any length (it was made by a join at this very loop head).
    """
    if a == b or isinstance(a, Undef) or isinstance(b, Anything):
        return True
    a, b = numeric(a), numeric(b)
    match a, b:
        case Scalar(), Scalar():
            return _number_below(a, b) and (b.weak is None or a.weak == b.weak) and _length_below(a, b, free)
        case Array(), Array():
            return _number_below(a, b) and (a.contiguous or not b.contiguous) and _axes_below(a, b, free)
        case Scalar(), Array():
            return _number_below(a, b) and b.axes is None and not b.contiguous
        case Tup(), Tup():
            pairs = zip(a.items, b.items, strict=False)
            return (
                a.kind == b.kind and len(a.items) == len(b.items) and all(below(x, y, free) for x, y in pairs)
            )
        case ((ListOf() | Tup()), ListOf()) if _is_list(a):
            return below(_elem(a), b.elem, free)
    return isinstance(a, Static) and isinstance(b, Static) and a == b


def _number_below(a: Scalar | Array, b: Scalar | Array) -> bool:
    if b.dtype is not None:
        return a.dtype == b.dtype
    return max_kind(a.kind, b.kind) == b.kind


def _length_below(a: Scalar, b: Scalar, free: Callable[[Dim], bool]) -> bool:
    if b.length is None:
        return True
    return a.length is not None and _axis_below(a.length, b.length, free)


def _axes_below(a: Array, b: Array, free: Callable[[Dim], bool]) -> bool:
    if b.axes is None:
        return True
    if a.axes is None or len(a.axes) != len(b.axes):
        return False
    return all(_axis_below(x, y, free) for x, y in zip(a.axes, b.axes, strict=True))


def _axis_below(a: Axis, b: Axis, free: Callable[[Dim], bool]) -> bool:
    if same_length(a, b):
        return True
    return isinstance(b, Dim) and (is_varying(b) or free(b)) and (not_one(a) or not b.not_one)
