"""Helpers of the style functions: known options, axes of results, dtypes by asking NumPy on tiny arrays.

A style function gets Styles (options as Static, sequences as Tup) and returns a Style, or a tuple of them
for an
operation with several results.  Unknown parts are left unknown, never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from pullback.styles.broadcast import as_array
from pullback.styles.style import (
    Array,
    Axis,
    Dim,
    Scalar,
    Static,
    Style,
    Tup,
    fresh_dim,
    kind_of,
    same_length,
)

Axes = tuple[Axis, ...] | None
DType = np.dtype[Any] | None

NONE = Static(None)
TRUE = Static(True)
FALSE = Static(False)
ORDER_C = Static("C")
ORDER_K = Static("K")
LOWER = Static("L")
CONSTANT = Static("constant")
FULL = Static("full")
RAISE = Static("raise")
REDUCED = Static("reduced")
VALID = Static("valid")
FIRST_TWO = Static((0, 1))
LAST = Static(-1)
ZERO = Static(0)
ONE = Static(1)
TEN = Static(10)
TWO = Static(2)
FIFTY = Static(50)
INT = Static(int)
FLOAT = Static(float)
UNKNOWN: Any = type("_Unknown", (), {"__repr__": lambda self: "unknown"})()


def known(style: Style) -> Any:
    """The compile-time value of an option, or UNKNOWN."""
    if isinstance(style, Static):
        return style.value
    if isinstance(style, Tup) and style.kind in ("tuple", "list"):
        values = [known(s) for s in style.items]
        return UNKNOWN if any(v is UNKNOWN for v in values) else tuple(values)
    return UNKNOWN


def axes_of(style: Style) -> Axes:
    """The axes of what NumPy makes of an operand; None where the rank is unknown."""
    array = as_array(style)
    return () if isinstance(array, Scalar) else array.axes


def contiguous(style: Style) -> bool:
    """Proved C-contiguous (scalars and sequences count so)."""
    array = as_array(style)
    return isinstance(array, Scalar) or array.contiguous or (array.axes == ())


def array(dtype: DType, axes: Axes, is_contiguous: bool = True, top: str = "c") -> Array:
    """An array, rank 0 included."""
    return Array(dtype, axes, is_contiguous and axes is not None, top)


def result(dtype: DType, axes: Axes, is_contiguous: bool = True, top: str = "c") -> Style:
    """An array, or the NumPy scalar that a ufunc or a reduction makes of rank 0."""
    if axes == ():
        return Scalar(dtype, False, top)
    return array(dtype, axes, is_contiguous or (axes is not None and len(axes) <= 1), top)


def normal_axis(axis: int, rank: int) -> int | None:
    """The axis as a number from 0; None where it is out of range (NumPy will raise)."""
    return axis % rank if -rank <= axis < rank else None


def normal_axes(axis: Any, rank: int) -> tuple[int, ...] | None:
    """A known `axis` option (None, int, sequence) as numbers from 0; None where unknown or out of range."""
    if axis is UNKNOWN:
        return None
    if axis is None:
        return tuple(range(rank))
    try:
        several = [int(axis)] if not isinstance(axis, tuple | list) else [int(a) for a in axis]
    except TypeError:
        return None
    found = [normal_axis(a, rank) for a in several]
    return None if any(a is None for a in found) else tuple(a for a in found if a is not None)


def reduced(axes: Axes, axis: Style, keepdims: Style) -> Axes:
    """The axes after a reduction."""
    keep, over = known(keepdims), known(axis)
    if keep is UNKNOWN:
        return None
    if axes is None:
        return () if over is None and not keep else None
    gone = normal_axes(over, len(axes))
    if gone is None:
        if isinstance(axis, Scalar) and not keep and len(axes) >= 1:  # a run-time axis number
            return tuple(fresh_dim() for _ in axes[1:])
        return None
    if keep:
        return tuple(1 if i in gone else a for i, a in enumerate(axes))
    return tuple(a for i, a in enumerate(axes) if i not in gone)


def known_dtype(style: Style) -> Any:
    """A dtype option: None, a dtype, or UNKNOWN."""
    value = known(style)
    if value is None or value is UNKNOWN:
        return value
    try:
        return np.dtype(value)
    except TypeError:
        return UNKNOWN


def dtype_of(style: Style) -> DType:
    """The dtype of an operand as an array."""
    return as_array(style).dtype


def kind_top(style: Style) -> str:
    """The upper bound on the kind of an operand as an array."""
    return as_array(style).kind


@lru_cache(maxsize=2048)
def probe(fn: Callable[..., Any], *dtypes: Any) -> DType:
    """The dtype of `fn` applied to arrays [1] of the given dtypes; None where it fails."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(fn(*[np.ones(1, d) for d in dtypes])).dtype
    except (TypeError, ValueError, np.linalg.LinAlgError):
        return None


@lru_cache(maxsize=2048)
def probe_square(fn: Callable[..., Any], *dtypes: Any) -> tuple[np.dtype[Any], ...] | None:
    """The dtypes of the results of `fn` on 1 by 1 matrices."""
    try:
        out = fn(*[np.ones((1, 1), d) for d in dtypes])
    except (TypeError, ValueError, np.linalg.LinAlgError):
        return None
    return tuple(np.asarray(o).dtype for o in out) if isinstance(out, tuple) else (np.asarray(out).dtype,)


def probed(fn: Callable[..., Any], *styles: Style) -> tuple[DType, str]:
    """dtype and kind of a function of arrays that is the same for any shape."""
    dtypes = [dtype_of(s) for s in styles]
    top = max((kind_top(s) for s in styles), key=" bifc".find, default="f")
    if any(d is None for d in dtypes):
        return None, top if top == "c" else "f"
    dtype = probe(fn, *dtypes)
    return dtype, top if dtype is None else kind_of(dtype)


def product_axis(axes: Sequence[Axis]) -> Axis:
    """The axis whose length is the product of several."""
    number, symbols = _factors(axes)
    if number == 0 or not symbols:
        return number if not symbols or number == 0 else fresh_dim()
    if number == 1 and len(symbols) == 1:
        return symbols[0]
    return fresh_dim()


def _factors(axes: Sequence[Axis]) -> tuple[int, list[Dim]]:
    number = 1
    symbols: list[Dim] = []
    for a in axes:
        if isinstance(a, int):
            number *= a
        else:
            symbols.append(a)
    return number, symbols


def quotient_axis(axes: Sequence[Axis], others: Sequence[Axis]) -> Axis:
    """The length that `-1` stands for in a reshape of `axes`."""
    number, symbols = _factors(axes)
    divisor, divided = _factors(others)
    for d in divided:
        match = next((i for i, s in enumerate(symbols) if same_length(s, d)), None)
        if match is None:
            return fresh_dim()
        del symbols[match]
    if divisor == 0 or number % divisor:
        return fresh_dim()
    return product_axis([number // divisor, *symbols])


def sum_axis(axes: Sequence[Axis]) -> Axis:
    """The axis whose length is the sum of several: not one where one of them is longer than one."""
    if all(isinstance(a, int) for a in axes):
        return sum(a for a in axes if isinstance(a, int))
    longest = max((a for a in axes if isinstance(a, int)), default=0)
    return fresh_dim(not_one=longest > 1)


def one_like(axes: Axes) -> Axes:
    """As many axes of which nothing is known."""
    return None if axes is None else tuple(fresh_dim() for _ in axes)


def last_axes(style: Style, count: int) -> tuple[tuple[Axis, ...], tuple[Axis, ...]] | None:
    """Leading axes and the last `count`; None where the rank is unknown or too small."""
    axes = axes_of(style)
    if axes is None or len(axes) < count:
        return None
    cut = len(axes) - count
    return axes[:cut], axes[cut:]
