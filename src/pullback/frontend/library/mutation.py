"""Calls made for what they write: every one is a store into the target's storage."""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.frontend.context import Context
from pullback.frontend.library import facts, prelude
from pullback.frontend.library.calls import NONE, Handler, emit, given, inline, is_array, operation, options
from pullback.frontend.values import CellRef, Known, TupleValue, Value
from pullback.styles.style import same_length


def check_cast(ctx: Context, source: Value, target: Value, casting: str, what: str) -> None:
    """Refuse a write that NumPy refuses, or of which that cannot be told."""
    to = facts.dtype_of(ctx, target)
    if casting == "unsafe":
        return
    if isinstance(source, CellRef | TupleValue):
        source = emit(ctx, np.array, source)
    style = facts.scalar_style(ctx, source)
    if style is not None and style.weak is True and to is not None:
        good = "bifc".find(style.kind) <= "bifc".find({"u": "i"}.get(to.kind, to.kind))
    else:
        by = facts.dtype_of(ctx, source)
        if by is None or to is None:
            ctx.refuse(
                f"{what}: whether NumPy casts here is known at run time only", "assign: target[...] = value"
            )
        good = np.can_cast(by, to, casting)  # type: ignore[arg-type]
    if not good:
        ctx.refuse(
            f"{what}: NumPy does not cast to {to} here",
            'assign (target[...] = value), or pass casting="unsafe"',
        )


def copyto(
    ctx: Context, dst: Value, src: Value, casting: Value = Known("same_kind"), where: Value = Known(True)
) -> Value:
    """`np.copyto(dst, src, where=mask)`."""
    _needs_array(ctx, dst, "np.copyto")
    check_cast(ctx, src, dst, ctx.known(casting), "`np.copyto`")
    if isinstance(where, Known) and where.obj is True:
        ctx.write(dst, (), src)
    else:
        inline(ctx, prelude.copy_where, dst, src, where)
    return NONE


def _needs_array(ctx: Context, target: Value, what: str) -> None:
    if not is_array(target):
        ctx.refuse(f"`{what}` writes into something that is not known to be an array", "pass an array")


def fill(ctx: Context, x: Value, value: Value) -> Value:
    """`x.fill(value)`."""
    ctx.write(x, (), value)
    return NONE


def sort_in_place(
    ctx: Context,
    x: Value,
    axis: Value = Known(-1),
    kind: Value = NONE,
    order: Value = NONE,
    *,
    stable: Value = NONE,
) -> Value:
    """`x.sort(axis)`."""
    if given(order):
        ctx.refuse("`sort(order=...)`", "structured arrays are not supported")
    ctx.write(x, (), ctx.call(operation(np.sort), [x, axis], options(kind=kind, stable=stable)))
    return NONE


def put(ctx: Context, a: Value, ind: Value, v: Value, mode: Value = Known("raise")) -> Value:
    """`np.put(a, ind, v)`, `a.put(ind, v)`."""
    _needs_array(ctx, a, "np.put")
    if ctx.known(mode) != "raise":
        ctx.refuse(
            '`np.put` with a mode other than "raise"', "bring the indices into range with % or np.clip"
        )
    style = facts.array_style(ctx, a)
    if style is None or (not style.contiguous and style.rank != 1):
        ctx.refuse(
            "`np.put` into an array that is not known to be contiguous",
            "write a[np.unravel_index(ind, a.shape)] = v",
        )
    one = facts.scalar_style(ctx, v) is not None
    inline(ctx, prelude.put_same if one or _same_shape(ctx, ind, v) else prelude.put, a, ind, v)
    return NONE


def _same_shape(ctx: Context, a: Value, b: Value) -> bool:
    """Two arrays of one axis and the same length."""
    x, y = facts.array_style(ctx, a), facts.array_style(ctx, b)
    if x is None or y is None or x.axes is None or y.axes is None or len(x.axes) != len(y.axes):
        return False
    return all(same_length(i, k) for i, k in zip(x.axes, y.axes, strict=True)) and len(x.axes) == 1


def putmask(ctx: Context, a: Value, mask: Value, values: Value) -> Value:
    """`np.putmask(a, mask, values)`."""
    _needs_array(ctx, a, "np.putmask")
    check_cast(ctx, values, a, "same_kind", "`np.putmask`")
    one = facts.scalar_style(ctx, values) is not None
    inline(
        ctx,
        prelude.put_mask_same if one or _equal_axes(ctx, a, values) else prelude.put_mask,
        a,
        mask,
        values,
    )
    return NONE


def _equal_axes(ctx: Context, a: Value, b: Value) -> bool:
    x, y = facts.array_style(ctx, a), facts.array_style(ctx, b)
    if x is None or y is None or x.axes is None or y.axes is None or len(x.axes) != len(y.axes):
        return False
    return all(same_length(i, k) for i, k in zip(x.axes, y.axes, strict=True))


def place(ctx: Context, arr: Value, mask: Value, vals: Value) -> Value:
    """`np.place(arr, mask, vals)`."""
    _needs_array(ctx, arr, "np.place")
    inline(ctx, prelude.place, arr, mask, vals)
    return NONE


def fill_diagonal(ctx: Context, a: Value, val: Value, wrap: Value = Known(False)) -> Value:
    """`np.fill_diagonal(a, val)` of a matrix."""
    _needs_array(ctx, a, "np.fill_diagonal")
    if facts.rank(ctx, a) != 2 or ctx.known(wrap):
        ctx.refuse(
            "`np.fill_diagonal` of something that is not a matrix, or with wrap=True",
            "write a[i, i] = val with i = np.arange(n)",
        )
    one = facts.scalar_style(ctx, val) is not None or facts.rank(ctx, val) == 0
    inline(ctx, prelude.fill_diagonal if one else prelude.fill_diagonal_many, a, val)
    return NONE


def put_along_axis(ctx: Context, arr: Value, indices: Value, values: Value, axis: Value) -> Value:
    """`np.put_along_axis`, of a vector or matrix."""
    _needs_array(ctx, arr, "np.put_along_axis")
    place, rank = ctx.known(axis), facts.rank(ctx, arr)
    if rank == 1 and place is not None:
        inline(ctx, prelude.set_item, arr, indices, values)
    elif rank == 2 and place is not None:
        inline(
            ctx,
            prelude.put_along_rows if place in (1, -1) else prelude.put_along_columns,
            arr,
            indices,
            values,
        )
    else:
        ctx.refuse("`np.put_along_axis` of more than two axes", "write arr[rows, indices] = values")
    return NONE


def shuffle(ctx: Context, x: Value, *more: Value) -> Value:
    """`np.random.shuffle`: a random permutation in place."""
    ctx.refuse(
        "`np.random.shuffle` permutes in place by a random order",
        "draw the order: x = x[np.random.permutation(len(x))]",
    )


FUNCTIONS: dict[Any, Handler] = {
    np.copyto: copyto,
    np.put: put,
    np.putmask: putmask,
    np.place: place,
    np.fill_diagonal: fill_diagonal,
    np.put_along_axis: put_along_axis,
    np.random.shuffle: shuffle,
}
