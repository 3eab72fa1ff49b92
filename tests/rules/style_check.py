"""Comparing the style that an operation claims for a result with the result that NumPy gives.

`styles_of` gives operands' styles with exact lengths, or with a symbol for each length; `check_style` says
what is wrong
with a claimed style, as a text ("" where nothing is).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.styles.style import (
    Anything,
    Array,
    Dim,
    ListOf,
    Scalar,
    Static,
    Style,
    Tup,
    fresh_dim,
    kind_of,
    max_kind,
    not_one,
    style_of_number,
)


class Symbols:
    """A symbol for each length; exact lengths where `exact`."""

    def __init__(self, exact: bool) -> None:
        self.exact = exact
        self.by_length: dict[int, Dim] = {}

    def axis(self, length: int) -> int | Dim:
        if self.exact or length == 1:
            return length
        return self.by_length.setdefault(length, fresh_dim(not_one=True))

    def length_of(self, dim: Dim) -> int | None:
        for length, known in self.by_length.items():
            if known.sym == dim.sym:
                return max(length - dim.minus, 0)
        return None


def style_of_value(value: Any, symbols: Symbols) -> Style:
    """The style of an argument: arrays as arrays, options as themselves."""
    if isinstance(value, np.ndarray):
        return Array(value.dtype, tuple(symbols.axis(n) for n in value.shape), value.flags.c_contiguous)
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return Static(value)
    number = style_of_number(value)
    if number is not None and number.kind in "fc" and np.isfinite(value):
        return number
    if isinstance(value, list | tuple):
        return Tup(
            tuple(style_of_value(v, symbols) for v in value), "list" if isinstance(value, list) else "tuple"
        )
    return Static(value)


def check_style(claimed: Style, value: Any, symbols: Symbols) -> str:
    """What is wrong with a claim about a value."""
    match claimed:
        case Anything():
            return "nothing claimed"
        case Scalar():
            if isinstance(value, np.ndarray):
                return f"a scalar claimed, an array of shape {value.shape} found"
            number = style_of_number(value)
            if number is None:
                return f"a number claimed, {value!r} found"
            if claimed.dtype is not None and number.dtype != claimed.dtype:
                return f"dtype {claimed.dtype} claimed, {number.dtype} found"
            if claimed.weak is not None and claimed.weak != number.weak:
                return f"weak {claimed.weak} claimed, {value!r} of {type(value)} found"
            return ""
        case Array():
            return _check_array(claimed, value, symbols)
        case Tup():
            texts = [check_style(s, v, symbols) for s, v in zip(claimed.items, value, strict=True)]
            return "; ".join(t for t in texts if t)
        case ListOf() | Static():
            return ""
    return f"unexpected claim {claimed}"


def _check_array(claimed: Array, value: Any, symbols: Symbols) -> str:
    if not isinstance(value, np.ndarray):
        return "" if claimed.axes is None else f"an array claimed, {type(value).__name__} found"
    if claimed.dtype is not None and claimed.dtype != value.dtype:
        return f"dtype {claimed.dtype} claimed, {value.dtype} found"
    if max_kind(claimed.kind, kind_of(value.dtype)) != claimed.kind:
        return f"kind {claimed.kind} claimed, {value.dtype} found"
    if claimed.contiguous and not value.flags.c_contiguous:
        return f"contiguous claimed, strides {value.strides} of shape {value.shape} found"
    if claimed.axes is None:
        return ""
    if len(claimed.axes) != value.ndim:
        return f"axes {claimed.axes} claimed, shape {value.shape} found"
    for axis, length in zip(claimed.axes, value.shape, strict=True):
        exact = axis if isinstance(axis, int) else symbols.length_of(axis)
        if exact is not None and exact != length:
            return f"axes {claimed.axes} claimed, shape {value.shape} found"
        if not_one(axis) and length == 1:
            return f"not one claimed, shape {value.shape} found"
    return ""


def vague(claimed: Style) -> bool:
    """Whether a claim leaves dtype or rank open."""
    if isinstance(claimed, Array):
        return claimed.dtype is None or claimed.axes is None
    if isinstance(claimed, Scalar):
        return claimed.dtype is None
    return isinstance(claimed, Anything)
