"""Diagonals, triangles, and splitting into pieces."""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Alias, Call
from pullback.rules.ops.infer import (
    NONE,
    ONE,
    UNKNOWN,
    ZERO,
    array,
    axes_of,
    contiguous,
    known,
    normal_axes,
    normal_axis,
    one_like,
    probed,
    product_axis,
    reduced,
    result,
)
from pullback.rules.ops.shaping import MAYBE, VIEW, like
from pullback.rules.registry import declare
from pullback.styles.broadcast import as_array
from pullback.styles.style import (
    Array,
    Axis,
    ListOf,
    Static,
    Style,
    Tup,
    fresh_dim,
    same_length,
)

# --------------------------------------------------------------------------------------- diagonals, triangles


def _diagonal_axis(rows: Axis, cols: Axis, offset: Any) -> Axis:
    if offset == 0 and same_length(rows, cols):
        return rows
    if isinstance(rows, int) and isinstance(cols, int) and isinstance(offset, int):
        return len(np.diagonal(np.empty((rows, cols), np.bool_), offset))
    return fresh_dim()


def _diagonal_style(a: Style, offset: Style = ZERO, axis1: Style = ZERO, axis2: Style = ONE) -> Style:
    axes = axes_of(a)
    pair = normal_axes((known(axis1), known(axis2)), len(axes)) if axes is not None else None
    if axes is None or pair is None:
        return like(a, None)
    rest = tuple(x for i, x in enumerate(axes) if i not in pair)
    return like(a, (*rest, _diagonal_axis(axes[pair[0]], axes[pair[1]], known(offset))))


def _linalg_diagonal_style(x: Style, /, *, offset: Style = ZERO) -> Style:
    return _diagonal_style(x, offset, Static(-2), Static(-1))


def _diag_style(v: Style, k: Style = ZERO) -> Style:
    axes, offset = axes_of(v), known(k)
    if axes is None:
        return like(v, None)
    if len(axes) == 2:
        return _diagonal_style(v, k)
    return _square_of(v, axes[0], offset)


def _square_of(v: Style, axis: Axis, offset: Any) -> Style:
    side: Axis = axis if offset == 0 else fresh_dim(not_one=isinstance(offset, int))
    if isinstance(axis, int) and isinstance(offset, int):
        side = axis + abs(offset)
    return like(v, (side, side), True)


def _diag_alias(call: Call) -> Alias:
    style = style_of(call.args[0])
    if not isinstance(style, Array) or style.rank == 1:
        return Alias()
    return VIEW if style.rank == 2 else MAYBE


def _diagflat_style(v: Style, k: Style = ZERO) -> Style:
    axes = axes_of(v)
    return _square_of(v, fresh_dim() if axes is None else product_axis(axes), known(k))


def _trace_style(
    a: Style,
    offset: Style = ZERO,
    axis1: Style = ZERO,
    axis2: Style = ONE,
    dtype: Style = NONE,
    out: Style = NONE,
) -> Style:
    kind_dtype, top = probed(np.sum, a)
    axes = reduced(axes_of(a), Tup((axis1, axis2)), Static(False))
    return result(kind_dtype if dtype == NONE else None, axes, False, top)


def _linalg_trace_style(x: Style, /, *, offset: Style = ZERO, dtype: Style = NONE) -> Style:
    return _trace_style(x, offset, Static(-2), Static(-1), dtype)


def _triangle_style(m: Style, k: Style = ZERO) -> Style:
    one, axes = as_array(m), axes_of(m)
    if axes is not None and len(axes) == 1:  # a vector is taken as every row of a square
        return array(one.dtype, (axes[0], axes[0]), True, one.kind)
    return array(one.dtype, axes, contiguous(m), one.kind)


# -------------------------------------------------------------------------------------------------- splitting


def _split_style(ary: Style, indices_or_sections: Style, axis: Style = ZERO) -> Any:
    axes, cuts, at = axes_of(ary), known(indices_or_sections), known(axis)
    where = normal_axis(at, len(axes)) if axes is not None and isinstance(at, int) else None
    if axes is None or where is None:
        raise TypeError("a split of unknown rank or axis")
    if cuts is UNKNOWN and isinstance(indices_or_sections, Tup):
        cuts = (UNKNOWN,) * len(indices_or_sections.items)
    if cuts is UNKNOWN:
        raise TypeError("a split into an unknown number of pieces")
    return tuple(
        like(ary, (*axes[:where], n, *axes[where + 1 :]), contiguous(ary) and where == 0)
        for n in _pieces(axes[where], cuts)
    )


def _pieces(axis: Axis, cuts: Any) -> list[Axis]:
    if isinstance(cuts, tuple | list | np.ndarray):
        if isinstance(axis, int) and UNKNOWN not in tuple(cuts):
            return [len(p) for p in np.split(np.empty(axis, np.bool_), list(cuts))]
        return [fresh_dim() for _ in range(len(cuts) + 1)]
    if isinstance(axis, int):
        return [len(p) for p in np.array_split(np.empty(axis, np.bool_), cuts)]
    one = fresh_dim()
    return [fresh_dim() if cuts != 1 else axis for _ in range(cuts)] if cuts != 1 else [one]


def _hsplit_style(ary: Style, indices_or_sections: Style) -> Any:
    axes = axes_of(ary)
    return _split_style(ary, indices_or_sections, Static(0 if axes is not None and len(axes) == 1 else 1))


def _unstack_style(x: Style, /, *, axis: Style = ZERO) -> Any:
    axes, at = axes_of(x), known(axis)
    where = normal_axis(at, len(axes)) if axes is not None and isinstance(at, int) else None
    if axes is None or where is None:
        raise TypeError("an unstack of unknown rank")
    one = like(x, (*axes[:where], *axes[where + 1 :]), contiguous(x) and where == 0)
    length = axes[where]
    return (one,) * length if isinstance(length, int) else ListOf(one)


def _trim_style(filt: Style, trim: Style = NONE, axis: Style = NONE) -> Style:
    return like(filt, one_like(axes_of(filt)))


def _declare_all() -> None:
    declare(np.linalg.diagonal, style=_linalg_diagonal_style, alias=MAYBE)
    declare(np.linalg.trace, style=_linalg_trace_style)
    declare(np.diagonal, style=_diagonal_style, alias=VIEW, cheap=True)
    declare(np.diag, style=_diag_style, alias=_diag_alias)
    declare(np.diagflat, style=_diagflat_style)
    declare(np.trace, style=_trace_style)
    declare(np.triu, style=_triangle_style)
    declare(np.tril, style=_triangle_style)
    declare(np.split, style=_split_style, alias=VIEW)
    declare(np.array_split, style=_split_style, alias=VIEW)
    declare(np.hsplit, style=_hsplit_style, alias=VIEW)
    declare(
        np.vsplit,
        style=lambda ary, indices_or_sections: _split_style(ary, indices_or_sections, ZERO),
        alias=VIEW,
    )
    declare(
        np.dsplit,
        style=lambda ary, indices_or_sections: _split_style(ary, indices_or_sections, Static(2)),
        alias=VIEW,
    )
    if hasattr(np, "unstack"):
        declare(np.unstack, style=_unstack_style, alias=VIEW)
    declare(np.trim_zeros, style=_trim_style, alias=MAYBE)


_declare_all()
