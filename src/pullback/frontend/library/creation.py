"""Arrays made from numbers, lists and one another: `np.array`, `np.asarray`, `np.full`, grids."""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.frontend.context import Context
from pullback.frontend.library import facts, iteration, numpy_calls, prelude, scalars
from pullback.frontend.library.calls import NONE, Handler, emit, given, inline, is_array, operation
from pullback.frontend.values import CellRef, IterValue, Known, ListCell, TupleValue, Value
from pullback.ir import core_ops as core


def array(
    ctx: Context,
    object: Value,
    dtype: Value = NONE,
    *,
    copy: Value = Known(True),
    order: Value = Known("K"),
    subok: Value = Known(False),
    ndmin: Value = Known(0),
    like: Value = NONE,
) -> Value:
    """`np.array(object, dtype)`: a new array, of nested lists with active numbers and arrays too."""
    _check_layout(ctx, order, "np.array")
    least = ctx.known(ndmin)
    keep = ctx.known(copy) in (None, False)
    made = _as_array(ctx, object, dtype) if keep else _new_array(ctx, object, dtype)
    rank = facts.rank(ctx, made)
    if not least:
        return made
    if rank is None:
        ctx.refuse(
            "`np.array(ndmin=...)` of an array whose rank is known at run time only", "use np.atleast_2d"
        )
    if rank < least:
        made = numpy_calls.call(ctx, np.expand_dims, [made, Known(tuple(range(least - rank)))], {})
    return made


def asarray(
    ctx: Context, a: Value, dtype: Value = NONE, order: Value = NONE, *, copy: Value = NONE, device: Value = NONE,
    like: Value = NONE,
) -> Value:  # fmt: skip
    """`np.asarray(a, dtype)`: the array itself where it is one of that dtype."""
    _check_layout(ctx, order, "np.asarray")
    return _new_array(ctx, a, dtype) if given(copy) and ctx.known(copy) else _as_array(ctx, a, dtype)


def _check_layout(ctx: Context, order: Value, name: str) -> None:
    if ctx.known(order) not in (None, "K", "C"):
        ctx.refuse(f"`{name}(order={ctx.known(order)!r})`", "leave the order out")


def _as_array(ctx: Context, value: Value, dtype: Value) -> Value:
    if not is_array(value) or facts.array_style(ctx, value) is None:
        return _new_array(ctx, value, dtype)
    if not given(dtype):
        return value
    target, source = scalars.dtype_argument(ctx, dtype), facts.dtype_of(ctx, value)
    if source == target:
        return value
    if source is None:
        return ctx.call(core.cast, [value, Known(target)])
    return scalars.converted(ctx, value, target)


def _new_array(ctx: Context, value: Value, dtype: Value) -> Value:
    value = _listed(ctx, value)
    if is_array(value) and facts.array_style(ctx, value) is not None:
        if given(dtype):
            return scalars.converted(ctx, value, scalars.dtype_argument(ctx, dtype))
        return ctx.call(core.copy, [value])
    _check_items(ctx, value)
    if given(dtype):
        return emit(ctx, np.array, value, dtype=Known(scalars.dtype_argument(ctx, dtype)))
    return emit(ctx, np.array, value)


def _listed(ctx: Context, value: Value) -> Value:
    """A range as NumPy takes it; other iterators are refused as NumPy would make objects of them."""
    if not isinstance(value, IterValue):
        return value
    if value.range_ is not None:
        return ctx.wrap(ctx.builder.call(operation(np.arange), *value.range_, hint="r"))
    ctx.refuse("`np.array` of an iterator", "NumPy does not run over iterators: pass list(...)")


def _check_items(ctx: Context, value: Value) -> None:
    """Refuse what NumPy would put into an object array."""
    if isinstance(value, CellRef):
        cell = ctx.cell(value)
        items = cell.items if isinstance(cell, ListCell) else ()
        if not isinstance(cell, ListCell) and facts.types_of(ctx, value) != (list,):
            ctx.refuse(
                "`np.array` of an object that is neither a list nor an array", "pass a list of its values"
            )
    elif isinstance(value, TupleValue):
        items = value.items
    elif isinstance(value, Known):
        _check_constant(ctx, value.obj)
        return
    else:
        return
    for item in items:
        _check_items(ctx, item)


def _check_constant(ctx: Context, obj: Any) -> None:
    if isinstance(obj, int | float | complex | np.generic | np.ndarray):
        return
    if isinstance(obj, list | tuple):
        for item in obj:
            _check_constant(ctx, item)
        return
    ctx.refuse(f"`np.array` of {type(obj).__name__} would be an array of objects or text", "use a list")


def copy(ctx: Context, a: Value, order: Value = Known("K"), subok: Value = Known(False)) -> Value:
    """`np.copy(a)`."""
    return _new_array(ctx, a, NONE)


def contiguous(ctx: Context, a: Value, dtype: Value = NONE, *, like: Value = NONE) -> Value:
    """`np.ascontiguousarray(a)`: the array itself where it is proved contiguous."""
    style = facts.array_style(ctx, a)
    if style is not None and style.contiguous and style.rank and not given(dtype):
        return a
    if style is None or not given(dtype):
        return emit(ctx, np.ascontiguousarray, _as_array(ctx, a, dtype))
    return emit(ctx, np.ascontiguousarray, a, dtype=Known(scalars.dtype_argument(ctx, dtype)))


def astype(
    ctx: Context, x: Value, dtype: Value, /, *, copy: Value = Known(True), device: Value = NONE
) -> Value:
    """`np.astype(x, dtype)`."""
    return _new_array(ctx, x, dtype) if ctx.known(copy) else _as_array(ctx, x, dtype)


def _filled(fn: Any) -> Handler:
    """A creation function whose options are checked, and given on by name."""

    def handler(ctx: Context, *args: Value, **kwargs: Value) -> Value:
        named = dict(kwargs)
        for name in ("like", "device", "subok"):
            if name in named and not given(named[name]):
                del named[name]
        at = _DTYPE_AT.get(fn)
        values = list(args)
        if at is not None and len(values) > at and given(values[at]):
            values[at] = Known(scalars.dtype_argument(ctx, values[at]))
        return numpy_calls.call(ctx, fn, values, named)

    return handler


def ndarray(
    ctx: Context,
    shape: Value,
    dtype: Value = NONE,
    buffer: Value = NONE,
    offset: Value = Known(0),
    strides: Value = NONE,
    order: Value = NONE,
) -> Value:
    """`np.ndarray(shape, dtype)`: what `np.empty` gives."""
    if given(buffer) or given(strides) or ctx.known(offset) != 0:
        ctx.refuse(
            "`np.ndarray` over a buffer or with strides", "make it with np.empty, np.reshape or a slice"
        )
    _check_layout(ctx, order, "np.ndarray")
    return FUNCTIONS[np.empty](ctx, shape, **({"dtype": dtype} if given(dtype) else {}))


_DTYPE_AT = {
    np.zeros: 1, np.ones: 1, np.empty: 1, np.full: 2, np.zeros_like: 1, np.ones_like: 1, np.empty_like: 1,
    np.full_like: 2, np.eye: 3, np.identity: 1, np.arange: 3,
}  # fmt: skip


def meshgrid(
    ctx: Context,
    *xi: Value,
    copy: Value = Known(True),
    sparse: Value = Known(False),
    indexing: Value = Known("xy"),
) -> Value:
    """`np.meshgrid(...)`: new arrays (`copy=False` would be views of one another)."""
    if not ctx.known(copy):
        ctx.refuse("`np.meshgrid(copy=False)`", "leave the option out")
    out = ctx.call(operation(np.meshgrid), xi, {"sparse": sparse, "indexing": indexing})
    return ctx.new_cell(ListCell(out.items)) if isinstance(out, TupleValue) else out


def _parts(fn: Any) -> Handler:
    """A function that returns a list of arrays."""

    def handler(ctx: Context, *args: Value, **kwargs: Value) -> Value:
        out = numpy_calls.call(ctx, fn, args, kwargs)
        return ctx.new_cell(ListCell(out.items)) if isinstance(out, TupleValue) else out

    return handler


_NEW = Known(None)
_ALL = Known(slice(None))
_LIFTED: dict[tuple[int, int], tuple[Value, ...]] = {  # (wanted rank, rank): the index that adds the axes
    (1, 0): (_NEW,),
    (2, 0): (_NEW, _NEW),
    (2, 1): (_NEW, _ALL),
    (3, 0): (_NEW, _NEW, _NEW),
    (3, 1): (_NEW, _ALL, _NEW),
    (3, 2): (_ALL, _ALL, _NEW),
}


def _at_least(fn: Any, wanted: int) -> Handler:
    """`np.atleast_1d` and its kin: the array itself, or a view with more axes."""

    def handler(ctx: Context, *arrays: Value) -> Value:
        out = [_lifted(ctx, fn, wanted, _as_array(ctx, a, NONE)) for a in arrays]
        return out[0] if len(out) == 1 else TupleValue(tuple(out))

    return handler


def _lifted(ctx: Context, fn: Any, wanted: int, array: Value) -> Value:
    rank = facts.rank(ctx, array)
    if rank is None:
        return emit(ctx, fn, array)
    return array if rank >= wanted else ctx.subscript(array, TupleValue(_LIFTED[wanted, rank]))


def ndindex(ctx: Context, *shape: Value) -> Value:
    """`np.ndindex(2, 3)`: the index tuples."""
    lengths = list(shape[0].items) if len(shape) == 1 and isinstance(shape[0], TupleValue) else list(shape)
    if all(isinstance(n, Known) for n in lengths):
        found = np.ndindex(*[n.obj for n in lengths if isinstance(n, Known)])
        return TupleValue(tuple(TupleValue(tuple(Known(i) for i in index)) for index in found))
    return iteration.product_(ctx, [iteration.range_(ctx, n) for n in lengths])


def ndenumerate(ctx: Context, arr: Value) -> Value:
    """`np.ndenumerate(x)`: the index tuples and the numbers."""
    lengths = facts.shape(ctx, arr)
    if not isinstance(lengths, TupleValue):
        ctx.refuse("`np.ndenumerate` of an array of unknown rank", "loop over np.ravel(x)")
    places = iteration.product_(ctx, [iteration.range_(ctx, n) for n in lengths.items])

    def item(number: Value) -> Value:
        index = places.item(number)
        return TupleValue((index, ctx.subscript(arr, index)))

    return IterValue(places.length, item)


def fromiter(
    ctx: Context, iter: Value, dtype: Value, count: Value = Known(-1), *, like: Value = NONE
) -> Value:
    """`np.fromiter(items, dtype)`."""
    items = iteration.items_of(ctx, iter)
    source = TupleValue(tuple(items)) if items is not None else inline(ctx, prelude.collect, iter)
    return emit(ctx, np.array, source, dtype=Known(scalars.dtype_argument(ctx, dtype)))


FUNCTIONS: dict[Any, Handler] = {
    np.array: array,
    np.asarray: asarray,
    np.asanyarray: asarray,
    np.copy: copy,
    np.ascontiguousarray: contiguous,
    np.meshgrid: meshgrid,
    np.ndindex: ndindex,
    np.ndenumerate: ndenumerate,
    np.atleast_1d: _at_least(np.atleast_1d, 1),
    np.atleast_2d: _at_least(np.atleast_2d, 2),
    np.atleast_3d: _at_least(np.atleast_3d, 3),
    np.fromiter: fromiter,
    np.ndarray: ndarray,
    **{fn: _filled(fn) for fn in _DTYPE_AT},
    **{fn: _parts(fn) for fn in (np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit)},
}
if hasattr(np, "astype"):
    FUNCTIONS[np.astype] = astype
