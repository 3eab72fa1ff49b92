"""Arrays from nothing: zeros, full, arange, linspace, index grids."""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.ir.core_ops import axis_of_length, shape_axes
from pullback.rules.ops.infer import (
    FALSE,
    FIFTY,
    FLOAT,
    INT,
    NONE,
    ORDER_C,
    ORDER_K,
    TRUE,
    TWO,
    UNKNOWN,
    ZERO,
    Axes,
    DType,
    array,
    axes_of,
    contiguous,
    known,
    known_dtype,
    one_like,
    probed,
    result,
)
from pullback.rules.registry import declare
from pullback.styles.broadcast import as_array, broadcast_axes
from pullback.styles.style import (
    FLOAT64,
    INT64,
    Array,
    Axis,
    Scalar,
    Static,
    Style,
    fresh_dim,
    kind,
    numeric,
    shorten,
)


def _new(shape: Style, dtype: Style, default: Any, order: Style = ORDER_C) -> Array:
    asked = known_dtype(dtype)
    made = default if asked is None else None if asked is UNKNOWN else asked
    return array(made, shape_axes(shape), known(order) == "C")


def _zeros_style(
    shape: Style,
    dtype: Style = FLOAT,
    order: Style = ORDER_C,
    *,
    device: Style = NONE,
    like: Style = NONE,
) -> Style:
    return _new(shape, dtype, FLOAT64, order)


def _full_style(
    shape: Style,
    fill_value: Style,
    dtype: Style = NONE,
    order: Style = ORDER_C,
    *,
    device: Style = NONE,
    like: Style = NONE,
) -> Style:
    return _new(shape, dtype, as_array(fill_value).dtype, order)


def _like_style(
    a: Style,
    dtype: Style = NONE,
    order: Style = ORDER_K,
    subok: Style = TRUE,
    shape: Style = NONE,
    *,
    device: Style = NONE,
) -> Style:
    asked = known_dtype(dtype)
    own = as_array(a)
    made = own.dtype if asked is None else None if asked is UNKNOWN else asked
    axes = axes_of(a) if shape == NONE else shape_axes(shape)
    return array(made, axes, contiguous(a) or known(order) == "C", own.kind if made is None else "c")


def _full_like_style(
    a: Style,
    fill_value: Style,
    dtype: Style = NONE,
    order: Style = ORDER_K,
    subok: Style = TRUE,
    shape: Style = NONE,
    *,
    device: Style = NONE,
) -> Style:
    return _like_style(a, dtype, order, subok, shape)


def _eye_style(
    N: Style,
    M: Style = NONE,
    k: Style = ZERO,
    dtype: Style = FLOAT,
    order: Style = ORDER_C,
    *,
    device: Style = NONE,
    like: Style = NONE,
) -> Style:
    asked = known_dtype(dtype)
    rows = axis_of_length(N)
    cols = rows if known(M) is None else axis_of_length(M)
    return array(
        FLOAT64 if asked is None else None if asked is UNKNOWN else asked, (rows, cols), known(order) == "C"
    )


def _identity_style(n: Style, dtype: Style = NONE, *, like: Style = NONE) -> Style:
    return _eye_style(n, NONE, ZERO, dtype)


def _tri_style(
    N: Style, M: Style = NONE, k: Style = ZERO, dtype: Style = FLOAT, *, like: Style = NONE
) -> Style:
    return _eye_style(N, M, k, dtype)


# ----------------------------------------------------------------------------------------------------- ranges


def _arange_style(
    *args: Style, dtype: Style = NONE, device: Style = NONE, like: Style = NONE, **named: Style
) -> Style:
    start, stop, step, given = _arange_parts(args, named)
    asked = known_dtype(dtype if given is None else given)
    kinds = "".join(kind(s) for s in (start, stop, step))
    made = (FLOAT64 if "f" in kinds else INT64) if asked is None else None if asked is UNKNOWN else asked
    if asked is None and not all(_plain_number(x) for x in (start, stop, step)):
        made = None
    return array(made, (_arange_axis(start, stop, step),), True)


def _plain_number(style: Style) -> bool:
    number = numeric(style)
    return not isinstance(number, Scalar) or number.dtype in (INT64, FLOAT64)


def _arange_parts(
    args: tuple[Style, ...], named: dict[str, Style]
) -> tuple[Style, Style, Style, Style | None]:
    parts = list(args)
    if len(parts) == 1 and "stop" not in named:
        parts = [ZERO, parts[0]]
    elif len(parts) == 1:
        parts.append(named["stop"])
    elif not parts:
        parts = [named.get("start", ZERO), named["stop"]]
    step = parts[2] if len(parts) > 2 else named.get("step", Static(1))
    return parts[0], parts[1], step, parts[3] if len(parts) > 3 else None


def _arange_axis(start: Style, stop: Style, step: Style) -> Axis:
    values = [known(s) for s in (start, stop, step)]
    if UNKNOWN not in values and None not in values:
        return len(np.arange(*values))
    if values[2] != 1 or not isinstance(values[0], int) or values[0] < 0 or kind(stop) != "i":
        return fresh_dim()
    return shorten(axis_of_length(stop), values[0])


def _spaced(fn: Any) -> Any:
    def style(
        start: Style,
        stop: Style,
        num: Style = FIFTY,
        endpoint: Style = TRUE,
        *rest: Style,
        **more: Style,
    ) -> Any:
        return _spaced_style(fn, start, stop, num, more)

    return style


def _dtype_of_spaced(fn: Any, start: Style, stop: Style) -> tuple[DType, str]:
    """The dtype of a range between two ends; Python's numbers take that of the other end."""
    ends = [numeric(x) for x in (start, stop)]
    weak = [_NUMBERS.get(x.kind) if isinstance(x, Scalar) and x.weak else None for x in ends]
    arrays = [x for x, number in zip(ends, weak, strict=True) if number is None]

    def spaced(*given: Any) -> Any:
        left = iter(given)
        return fn(*[next(left) if number is None else number for number in weak], 2)

    return probed(spaced, *arrays)


_NUMBERS: dict[str, Any] = {"b": True, "i": 1, "f": 1.0, "c": 1j}


def _spaced_style(fn: Any, start: Style, stop: Style, num: Style, more: dict[str, Style]) -> Any:
    asked = known_dtype(more.get("dtype", NONE))
    made, top = _dtype_of_spaced(fn, start, stop)
    if asked is not None:
        made = None if asked is UNKNOWN else asked
    a, b = axes_of(start), axes_of(stop)
    at = known(more.get("axis", ZERO))
    axes: Axes = None if a is None or b is None else broadcast_axes(a, b)
    if axes is not None:
        axes = (axis_of_length(num), *axes) if at == 0 else (fresh_dim(), *one_like(axes))  # type: ignore[misc]
    if known(more.get("retstep", FALSE)) is True:
        return array(made, axes, True, top), Scalar(made, None, top)
    return array(made, axes, axes is not None and len(axes) == 1, top)


# ------------------------------------------------------------------------------------------------ index grids


XY = Static("xy")


def _meshgrid_style(*xi: Style, copy: Style = TRUE, sparse: Style = FALSE, indexing: Style = XY) -> Any:
    lengths = [(axes_of(x) or (1,))[0] for x in xi]
    order = list(range(len(xi)))
    if known(indexing) == "xy" and len(xi) > 1:
        order[0], order[1] = 1, 0
    full = tuple(lengths[i] for i in order)
    flat = known(copy) is True

    def one(i: int) -> Style:
        part = as_array(xi[i])
        axes = tuple(a if order[k] == i else 1 for k, a in enumerate(full)) if known(sparse) is True else full
        return array(part.dtype, axes, flat, part.kind)

    return tuple(one(i) for i in range(len(xi)))


def _indices_style(dimensions: Style, dtype: Style = INT, sparse: Style = FALSE) -> Style:
    axes = shape_axes(dimensions)
    asked = known_dtype(dtype)
    if known(sparse) is not False or axes is None:
        raise TypeError("sparse index grids")
    return array(None if asked is UNKNOWN else asked, (len(axes), *axes), True)


def _index_arrays(count: int) -> Any:
    def style(*args: Style, **options: Style) -> Any:
        axis = fresh_dim()
        return (array(INT64, (axis,), True, "i"),) * count

    return style


def _diag_indices_style(n: Style, ndim: Style = TWO) -> Any:
    count = known(ndim)
    return (array(INT64, (axis_of_length(n),), True, "i"),) * count


def _unravel_style(indices: Style, shape: Style, order: Style = NONE) -> Any:
    axes = shape_axes(shape)
    if axes is None:
        raise TypeError("unknown shape")
    one = axes_of(indices)
    return (Scalar(INT64, False) if one == () else array(INT64, one, False, "i"),) * len(axes)


def _ravel_multi_style(multi_index: Style, dims: Style, mode: Style = NONE, order: Style = NONE) -> Style:
    made = as_array(multi_index)
    axes = axes_of(made)
    return result(INT64, None if axes is None else axes[1:], False, "i")


def _window_style(*args: Style, **options: Style) -> Style:
    return array(FLOAT64, (axis_of_length(args[0]),), True)


def _freq_style(n: Style, d: Style = NONE, *, device: Style = NONE) -> Style:
    return array(FLOAT64, (fresh_dim(),), True)


def _declare_all() -> None:
    fn: Any
    for fn in (np.zeros, np.ones, np.empty):
        declare(fn, style=_zeros_style)
    for fn in (np.zeros_like, np.ones_like, np.empty_like):
        declare(fn, style=_like_style)
    declare(np.full, style=_full_style)
    declare(np.full_like, style=_full_like_style)
    declare(np.eye, style=_eye_style)
    declare(np.identity, style=_identity_style)
    declare(np.tri, style=_tri_style)
    declare(np.arange, style=_arange_style)
    for fn in (np.linspace, np.logspace, np.geomspace):
        declare(fn, style=_spaced(fn))
    declare(np.meshgrid, style=_meshgrid_style)
    declare(np.indices, style=_indices_style)
    for fn in (np.triu_indices, np.tril_indices, np.triu_indices_from, np.tril_indices_from):
        declare(fn, style=_index_arrays(2))
    declare(np.diag_indices, style=_diag_indices_style)
    declare(np.unravel_index, style=_unravel_style)
    declare(np.ravel_multi_index, style=_ravel_multi_style)
    for fn in (np.hanning, np.hamming, np.bartlett, np.blackman, np.kaiser):
        declare(fn, style=_window_style)
    declare(np.fft.fftfreq, style=_freq_style)
    declare(np.fft.rfftfreq, style=_freq_style)


_declare_all()
