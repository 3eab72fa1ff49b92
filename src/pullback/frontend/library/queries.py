"""Questions about arrays and dtypes that are answered at compile time where the styles know."""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.frontend.context import Context
from pullback.frontend.library import containers, effect_calls, facts, prelude
from pullback.frontend.library.calls import NONE, Handler, emit, given, name_of
from pullback.frontend.refusals import refusal
from pullback.frontend.values import CellRef, Known, TupleValue, Value
from pullback.styles.broadcast import result_dtype
from pullback.styles.style import Array, Scalar, numeric


def _as_array(ctx: Context, value: Value) -> Value:
    if isinstance(value, CellRef | TupleValue):
        return emit(ctx, np.array, value)
    return value


def shape(ctx: Context, a: Value) -> Value:
    """`np.shape(a)`."""
    if isinstance(a, Known):
        return containers.constant(ctx, np.shape(a.obj))
    return facts.shape(ctx, _as_array(ctx, a))


def ndim(ctx: Context, a: Value) -> Value:
    """`np.ndim(a)`."""
    return Known(np.ndim(a.obj)) if isinstance(a, Known) else facts.ndim(ctx, _as_array(ctx, a))


def size(ctx: Context, a: Value, axis: Value = NONE) -> Value:
    """`np.size(a, axis)`."""
    if isinstance(a, Known):
        return Known(np.size(a.obj, ctx.known(axis)))
    a = _as_array(ctx, a)
    if not given(axis):
        return facts.size(ctx, a)
    if facts.rank(ctx, a) is None:
        ctx.refuse("`np.size(a, axis)` of an array whose rank is known at run time only", "use np.size(a)")
    return facts.dim(ctx, a, ctx.known(axis))


def is_scalar(ctx: Context, element: Value) -> Value:
    """`np.isscalar(x)`."""
    if isinstance(element, Known):
        return Known(np.isscalar(element.obj))
    found = facts.types_of(ctx, element)
    if found is None or len({issubclass(t, np.ndarray | tuple | list | dict) for t in found}) != 1:
        ctx.refuse("`np.isscalar` of a value whose type is known at run time only", "use np.ndim(x) == 0")
    return Known(facts.scalar_style(ctx, element) is not None)


def _kind_question(fn: Any, kinds: str) -> Handler:
    def handler(ctx: Context, x: Value) -> Value:
        if isinstance(x, Known):
            return Known(bool(fn(x.obj)))
        dtype = facts.dtype_of(ctx, _as_array(ctx, x))
        if dtype is None:
            ctx.refuse(f"`{name_of(fn)}` of a value whose dtype is known at run time only", "name the dtype")
        return Known(dtype.kind in kinds)

    return handler


def result_type(ctx: Context, *operands: Value) -> Value:
    """`np.result_type(...)`."""
    if all(isinstance(v, Known) for v in operands):
        return Known(np.result_type(*[v.obj for v in operands if isinstance(v, Known)]))
    styles: list[Array | Scalar] = []
    for value in operands:
        style = numeric(ctx.style(value))
        if isinstance(value, Known) and not isinstance(style, Scalar):
            style = Scalar(np.dtype(value.obj), False)
        if not isinstance(style, Array | Scalar):
            ctx.refuse("`np.result_type` of a value of unknown dtype", "name the dtype")
        styles.append(style)
    found = result_dtype(styles)
    if found is None:
        ctx.refuse("`np.result_type` of a value of unknown dtype", "name the dtype")
    return Known(found)


def _folded(fn: Any) -> Handler:
    """A function of compile-time objects only."""

    def handler(ctx: Context, *args: Value, **kwargs: Value) -> Value:
        plain = [containers.plain_argument(ctx, v) for v in args]
        named = {k: containers.plain_argument(ctx, v) for k, v in kwargs.items()}
        if any(v is prelude.MISSING for v in [*plain, *named.values()]):
            ctx.refuse(f"`{name_of(fn)}` of run-time values", "compute it outside the function")
        try:
            return containers.constant(ctx, fn(*plain, **named))
        except (TypeError, ValueError) as error:
            ctx.refuse(f"`{name_of(fn)}`: {error}", "the call always raises this")

    return handler


def broadcast_shapes(ctx: Context, *shapes: Value) -> Value:
    """`np.broadcast_shapes(...)`."""
    if all(containers.plain_argument(ctx, s) is not prelude.MISSING for s in shapes):
        return _folded(np.broadcast_shapes)(ctx, *shapes)
    return emit(ctx, np.broadcast_shapes, *shapes)


def shares(ctx: Context, a: Value, b: Value, max_work: Value = NONE) -> Value:
    """`np.shares_memory`, `np.may_share_memory`: generated code shares otherwise."""
    ctx.refuse("whether arrays share memory is not kept in generated code", "compare the arrays by value")


def _refused(code: str) -> Handler:
    return effect_calls.refused(*refusal(code))


FUNCTIONS: dict[Any, Handler] = {
    np.shape: shape,
    np.ndim: ndim,
    np.size: size,
    np.isscalar: is_scalar,
    np.iscomplexobj: _kind_question(np.iscomplexobj, "c"),
    np.isrealobj: _kind_question(np.isrealobj, "biuf"),
    np.result_type: result_type,
    np.common_type: result_type,
    np.broadcast_shapes: broadcast_shapes,
    np.shares_memory: shares,
    np.may_share_memory: shares,
    np.nditer: _refused("nditer"),
    np.lib.stride_tricks.as_strided: _refused("as_strided"),
    np.frompyfunc: effect_calls.refused("`np.frompyfunc` makes arrays of objects",
                                    "use np.vectorize or pullback.broadcast"),
    np.frombuffer: effect_calls.refused("`np.frombuffer` reads raw memory", "make the array outside the function"),
    **{fn: _folded(fn) for fn in (
        np.dtype, np.finfo, np.iinfo, np.issubdtype, np.can_cast, np.promote_types, np.min_scalar_type, np.isdtype,
        chr, ord, hex, oct, bin, ascii, bytes,
    )},
}  # fmt: skip
