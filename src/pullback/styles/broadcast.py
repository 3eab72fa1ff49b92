"""What NumPy makes of elementwise operands: the axes of the result, and its dtype by NEP 50.

dtypes come from `ufunc.resolve_dtypes` and `np.result_type`; there is no promotion table of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

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
    kind,
    max_kind,
    not_one,
    numeric,
    same_length,
)

_WEAK = {"b": np.dtype(np.bool_), "i": int, "f": float, "c": complex}


def broadcast_axes(a: tuple[Axis, ...], b: tuple[Axis, ...]) -> tuple[Axis, ...]:
    """The axes of the broadcast of two shapes (leading axes are padded with ones)."""
    if not a or a == b:
        return b
    n = max(len(a), len(b))
    padded_a = (1,) * (n - len(a)) + a
    padded_b = (1,) * (n - len(b)) + b
    return tuple(_broadcast_axis(x, y) for x, y in zip(padded_a, padded_b, strict=True))


def _broadcast_axis(a: Axis, b: Axis) -> Axis:
    if is_one(a):
        return b
    if is_one(b) or same_length(a, b):
        return a
    if not_one(a):
        return a  # NumPy raises unless b is 1 or equal
    if not_one(b):
        return b
    return fresh_dim()


def as_array(style: Style) -> Array | Scalar:
    """What `np.asarray` makes of an operand; an Array of unknown rank and dtype where nothing is known."""
    style = numeric(style)
    if isinstance(style, Scalar | Array):
        return style
    if isinstance(style, Static) and isinstance(style.value, np.ndarray):
        return Array(style.value.dtype, style.value.shape, style.value.flags.c_contiguous)
    if isinstance(style, Static) and isinstance(style.value, tuple | list):
        style = Tup(tuple(Static(v) for v in style.value))
    if isinstance(style, Tup | ListOf):
        return array_of_sequence(style)
    return Array(None, None)


def array_of_sequence(style: Tup | ListOf) -> Array:
    """What `np.array` makes of a list or tuple of numbers, arrays or sequences."""
    if isinstance(style, ListOf):
        inner = as_array(style.elem)
        axes = () if isinstance(inner, Scalar) else inner.axes
        return Array(_strong(inner), None if axes is None else (fresh_dim(), *axes), True, inner.kind)
    if not style.items:
        return Array(np.dtype(np.float64), (0,), True)
    inner_all = [as_array(s) for s in style.items]
    axes_all = [() if isinstance(s, Scalar) else s.axes for s in inner_all]
    dtype = result_dtype([_weaken(s) for s in inner_all])
    top = max((s.kind for s in inner_all), key=" bifc".find)
    first = axes_all[0]
    if first is None or any(a is None or len(a) != len(first) for a in axes_all):
        return Array(dtype, None, False, top)
    best = list(first)
    for axes in axes_all[1:]:
        assert axes is not None
        best = [y if not_one(y) and not not_one(x) else x for x, y in zip(best, axes, strict=True)]
    return Array(dtype, (len(style.items), *best), True, top)


def _strong(s: Array | Scalar) -> np.dtype[Any] | None:
    return s.dtype


def _weaken(s: Array | Scalar) -> Scalar | Array:
    """`np.array([f32_scalar, 1.0])` is float64: inside a sequence a Python number counts with its own dtype."""
    return Scalar(s.dtype, False, s.kind) if isinstance(s, Scalar) else s


def result_dtype(styles: Sequence[Scalar | Array]) -> np.dtype[Any] | None:
    """`np.result_type` of operands, weak Python numbers being weak; None where it is unknown."""
    operands: list[Any] = []
    for s in styles:
        if s.dtype is None:
            return None
        if isinstance(s, Scalar) and s.weak is None:
            operands.append(s.dtype)
            operands.append(_weak_example(s.kind))
        elif isinstance(s, Scalar) and s.weak:
            operands.append(_weak_example(s.kind))
        else:
            operands.append(s.dtype)
    try:
        strong = np.result_type(*operands)
    except TypeError:
        return None
    unknown = any(isinstance(s, Scalar) and s.weak is None for s in styles)
    if unknown:  # the same whether weak or strong?
        weak_only = [
            _weak_example(s.kind) if isinstance(s, Scalar) and s.weak is not False else s.dtype
            for s in styles
        ]
        strong_only = [_weak_example(s.kind) if isinstance(s, Scalar) and s.weak else s.dtype for s in styles]
        a, b = np.result_type(*weak_only), np.result_type(*strong_only)
        return a if a == b else None
    return strong


def _weak_example(k: str) -> Any:
    return {"b": np.dtype(np.bool_), "i": 0, "f": 0.0, "c": 0j}[k]


@lru_cache(maxsize=4096)
def _resolve(ufunc: np.ufunc, dtypes: tuple[Any, ...]) -> tuple[np.dtype[Any], ...] | None:
    try:
        return tuple(ufunc.resolve_dtypes(dtypes + (None,) * ufunc.nout)[ufunc.nin :])
    except TypeError:
        return None


def ufunc_dtypes(ufunc: np.ufunc, styles: Sequence[Scalar | Array]) -> tuple[np.dtype[Any] | None, ...]:
    """The dtypes of a ufunc's results; None where unknown."""
    choices = [_candidates(s) for s in styles]
    if None in choices:
        return (None,) * ufunc.nout
    if all([len(c) == 1 for c in choices if c is not None]):
        only = _resolve(ufunc, tuple([c[0] for c in choices if c is not None]))
        return (None,) * ufunc.nout if only is None else only
    found: set[tuple[np.dtype[Any], ...] | None] = {()}
    combos: list[tuple[Any, ...]] = [()]
    for c in choices:
        assert c is not None
        combos = [(*combo, x) for combo in combos for x in c]
    found = {_resolve(ufunc, combo) for combo in combos}
    if len(found) == 1:
        (only,) = found
        if only is not None:
            return only
    return (None,) * ufunc.nout


def _candidates(s: Scalar | Array) -> list[Any] | None:
    if s.dtype is None:
        return None
    if isinstance(s, Scalar) and s.weak is not False and s.kind != "b":
        weak = _WEAK[s.kind]
        return [weak] if s.weak else [weak, s.dtype]
    return [s.dtype]


def elementwise(
    styles: Sequence[Style], dtype: np.dtype[Any] | None, top: str, weak: bool | None = False
) -> Style:
    """The style of an elementwise result of given dtype: scalar if all operands are, else an array."""
    return _elementwise([as_array(s) for s in styles], dtype, top, weak)


def _elementwise(
    parts: Sequence[Scalar | Array], dtype: np.dtype[Any] | None, top: str, weak: bool | None = False
) -> Style:
    if all([isinstance(s, Scalar) for s in parts]):
        return Scalar(dtype, weak, top)
    axes: tuple[Axis, ...] | None = ()
    scalar_like = True
    for s in parts:
        if isinstance(s, Scalar):
            continue
        scalar_like = scalar_like and s.axes == ()
        axes = None if axes is None or s.axes is None else broadcast_axes(axes, s.axes)
    if scalar_like:  # NumPy returns a scalar, not a rank-0 array
        return Scalar(dtype, False, top)
    contiguous = all([isinstance(s, Scalar) or s.contiguous for s in parts])
    return Array(dtype, axes, contiguous, top)


def ufunc_style(ufunc: np.ufunc, *styles: Style) -> Style | tuple[Style, ...]:
    """The style of `ufunc(*operands)`; a tuple of them where the ufunc has several results."""
    parts = [as_array(s) for s in styles]
    dtypes = ufunc_dtypes(ufunc, parts)
    out = tuple([_elementwise(parts, d, _kind_of_result(ufunc, parts) if d is None else "c") for d in dtypes])
    return out[0] if ufunc.nout == 1 else out


def _kind_of_result(ufunc: np.ufunc, parts: Sequence[Scalar | Array]) -> str:
    """An upper bound on the kind of a result of unknown dtype."""
    results = {t.split("->")[1] for t in ufunc.types}
    if all(set(r) <= {"?"} for r in results):
        return "b"
    top = "b"
    for s in parts:
        top = max_kind(top, s.kind)
    if top == "c" and all(
        kind_ != "c" for kind_ in (np.dtype(r[0]).kind for r in results if r[0] not in "OmM")
    ):
        return "f"
    return top if top == "c" else "f"


def kind_of_operands(styles: Sequence[Style]) -> str:
    """The largest kind among operands."""
    return max((kind(s) for s in styles), key=" bifc".find, default="b")
