"""NumPy functions that take a function: `piecewise`, `apply_along_axis`, `fromfunction`; and named results."""

from __future__ import annotations

import string
from functools import lru_cache
from typing import Any

import numpy as np

from pullback.frontend.context import Context
from pullback.frontend.library import facts, iteration, numpy_calls, prelude
from pullback.frontend.library.calls import Handler, emit, inline, is_array
from pullback.frontend.values import Known, TupleValue, Value


def piecewise(ctx: Context, x: Value, condlist: Value, funclist: Value, *args: Value, **kw: Value) -> Value:
    """`np.piecewise(x, conditions, functions)`: each function on the elements where its condition holds."""
    conditions, functions = iteration.items_of(ctx, condlist), iteration.items_of(ctx, funclist)
    if conditions is None or functions is None or args or kw:
        ctx.refuse(
            "`np.piecewise` with extra arguments, or with lists of unknown length",
            "use np.where or np.select",
        )
    if not is_array(x) or not facts.rank(ctx, x):
        ctx.refuse("`np.piecewise` of something that is not an array with axes", "use an if statement")
    if len(functions) == len(conditions) + 1:
        rest = inline(ctx, prelude.none_of, TupleValue(tuple(conditions)))
        conditions = [*conditions, rest]
    out = emit(ctx, np.zeros_like, x)
    for condition, fn in zip(conditions, functions, strict=True):
        if isinstance(fn, Known) and not callable(fn.obj):
            inline(ctx, prelude.set_item, out, condition, fn)
        else:
            inline(ctx, prelude.apply_where, out, x, condition, fn)
    return out


def apply_along_axis(
    ctx: Context, func1d: Value, axis: Value, arr: Value, *args: Value, **kwargs: Value
) -> Value:
    """`np.apply_along_axis(f, axis, x)` of a matrix or vector."""
    rank, place = facts.rank(ctx, arr), ctx.known(axis)
    if args or kwargs or rank not in (1, 2):
        ctx.refuse(
            "`np.apply_along_axis` with extra arguments, or of more than two axes", "write the loop over rows"
        )
    if rank == 1:
        return inline(ctx, prelude.as_array_of_call, func1d, arr)
    body = prelude.apply_to_rows if place in (1, -1) else prelude.apply_to_columns
    return inline(ctx, body, func1d, arr)


def fromfunction(ctx: Context, function: Value, shape: Value, *, dtype: Value = Known(float)) -> Value:
    """`np.fromfunction(f, shape)`."""
    count = len(shape.items) if isinstance(shape, TupleValue) else len(ctx.known(shape))
    grid = emit(ctx, np.indices, shape, dtype=dtype)
    return ctx.call_value(function, [ctx.subscript(grid, Known(i)) for i in range(count)], {})


def nan_to_num(
    ctx: Context, x: Value, copy: Value = Known(True), nan: Value = Known(0.0), posinf: Value = Known(None),
    neginf: Value = Known(None),
) -> Value:  # fmt: skip
    """`np.nan_to_num(x)`; with copy=False it writes into x."""
    out = emit(ctx, np.nan_to_num, x, nan=nan, posinf=posinf, neginf=neginf)
    if ctx.known(copy) or not is_array(x):
        return out
    ctx.write(x, (), out)
    return x


@lru_cache(maxsize=32)
def _result_class(fn: Any) -> type:
    return type(fn(np.eye(1)))


def einsum(ctx: Context, *operands: Value, **options: Value) -> Value:
    """`np.einsum`; operands that are each followed by a list of axes are written as a text of subscripts."""
    if not operands or (isinstance(operands[0], Known) and isinstance(operands[0].obj, str)):
        return numpy_calls.call(ctx, np.einsum, operands, options)
    arrays, axes = operands[: len(operands) // 2 * 2 : 2], operands[1::2]
    terms = [_subscripts(ctx, v) for v in axes]
    text = ",".join(terms)
    if len(operands) % 2:
        text += "->" + _subscripts(ctx, operands[-1])
    return numpy_calls.call(ctx, np.einsum, [Known(text), *arrays], options)


def _subscripts(ctx: Context, axes: Value) -> str:
    return "".join("..." if i is Ellipsis else string.ascii_letters[i] for i in ctx.known(axes))


def _named(fn: Any) -> Handler:
    """A function whose result is a named tuple."""

    def handler(ctx: Context, *args: Value, **kwargs: Value) -> Value:
        out = numpy_calls.call(ctx, fn, args, kwargs)
        cls = _result_class(fn)
        if isinstance(out, TupleValue) and len(getattr(cls, "_fields", ())) == len(out.items):
            return TupleValue(out.items, cls)
        return out

    return handler


FUNCTIONS: dict[Any, Handler] = {
    np.piecewise: piecewise,
    np.apply_along_axis: apply_along_axis,
    np.fromfunction: fromfunction,
    np.nan_to_num: nan_to_num,
    np.einsum: einsum,
    **{
        fn: _named(fn)
        for fn in (np.linalg.eig, np.linalg.eigh, np.linalg.svd, np.linalg.qr, np.linalg.slogdet)
    },
}
