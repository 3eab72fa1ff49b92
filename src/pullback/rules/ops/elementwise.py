"""Ufuncs, and the elementwise functions that are not ufuncs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pullback.ir.core_ops import matmul_style, style_of
from pullback.ir.nodes import Alias, Call
from pullback.rules.ops.infer import (
    FALSE,
    LAST,
    NONE,
    TRUE,
    ZERO,
    array,
    axes_of,
    contiguous,
    known,
    known_dtype,
    last_axes,
    probed,
    result,
)
from pullback.rules.registry import declare
from pullback.styles.broadcast import (
    as_array,
    broadcast_axes,
    elementwise,
    result_dtype,
    ufunc_style,
)
from pullback.styles.style import (
    BOOL,
    PY_BOOL,
    Array,
    Scalar,
    Style,
    kind,
    max_kind,
    numeric,
)

_GUFUNCS = {np.matmul, np.vecdot} | {getattr(np, n) for n in ("matvec", "vecmat") if hasattr(np, n)}
_CHEAP = {
    np.add,
    np.subtract,
    np.multiply,
    np.divide,
    np.negative,
    np.positive,
    np.absolute,
    np.fabs,
    np.square,
    np.reciprocal,
    np.maximum,
    np.minimum,
    np.fmax,
    np.fmin,
    np.sign,
    np.conjugate,
    np.deg2rad,
    np.rad2deg,
    np.degrees,
    np.radians,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
    np.equal,
    np.not_equal,
    np.logical_and,
    np.logical_or,
    np.logical_not,
    np.logical_xor,
    np.isnan,
    np.isfinite,
    np.isinf,
    np.signbit,
    np.copysign,
}


def _ufuncs() -> list[np.ufunc]:
    found = {id(f): f for f in vars(np).values() if isinstance(f, np.ufunc)}
    return list(found.values())


def _ufunc_style(ufunc: np.ufunc) -> Callable[..., Any]:
    def style(
        *operands: Style, dtype: Style = NONE, where: Style = TRUE, casting: Style = NONE, order: Style = NONE
    ) -> Any:
        if len(operands) != ufunc.nin:
            raise TypeError("outputs given by position")
        made = ufunc_style(ufunc, *[_number(s) for s in operands])
        asked = known_dtype(dtype)
        if asked is not None:
            if isinstance(made, tuple):
                return tuple(_retyped(m, asked) for m in made)
            made = _retyped(made, asked)
        if where != TRUE and not isinstance(made, tuple):  # the mask broadcasts with the operands
            return elementwise([made, where], made.dtype, kind(made))  # type: ignore[union-attr]
        return made

    return style


def _retyped(style: Style, dtype: Any) -> Style:
    assert isinstance(style, Scalar | Array)
    dtype = dtype if isinstance(dtype, np.dtype) else None
    if isinstance(style, Scalar):
        return Scalar(dtype, False)
    return Array(dtype, style.axes, style.contiguous)


def _number(style: Style) -> Style:
    """A flag (Python bool) counts as a boolean scalar."""
    return numeric(style)


def vecdot_style(x1: Style, x2: Style, axis: Style = LAST) -> Style:
    """Inner products over one axis, the others broadcast."""
    a, b = last_axes(x1, 1), last_axes(x2, 1)
    dtype, top = probed(np.multiply, x1, x2)
    if a is None or b is None or known(axis) != -1:
        return array(dtype, None, False, top)
    return result(dtype, broadcast_axes(a[0], b[0]), False, top)


def _matvec_style(x1: Style, x2: Style) -> Style:
    a, b = last_axes(x1, 2), last_axes(x2, 1)
    dtype, top = probed(np.multiply, x1, x2)
    if a is None or b is None:
        return array(dtype, None, False, top)
    return result(dtype, (*broadcast_axes(a[0], b[0]), a[1][0]), False, top)


def _vecmat_style(x1: Style, x2: Style) -> Style:
    a, b = last_axes(x1, 1), last_axes(x2, 2)
    dtype, top = probed(np.multiply, x1, x2)
    if a is None or b is None:
        return array(dtype, None, False, top)
    return result(dtype, (*broadcast_axes(a[0], b[0]), b[1][1]), False, top)


def _declare_ufuncs() -> None:
    for ufunc in _ufuncs():
        if ufunc not in _GUFUNCS:
            declare(ufunc, style=_ufunc_style(ufunc), cheap=ufunc in _CHEAP, elementwise=True)
    declare(np.matmul, style=matmul_style)
    declare(np.vecdot, style=vecdot_style)
    if hasattr(np, "matvec"):
        declare(np.matvec, style=_matvec_style)
        declare(np.vecmat, style=_vecmat_style)


# ------------------------------------------------------------------ elementwise functions that are not ufuncs


def same_alias(call: Call) -> Alias:
    """The operand itself, or something fresh: for an array operand it may share."""
    return Alias("same", (0,)) if isinstance(style_of(call.args[0]), Array) else Alias()


def _real_style(val: Style) -> Style:
    a = as_array(val)
    dtype = None if a.dtype is None else np.ones(1, a.dtype).real.dtype
    top = "f" if a.kind == "c" else a.kind
    if isinstance(numeric(val), Scalar):
        return Scalar(dtype, numeric(val).weak, top)  # type: ignore[union-attr]
    return array(dtype, axes_of(val), contiguous(val) and a.kind != "c", top)


def _real_alias(call: Call) -> Alias:
    style = style_of(call.args[0])
    if not isinstance(style, Array):
        return Alias()
    return Alias("view" if style.kind == "c" else "maybe", (0,))


def _map_style(fn: Callable[..., Any], cast: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """A function of one operand, dtype by asking; NumPy scalars give NumPy scalars."""

    def style(x: Style, **options: Style) -> Style:
        dtype, top = probed(fn, x)
        return elementwise([x], dtype, top)

    return style


def _predicate_style(x: Style, out: Style = NONE) -> Style:
    made = elementwise([x], BOOL, "b")
    return Scalar(BOOL, None) if isinstance(made, Scalar) else made


def _array_or_scalar(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Like `np.sinc`, `np.i0`: computed through np.asarray, so that scalars may come back as rank 0."""

    def style(x: Style, **options: Style) -> Style:
        dtype, top = probed(fn, x)
        axes = axes_of(x)
        if axes == ():
            return (
                Scalar(dtype, False, top)
                if isinstance(fn(np.float64(1.0)), np.generic)
                else array(dtype, (), True, top)
            )
        return array(dtype, axes, contiguous(x) or (axes is not None and len(axes) == 1), top)

    return style


def _clip_style(
    a: Style,
    a_min: Style = NONE,
    a_max: Style = NONE,
    out: Style = NONE,
    *,
    min: Style = NONE,
    max: Style = NONE,
) -> Style:
    bounds = [b for b in (a_min, a_max, min, max) if b != NONE]
    parts = [as_array(s) for s in (a, *bounds)]
    dtype = result_dtype(parts)
    top = "b"
    for s in parts:
        top = max_kind(top, s.kind)
    return elementwise([a, *bounds], dtype, top)


def _where_style(condition: Style, x: Style | None = None, y: Style | None = None) -> Any:
    if x is None or y is None:
        raise TypeError("np.where(condition) is np.nonzero")
    a, b, c = as_array(x), as_array(y), as_array(condition)
    dtype = result_dtype([a, b])
    axes: Any = ()
    for s in (c, a, b):
        more = axes_of(s)
        axes = None if axes is None or more is None else broadcast_axes(axes, more)
    flat = all(contiguous(s) for s in (c, a, b))
    return array(dtype, axes, flat or (axes is not None and len(axes) <= 1), max_kind(a.kind, b.kind))


def _nan_to_num_style(
    x: Style, copy: Style = TRUE, nan: Style = NONE, posinf: Style = NONE, neginf: Style = NONE
) -> Style:
    a = as_array(x)
    return result(a.dtype, axes_of(x), contiguous(x), a.kind)


def _round_style(a: Style, decimals: Style = ZERO, out: Style = NONE) -> Style:
    style = numeric(a)
    if isinstance(style, Scalar):
        return Scalar(style.dtype if style.kind != "b" else None, False, style.kind)
    dtype, top = probed(np.round, a)
    return elementwise([a], dtype, top)


def _round_alias(call: Call) -> Alias:
    """Integers may come back as they are (they do before NumPy 2.3)."""
    style = style_of(call.args[0])
    whole = isinstance(style, Array) and (style.dtype is None or style.kind in "bi")
    return Alias("maybe", (0,)) if whole else Alias()


def _isclose_style(
    a: Style, b: Style, rtol: Style = NONE, atol: Style = NONE, equal_nan: Style = FALSE
) -> Style:
    return elementwise([a, b], BOOL, "b")


def _truth(*operands: Style, **options: Style) -> Style:
    return PY_BOOL


def _angle_style(z: Style, deg: Style = FALSE) -> Style:
    dtype, top = probed(np.angle, z)
    return elementwise([z], dtype, "f" if top == "c" else top)


def _unwrap_style(p: Style, discont: Style = NONE, axis: Style = LAST, *, period: Style = NONE) -> Style:
    dtype, top = probed(np.unwrap, p)
    return array(dtype, axes_of(p), contiguous(p), top)


def _declare_functions() -> None:
    declare(np.real, style=_real_style, alias=_real_alias, cheap=True)
    declare(np.imag, style=_real_style, alias=_real_alias, cheap=True)
    declare(np.angle, style=_angle_style, elementwise=True)
    declare(np.sinc, style=_array_or_scalar(np.sinc), elementwise=True)
    declare(np.i0, style=_array_or_scalar(np.i0), elementwise=True)
    declare(np.clip, style=_clip_style, elementwise=True, cheap=True)
    declare(np.where, style=_where_style, elementwise=True, cheap=True)
    declare(np.nan_to_num, style=_nan_to_num_style, alias=_nan_to_num_alias, elementwise=True)
    declare(np.round, style=_round_style, alias=_round_alias, elementwise=True)
    declare(np.around, style=_round_style, alias=_round_alias, elementwise=True)
    declare(np.fix, style=_map_style(np.trunc), elementwise=True)  # calling np.fix warns from NumPy 2.5 on
    declare(np.real_if_close, style=lambda a, tol=NONE: Array(None, axes_of(a)), alias=Alias("maybe", (0,)))
    declare(np.isclose, style=_isclose_style, elementwise=True)
    for name in ("isreal", "iscomplex", "isposinf", "isneginf"):
        declare(getattr(np, name), style=_predicate_style, elementwise=True)
    for name in (
        "allclose",
        "array_equal",
        "array_equiv",
        "isscalar",
        "isrealobj",
        "iscomplexobj",
        "shares_memory",
        "may_share_memory",
        "can_cast",
        "issubdtype",
        "iterable",
    ):
        declare(getattr(np, name), style=_truth)
    declare(np.unwrap, style=_unwrap_style)


def _nan_to_num_alias(call: Call) -> Alias:
    options = dict(call.kwargs)
    copy = call.args[1] if len(call.args) > 1 else options.get("copy")
    if copy is None or style_of(copy) == TRUE:
        return Alias()
    return Alias("same", (0,))


_declare_ufuncs()
_declare_functions()
__all__ = ["same_alias", "vecdot_style"]
