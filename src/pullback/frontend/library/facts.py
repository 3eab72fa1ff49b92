"""What the compiler knows of a value: its Python type, its rank, its shape, its dtype."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from pullback.frontend.context import Context
from pullback.frontend.library.calls import emit
from pullback.frontend.values import (
    ArrayRef,
    BoundMethod,
    CellRef,
    DictCell,
    FrozenRef,
    FunctionValue,
    GrowingCell,
    IterValue,
    Known,
    ListCell,
    Num,
    ObjectCell,
    SliceValue,
    TupleValue,
    Value,
)
from pullback.ir import core_ops as core
from pullback.styles.style import Array, Foreign, ListOf, Scalar, Static, Style, Tup, numeric

_PYTHON = {"b": bool, "i": int, "f": float, "c": complex}


def types_of(ctx: Context, value: Value) -> tuple[type, ...] | None:
    """The types that a value can have at run time; None where they are not known."""
    match value:
        case Known(obj):
            return (type(obj),)
        case TupleValue(_, cls):
            return (cls or tuple,)
        case CellRef():
            cell = ctx.cell(value)
            if isinstance(cell, ObjectCell):
                return (cell.cls,)
            return {ListCell: (list,), GrowingCell: (list,), DictCell: (dict,)}.get(type(cell))
        case FunctionValue():
            return (types.FunctionType,)
        case BoundMethod():
            return (types.MethodType,)
        case SliceValue():
            return (slice,)
        case IterValue():
            return (range,) if value.range_ is not None else None
    return types_of_style(ctx.style(value))


def types_of_style(style: Style) -> tuple[type, ...] | None:
    """The types that a run-time value of a style can have."""
    match style:
        case Static(value):
            return (type(value),)
        case Scalar(dtype, weak):
            if dtype is None:
                return None
            python = _PYTHON.get(style.kind)
            if weak is True and python is not None:
                return (python,)
            return (dtype.type,) if weak is False else (dtype.type, *((python,) if python else ()))
        case Array(dtype, axes):
            if axes is not None:
                return (np.ndarray,)
            return (np.ndarray, dtype.type) if dtype is not None else None
        case ListOf():
            return (list,)
        case Tup(_, kind):
            return {"tuple": (tuple,), "list": (list,), "dict": (dict,)}.get(kind)
        case Foreign(cls):
            return (cls,)
    return None


def array_style(ctx: Context, value: Value) -> Array | None:
    """The style of an array; None where the value is not (known to be) one."""
    if isinstance(value, ArrayRef | FrozenRef | Num):
        style = ctx.style(value)
        return style if isinstance(style, Array) else None
    return None


def scalar_style(ctx: Context, value: Value) -> Scalar | None:
    """The style of a number; None where the value is not (known to be) one."""
    if isinstance(value, Known | Num):
        style = numeric(ctx.style(value))
        return style if isinstance(style, Scalar) else None
    return None


def dtype_of(ctx: Context, value: Value) -> np.dtype[Any] | None:
    """The dtype of an array or number, where known."""
    style: Array | Scalar | None = array_style(ctx, value) or scalar_style(ctx, value)
    return None if style is None else style.dtype


def rank(ctx: Context, value: Value) -> int | None:
    """The number of axes of an array or number, where known."""
    array = array_style(ctx, value)
    if array is not None:
        return array.rank
    return 0 if scalar_style(ctx, value) is not None else None


def dim(ctx: Context, array: Value, axis: int) -> Value:
    """The length of an axis: a compile-time number where it is exact."""
    style = array_style(ctx, array)
    if style is not None and style.axes is not None:
        axis %= len(style.axes)
        exact = style.axes[axis]
        if isinstance(exact, int):
            return Known(exact)
    return ctx.call(core.dim, [array, Known(axis)], hint="n")


def shape(ctx: Context, array: Value) -> Value:
    """`array.shape`: a tuple of lengths, opaque where the rank is unknown."""
    count = rank(ctx, array)
    if count is None:
        return ctx.call(core.shape, [array], hint="shape")
    return TupleValue(tuple(dim(ctx, array, i) for i in range(count)))


def size(ctx: Context, array: Value) -> Value:
    """`array.size`."""
    lengths = shape(ctx, array)
    if not isinstance(lengths, TupleValue):
        return emit(ctx, np.size, array, hint="size")
    exact = [i.obj for i in lengths.items if isinstance(i, Known)]
    total: Value = Known(int(np.prod(exact, dtype=np.int64)) if exact else 1)
    for item in lengths.items:
        if not isinstance(item, Known):
            one = isinstance(total, Known) and total.obj == 1
            total = item if one else ctx.call(core.OPERATORS["*"], [total, item], hint="size")
    return total


def ndim(ctx: Context, array: Value) -> Value:
    """`array.ndim`."""
    count = rank(ctx, array)
    return Known(count) if count is not None else emit(ctx, np.ndim, array, hint="ndim")


def dtype(ctx: Context, array: Value) -> Value:
    """`array.dtype`."""
    found = dtype_of(ctx, array)
    return (
        Known(found) if found is not None else ctx.call(core.attribute, [array, Known("dtype")], hint="dtype")
    )


def is_inactive_int(ctx: Context, value: Value) -> bool:
    """A Python integer or boolean, at compile time or at run time."""
    style = scalar_style(ctx, value)
    return style is not None and style.weak is True and style.kind in "bi"
