"""Functions that move elements without computing: reshape, transpose, flip, roll, broadcast, tile, repeat."""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.ir import core_ops as core
from pullback.ir.core_ops import axis_of_length, shape_axes, style_of
from pullback.ir.nodes import Alias, Call, Operand
from pullback.rules.ops.infer import (
    FIRST_TWO,
    NONE,
    ONE,
    ORDER_C,
    UNKNOWN,
    ZERO,
    Axes,
    array,
    axes_of,
    contiguous,
    known,
    normal_axes,
    normal_axis,
    one_like,
    product_axis,
    quotient_axis,
)
from pullback.rules.registry import adopt, declare
from pullback.styles.broadcast import as_array, broadcast_axes
from pullback.styles.style import (
    INT64,
    Array,
    Axis,
    Dim,
    Scalar,
    Static,
    Style,
    Tup,
    fresh_dim,
    is_one,
    not_one,
    numeric,
)

VIEW = Alias("view", (0,))
MAYBE = Alias("maybe", (0,))


def like(a: Style, axes: Axes, is_contiguous: bool = False) -> Array:
    one = as_array(a)
    return array(one.dtype, axes, is_contiguous or (axes is not None and len(axes) == 0), one.kind)


def _is_array(operand: Operand) -> bool:
    return isinstance(style_of(operand), Array)


def _view(call: Call) -> Alias:
    """A view of an array; a fresh array of anything else."""
    return VIEW if _is_array(call.args[0]) else Alias()


def _view_if_contiguous(call: Call) -> Alias:
    style = style_of(call.args[0])
    if not isinstance(style, Array):
        return Alias()
    return VIEW if style.contiguous else MAYBE


# -------------------------------------------------------------------------------------------------- reshaping


def reshape_axes(axes: Axes, shape: Style) -> Axes:
    """The axes of `reshape(a, shape)`; -1 is what is left."""
    value = numeric(shape)
    entries = value.items if isinstance(value, Tup) else None
    if entries is None:
        plain = known(shape)
        if plain is not UNKNOWN and isinstance(plain, tuple | list):
            entries = tuple(Static(v) for v in plain)
        else:
            entries = (shape,)
    made: list[Axis | None] = [None if known(e) == -1 else _entry_axis(e) for e in entries]
    if None not in made:
        return tuple(a for a in made if a is not None)
    others = [a for a in made if a is not None]
    left = fresh_dim() if axes is None else quotient_axis(axes, others)
    return tuple(left if a is None else a for a in made)


def _entry_axis(entry: Style) -> Axis:
    return axis_of_length(entry)


def _reshape_style(
    a: Style,
    /,
    shape: Style = NONE,
    order: Style = ORDER_C,
    *,
    newshape: Style = NONE,
    copy: Style = NONE,
) -> Style:
    target = shape if shape != NONE else newshape
    if target == NONE:
        raise TypeError("reshape without a shape")
    value = numeric(target)
    if not isinstance(value, Tup) and shape_axes(target) is None and known(target) is UNKNOWN:
        return like(a, None)
    axes = reshape_axes(axes_of(a), target)
    if axes == ():
        return _rank_zero(a)
    plain = known(order) in ("C", "A", "K") and contiguous(a)
    return like(a, axes, (plain or (axes is not None and len(axes) <= 1 and contiguous(a))))


def _rank_zero(a: Style) -> Style:
    """NumPy scalars have these methods too, and stay scalars; Python numbers become arrays."""
    number = numeric(a)
    if isinstance(number, Scalar):
        return number if number.weak is False else like(a, () if number.weak else None)
    return like(a, ())


def _reshape_alias(call: Call) -> Alias:
    options = dict(call.kwargs)
    order = options.get("order") if len(call.args) < 3 else call.args[2]
    if order is not None and known(style_of(order)) != "C" and _is_array(call.args[0]):
        return MAYBE
    return _view_if_contiguous(call)


def _ravel_style(a: Style, order: Style = ORDER_C) -> Style:
    axes = axes_of(a)
    flat = known(order) == "C" or contiguous(a)
    return like(a, (fresh_dim() if axes is None else product_axis(axes),), flat)


def _ravel_alias(call: Call) -> Alias:
    return (
        _reshape_alias(Call(call.targets, call.op, (call.args[0],), call.kwargs))
        if len(call.args) == 1
        else MAYBE
    )


def _squeeze_style(a: Style, axis: Style = NONE) -> Style:
    axes, over = axes_of(a), known(axis)
    if axes == ():
        return _rank_zero(a)
    if axes is None or over is UNKNOWN:
        return like(a, None)
    if over is None:
        if any(not is_one(x) and not not_one(x) for x in axes):
            return like(a, None)  # whether an axis goes is known at run time only
        return like(a, tuple(x for x in axes if not is_one(x)), contiguous(a))
    gone = normal_axes(over, len(axes))
    if gone is None:
        raise TypeError("axis out of range")
    return like(a, tuple(x for i, x in enumerate(axes) if i not in gone), contiguous(a))


def _expand_dims_style(a: Style, axis: Style) -> Style:
    axes, over = axes_of(a), known(axis)
    if axes is None or over is UNKNOWN:
        return like(a, None)
    count = len(over) if isinstance(over, tuple | list) else 1
    new = normal_axes(over, len(axes) + count)
    if new is None:
        raise TypeError("axis out of range")
    rest = list(axes)
    return like(a, tuple(1 if i in new else rest.pop(0) for i in range(len(axes) + count)), contiguous(a))


def _atleast(rank: int) -> Any:
    def one(a: Style) -> Style:
        axes = axes_of(a)
        if axes is None:
            return like(a, None)
        if len(axes) >= rank:
            return like(a, axes, contiguous(a))
        padded: Axes = (1,) * (rank - len(axes)) + axes
        if rank == 3:
            padded = {0: (1, 1, 1), 1: (1, *axes, 1), 2: (*axes, 1)}[len(axes)]
        return like(a, padded, contiguous(a))

    def style(*arys: Style) -> Any:
        return one(arys[0]) if len(arys) == 1 else tuple(one(a) for a in arys)

    return style


def _same_or_view(call: Call) -> Alias:
    arrays = tuple(i for i, x in enumerate(call.args) if _is_array(x))
    return Alias("maybe", arrays) if arrays else Alias()


# ----------------------------------------------------------------------------------------- permuting the axes


def _permuted(a: Style, order: tuple[int, ...] | None) -> Style:
    axes = axes_of(a)
    if axes == ():
        return _rank_zero(a)
    if axes is None or order is None:
        return like(a, one_like(axes))
    return like(a, tuple(axes[i] for i in order), contiguous(a) and order == tuple(range(len(axes))))


def _transpose_style(a: Style, axes: Style = NONE) -> Style:
    made = as_array(a)
    rank = made.rank if isinstance(made, Array) else 0
    if rank is None:
        return like(a, None)
    if rank == 0:
        return _rank_zero(a)
    order = known(axes)
    if order is None:
        return _permuted(a, tuple(range(rank))[::-1])
    return _permuted(a, normal_axes(order, rank))


def _matrix_transpose_style(x: Style, /) -> Style:
    axes = axes_of(x)
    if axes is None or len(axes) < 2:
        return like(x, None)
    return _permuted(x, (*range(len(axes) - 2), len(axes) - 1, len(axes) - 2))


def _swapaxes_style(a: Style, axis1: Style, axis2: Style) -> Style:
    axes = axes_of(a)
    pair = normal_axes((known(axis1), known(axis2)), len(axes)) if axes is not None else None
    if axes is None or pair is None:
        return like(a, one_like(axes))
    order = list(range(len(axes)))
    order[pair[0]], order[pair[1]] = order[pair[1]], order[pair[0]]
    return _permuted(a, tuple(order))


def _moveaxis_style(a: Style, source: Style, destination: Style) -> Style:
    axes = axes_of(a)
    if axes is None:
        return like(a, None)
    src, dst = normal_axes(known(source), len(axes)), normal_axes(known(destination), len(axes))
    if src is None or dst is None:
        return like(a, one_like(axes))
    order = [n for n in range(len(axes)) if n not in src]
    for to, frm in sorted(zip(dst, src, strict=True)):
        order.insert(to, frm)
    return _permuted(a, tuple(order))


def _rollaxis_style(a: Style, axis: Style, start: Style = ZERO) -> Style:
    axes, begin = axes_of(a), known(start)
    at = normal_axis(known(axis), len(axes)) if axes is not None and isinstance(known(axis), int) else None
    if axes is None or at is None or not isinstance(begin, int):
        return like(a, one_like(axes))
    begin = begin + len(axes) if begin < 0 else begin
    order = [i for i in range(len(axes)) if i != at]
    order.insert(begin - 1 if at < begin else begin, at)
    return _permuted(a, tuple(order))


def _flip_style(m: Style, axis: Style = NONE) -> Style:
    return like(m, axes_of(m), axes_of(m) == ())


def _rot90_style(m: Style, k: Style = ONE, axes: Style = FIRST_TWO) -> Style:
    own, pair, times = axes_of(m), known(axes), known(k)
    if own is None or pair is UNKNOWN or not isinstance(times, int):
        return like(m, one_like(own))
    where = normal_axes(pair, len(own))
    if where is None:
        raise TypeError("axes out of range")
    made = list(own)
    if times % 2:
        made[where[0]], made[where[1]] = made[where[1]], made[where[0]]
    return like(m, tuple(made))


def _roll_style(a: Style, shift: Style, axis: Style = NONE) -> Style:
    return like(a, axes_of(a), contiguous(a))


# ------------------------------------------------------------------------------------ broadcasting, repeating


def _broadcast_to_style(array: Style, shape: Style, subok: Style = NONE) -> Style:
    axes = shape_axes(shape)
    own = axes_of(array)
    if axes is not None and own is not None and len(own) <= len(axes):
        axes = broadcast_axes(axes, own)
    return like(array, axes)


def _broadcast_arrays_style(*args: Style, subok: Style = NONE) -> Any:
    axes: Axes = ()
    for a in args:
        own = axes_of(a)
        axes = None if axes is None or own is None else broadcast_axes(axes, own)
    return tuple(like(a, axes, axes == axes_of(a) and contiguous(a)) for a in args)


def _broadcast_shapes_style(*args: Style) -> Style:
    axes: Axes = ()
    for s in args:
        own = shape_axes(s)
        axes = None if axes is None or own is None else broadcast_axes(axes, own)
    if axes is None:
        raise TypeError("unknown shapes")
    return Tup(tuple(Static(x) if isinstance(x, int) else _length(x) for x in axes))


def _length(axis: Dim) -> Style:
    return Scalar(INT64, True, "i", axis)


def _tile_style(A: Style, reps: Style) -> Style:
    counts = known(reps)
    axes = axes_of(A)
    if axes is None:
        return like(A, None)
    if counts is UNKNOWN:
        n = len(reps.items) if isinstance(reps, Tup) else 1
        return like(A, tuple(fresh_dim() for _ in range(max(n, len(axes)))), True)
    counts = (counts,) if not isinstance(counts, tuple | list) else tuple(counts)
    rank = max(len(counts), len(axes))
    padded = (1,) * (rank - len(axes)) + axes
    counts = (1,) * (rank - len(counts)) + counts
    return like(A, tuple(_times(x, int(c)) for x, c in zip(padded, counts, strict=True)), contiguous(A))


def _times(axis: Axis, count: int) -> Axis:
    if isinstance(axis, int):
        return axis * count
    if count == 1:
        return axis
    return 0 if count == 0 else fresh_dim(not_one=True)


def _repeat_style(a: Style, repeats: Style, axis: Style = NONE) -> Style:
    axes, count, over = axes_of(a), known(repeats), known(axis)
    if over is None:
        axes = None if axes is None else (product_axis(axes),)
        over = 0
    if axes is None or not isinstance(over, int):
        return like(a, one_like(axes), True) if axes is not None else like(a, None)
    at = normal_axis(over, len(axes))
    if at is None:
        raise TypeError("axis out of range")
    length = _times(axes[at], count) if isinstance(count, int) else fresh_dim()
    return like(a, (*axes[:at], length, *axes[at + 1 :]), True)


def _resize_style(a: Style, new_shape: Style) -> Style:
    return like(a, shape_axes(new_shape), True)


def _declare_all() -> None:
    adopt(np.shape, core.shape)
    declare(np.reshape, style=_reshape_style, alias=_reshape_alias, cheap=True)
    declare(np.ravel, style=_ravel_style, alias=_ravel_alias, cheap=True)
    declare(np.squeeze, style=_squeeze_style, alias=VIEW, cheap=True)
    declare(np.expand_dims, style=_expand_dims_style, alias=VIEW, cheap=True)
    for name, rank in (("atleast_1d", 1), ("atleast_2d", 2), ("atleast_3d", 3)):
        declare(getattr(np, name), style=_atleast(rank), alias=_same_or_view, cheap=True)
    declare(np.transpose, style=_transpose_style, alias=VIEW, cheap=True)
    if hasattr(np, "matrix_transpose"):
        declare(np.matrix_transpose, style=_matrix_transpose_style, alias=VIEW, cheap=True)
        declare(np.linalg.matrix_transpose, style=_matrix_transpose_style, alias=VIEW, cheap=True)
    declare(np.swapaxes, style=_swapaxes_style, alias=VIEW, cheap=True)
    declare(np.moveaxis, style=_moveaxis_style, alias=VIEW, cheap=True)
    declare(np.rollaxis, style=_rollaxis_style, alias=VIEW, cheap=True)
    declare(np.flip, style=_flip_style, alias=VIEW, cheap=True)
    declare(np.fliplr, style=lambda m: _flip_style(m), alias=VIEW, cheap=True)
    declare(np.flipud, style=lambda m: _flip_style(m), alias=VIEW, cheap=True)
    declare(np.rot90, style=_rot90_style, alias=VIEW, cheap=True)
    declare(np.roll, style=_roll_style)
    declare(np.broadcast_to, style=_broadcast_to_style, alias=VIEW, cheap=True)
    declare(np.broadcast_arrays, style=_broadcast_arrays_style, alias=_same_or_view, cheap=True)
    declare(np.broadcast_shapes, style=_broadcast_shapes_style)
    declare(np.tile, style=_tile_style)
    declare(np.repeat, style=_repeat_style)
    declare(np.resize, style=_resize_style)


_declare_all()
