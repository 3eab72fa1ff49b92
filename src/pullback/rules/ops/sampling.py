"""The style of a function of which only the object is known: ask it on small sample arrays.

For functions with a rule of the user's, which are pure by contract.  Equal axes get equal sample lengths,
others distinct
ones; two askings with different lengths tell which axes of the result are which.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pullback.rules.ops.infer import UNKNOWN, known
from pullback.styles import broadcast
from pullback.styles.style import (
    Anything,
    Array,
    Axis,
    Dim,
    Scalar,
    Static,
    Style,
    Tup,
    fresh_dim,
    numeric,
    style_of_number,
)


def sampled_style(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A style function that calls `fn` on samples of its operands' styles."""

    def style(*args: Style, **kwargs: Style) -> Any:
        found = []
        for start in (3, 4):
            lengths: dict[tuple[int, int], int] = {}
            values = [_sample(s, lengths, start) for s in args]
            options = {k: _sample(s, lengths, start) for k, s in kwargs.items()}
            if any(v is UNKNOWN for v in [*values, *options.values()]):
                return Anything()
            try:
                with np.errstate(all="ignore"):
                    found.append((fn(*values, **options), lengths))
            except Exception:  # any error of the user's function on samples: nothing is known of its result
                return Anything()
        return _style_of_results(found, args)

    return style


def elementwise_style(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A style function for a function that works element by element: asked for the dtype, on one element."""
    of_scalars = sampled_style(fn)

    def style(*args: Style, **kwargs: Style) -> Any:
        operands = [numeric(s) for s in (*args, *kwargs.values())]
        if not any(isinstance(s, Array) and s.axes != () for s in operands):
            return of_scalars(*args, **kwargs)
        made = of_scalars(*map(_one_element, args), **{k: _one_element(s) for k, s in kwargs.items()})
        if not isinstance(made, Array):
            return made
        return broadcast.elementwise(operands, made.dtype, "f")

    return style


def _one_element(style: Style) -> Style:
    """An array's style with one element along each axis."""
    style = style if isinstance(style, Static) else numeric(style)
    if isinstance(style, Array) and style.axes is not None:
        return Array(style.dtype, (1,) * len(style.axes), True)
    return style


def _sample(style: Style, lengths: dict[tuple[int, int], int], start: int) -> Any:
    style = numeric(style) if not isinstance(style, Static) else style
    match style:
        case Static(value):
            return value
        case Scalar() if style.dtype is not None:
            number = style.dtype.type(1)
            return number.item() if style.weak else number
        case Array() if style.dtype is not None and style.axes is not None:
            return np.ones(tuple(_length(a, lengths, start) for a in style.axes), style.dtype)
        case Tup():
            items = [_sample(s, lengths, start) for s in style.items]
            return (
                UNKNOWN
                if any(i is UNKNOWN for i in items)
                else (list(items) if style.kind == "list" else tuple(items))
            )
    return known(style)


def _length(axis: Axis, lengths: dict[tuple[int, int], int], start: int) -> int:
    if isinstance(axis, int):
        return axis
    key = (axis.sym, axis.minus)
    return lengths.setdefault(key, start * 2 + 2 * len(lengths) + 1)


def _style_of_results(found: list[tuple[Any, dict[tuple[int, int], int]]], args: tuple[Style, ...]) -> Any:
    (first, lengths), (second, other) = found
    if isinstance(first, tuple):
        pairs = zip(first, second, strict=True)
        return tuple(_one([(a, lengths), (b, other)], args) for a, b in pairs)
    return _one(found, args)


def _one(found: list[tuple[Any, dict[tuple[int, int], int]]], args: tuple[Style, ...]) -> Style:
    (first, lengths), (second, other) = found
    number = style_of_number(first)
    if number is not None:
        return number
    if not isinstance(first, np.ndarray) or not isinstance(second, np.ndarray) or first.ndim != second.ndim:
        return Anything()
    axes = [_axis(a, b, lengths, other, args) for a, b in zip(first.shape, second.shape, strict=True)]
    return Array(first.dtype, tuple(axes), False)


def _axis(
    a: int,
    b: int,
    lengths: dict[tuple[int, int], int],
    other: dict[tuple[int, int], int],
    args: tuple[Style, ...],
) -> Axis:
    for key, length in lengths.items():
        if length == a and other[key] == b:
            return _dim(key, args)
    return a if a == b else fresh_dim()


def _dim(key: tuple[int, int], args: tuple[Style, ...]) -> Axis:
    for style in args:
        if isinstance(style, Array):
            for axis in style.axes or ():
                if isinstance(axis, Dim) and (axis.sym, axis.minus) == key:
                    return axis
    return fresh_dim()
