"""Products of vectors, matrices and tensors; convolutions; polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.ir.core_ops import matmul_style, shape_axes
from pullback.ir.nodes import Alias, Call
from pullback.rules.ops.elementwise import vecdot_style
from pullback.rules.ops.infer import (
    FULL,
    LAST,
    NONE,
    TWO,
    UNKNOWN,
    VALID,
    array,
    axes_of,
    known,
    normal_axis,
    one_like,
    probed,
    product_axis,
    result,
)
from pullback.rules.registry import declare
from pullback.styles.broadcast import as_array, broadcast_axes
from pullback.styles.style import (
    Axis,
    Scalar,
    Style,
    Tup,
    fresh_dim,
    not_one,
    numeric,
    shorten,
)


def _product_dtype(*styles: Style) -> tuple[Any, str]:
    return probed(lambda *xs: np.result_type(*xs).type(1), *styles)


def _dot_style(a: Style, b: Style, out: Style = NONE) -> Style:
    dtype, top = _product_dtype(a, b)
    x, y = axes_of(a), axes_of(b)
    if x is None or y is None:
        return array(dtype, None, False, top)
    if x == () or y == ():
        return result(dtype, x or y, False, top)
    made = x[:-1] + (y[:-2] + y[-1:] if len(y) > 1 else ())
    return result(dtype, made, True, top)


def _inner_style(a: Style, b: Style) -> Style:
    dtype, top = _product_dtype(a, b)
    x, y = axes_of(a), axes_of(b)
    if x is None or y is None:
        return array(dtype, None, False, top)
    if x == () or y == ():
        return result(dtype, x or y, False, top)
    return result(dtype, x[:-1] + y[:-1], True, top)


def _outer_style(a: Style, b: Style, out: Style = NONE) -> Style:
    dtype, top = _product_dtype(a, b)
    x, y = axes_of(a), axes_of(b)
    rows, cols = (fresh_dim() if s is None else product_axis(s) for s in (x, y))
    return array(dtype, (rows, cols), True, top)


def _vdot_style(a: Style, b: Style) -> Style:
    dtype, top = _product_dtype(a, b)
    return Scalar(dtype, False, top)


def _tensordot_style(a: Style, b: Style, axes: Style = TWO) -> Style:
    dtype, top = _product_dtype(a, b)
    x, y, over = axes_of(a), axes_of(b), known(axes)
    if x is None or y is None or over is UNKNOWN:
        return array(dtype, None, False, top)
    if isinstance(over, int):
        pair: tuple[Any, Any] = (tuple(range(len(x) - over, len(x))), tuple(range(over)))
    else:
        pair = tuple((p,) if isinstance(p, int) else tuple(p) for p in over)  # type: ignore[assignment]
    gone_x = [normal_axis(i, len(x)) for i in pair[0]]
    gone_y = [normal_axis(i, len(y)) for i in pair[1]]
    made = tuple(s for i, s in enumerate(x) if i not in gone_x) + tuple(
        s for i, s in enumerate(y) if i not in gone_y
    )
    return array(dtype, made, True, top)


def _linalg_tensordot_style(x1: Style, x2: Style, /, *, axes: Style = TWO) -> Style:
    return _tensordot_style(x1, x2, axes)


def _kron_style(a: Style, b: Style) -> Style:
    dtype, top = _product_dtype(a, b)
    x, y = axes_of(a), axes_of(b)
    if x is None or y is None:
        return array(dtype, None, False, top)
    rank = max(len(x), len(y))
    x, y = (1,) * (rank - len(x)) + x, (1,) * (rank - len(y)) + y
    return result(dtype, tuple(product_axis([p, q]) for p, q in zip(x, y, strict=True)), True, top)


def _cross_style(
    a: Style, b: Style, axisa: Style = LAST, axisb: Style = LAST, axisc: Style = LAST, axis: Style = NONE
) -> Style:
    dtype, top = _product_dtype(a, b)
    x, y = axes_of(a), axes_of(b)
    plain = all(known(s) == -1 for s in (axisa, axisb, axisc)) and known(axis) in (None, -1)
    if x is None or y is None or not plain or x[-1:] not in ((3,), (2,)) or y[-1:] not in ((3,), (2,)):
        rank = None if x is None or y is None or x[-1:] == (2,) else max(len(x), len(y))
        known_three = x is not None and (x[-1:] == (3,) or (y is not None and y[-1:] == (3,)))
        if rank is None or not (known_three or not plain):
            return array(dtype, None, False, top)
        return array(dtype, tuple(fresh_dim() for _ in range(rank)), False, top)
    batch = broadcast_axes(x[:-1], y[:-1])
    if x[-1:] == (2,) and y[-1:] == (2,):
        return array(dtype, batch, False, top) if batch else array(dtype, (), True, top)
    return array(dtype, (*batch, 3), len(batch) == 0, top)


def _linalg_cross_style(x1: Style, x2: Style, /, *, axis: Style = LAST) -> Style:
    return _cross_style(x1, x2, axis, axis, axis)


# ----------------------------------------------------------------------------------------------------- einsum


def einsum_labels(text: str, ranks: tuple[int, ...]) -> tuple[list[str], str]:
    """Labels of each operand and of the result, ellipses spelled out with labels of their own."""
    text = text.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    widths = [rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks, strict=True)]
    longest = max((w for term, w in zip(terms, widths, strict=True) if "..." in term), default=0)
    spare = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in text][:longest]
    full = "".join(spare)
    spelled = [
        t.replace("...", full[longest - w :]) if "..." in t else t for t, w in zip(terms, widths, strict=True)
    ]
    if arrow:
        return spelled, right.replace("...", full)
    letters = "".join(t.replace("...", "") for t in terms)
    return spelled, full + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))


def _einsum_style(subscripts: Style, *operands: Style, **options: Style) -> Style:
    dtype, top = _product_dtype(*operands)
    text = known(subscripts)
    ranks = [axes_of(s) for s in operands]
    if not isinstance(text, str) or any(r is None for r in ranks):
        return array(dtype, None, False, top)
    axes_all = [r for r in ranks if r is not None]
    terms, out = einsum_labels(text, tuple(len(r) for r in axes_all))
    lengths: dict[str, Axis] = {}
    for term, axes in zip(terms, axes_all, strict=True):
        for label, axis in zip(term, axes, strict=True):
            lengths[label] = axis if label not in lengths or not not_one(lengths[label]) else lengths[label]
    made = tuple(lengths[c] for c in out)
    return (
        result(dtype, made, len(operands) > 1 and len(made) <= 1, top)
        if len(operands) > 1
        else _single(dtype, made, top)
    )


def _single(dtype: Any, axes: tuple[Axis, ...], top: str) -> Style:
    """One operand: a diagonal or transpose is a view, a sum a fresh array."""
    return Scalar(dtype, False, top) if axes == () else array(dtype, axes, False, top)


def _einsum_alias(call: Call) -> Alias:
    return Alias("maybe", (1,)) if len(call.args) == 2 else Alias()


def _multi_dot_style(arrays: Style, *, out: Style = NONE) -> Style:
    if not isinstance(arrays, Tup) or len(arrays.items) < 2:
        raise TypeError("multi_dot of an unknown number of arrays")
    made = arrays.items[0]
    for s in arrays.items[1:]:
        made = _dot_style(made, s)
    return made


# ---------------------------------------------------------------------------------- convolutions, polynomials


def _convolve_style(a: Style, v: Style, mode: Style = FULL) -> Style:
    dtype, top = _product_dtype(a, v)
    x, y = axes_of(a) or (fresh_dim(),), axes_of(v) or (fresh_dim(),)
    length: Any = fresh_dim()
    if isinstance(x[0], int) and isinstance(y[0], int):
        small, big = sorted((x[0], y[0]))
        length = {"full": big + small - 1, "same": big, "valid": big - small + 1}.get(known(mode), length)
    elif isinstance(y[0], int) and known(mode) == "full":
        length = shorten(x[0], 1 - y[0]) if y[0] == 1 else fresh_dim(not_one=y[0] > 1)
    return array(dtype, (length,), True, top)


def _correlate_style(a: Style, v: Style, mode: Style = VALID) -> Style:
    return _convolve_style(a, v, mode)


def _polyval_style(p: Style, x: Style) -> Style:
    dtype, top = _product_dtype(p, x)
    number = numeric(x)
    if isinstance(number, Scalar):
        return Scalar(dtype if dtype == np.float64 or number.weak is False else None, False, top)
    return array(dtype, axes_of(x), False, top) if axes_of(x) != () else Scalar(dtype, False, top)


def _vander_style(x: Style, N: Style = NONE, increasing: Style = NONE) -> Style:
    one = as_array(x)
    axes, count = axes_of(x), known(N)
    rows = fresh_dim() if axes is None else axes[0]
    return array(
        None if one.dtype is None else np.vander(np.ones(1, one.dtype)).dtype,
        (rows, rows if count is None else count if isinstance(count, int) else fresh_dim()),
        True,
        one.kind,
    )


def _poly_result_style(*args: Style, **options: Style) -> Style:
    _, top = _product_dtype(*args[:1])
    return array(None, (fresh_dim(),), False, top)


def _declare_all() -> None:
    declare(np.dot, style=_dot_style)
    declare(np.inner, style=_inner_style)
    declare(np.outer, style=_outer_style)
    declare(np.vdot, style=_vdot_style)
    declare(np.tensordot, style=_tensordot_style)
    declare(np.kron, style=_kron_style)
    declare(np.cross, style=_cross_style)
    declare(np.einsum, style=_einsum_style, alias=_einsum_alias)
    declare(np.linalg.multi_dot, style=_multi_dot_style)
    if hasattr(np.linalg, "vecdot"):
        declare(np.linalg.vecdot, style=lambda x1, x2, /, *, axis=LAST: vecdot_style(x1, x2, axis))
        declare(np.linalg.matmul, style=lambda x1, x2, /: matmul_style(x1, x2))
        declare(np.linalg.outer, style=lambda x1, x2, /: _outer_style(x1, x2))
        declare(np.linalg.tensordot, style=_linalg_tensordot_style)
        declare(np.linalg.cross, style=_linalg_cross_style)
    declare(np.convolve, style=_convolve_style)
    declare(np.correlate, style=_correlate_style)
    declare(np.polyval, style=_polyval_style)
    declare(np.vander, style=_vander_style)
    for fn in (np.polyadd, np.polysub, np.polymul, np.polyder, np.polyint):
        declare(fn, style=_poly_result_style, alias=Alias("maybe", (0, 1)))


_declare_all()
__all__ = ["einsum_labels", "one_like", "shape_axes"]
