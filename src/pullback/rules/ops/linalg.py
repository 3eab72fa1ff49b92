"""Dense linear algebra and Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.ir.nodes import Alias, Call
from pullback.rules.ops.infer import (
    FALSE,
    LAST,
    LOWER,
    NONE,
    REDUCED,
    TRUE,
    UNKNOWN,
    array,
    axes_of,
    dtype_of,
    kind_top,
    known,
    last_axes,
    normal_axes,
    normal_axis,
    probe_square,
    probed,
    reduced,
    result,
)
from pullback.rules.registry import declare
from pullback.styles.broadcast import as_array, broadcast_axes
from pullback.styles.style import (
    BOOL,
    INT64,
    Array,
    Axis,
    Dim,
    Scalar,
    Static,
    Style,
    fresh_dim,
    max_kind,
    same_length,
)


def _float_kind(*styles: Style) -> str:
    top = "f"
    for s in styles:
        top = max_kind(top, kind_top(s))
    return top


def _square(fn: Any, position: int, *styles: Style) -> Any:
    """dtype of one result of `fn` on matrices."""
    dtypes = [dtype_of(s) for s in styles]
    if any(d is None for d in dtypes):
        return None
    found = probe_square(fn, *dtypes)
    return None if found is None else found[position]


def _inv_style(a: Style) -> Style:
    return array(_square(np.linalg.inv, 0, a), axes_of(a), True, _float_kind(a))


def _solve_style(a: Style, b: Style) -> Style:
    dtype, top = _square(np.linalg.solve, 0, a, b), _float_kind(a, b)
    left, right = last_axes(a, 2), axes_of(b)
    if left is None or right is None:
        return array(dtype, None, False, top)
    if len(right) == 1:
        return array(dtype, (*left[0], right[0]), True, top)
    return array(dtype, (*broadcast_axes(left[0], right[:-2]), *right[-2:]), True, top)


def _det_style(a: Style) -> Style:
    parts = last_axes(a, 2)
    return result(_square(np.linalg.det, 0, a), None if parts is None else parts[0], True, _float_kind(a))


def _slogdet_style(a: Style) -> Any:
    parts = last_axes(a, 2)
    axes = None if parts is None else parts[0]
    return (
        result(_square(np.linalg.slogdet, 0, a), axes, True, _float_kind(a)),
        result(_square(np.linalg.slogdet, 1, a), axes, True, "f"),
    )


def _cholesky_style(a: Style, /, *, upper: Style = FALSE) -> Style:
    return array(_square(np.linalg.cholesky, 0, a), axes_of(a), known(upper) is False, _float_kind(a))


def _pinv_style(a: Style, rcond: Style = NONE, hermitian: Style = FALSE, *, rtol: Style = NONE) -> Style:
    parts = last_axes(a, 2)
    axes = None if parts is None else (*parts[0], parts[1][1], parts[1][0])
    return array(_square(np.linalg.pinv, 0, a), axes, False, _float_kind(a))


def _eigh_style(a: Style, UPLO: Style = LOWER) -> Any:
    axes = axes_of(a)
    values = None if axes is None else axes[:-1]
    return (
        array(_square(np.linalg.eigh, 0, a), values, True, "f"),
        array(_square(np.linalg.eigh, 1, a), axes, True, _float_kind(a)),
    )


def _eigvalsh_style(a: Style, UPLO: Style = LOWER) -> Style:
    values: Style = _eigh_style(a)[0]
    return values


def _eig_style(a: Style) -> Any:
    axes = axes_of(a)
    return (array(None, None if axes is None else axes[:-1], False, "c"), array(None, axes, False, "c"))


def _smaller(rows: Axis, cols: Axis) -> Axis:
    if isinstance(rows, int) and isinstance(cols, int):
        return min(rows, cols)
    return rows if same_length(rows, cols) else fresh_dim()


def _svd_style(
    a: Style, full_matrices: Style = TRUE, compute_uv: Style = TRUE, hermitian: Style = FALSE
) -> Any:
    parts = last_axes(a, 2)
    top = _float_kind(a)
    real = _square(np.linalg.svdvals, 0, a) if hasattr(np.linalg, "svdvals") else _square(np.linalg.svd, 1, a)
    if parts is None:
        raise TypeError("svd of unknown rank")
    batch, (rows, cols) = parts
    least = _smaller(rows, cols)
    values = array(real, (*batch, least), True, "f")
    if known(compute_uv) is False:
        return values
    full = known(full_matrices)
    dtype = _square(np.linalg.svd, 0, a)
    wide = (rows, cols) if full is True else (least, least) if full is False else (fresh_dim(), fresh_dim())
    return (
        array(dtype, (*batch, rows, wide[0]), False, top),
        values,
        array(dtype, (*batch, wide[1], cols), False, top),
    )


def _svdvals_style(x: Style, /) -> Style:
    parts = last_axes(x, 2)
    axes = None if parts is None else (*parts[0], _smaller(*parts[1]))
    return array(_square(np.linalg.svd, 1, x), axes, True, "f")


def _qr_style(a: Style, mode: Style = REDUCED) -> Any:
    parts = last_axes(a, 2)
    top = _float_kind(a)
    dtype = _square(np.linalg.qr, 0, a)
    how = known(mode)
    if parts is None or how not in ("reduced", "complete", "r"):
        raise TypeError("qr of this kind")
    batch, (rows, cols) = parts
    inner = rows if how == "complete" else _smaller(rows, cols)
    upper = array(dtype, (*batch, inner, cols), False, top)
    if how == "r":
        return upper
    return array(dtype, (*batch, rows, inner), False, top), upper


def _matrix_power_style(a: Style, n: Style) -> Style:
    times = known(n)
    one = as_array(a)
    dtype = one.dtype if isinstance(times, int) and times >= 0 else _square(np.linalg.inv, 0, a)
    return array(dtype, axes_of(a), isinstance(times, int) and abs(times) > 1, one.kind)


def _matrix_power_alias(call: Call) -> Alias:
    return Alias("maybe", (0,))


def _norm_style(x: Style, ord: Style = NONE, axis: Style = NONE, keepdims: Style = FALSE) -> Style:
    dtype, _ = probed(np.linalg.norm, x)
    axes, over, kept = axes_of(x), known(axis), known(keepdims)
    if over is None and kept is False:
        return result(dtype, (), True, "f")
    if axes is None or over is UNKNOWN or kept is UNKNOWN:
        return array(dtype, None, False, "f")
    gone = normal_axes(over, len(axes))
    if gone is None:
        raise TypeError("axis out of range")
    return result(dtype, reduced(axes, axis, keepdims), False, "f")


def _vector_norm_style(
    x: Style, /, *, axis: Style = NONE, keepdims: Style = FALSE, ord: Style = NONE
) -> Style:
    return result(probed(np.linalg.norm, x)[0], reduced(axes_of(x), axis, keepdims), False, "f")


def _matrix_norm_style(x: Style, /, *, keepdims: Style = FALSE, ord: Style = NONE) -> Style:
    return result(probed(np.linalg.norm, x)[0], reduced(axes_of(x), Static((-2, -1)), keepdims), False, "f")


def _lstsq_style(a: Style, b: Style, rcond: Style = NONE) -> Any:
    left, right = last_axes(a, 2), axes_of(b)
    dtype, top = _square(np.linalg.lstsq, 0, a, b), _float_kind(a, b)
    if left is None or right is None:
        raise TypeError("lstsq of unknown rank")
    solution = array(dtype, (left[1][1], *right[1:]), False, top)
    return (
        solution,
        array(dtype, (fresh_dim(),), True, "f"),
        Scalar(None, None, "i"),
        array(None, (fresh_dim(),), True, "f"),
    )


def _matrix_rank_style(A: Style, *rest: Style, **options: Style) -> Style:
    parts = last_axes(A, 2)
    return result(INT64, None if parts is None else parts[0], False, "i")


def _cond_style(x: Style, p: Style = NONE) -> Style:
    parts = last_axes(x, 2)
    dtype = _square(np.linalg.cond, 0, x)
    return (
        result(dtype, parts[0], False, "f")
        if parts is not None and parts[0]
        else Array(dtype, None, False, "f")
    )


def _shapeless(fn: Any) -> Any:
    def style(*args: Style, **options: Style) -> Style:
        return array(None, None, False, _float_kind(*args[:1]))

    return style


# ----------------------------------------------------------------------------------------- Fourier transforms


def _fft_style(fn: Any, real_out: bool = False) -> Any:
    def style(a: Style, n: Style = NONE, axis: Style = LAST, norm: Style = NONE, out: Style = NONE) -> Style:
        dtype, top = probed(fn, a) if not real_out else probed(lambda x: fn(x, 2), a)
        axes, at, length = axes_of(a), known(axis), known(n)
        where = normal_axis(at, len(axes)) if axes is not None and isinstance(at, int) else None
        if axes is None or where is None:
            return array(dtype, None, False, top)
        made = axes[where] if length is None else length if isinstance(length, int) else fresh_dim()
        made = _fft_length(fn, made, length is None)
        return array(
            dtype, (*axes[:where], made, *axes[where + 1 :]), len(axes) == 1, "f" if real_out else "c"
        )

    return style


def _fft_length(fn: Any, axis: Axis, from_input: bool) -> Axis:
    if fn in (np.fft.rfft, np.fft.ihfft):
        return axis // 2 + 1 if isinstance(axis, int) else fresh_dim()
    if fn in (np.fft.irfft, np.fft.hfft) and from_input:
        return 2 * (axis - 1) if isinstance(axis, int) else fresh_dim()
    return axis


def _fftn_style(fn: Any, axes_default: Any) -> Any:
    default: Style = Static(axes_default)

    def style(
        a: Style, s: Style = NONE, axes: Style = default, norm: Style = NONE, out: Style = NONE
    ) -> Style:
        dtype, _ = probed(np.fft.fft, a)
        own = axes_of(a)
        return array(
            dtype, own if s == NONE else None if own is None else tuple(fresh_dim() for _ in own), False, "c"
        )

    return style


def _real_fftn_style(fn: Any, real_out: bool) -> Any:
    def style(a: Style, s: Style = NONE, axes: Style = NONE, norm: Style = NONE, out: Style = NONE) -> Style:
        dtype, _ = probed(lambda x: np.fft.irfft(x, 2), a) if real_out else probed(np.fft.rfft, a)
        own = axes_of(a)
        return array(
            dtype, None if own is None else tuple(fresh_dim() for _ in own), False, "f" if real_out else "c"
        )

    return style


def _shift_style(x: Style, axes: Style = NONE) -> Style:
    one = as_array(x)
    return array(one.dtype, axes_of(x), False, one.kind)


def _declare_all() -> None:
    fn: Any
    declare(np.linalg.inv, style=_inv_style)
    declare(np.linalg.solve, style=_solve_style)
    declare(np.linalg.det, style=_det_style)
    declare(np.linalg.slogdet, style=_slogdet_style)
    declare(np.linalg.cholesky, style=_cholesky_style)
    declare(np.linalg.pinv, style=_pinv_style)
    declare(np.linalg.eigh, style=_eigh_style)
    declare(np.linalg.eigvalsh, style=_eigvalsh_style)
    declare(np.linalg.eig, style=_eig_style)
    declare(np.linalg.eigvals, style=lambda a: _eig_style(a)[0])
    declare(np.linalg.svd, style=_svd_style)
    if hasattr(np.linalg, "svdvals"):
        declare(np.linalg.svdvals, style=_svdvals_style)
        declare(np.linalg.vector_norm, style=_vector_norm_style)
        declare(np.linalg.matrix_norm, style=_matrix_norm_style)
    declare(np.linalg.qr, style=_qr_style)
    declare(np.linalg.matrix_power, style=_matrix_power_style, alias=_matrix_power_alias)
    declare(np.linalg.norm, style=_norm_style)
    declare(np.linalg.lstsq, style=_lstsq_style)
    declare(np.linalg.matrix_rank, style=_matrix_rank_style)
    declare(np.linalg.cond, style=_cond_style)
    declare(np.linalg.tensorinv, style=_shapeless(np.linalg.tensorinv))
    declare(np.linalg.tensorsolve, style=_shapeless(np.linalg.tensorsolve))
    for fn in (np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.ihfft):
        declare(fn, style=_fft_style(fn))
    for fn in (np.fft.irfft, np.fft.hfft):
        declare(fn, style=_fft_style(fn, real_out=True))
    for fn, axes in (
        (np.fft.fft2, (-2, -1)),
        (np.fft.ifft2, (-2, -1)),
        (np.fft.fftn, None),
        (np.fft.ifftn, None),
    ):
        declare(fn, style=_fftn_style(fn, axes))
    for fn in (np.fft.rfft2, np.fft.rfftn):
        declare(fn, style=_real_fftn_style(fn, False))
    for fn in (np.fft.irfft2, np.fft.irfftn):
        declare(fn, style=_real_fftn_style(fn, True))
    for fn in (np.fft.fftshift, np.fft.ifftshift):
        declare(fn, style=_shift_style)


_declare_all()
__all__ = ["BOOL", "Array", "Dim"]
