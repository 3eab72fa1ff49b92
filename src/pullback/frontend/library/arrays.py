"""Methods and attributes of arrays and NumPy scalars.

A method that is a function of NumPy under another name is a row of `SAME`: the call is the function's, so it has one
rule.  Methods that write go through `mutation.py`; what would hand out raw memory is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.frontend.context import Context
from pullback.frontend.library import facts, indexing, mutation, numpy_calls, prelude, scalars
from pullback.frontend.library.calls import NONE, Args, Handler, Kwargs, emit, given, inline, invoke, is_array
from pullback.frontend.refusals import refusal
from pullback.frontend.values import BoundMethod, Known, TupleValue, Value
from pullback.ir import core_ops as core

SAME: dict[str, Any] = {
    "all": np.all,
    "any": np.any,
    "argmax": np.argmax,
    "argmin": np.argmin,
    "argpartition": np.argpartition,
    "argsort": np.argsort,
    "choose": np.choose,
    "cumprod": np.cumprod,
    "cumsum": np.cumsum,
    "diagonal": np.diagonal,
    "dot": np.dot,
    "max": np.max,
    "mean": np.mean,
    "min": np.min,
    "prod": np.prod,
    "ravel": np.ravel,
    "repeat": np.repeat,
    "round": np.round,
    "searchsorted": np.searchsorted,
    "squeeze": np.squeeze,
    "std": np.std,
    "sum": np.sum,
    "swapaxes": np.swapaxes,
    "take": np.take,
    "trace": np.trace,
    "var": np.var,
}

REFUSED: dict[str, tuple[str, str]] = {
    "resize": ("`.resize` changes the array's memory", "use np.resize or np.concatenate"),
    "setflags": ("`.setflags`", "leave the flags as they are"),
    "setfield": ("`.setfield` writes raw memory", "assign to x[...] or to x.real"),
    "getfield": ("`.getfield` reads raw memory", "index the array"),
    "byteswap": ("`.byteswap`", "convert with .astype"),
    "newbyteorder": ("`.newbyteorder`", "convert with .astype"),
    "partition": ("`.partition` in place", "use x[...] = np.partition(x, k)"),
    "tofile": ("`.tofile`", "write files outside the function"),
    "tobytes": ("`.tobytes`", "make bytes outside the function"),
    "dump": ("`.dump`", "write files outside the function"),
    "dumps": ("`.dumps`", "make bytes outside the function"),
    "flat": refusal("flat"),
    "data": ("`.data` is raw memory", "index the array"),
    "ctypes": ("`.ctypes` is raw memory", "index the array"),
    "strides": ("`.strides`", "use the shape"),
    "base": ("`.base`", "keep a name for the array"),
    "flags": ("`.flags`", "use np.ascontiguousarray where the layout matters"),
    "__array_interface__": ("raw memory", "index the array"),
}


# -------------------------------------------------------------------------------------------------------- methods


def reshape(ctx: Context, x: Value, *shape: Value, order: Value = Known("C")) -> Value:
    """`x.reshape(2, 3)`, `x.reshape((2, 3))`."""
    target = shape[0] if len(shape) == 1 else TupleValue(shape)
    extra = {} if isinstance(order, Known) and order.obj == "C" else {"order": order}
    return numpy_calls.call(ctx, np.reshape, [x, target], extra)


def transpose(ctx: Context, x: Value, *axes: Value) -> Value:
    """`x.transpose()`, `x.transpose(1, 0)`, `x.transpose((1, 0))`."""
    if not axes:
        return numpy_calls.call(ctx, np.transpose, [x], {})
    return numpy_calls.call(ctx, np.transpose, [x, axes[0] if len(axes) == 1 else TupleValue(axes)], {})


def copy(ctx: Context, x: Value, order: Value = Known("C")) -> Value:
    """`x.copy()`: a new storage."""
    return ctx.call(core.copy, [x]) if facts.rank(ctx, x) != 0 or is_array(x) else x


def flatten(ctx: Context, x: Value, order: Value = Known("C")) -> Value:
    """`x.flatten()`: a new storage."""
    return ctx.call(core.copy, [numpy_calls.call(ctx, np.ravel, [x], {"order": order})])


def astype(
    ctx: Context,
    x: Value,
    dtype: Value,
    order: Value = Known("K"),
    casting: Value = Known("unsafe"),
    subok: Value = Known(True),
    copy: Value = Known(True),
) -> Value:
    """`x.astype(dtype)`: a new storage, unless `copy=False` and the dtype is the same."""
    target = scalars.dtype_argument(ctx, dtype)
    source = facts.dtype_of(ctx, x)
    if not ctx.known(copy):
        if source == target:
            return x
        if source is None:
            ctx.refuse(
                "`astype(copy=False)` of an array whose dtype is known at run time only", "drop copy=False"
            )
    rule = ctx.known(casting)
    if rule != "unsafe" and (source is None or not np.can_cast(source, target, rule)):
        ctx.refuse(f"`astype(casting={rule!r})` from {source} to {target}", "NumPy raises TypeError here")
    return scalars.converted(ctx, x, target)


def clip(ctx: Context, x: Value, min: Value = NONE, max: Value = NONE, out: Value = NONE) -> Value:
    """`x.clip(min=0.0)`: np.clip takes its bounds by these names from NumPy 2.1 on only."""
    return numpy_calls.call(ctx, np.clip, [x, min, max], {"out": out} if given(out) else {})


def compress(ctx: Context, x: Value, condition: Value, axis: Value = NONE, out: Value = NONE) -> Value:
    """`x.compress(condition, axis)`."""
    return numpy_calls.call(ctx, np.compress, [condition, x, axis], {"out": out} if given(out) else {})


def to_list(ctx: Context, x: Value) -> Value:
    """`x.tolist()`."""
    if facts.rank(ctx, x) is None:
        ctx.refuse("`tolist` of an array whose rank is known at run time only", "index the array instead")
    return inline(ctx, prelude.to_list, x)


def item(ctx: Context, x: Value, *index: Value) -> Value:
    """`x.item()`."""
    return scalars.item(ctx, x, *index)


def itemset(ctx: Context, x: Value, *args: Value) -> Value:
    """`x.itemset(i, v)` (gone from NumPy 2)."""
    ctx.refuse("`.itemset` is gone from NumPy 2", "write x[i] = v")


def conjugate(ctx: Context, x: Value) -> Value:
    """`x.conjugate()`: of a Python number a Python number."""
    style = facts.scalar_style(ctx, x)
    if style is None or style.weak is False:
        return numpy_calls.call(ctx, np.conjugate, [x], {})
    if style.weak is None:
        ctx.refuse(
            "`conjugate` of a number that is Python's on one path and NumPy's on another", "convert it first"
        )
    return x if style.kind != "c" else scalars.complex_(ctx, emit(ctx, np.conjugate, x))


def is_integer(ctx: Context, x: Value) -> Value:
    """`x.is_integer()` of a number."""
    return inline(ctx, prelude.equal, x, emit(ctx, np.floor, x))


def view(ctx: Context, x: Value, *dtype: Value, **options: Value) -> Value:
    """`x.view()`: another name for the array; with a dtype it is refused."""
    if dtype or options:
        ctx.refuse(*refusal("view-dtype"))
    return ctx.subscript(x, Known(Ellipsis)) if is_array(x) else x


def to_device(ctx: Context, x: Value, device: Value) -> Value:
    """`x.to_device("cpu")`."""
    return x


METHODS: dict[str, Handler] = {
    "reshape": reshape,
    "transpose": transpose,
    "copy": copy,
    "__copy__": copy,
    "flatten": flatten,
    "astype": astype,
    "clip": clip,
    "compress": compress,
    "tolist": to_list,
    "item": item,
    "itemset": itemset,
    "is_integer": is_integer,
    "conj": conjugate,
    "conjugate": conjugate,
    "to_device": to_device,
    "fill": mutation.fill,
    "sort": mutation.sort_in_place,
    "put": mutation.put,
    "view": view,
    "nonzero": indexing.nonzero,
}


def method(ctx: Context, x: Value, name: str, args: Args, kwargs: Kwargs) -> Value:
    """Call a method of an array or NumPy scalar."""
    if name in METHODS:
        return invoke(ctx, f".{name}", METHODS[name], [x, *args], kwargs)
    if name in SAME:
        return numpy_calls.call(ctx, SAME[name], [x, *args], kwargs)
    if name in REFUSED:
        ctx.refuse(*REFUSED[name])
    ctx.refuse(f"arrays have no method `{name}` that is supported", "use a function of NumPy")


# ----------------------------------------------------------------------------------------------------- attributes


def _transposed(ctx: Context, x: Value) -> Value:
    if facts.rank(ctx, x) in (0, 1):
        return x
    return numpy_calls.call(ctx, np.transpose, [x], {})


def _matrix_transposed(ctx: Context, x: Value) -> Value:
    return numpy_calls.call(ctx, np.swapaxes, [x, Known(-1), Known(-2)], {})


def _real(ctx: Context, x: Value) -> Value:
    dtype = facts.dtype_of(ctx, x)
    if dtype is not None and dtype.kind != "c":
        return scalars.int_(ctx, x) if facts.types_of(ctx, x) == (bool,) else x
    return _part(ctx, x, np.real)


def _imag(ctx: Context, x: Value) -> Value:
    return _part(ctx, x, np.imag)


def _part(ctx: Context, x: Value, fn: Any) -> Value:
    style = facts.scalar_style(ctx, x)
    if style is None or style.weak is False:
        return numpy_calls.call(ctx, fn, [x], {})
    if style.weak is None:
        ctx.refuse(
            "a part of a number that is Python's on one path and NumPy's on another", "convert it first"
        )
    out = emit(ctx, fn, x)
    return scalars.float_(ctx, out) if style.kind in "fc" else scalars.int_(ctx, out)


def _bytes(ctx: Context, x: Value) -> Value:
    return inline(ctx, prelude.times, facts.size(ctx, x), _item_size(ctx, x))


def _item_size(ctx: Context, x: Value) -> Value:
    dtype = facts.dtype_of(ctx, x)
    if dtype is None:
        ctx.refuse("`itemsize` of an array whose dtype is known at run time only", "name the dtype")
    return Known(dtype.itemsize)


ATTRIBUTES: dict[str, Handler] = {
    "T": _transposed,
    "mT": _matrix_transposed,
    "shape": facts.shape,
    "ndim": facts.ndim,
    "size": facts.size,
    "dtype": facts.dtype,
    "real": _real,
    "imag": _imag,
    "nbytes": _bytes,
    "itemsize": _item_size,
}


def attribute(ctx: Context, x: Value, name: str) -> Value:
    """Read an attribute of an array or number; a method waits to be called."""
    if name in ATTRIBUTES:
        return ATTRIBUTES[name](ctx, x)
    if name in METHODS or name in SAME:
        return BoundMethod(x, name)
    if name in REFUSED:
        ctx.refuse(*REFUSED[name])
    ctx.refuse(f"arrays have no attribute `{name}` that is supported", "use a function of NumPy")
