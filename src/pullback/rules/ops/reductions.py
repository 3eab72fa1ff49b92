"""Reductions and scans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pullback.ir.nodes import Alias
from pullback.rules.ops.infer import (
    FALSE,
    LAST,
    NONE,
    ONE,
    TRUE,
    array,
    axes_of,
    contiguous,
    known,
    known_dtype,
    normal_axis,
    one_like,
    probed,
    product_axis,
    reduced,
    result,
)
from pullback.rules.registry import declare
from pullback.styles.broadcast import as_array, broadcast_axes
from pullback.styles.style import (
    BOOL,
    INT64,
    Array,
    Scalar,
    Static,
    Style,
    fresh_dim,
    kind_of,
    max_kind,
    numeric,
    shorten,
)


def reduction(
    fn: Callable[..., Any],
    a: Style,
    axis: Style = NONE,
    keepdims: Style = FALSE,
    dtype: Style = NONE,
    where: Style = TRUE,
) -> Style:
    """The style of a reduction that promotes as `fn` does."""
    asked = known_dtype(dtype)
    if asked is None:
        kind_dtype, top = probed(fn, a)
    else:
        kind_dtype = asked if isinstance(asked, np.dtype) else None
        top = "c" if kind_dtype is None else kind_of(kind_dtype)
    axes = axes_of(a)
    mask = axes_of(where) if where not in (TRUE, NONE) else ()
    if axes is not None and mask:
        axes = broadcast_axes(axes, mask)
    return result(kind_dtype, reduced(axes, axis, keepdims), contiguous(a), top)


def _sum_like(fn: Callable[..., Any]) -> Callable[..., Any]:
    def style(
        a: Style,
        axis: Style = NONE,
        dtype: Style = NONE,
        out: Style = NONE,
        keepdims: Style = FALSE,
        initial: Style = NONE,
        where: Style = TRUE,
    ) -> Style:
        return reduction(fn, a, axis, keepdims, dtype, where)

    return style


def _mean_style(
    a: Style,
    axis: Style = NONE,
    dtype: Style = NONE,
    out: Style = NONE,
    keepdims: Style = FALSE,
    *,
    where: Style = TRUE,
) -> Style:
    return reduction(np.mean, a, axis, keepdims, dtype, where)


def _var_style(
    a: Style,
    axis: Style = NONE,
    dtype: Style = NONE,
    out: Style = NONE,
    ddof: Style = NONE,
    keepdims: Style = FALSE,
    *,
    where: Style = TRUE,
    mean: Style = NONE,
    correction: Style = NONE,
) -> Style:
    return reduction(np.var, a, axis, keepdims, dtype, where)


def _max_like(fn: Callable[..., Any]) -> Callable[..., Any]:
    def style(
        a: Style,
        axis: Style = NONE,
        out: Style = NONE,
        keepdims: Style = FALSE,
        initial: Style = NONE,
        where: Style = TRUE,
    ) -> Style:
        return reduction(fn, a, axis, keepdims, NONE, where)

    return style


def _ptp_style(a: Style, axis: Style = NONE, out: Style = NONE, keepdims: Style = FALSE) -> Style:
    return reduction(np.max, a, axis, keepdims)


def _truth_style(
    a: Style, axis: Style = NONE, out: Style = NONE, keepdims: Style = FALSE, *, where: Style = TRUE
) -> Style:
    return result(BOOL, reduced(axes_of(a), axis, keepdims), contiguous(a), "b")


def _arg_style(a: Style, axis: Style = NONE, out: Style = NONE, *, keepdims: Style = FALSE) -> Style:
    return result(INT64, reduced(axes_of(a), axis, keepdims), contiguous(a), "i")


def _nanarg_style(a: Style, axis: Style = NONE, out: Style = NONE, *, keepdims: Style = FALSE) -> Style:
    return _arg_style(a, axis, out, keepdims=keepdims)


def _count_nonzero_style(a: Style, axis: Style = NONE, *, keepdims: Style = FALSE) -> Style:
    axes = reduced(axes_of(a), axis, keepdims)
    return (
        Scalar(INT64, None) if axes == () else array(INT64, axes, False, "i")
    )  # int or np.int64 by the version


def _quantile_style(
    a: Style,
    q: Style,
    axis: Style = NONE,
    out: Style = NONE,
    overwrite_input: Style = FALSE,
    method: Style = NONE,
    keepdims: Style = FALSE,
    *,
    weights: Style = NONE,
    interpolation: Style = NONE,
) -> Style:
    dtype, top = probed(lambda x: np.quantile(x, 0.5), a)
    inner, outer = reduced(axes_of(a), axis, keepdims), axes_of(q)
    axes = None if inner is None or outer is None else (*outer, *inner)
    return result(dtype, axes, False, max_kind(top, "f"))


def _median_style(
    a: Style, axis: Style = NONE, out: Style = NONE, overwrite_input: Style = FALSE, keepdims: Style = FALSE
) -> Style:
    return reduction(np.median, a, axis, keepdims)


def _average_style(
    a: Style, axis: Style = NONE, weights: Style = NONE, returned: Style = FALSE, *, keepdims: Style = FALSE
) -> Any:
    if weights == NONE:
        dtype, top = probed(np.mean, a)
    else:
        dtype, top = probed(lambda x, w: np.average(x, weights=w), a, weights)
    out = result(dtype, reduced(axes_of(a), axis, keepdims), contiguous(a), top)
    if known(returned) is not False:
        return out, out
    return out


# ------------------------------------------------------------------------------------------------------ scans


def _scan_axes(a: Style, axis: Style) -> Any:
    axes = axes_of(a)
    if known(axis) is None:
        return None if axes is None else (product_axis(axes),)
    return axes


def _scan(fn: Callable[..., Any]) -> Callable[..., Any]:
    def style(a: Style, axis: Style = NONE, dtype: Style = NONE, out: Style = NONE) -> Style:
        asked = known_dtype(dtype)
        kind_dtype, top = (
            probed(fn, a) if asked is None else (asked if isinstance(asked, np.dtype) else None, "c")
        )
        axes = _scan_axes(a, axis)
        return array(
            kind_dtype, axes or (1,) if axes == () else axes, contiguous(a) or known(axis) is None, top
        )

    return style


def _cumulative(fn: Callable[..., Any]) -> Callable[..., Any]:
    def style(
        x: Style,
        /,
        *,
        axis: Style = NONE,
        dtype: Style = NONE,
        out: Style = NONE,
        include_initial: Style = FALSE,
    ) -> Style:
        plain = _scan(fn)(x, axis, dtype)
        return plain if known(include_initial) is False else Array(plain.dtype, one_like(axes_of(x)))

    return style


def _diff_style(
    a: Style, n: Style = ONE, axis: Style = LAST, prepend: Style = NONE, append: Style = NONE
) -> Style:
    given = [x for x in (prepend, append) if x != NONE]
    dtype, top = probed(_diff_of_all, a, *given)
    axes, at, times = axes_of(a), known(axis), known(n)
    if axes is None or not isinstance(at, int):
        return array(dtype, one_like(axes), False, top)
    where = normal_axis(at, len(axes))
    if where is None:
        raise TypeError("axis out of range")
    plain = prepend == NONE and append == NONE and isinstance(times, int)
    length = shorten(axes[where], times) if plain else fresh_dim()
    return array(dtype, (*axes[:where], length, *axes[where + 1 :]), contiguous(a), top)


def _diff_of_all(*parts: Any) -> Any:
    return np.diff(np.concatenate(parts))


def _ediff1d_style(ary: Style, to_end: Style = NONE, to_begin: Style = NONE) -> Style:
    axes = axes_of(ary)
    if axes is None or to_end != NONE or to_begin != NONE:
        length: Any = fresh_dim()
    else:
        length = shorten(product_axis(axes), 1)
    return array(as_array(ary).dtype, (length,), True, as_array(ary).kind)


def _gradient_style(f: Style, *varargs: Style, axis: Style = NONE, edge_order: Style = NONE) -> Any:
    dtype, top = probed(lambda x: np.gradient(np.ones(2, x.dtype)), f)
    axes, over = axes_of(f), known(axis)
    if axes is None:
        raise TypeError("unknown rank")
    one = array(dtype, axes, contiguous(f), top)
    count = len(axes) if over is None else len(over) if isinstance(over, tuple) else 1
    return one if count == 1 else (one,) * count


def _trapezoid_style(y: Style, x: Style = NONE, dx: Style = NONE, axis: Style = LAST) -> Style:
    dtype, top = probed(lambda a: np.trapezoid(np.ones(2, a.dtype)), y)
    if x != NONE:
        dtype, top = probed(lambda a, b: np.trapezoid(np.ones(2, a.dtype), np.ones(2, b.dtype)), y, x)
    elif dx != NONE and numeric(dx) != numeric(Static(1.0)) and kind_of(np.dtype(dtype)) != "c":
        strong = as_array(dx)
        weak = isinstance(strong, Scalar) and strong.weak
        dtype = dtype if weak else None
    return result(dtype, reduced(axes_of(y), axis, FALSE), contiguous(y), top)


_fn: Any
for _fn in (np.sum, np.prod, np.nansum, np.nanprod):
    declare(_fn, style=_sum_like(_fn))
for _fn in (np.max, np.min, np.amax, np.amin, np.nanmax, np.nanmin):
    declare(_fn, style=_max_like(_fn))
for _fn in (np.cumsum, np.cumprod, np.nancumsum, np.nancumprod):
    declare(_fn, style=_scan(_fn))
for _name, _plain in (("cumulative_sum", np.cumsum), ("cumulative_prod", np.cumprod)):
    if hasattr(np, _name):
        declare(getattr(np, _name), style=_cumulative(_plain))
declare(np.mean, style=_mean_style)
declare(np.nanmean, style=_mean_style)
for _fn in (np.var, np.std, np.nanvar, np.nanstd):
    declare(_fn, style=_var_style)
declare(np.ptp, style=_ptp_style)
declare(np.any, style=_truth_style)
declare(np.all, style=_truth_style)
for _fn in (np.argmax, np.argmin):
    declare(_fn, style=_arg_style)
for _fn in (np.nanargmax, np.nanargmin):
    declare(_fn, style=_nanarg_style)
declare(np.count_nonzero, style=_count_nonzero_style)
for _fn in (np.quantile, np.percentile, np.nanquantile, np.nanpercentile):
    declare(_fn, style=_quantile_style)
declare(np.median, style=_median_style)
declare(np.nanmedian, style=_median_style)
declare(np.average, style=_average_style)
declare(np.diff, style=_diff_style)
declare(np.ediff1d, style=_ediff1d_style)
declare(np.gradient, style=_gradient_style, alias=Alias())
declare(np.trapezoid, style=_trapezoid_style)
