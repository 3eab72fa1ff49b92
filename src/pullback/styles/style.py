"""Styles: what the compiler knows of a value.

    Style  = Static(value)                    a compile-time object
           | Scalar(dtype, weak, kind, length)  immutable: weak Python number or NumPy scalar
           | Array(dtype, kind, axes, contiguous)
           | Tup(items) | ListOf(elem)        tuple of known items; run-time list of like items
           | Foreign(cls)                     an object of a known class: of another library, a text
           | Anything                         no knowledge: may be carried and passed, not differentiated
           | Undef                            the bottom: a name not bound on this path
    Axis   = int | Dim(sym, minus, not_one)   exact length, or max(sym - minus, 0) of an unknown length `sym`

Two `Dim`s with equal `sym` and `minus` have equal length; nothing is known of others except `not_one` (zero counts as
not one: only length 1 broadcasts).  Joins make the differing part unknown.  In the items of a run-time list an axis may
*vary*: it has another length in each item, and no two are said to be equal; what is read from the list gets a symbol of
its own (`distinct_axes`).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

KINDS = "bifc"  # boolean < integer < float < complex: the upper bound on the kind of an unknown dtype
_symbols = itertools.count()


@dataclass(frozen=True, slots=True)
class Dim:
    """An axis of unknown length `max(length(sym) - minus, 0)`."""

    sym: int
    minus: int = 0
    not_one: bool = False


Axis: TypeAlias = int | Dim
_VARYING = -(2**62)  # no symbol of any axis


def fresh_dim(not_one: bool = False) -> Dim:
    """An axis of which nothing is known (but perhaps that it is not one)."""
    return Dim(next(_symbols), 0, not_one)


def varying(not_one: bool = False) -> Dim:
    """An axis that has another length in each item of a list."""
    return Dim(_VARYING, 0, not_one)


def is_varying(axis: Axis) -> bool:
    """Whether an axis stands for lengths that differ from item to item."""
    return isinstance(axis, Dim) and axis.sym == _VARYING


def is_one(axis: Axis) -> bool:
    """Proved to be of length 1."""
    return axis == 1


def not_one(axis: Axis) -> bool:
    """Proved not to be of length 1."""
    return axis != 1 if isinstance(axis, int) else axis.not_one


def same_length(a: Axis, b: Axis) -> bool:
    """Proved to have equal length."""
    if isinstance(a, int) or isinstance(b, int):
        return a == b
    return (a.sym, a.minus) == (b.sym, b.minus) and a.sym != _VARYING


def shorten(axis: Axis, by: int) -> Axis:
    """The axis with `by` (any sign) elements fewer, at least 0."""
    if isinstance(axis, int):
        return max(axis - by, 0)
    if by == 0:
        return axis
    if axis.minus + by < 0 or (by < 0 < axis.minus):
        return fresh_dim()
    return Dim(axis.sym, axis.minus + by, False)


def kind_of(dtype: np.dtype[Any]) -> str:
    """One of "bifc", or "O" for everything else."""
    return _KIND_OF.get(dtype.kind, "O")


_KIND_OF = {"b": "b", "i": "i", "u": "i", "f": "f", "c": "c"}


@dataclass(frozen=True, slots=True, eq=False)
class Static:
    """A compile-time object: number, string, None, slice, dtype, type, function, constant array.

    Equal to another of the same type and value; arrays are equal to themselves only.
    """

    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Static):
            return NotImplemented
        a, b = self.value, other.value
        if a is b:
            return True
        return type(a) is type(b) and not isinstance(a, np.ndarray) and _equal(a, b)

    def __hash__(self) -> int:
        try:
            return hash(self.value)
        except TypeError:
            return hash(type(self.value))


def _equal(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except ValueError:  # containers of arrays
        return False


@dataclass(frozen=True, slots=True)
class Scalar:
    """An immutable number.  `weak` is True for a Python number, False for a NumPy scalar, None where unknown.

    `dtype` is None where unknown; then `kind` (one of "bifc") is the largest kind it can have.
    `length` is set where the (integer) value is known to be the length of an axis, so that `np.zeros(n)` gets it.
    """

    dtype: np.dtype[Any] | None
    weak: bool | None = False
    kind: str = "c"
    length: Axis | None = None

    def __post_init__(self) -> None:
        if self.dtype is not None:
            object.__setattr__(self, "kind", kind_of(self.dtype))


@dataclass(frozen=True, slots=True)
class Array:
    """An ndarray, rank 0 included.  `axes` is None where the rank is unknown (it may then be a NumPy scalar too)."""

    dtype: np.dtype[Any] | None
    axes: tuple[Axis, ...] | None
    contiguous: bool = False
    kind: str = "c"

    def __post_init__(self) -> None:
        if self.dtype is not None:
            object.__setattr__(self, "kind", kind_of(self.dtype))

    @property
    def rank(self) -> int | None:
        """The number of axes, or None."""
        return None if self.axes is None else len(self.axes)


@dataclass(frozen=True, slots=True)
class Tup:
    """A tuple (or list of fixed length, where `kind` says so) of known items."""

    items: tuple[Style, ...]
    kind: str = "tuple"


@dataclass(frozen=True, slots=True)
class ListOf:
    """A run-time list whose items all have style `elem` (Undef while it is empty)."""

    elem: Style


@dataclass(frozen=True, slots=True)
class Foreign:
    """An object of a class that is known: an array of another library, a random generator, a text."""

    cls: type


@dataclass(frozen=True, slots=True)
class Anything:
    """A run-time object of which nothing is known; `origin` names the function without a rule that it comes from."""

    origin: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Undef:
    """Not bound on this path."""


Style: TypeAlias = Static | Scalar | Array | Tup | ListOf | Foreign | Anything | Undef

FLOAT64 = np.dtype(np.float64)
INT64 = np.dtype(np.int64)
BOOL = np.dtype(np.bool_)
PY_FLOAT = Scalar(FLOAT64, True)
PY_INT = Scalar(INT64, True)
PY_BOOL = Scalar(BOOL, True)
PY_COMPLEX = Scalar(np.dtype(np.complex128), True)


def style_of_number(value: object) -> Scalar | None:
    """The scalar style of a Python or NumPy number, else None."""
    if isinstance(value, np.generic):
        return Scalar(value.dtype, False) if kind_of(value.dtype) != "O" else None
    return _NUMBERS.get(type(value))


_NUMBERS: dict[type, Scalar] = {bool: PY_BOOL, int: PY_INT, float: PY_FLOAT, complex: PY_COMPLEX}


def distinct_axes(style: Style) -> Style:
    """The style of one item of a list: the axes that vary have lengths of its own."""
    if isinstance(style, Array) and style.axes is not None and any(is_varying(a) for a in style.axes):
        return replace(style, axes=tuple(fresh_dim(not_one(a)) if is_varying(a) else a for a in style.axes))
    if isinstance(style, Tup):
        return replace(style, items=tuple(distinct_axes(s) for s in style.items))
    return style


def numeric(style: Style) -> Style:
    """A static number as the scalar that it is; a fixed tuple or list of numbers as the array NumPy makes of it."""
    if isinstance(style, Static):
        number = style_of_number(style.value)
        if number is None:
            return style
        if number.kind in "i" and int(style.value) >= 0:
            return replace(number, length=int(style.value))
        return number
    return style


def kind(style: Style) -> str:
    """The largest kind of number that a value of this style holds: "b", "i", "f", "c"; "" where it holds none."""
    style = numeric(style)
    if isinstance(style, Scalar | Array):
        return style.kind
    if isinstance(style, Tup):
        return max((kind(s) for s in style.items), key=" bifc".find, default="")
    if isinstance(style, ListOf):
        return kind(style.elem)
    if isinstance(style, Foreign):
        return "" if issubclass(style.cls, str) else "c"
    return "c" if isinstance(style, Anything) else ""


def differentiable(style: Style) -> bool:
    """Whether a value of this style can carry a derivative."""
    return kind(style) in ("f", "c")


def max_kind(a: str, b: str) -> str:
    """The larger of two kinds."""
    return max(a, b, key=(" " + KINDS).find)
