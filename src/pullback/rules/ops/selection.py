"""Choosing, ordering and searching: take, select, sort, unique, searchsorted, padding, interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.ir.nodes import Alias
from pullback.rules.ops.infer import (
    CONSTANT,
    FALSE,
    LAST,
    NONE,
    RAISE,
    TEN,
    UNKNOWN,
    ZERO,
    array,
    axes_of,
    contiguous,
    known,
    normal_axis,
    one_like,
    product_axis,
    result,
)
from pullback.rules.ops.joining import items_of
from pullback.rules.registry import declare
from pullback.styles.broadcast import as_array, broadcast_axes, result_dtype
from pullback.styles.style import (
    BOOL,
    FLOAT64,
    INT64,
    PY_INT,
    Array,
    Axis,
    Scalar,
    Style,
    Tup,
    fresh_dim,
    max_kind,
    shorten,
)


def _take_style(
    a: Style, indices: Style, axis: Style = NONE, out: Style = NONE, mode: Style = RAISE
) -> Style:
    one, axes, index, at = as_array(a), axes_of(a), axes_of(indices), known(axis)
    if at is None:
        axes = None if axes is None else (fresh_dim(),)
        at = 0
    where = normal_axis(at, len(axes)) if axes is not None and isinstance(at, int) else None
    if axes is None or where is None or index is None:
        return array(one.dtype, None, False, one.kind)
    return result(one.dtype, (*axes[:where], *index, *axes[where + 1 :]), True, one.kind)


def _take_along_style(arr: Style, indices: Style, axis: Style = LAST) -> Style:
    one, axes, index, at = as_array(arr), axes_of(arr), axes_of(indices), known(axis)
    if at is None:
        return array(one.dtype, index, True, one.kind)
    where = normal_axis(at, len(axes)) if axes is not None and isinstance(at, int) else None
    if axes is None or index is None or where is None or len(index) != len(axes):
        return array(one.dtype, None, False, one.kind)
    made = [index[i] if i == where else broadcast_axes((axes[i],), (index[i],))[0] for i in range(len(axes))]
    return array(one.dtype, tuple(made), len(made) == 1, one.kind)


def _select_style(condlist: Style, choicelist: Style, default: Style = ZERO) -> Style:
    conditions, choices = items_of(condlist), items_of(choicelist)
    if conditions is None or choices is None:
        return Array(None, None)
    dtype = result_dtype([as_array(s) for s in (*choices, default)])
    top = "b"
    axes: Any = ()
    for s in (*conditions, *choices):
        own = axes_of(s)
        axes = None if axes is None or own is None else broadcast_axes(axes, own)
    for s in (*choices, default):
        top = max_kind(top, as_array(s).kind)
    return array(dtype, axes, axes is not None and len(axes) <= 1, top)


def _choose_style(a: Style, choices: Style, out: Style = NONE, mode: Style = RAISE) -> Style:
    items = items_of(choices)
    if items is None:
        return Array(None, None)
    made = as_array(Tup(tuple(items)))
    axes = axes_of(a)
    for s in items:
        own = axes_of(s)
        axes = None if axes is None or own is None else broadcast_axes(axes, own)
    return result(made.dtype, axes, axes is not None and len(axes) <= 1, made.kind)


def _compress_style(condition: Style, a: Style, axis: Style = NONE, out: Style = NONE) -> Style:
    one, axes, at = as_array(a), axes_of(a), known(axis)
    if at is None:
        return array(one.dtype, (fresh_dim(),), True, one.kind)
    where = normal_axis(at, len(axes)) if axes is not None and isinstance(at, int) else None
    if axes is None or where is None:
        return array(one.dtype, None, False, one.kind)
    return array(one.dtype, (*axes[:where], fresh_dim(), *axes[where + 1 :]), True, one.kind)


def _extract_style(condition: Style, arr: Style) -> Style:
    one = as_array(arr)
    return array(one.dtype, (fresh_dim(),), True, one.kind)


def _sort_style(
    a: Style, axis: Style = LAST, kind: Style = NONE, order: Style = NONE, *, stable: Style = NONE
) -> Style:
    one, axes = as_array(a), axes_of(a)
    if known(axis) is None:
        axes = None if axes is None else (product_axis(axes),)
    return array(one.dtype, axes, contiguous(a) or (axes is not None and len(axes) == 1), one.kind)


def _argsort_style(
    a: Style, axis: Style = LAST, kind: Style = NONE, order: Style = NONE, *, stable: Style = NONE
) -> Style:
    made = _sort_style(a, axis)
    assert isinstance(made, Array)
    return array(INT64, made.axes, made.axes is not None and (len(made.axes) == 1 or contiguous(a)), "i")


def _partition_style(
    a: Style, kth: Style, axis: Style = LAST, kind: Style = NONE, order: Style = NONE
) -> Style:
    return _sort_style(a, axis)


def _argpartition_style(
    a: Style, kth: Style, axis: Style = LAST, kind: Style = NONE, order: Style = NONE
) -> Style:
    return _argsort_style(a, axis)


def _lexsort_style(keys: Style, axis: Style = LAST) -> Style:
    axes = axes_of(keys)
    return array(INT64, None if axes is None else axes[1:], False, "i")


def _searchsorted_style(a: Style, v: Style, side: Style = NONE, sorter: Style = NONE) -> Style:
    return result(INT64, axes_of(v), contiguous(v), "i")


def _digitize_style(x: Style, bins: Style, right: Style = FALSE) -> Style:
    return result(INT64, axes_of(x), contiguous(x), "i")


def _nonzero_style(a: Style) -> Any:
    axes = axes_of(a)
    if axes is None:
        raise TypeError("unknown rank")
    length = fresh_dim()
    return (array(INT64, (length,), False, "i"),) * max(len(axes), 1)


def _argwhere_style(a: Style) -> Style:
    axes = axes_of(a)
    return array(INT64, (fresh_dim(), fresh_dim() if axes is None else len(axes)), False, "i")


def _flatnonzero_style(a: Style) -> Style:
    return array(INT64, (fresh_dim(),), True, "i")


def _unique_style(
    ar: Style,
    return_index: Style = FALSE,
    return_inverse: Style = FALSE,
    return_counts: Style = FALSE,
    axis: Style = NONE,
    *,
    equal_nan: Style = NONE,
    sorted: Style = NONE,
) -> Any:
    one = as_array(ar)
    if known(axis) is not None:
        raise TypeError("unique along an axis")
    length = fresh_dim()
    values = array(one.dtype, (length,), True, one.kind)
    extra = [known(o) is True for o in (return_index, return_inverse, return_counts)]
    inverse = axes_of(ar) if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else None
    kinds = [
        array(INT64, (length,), True, "i"),
        array(INT64, inverse, False, "i"),
        array(INT64, (length,), True, "i"),
    ]
    more = [k for k, wanted in zip(kinds, extra, strict=True) if wanted]
    return (values, *more) if more else values


def _bincount_style(x: Style, weights: Style = NONE, minlength: Style = ZERO) -> Style:
    return array(INT64 if weights == NONE else FLOAT64, (fresh_dim(),), True)


def _isin_style(
    element: Style,
    test_elements: Style,
    assume_unique: Style = FALSE,
    invert: Style = FALSE,
    *,
    kind: Style = NONE,
) -> Style:
    return array(BOOL, axes_of(element), contiguous(element), "b")


def _set_style(ar1: Style, ar2: Style, *rest: Style, **options: Style) -> Style:
    made = as_array(Tup((ar1, ar2)))
    return array(result_dtype([as_array(ar1), as_array(ar2)]), (fresh_dim(),), True, made.kind)


def _pad_style(array_: Style, pad_width: Style, mode: Style = CONSTANT, **options: Style) -> Style:
    one, axes, width = as_array(array_), axes_of(array_), known(pad_width)
    if axes is None:
        return array(one.dtype, None, False, one.kind)
    made = one_like(axes)
    if width is not UNKNOWN:
        pairs = np.broadcast_to(np.asarray(width), (len(axes), 2)).tolist()
        made = tuple(
            _padded(a, int(before) + int(after)) for a, (before, after) in zip(axes, pairs, strict=True)
        )
    return array(one.dtype, made, contiguous(array_) or len(axes) == 1, one.kind)


def _padded(axis: Any, by: int) -> Any:
    if isinstance(axis, int) or by == 0:
        return shorten(axis, -by)
    return fresh_dim(not_one=by > 1)


def _interp_style(
    x: Style, xp: Style, fp: Style, left: Style = NONE, right: Style = NONE, period: Style = NONE
) -> Style:
    dtype = (
        np.dtype(np.complex128) if as_array(fp).kind == "c" and as_array(fp).dtype is not None else FLOAT64
    )
    return result(dtype if as_array(fp).dtype is not None else None, axes_of(x), True, "c")


def _size_style(a: Style, axis: Style = NONE) -> Style:
    axes, at = axes_of(a), known(axis)
    if axes is None or at is UNKNOWN:
        return PY_INT
    if at is None:
        return Scalar(INT64, True, "i", _known_product(axes))
    where = normal_axis(at, len(axes)) if isinstance(at, int) else None
    return PY_INT if where is None else Scalar(INT64, True, "i", axes[where])


def _known_product(axes: tuple[Axis, ...]) -> Axis | None:
    """The product of the lengths where it is a number or the length of one of the axes."""
    made = product_axis(axes)
    return made if isinstance(made, int) or made in axes else None


def _ndim_style(a: Style) -> Style:
    return PY_INT


def _window_view_style(
    x: Style, window_shape: Style, axis: Style = NONE, *, subok: Style = FALSE, writeable: Style = FALSE
) -> Style:
    one, axes, window, at = as_array(x), axes_of(x), known(window_shape), known(axis)
    if axes is None or not isinstance(window, int) or not (at is None or isinstance(at, int)):
        return array(one.dtype, None, False, one.kind)
    where = normal_axis(-1 if at is None else at, len(axes))
    if where is None or (at is None and len(axes) != 1):
        raise TypeError("axis out of range")
    made = (*axes[:where], shorten(axes[where], window - 1), *axes[where + 1 :], window)
    return array(one.dtype, made, False, one.kind)


def _histogram_style(
    a: Style, bins: Style = TEN, range: Style = NONE, density: Style = NONE, weights: Style = NONE
) -> Any:
    n = known(bins)
    count: Any = n if isinstance(n, int) else fresh_dim()
    edges: Any = n + 1 if isinstance(n, int) else fresh_dim()
    counts = weights == NONE and known(density) in (None, False)
    dtype = INT64 if counts else as_array(weights).dtype if known(density) in (None, False) else None
    return array(dtype, (count,), True), array(
        None if as_array(a).dtype != FLOAT64 else FLOAT64, (edges,), True
    )


def _declare_all() -> None:
    declare(np.take, style=_take_style)
    declare(np.take_along_axis, style=_take_along_style)
    declare(np.select, style=_select_style)
    declare(np.choose, style=_choose_style)
    declare(np.compress, style=_compress_style)
    declare(np.extract, style=_extract_style)
    declare(np.sort, style=_sort_style)
    declare(np.argsort, style=_argsort_style)
    declare(np.partition, style=_partition_style)
    declare(np.argpartition, style=_argpartition_style)
    declare(np.lexsort, style=_lexsort_style)
    declare(np.searchsorted, style=_searchsorted_style)
    declare(np.digitize, style=_digitize_style)
    declare(np.nonzero, style=_nonzero_style)
    declare(np.argwhere, style=_argwhere_style)
    declare(np.flatnonzero, style=_flatnonzero_style)
    declare(np.unique, style=_unique_style)
    declare(np.bincount, style=_bincount_style)
    declare(np.isin, style=_isin_style)
    for fn in (np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d):
        declare(fn, style=_set_style)
    declare(np.pad, style=_pad_style)
    declare(np.interp, style=_interp_style)
    declare(np.size, style=_size_style, cheap=True)
    declare(np.ndim, style=_ndim_style, cheap=True)
    declare(np.histogram, style=_histogram_style)
    declare(
        np.lib.stride_tricks.sliding_window_view,
        style=_window_view_style,
        alias=Alias("maybe", (0,)),
        path="np.lib.stride_tricks.sliding_window_view",
    )


_declare_all()
