"""Arrays made of several: array, asarray, copies, concatenate and its kin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Alias, Call
from pullback.rules.ops.infer import (
    FALSE,
    NONE,
    ORDER_K,
    TRUE,
    UNKNOWN,
    ZERO,
    Axes,
    array,
    axes_of,
    contiguous,
    known,
    known_dtype,
    normal_axis,
    one_like,
    product_axis,
    sum_axis,
)
from pullback.rules.registry import declare
from pullback.styles.broadcast import array_of_sequence, as_array, result_dtype
from pullback.styles.style import (
    Array,
    Axis,
    ListOf,
    Scalar,
    Static,
    Style,
    Tup,
    fresh_dim,
    is_one,
    max_kind,
    not_one,
    shorten,
)

# ------------------------------------------------------------------------------------- one array from another


def _converted(a: Style, dtype: Style, is_contiguous: bool) -> Array:
    one = as_array(a)
    asked = known_dtype(dtype)
    if asked is UNKNOWN:
        return array(None, axes_of(a), is_contiguous)
    return array(one.dtype if asked is None else asked, axes_of(a), is_contiguous, one.kind)


def _array_style(
    object: Style,
    dtype: Style = NONE,
    *,
    copy: Style = TRUE,
    order: Style = ORDER_K,
    subok: Style = FALSE,
    ndmin: Style = ZERO,
    ndmax: Style = NONE,
    like: Style = NONE,
) -> Style:
    made = _converted(object, dtype, contiguous(object))
    least = known(ndmin)
    if least == 0:
        return made
    if made.axes is None or not isinstance(least, int):
        return array(made.dtype, None)
    return array(made.dtype, (1,) * (least - len(made.axes)) + made.axes, made.contiguous, made.kind)


def _asarray_style(
    a: Style,
    dtype: Style = NONE,
    order: Style = NONE,
    *,
    device: Style = NONE,
    copy: Style = NONE,
    like: Style = NONE,
) -> Style:
    return _converted(a, dtype, contiguous(a))


def _array_alias(call: Call) -> Alias:
    copy = dict(call.kwargs).get("copy")
    if copy is None or known(style_of(copy)) is True:
        return Alias()
    return _asarray_alias(call)


def _asarray_alias(call: Call) -> Alias:
    """The operand itself where it is an array of the dtype asked for."""
    style = style_of(call.args[0])
    if not isinstance(style, Array):
        return Alias()
    options = dict(call.kwargs)
    dtype = call.args[1] if len(call.args) > 1 else options.get("dtype")
    asked = None if dtype is None else known_dtype(style_of(dtype))
    copy = options.get("copy")
    if copy is not None and known(style_of(copy)) is True:
        return Alias()
    if style.dtype is not None and isinstance(asked, np.dtype) and asked != style.dtype:
        return Alias()
    return Alias("same", (0,))


def _copy_style(a: Style, order: Style = ORDER_K, subok: Style = FALSE) -> Style:
    flat = contiguous(a) or known(order) == "C"
    return _converted(a, NONE, flat)


def _ascontiguous_style(a: Style, dtype: Style = NONE, *, like: Style = NONE) -> Style:
    made = _converted(a, dtype, True)
    return array(made.dtype, (1,) if made.axes == () else made.axes, True, made.kind)


def _asfortran_style(a: Style, dtype: Style = NONE, *, like: Style = NONE) -> Style:
    made = _converted(a, dtype, False)
    axes: Axes = (1,) if made.axes == () else made.axes
    return array(made.dtype, axes, axes is not None and len(axes) == 1, made.kind)


def _maybe_alias(call: Call) -> Alias:
    return Alias("maybe", (0,)) if isinstance(style_of(call.args[0]), Array) else Alias()


def _astype_style(x: Style, dtype: Style, /, *, copy: Style = TRUE, device: Style = NONE) -> Style:
    return _converted(x, dtype, contiguous(x))


def _astype_alias(call: Call) -> Alias:
    copy = dict(call.kwargs).get("copy")
    if copy is None or known(style_of(copy)) is True:
        return Alias()
    return _asarray_alias(call)


# -------------------------------------------------------------------------------------------- joining several


def items_of(arrays: Style) -> tuple[Style, ...] | None:
    """The arrays of a sequence operand; None where their number is unknown."""
    if isinstance(arrays, Tup):
        return arrays.items
    if isinstance(arrays, Static) and isinstance(arrays.value, tuple | list):
        return tuple(Static(v) for v in arrays.value)
    if isinstance(arrays, Array) and arrays.axes and isinstance(arrays.axes[0], int):
        return (array(arrays.dtype, arrays.axes[1:], arrays.contiguous, arrays.kind),) * arrays.axes[0]
    return None


def _item_of_unknown(arrays: Style) -> Style:
    if isinstance(arrays, ListOf):
        return arrays.elem
    one = as_array(arrays)
    if isinstance(one, Array) and one.axes:
        return array(one.dtype, one.axes[1:], one.contiguous, one.kind)
    return Array(one.dtype, None, False, one.kind)


def _joined_dtype(items: Sequence[Style], dtype: Style = NONE) -> tuple[Any, str]:
    asked = known_dtype(dtype)
    if asked is UNKNOWN:
        return None, "c"
    if asked is not None:
        return asked, "c"
    parts = [_strong(as_array(s)) for s in items]
    top = "b"
    for s in parts:
        top = max_kind(top, s.kind)
    return result_dtype(parts), top


def _strong(style: Array | Scalar) -> Array | Scalar:
    return Scalar(style.dtype, False, style.kind) if isinstance(style, Scalar) else style


def _join(items: Sequence[Style], axes_all: list[Axes], axis: int, dtype: Style) -> Style:
    """Concatenation of arrays with these axes along one of them."""
    kind_dtype, top = _joined_dtype(items, dtype)
    flat = all(contiguous(s) for s in items)
    ranks = {len(a) for a in axes_all if a is not None}
    if None in axes_all or len(ranks) != 1:
        return array(kind_dtype, None, False, top)
    (rank,) = ranks
    at = normal_axis(axis, rank)
    if at is None:
        raise TypeError("axis out of range")
    known_axes = [a for a in axes_all if a is not None]
    made = [
        _agree([a[i] for a in known_axes]) if i != at else sum_axis([a[i] for a in known_axes])
        for i in range(rank)
    ]
    return array(kind_dtype, tuple(made), flat or rank == 1, top)


def _agree(axes: Sequence[Axis]) -> Axis:
    """Axes that must be of one length: the one of which most is known."""
    for a in axes:
        if isinstance(a, int):
            return a
    return next((a for a in axes if not_one(a)), axes[0])


def _unknown_count(arrays: Style, item_axes: Axes, axis: Any, dtype: Style) -> Style:
    kind_dtype, top = _joined_dtype([_item_of_unknown(arrays)], dtype)
    at = normal_axis(axis, len(item_axes)) if item_axes is not None and isinstance(axis, int) else None
    if item_axes is None or at is None:
        return array(kind_dtype, None, False, top)
    made = tuple(fresh_dim() if i == at else a for i, a in enumerate(item_axes))
    return array(kind_dtype, made, len(made) == 1, top)


def _concatenate_style(
    arrays: Style, /, axis: Style = ZERO, out: Style = NONE, *, dtype: Style = NONE, casting: Style = NONE
) -> Style:
    items, at = items_of(arrays), known(axis)
    if items is None:
        return _unknown_count(arrays, axes_of(_item_of_unknown(arrays)), at, dtype)
    if at is None:
        kind_dtype, top = _joined_dtype(items, dtype)
        axes_all = [axes_of(s) for s in items]
        length = sum_axis([fresh_dim() if a is None else product_axis(a) for a in axes_all])
        return array(kind_dtype, (length,), True, top)
    if not isinstance(at, int):
        return array(_joined_dtype(items, dtype)[0], one_like(axes_of(items[0])))
    return _join(items, [axes_of(s) for s in items], at, dtype)


def _stack_style(
    arrays: Style, axis: Style = ZERO, out: Style = NONE, *, dtype: Style = NONE, casting: Style = NONE
) -> Style:
    items, at = items_of(arrays), known(axis)
    first = axes_of(_item_of_unknown(arrays) if items is None else items[0])
    if first is None or not isinstance(at, int):
        return array(_joined_dtype(items or [_item_of_unknown(arrays)], dtype)[0], None)
    where = normal_axis(at, len(first) + 1)
    if where is None:
        raise TypeError("axis out of range")
    count: Axis = fresh_dim() if items is None else len(items)
    kind_dtype, top = _joined_dtype(items or [_item_of_unknown(arrays)], dtype)
    all_axes = [axes_of(s) for s in items] if items is not None else [first]
    if any(a is None or len(a) != len(first) for a in all_axes):
        return array(kind_dtype, None, False, top)
    rest = [_agree([a[i] for a in all_axes if a is not None]) for i in range(len(first))]
    flat = where == 0 or all(contiguous(s) for s in items or ())
    return array(kind_dtype, (*rest[:where], count, *rest[where:]), flat, top)


def _at_least(axes: Axes, rank: int) -> Axes:
    if axes is None or len(axes) >= rank:
        return axes
    if rank == 3:
        return {0: (1, 1, 1), 1: (1, *axes, 1), 2: (*axes, 1)}[len(axes)]
    return (1,) * (rank - len(axes)) + axes


def _hstack_style(tup: Style, *, dtype: Style = NONE, casting: Style = NONE) -> Style:
    items = items_of(tup)
    first = _at_least(axes_of(_item_of_unknown(tup) if items is None else items[0]), 1)
    axis = 0 if first is not None and len(first) == 1 else 1
    if items is None:
        return _unknown_count(tup, first, axis, dtype)
    return _join(items, [_at_least(axes_of(s), 1) for s in items], axis, dtype)


def _vstack_style(tup: Style, *, dtype: Style = NONE, casting: Style = NONE) -> Style:
    items = items_of(tup)
    if items is None:
        return _unknown_count(tup, _at_least(axes_of(_item_of_unknown(tup)), 2), 0, dtype)
    return _join(items, [_at_least(axes_of(s), 2) for s in items], 0, dtype)


def _dstack_style(tup: Style) -> Style:
    items = items_of(tup)
    if items is None:
        return _unknown_count(tup, _at_least(axes_of(_item_of_unknown(tup)), 3), 2, NONE)
    return _loose(_join(items, [_at_least(axes_of(s), 3) for s in items], 2, NONE))


def _column_stack_style(tup: Style) -> Style:
    items = items_of(tup)

    def columns(axes: Axes) -> Axes:
        return {0: (1, 1), 1: (*axes, 1)}.get(len(axes), axes) if axes is not None else None

    if items is None:
        return _unknown_count(tup, columns(axes_of(_item_of_unknown(tup))), 1, NONE)
    return _loose(_join(items, [columns(axes_of(s)) for s in items], 1, NONE))


def _loose(style: Style) -> Style:
    """The pieces are views with axes of length one, whose joint layout NumPy may choose freely."""
    assert isinstance(style, Array)
    return array(style.dtype, style.axes, False, style.kind)


def _append_style(arr: Style, values: Style, axis: Style = NONE) -> Style:
    return _concatenate_style(Tup((arr, values)), axis)


def _block_style(arrays: Style) -> Style:
    rows = items_of(arrays)
    if not isinstance(arrays, Tup) or rows is None:
        made = as_array(arrays)
        return array(made.dtype, axes_of(arrays), False, made.kind)
    depth, leaves = _depth(arrays)
    ranks = [axes_of(s) for s in leaves]
    kind_dtype, top = _joined_dtype(leaves)
    if any(r is None for r in ranks):
        return array(kind_dtype, None, False, top)
    rank = max(depth, *(len(r) for r in ranks if r is not None))
    axes = _block_axes(arrays, depth, rank)
    return array(kind_dtype, axes, rank == 1, top)


def _depth(arrays: Style) -> tuple[int, list[Style]]:
    if not isinstance(arrays, Tup):
        return 0, [arrays]
    inner = [_depth(s) for s in arrays.items]
    return 1 + max(d for d, _ in inner), [leaf for _, leaves in inner for leaf in leaves]


def _block_axes(arrays: Style, depth: int, rank: int) -> tuple[Axis, ...]:
    if not isinstance(arrays, Tup):
        own = axes_of(arrays)
        assert own is not None
        return (1,) * (rank - len(own)) + own
    inner = [_block_axes(s, depth - 1, rank) for s in arrays.items]
    at = rank - depth
    return tuple(
        sum_axis([a[i] for a in inner]) if i == at else _agree([a[i] for a in inner]) for i in range(rank)
    )


def _delete_style(arr: Style, obj: Style, axis: Style = NONE) -> Style:
    axes, at = axes_of(arr), known(axis)
    one = as_array(arr)
    if at is None:
        axes = None if axes is None else (product_axis(axes),)
        at = 0
    where = normal_axis(at, len(axes)) if axes is not None and isinstance(at, int) else None
    if axes is None or where is None:
        return array(one.dtype, one_like(axes), False, one.kind)
    length = shorten(axes[where], 1) if isinstance(known(obj), int) else fresh_dim()
    return array(one.dtype, (*axes[:where], length, *axes[where + 1 :]), len(axes) == 1, one.kind)


def _insert_style(arr: Style, obj: Style, values: Style, axis: Style = NONE) -> Style:
    axes = axes_of(arr)
    one = as_array(arr)
    if known(axis) is None:
        return array(one.dtype, (fresh_dim(),), True, one.kind)
    return array(one.dtype, one_like(axes), False, one.kind)


def _is_single(axis: Axis) -> bool:
    return is_one(axis)


def _declare_all() -> None:
    declare(np.array, style=_array_style, alias=_array_alias)
    declare(np.asarray, style=_asarray_style, alias=_asarray_alias, cheap=True)
    declare(np.asanyarray, style=_asarray_style, alias=_asarray_alias, cheap=True)
    declare(np.asarray_chkfinite, style=_asarray_style, alias=_maybe_alias)
    declare(np.ascontiguousarray, style=_ascontiguous_style, alias=_maybe_alias)
    declare(np.asfortranarray, style=_asfortran_style, alias=_maybe_alias)
    declare(np.copy, style=_copy_style)
    if hasattr(np, "astype"):
        declare(np.astype, style=_astype_style, alias=_astype_alias)
    declare(np.concatenate, style=_concatenate_style)
    declare(np.stack, style=_stack_style)
    declare(np.hstack, style=_hstack_style)
    declare(np.vstack, style=_vstack_style)
    declare(np.dstack, style=_dstack_style)
    declare(np.column_stack, style=_column_stack_style)
    declare(np.append, style=_append_style)
    declare(np.block, style=_block_style)
    declare(np.delete, style=_delete_style)
    declare(np.insert, style=_insert_style)


_declare_all()
__all__ = ["array_of_sequence", "items_of"]
