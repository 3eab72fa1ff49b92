"""Cotangent arithmetic that no rule does by hand: zeros, accumulation, unbroadcasting, projection.

A cotangent of `v` has exactly v's shape, dtype and structure.  The one exception is a *loose* zero, `Const(0.0)` (or a
list item 0.0) standing for the zero of a value whose shape cannot be had: `exact` makes it exact where the value is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pullback.ir import core_ops as core
from pullback.ir.builder import Builder
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Const, Op, Operand, Pack, Var
from pullback.rules.registry import op_of
from pullback.styles.join import below
from pullback.styles.style import (
    PY_INT,
    Array,
    Axis,
    ListOf,
    Scalar,
    Style,
    Tup,
    is_one,
    not_one,
    numeric,
    same_length,
)

ZERO = 0.0


def numpy_op(fn: object) -> Op:
    """The operation of a NumPy function that is certainly in the tables."""
    op = op_of(fn)
    assert op is not None, fn
    return op


def bar_hint(var: Var) -> str:
    """The name of a value's cotangent."""
    return f"{var.hint}_bar"


_NO_NAME = ("bar", "t_bar", "item_bar", "stored_bar")


def give_name(bar: Operand, var: Var) -> None:
    """A cotangent that a rule has just made, under a name of the rule's own, is named after its value."""
    if isinstance(bar, Var) and (bar.hint in _NO_NAME or not bar.hint.endswith("_bar")):
        object.__setattr__(bar, "hint", bar_hint(var))  # a Var's identity is not its name


def bar_style(style: Style, loose: bool = False) -> Style:
    """The style of the cotangent of a value of this style, as a carried value."""
    style = numeric(style)
    if isinstance(style, Scalar):
        return Scalar(style.dtype, None, style.kind)
    if isinstance(style, Array):
        return Array(style.dtype, None if loose else style.axes, False, style.kind)
    if isinstance(style, ListOf):
        return ListOf(bar_style(style.elem, loose=True))
    if _is_tuple(style):
        return ListOf(bar_style(core._list_get_style(style, PY_INT), loose=True))
    return style


def _is_tuple(style: Style) -> bool:
    """Whether values are tuples, as the items of run-time lists may be: a list of the items' cotangents serves them."""
    return isinstance(style, Tup) and style.kind in ("tuple", "list")


def known(builder: Builder, bar: Operand, style: Style) -> Operand:
    """A cotangent where a style is called for that it has, whether or not that could be inferred."""
    if below(style_of(bar), style, free=lambda dim: True):
        return bar
    return builder.call(core.known, bar, Const(style), hint=bar.hint if isinstance(bar, Var) else "bar")


def is_zero(bar: Operand) -> bool:
    """Whether a cotangent is a loose zero, known as such."""
    return isinstance(bar, Const) and type(bar.value) is float and bar.value == 0.0


def zero(builder: Builder, var: Var, unbound: bool) -> Operand:
    """The zero cotangent of a value; loose where the value may be unbound."""
    style = numeric(var.style)
    if isinstance(style, ListOf) and not unbound:
        return builder.call(core.zeros_list, var, hint=bar_hint(var))
    if isinstance(style, Tup) and _is_tuple(style) and not unbound:
        zeros = Pack("list", tuple(Const(ZERO) for _ in style.items))
        return builder.call(core.make_list, zeros, hint=bar_hint(var))
    if isinstance(style, Array) and not unbound:
        return builder.call(numpy_op(np.zeros_like), var, hint=bar_hint(var))
    return Const(ZERO)


def exact(builder: Builder, var: Var, bar: Operand) -> Operand:
    """A cotangent that may be a loose zero, in the shape of its value."""
    style, found = numeric(var.style), numeric(style_of(bar))
    if _is_tuple(style):  # an item's cotangent may be a loose zero whatever its style says
        return builder.call(core.add_lists, zero(builder, var, False), bar, hint=bar_hint(var))
    if isinstance(style, ListOf):
        return zero(builder, var, False) if isinstance(found, Scalar) else bar
    if not isinstance(style, Array) or (isinstance(found, Array) and found.axes is not None):
        return bar
    zeros = zero(builder, var, False)
    return zeros if is_zero(bar) else builder.call(core.accumulate, zeros, bar, hint=bar_hint(var))


def add(builder: Builder, var: Var, old: Operand | None, more: Operand) -> Operand:
    """The sum of two cotangents of one value."""
    if old is None or is_zero(old):
        return more
    if is_zero(more):
        return old
    if isinstance(var.style, ListOf) or _is_tuple(var.style):
        return builder.call(core.add_lists, old, more, hint=bar_hint(var))
    if isinstance(numeric(style_of(old)), Scalar) and isinstance(var.style, Array):
        old, more = more, old  # keep the exact one first: the result has its shape
    return builder.call(core.accumulate, old, more, hint=bar_hint(var))


def fit(builder: Builder, bar: Operand, var: Var, shaped: bool = False) -> Operand:
    """A contribution to `var`'s cotangent in the shape and dtype of `var`: unbroadcast by style, then projected.

    `shaped`: it has the shape already.
    """
    if is_zero(bar):
        return bar
    fitted = _reshaped(builder, bar, var) if shaped else _unbroadcast(builder, bar, var)
    return _project(builder, fitted, var)


def _reshaped(builder: Builder, bar: Operand, var: Var) -> Operand:
    """A cotangent that has the shape of `var`, known to have it."""
    style, found = numeric(var.style), numeric(style_of(bar))
    if not isinstance(style, Array) or not isinstance(found, Array) or style.axes == found.axes:
        return bar
    give_name(bar, var)
    return builder.call(core.known, bar, Const(replace(found, axes=style.axes)), hint=bar_hint(var))


def _unbroadcast(builder: Builder, bar: Operand, var: Var) -> Operand:
    style, found = numeric(var.style), numeric(style_of(bar))
    hint = bar_hint(var)
    if isinstance(style, Scalar):
        if isinstance(found, Array) and found.axes != ():
            return builder.call(numpy_op(np.sum), bar, hint=hint)
        return bar
    if not isinstance(style, Array) or not isinstance(found, Array):
        return bar
    if style.axes is None or found.axes is None:
        return builder.call(core.unbroadcast, bar, _shape(builder, var), hint=hint)
    extra = len(found.axes) - len(style.axes)
    if extra < 0:  # a store takes values with more axes than the place has, if they are of length 1
        new_axes = Pack("index", (*(Const(None),) * -extra, Const(Ellipsis)), "tuple")
        return _unbroadcast(builder, builder.call(core.load, bar, new_axes, hint=hint), var)
    ones = _axes_to_sum(found.axes[extra:], style.axes)
    if ones is None:
        return builder.call(core.unbroadcast, bar, _shape(builder, var), hint=hint)
    if extra:
        bar = builder.call(numpy_op(np.sum), bar, axis=Const(_axis(tuple(range(extra)))), hint=hint)
    if ones:
        bar = builder.call(numpy_op(np.sum), bar, axis=Const(_axis(ones)), keepdims=Const(True), hint=hint)
    return bar


def _axis(axes: tuple[int, ...]) -> int | tuple[int, ...]:
    return axes[0] if len(axes) == 1 else axes


def _axes_to_sum(found: Sequence[Axis], wanted: Sequence[Axis]) -> tuple[int, ...] | None:
    """The axes over which a cotangent is summed; None where only the run time can tell."""
    axes = []
    for i, (have, want) in enumerate(zip(found, wanted, strict=True)):
        if same_length(have, want) or not_one(want):
            continue
        if not is_one(want):
            return None
        axes.append(i)
    return tuple(axes)


def _shape(builder: Builder, var: Var) -> Operand:
    return builder.call(core.shape, var, hint=f"{var.hint}_shape")


def _project(builder: Builder, bar: Operand, var: Var) -> Operand:
    style, found = numeric(var.style), numeric(style_of(bar))
    if not isinstance(style, Scalar | Array) or not isinstance(found, Scalar | Array):
        return bar
    hint = bar_hint(var)
    if style.kind != "c" and found.kind == "c":
        bar = builder.call(numpy_op(np.real), bar, hint=hint)
        found = numeric(style_of(bar))
        assert isinstance(found, Scalar | Array)
    if style.dtype is None or found.dtype == style.dtype or (isinstance(found, Scalar) and found.weak):
        return bar
    return builder.call(core.cast, bar, Const(style.dtype), hint=hint)


def to_parameter(builder: Builder, bar: Operand | None, var: Var) -> Operand:
    """The cotangent of a parameter as it is returned: of the parameter's own kind of number or array."""
    style = numeric(var.style)
    bar = zero(builder, var, False) if bar is None else exact(builder, var, bar)
    if isinstance(style, Scalar) and style.weak:
        number = complex if style.kind == "c" else float
        found = style_of(bar)
        if isinstance(bar, Const) or (isinstance(found, Scalar) and found.weak):
            return bar
        return builder.call(core.number, bar, Const(number), hint=bar_hint(var))
    if isinstance(style, Scalar) and style.dtype is not None:
        return (
            builder.call(core.cast, bar, Const(style.dtype), hint=bar_hint(var))
            if _differs(style, bar)
            else bar
        )
    return fit(builder, bar, var)


def _differs(style: Scalar, bar: Operand) -> bool:
    found = style_of(bar)
    return not (isinstance(found, Scalar) and found.weak is False and found.dtype == style.dtype)


def distribute(builder: Builder, operand: Operand, bar: Operand) -> list[tuple[Var, Operand]]:
    """The cotangent of a structured operand (a list of numbers or arrays), leaf by leaf.

    A cotangent that is one array is of what NumPy makes of the list: it is unbroadcast to that before it is shared out.
    """
    if isinstance(operand, Var):
        if isinstance(operand.style, ListOf) and isinstance(style_of(bar), Array):
            bar = fit(builder, bar, builder.call(numpy_op(np.array), operand, hint="t"))
            bar = as_list(builder, bar, operand.style)
        return [(operand, bar)]
    if not isinstance(operand, Pack):
        return []
    if operand.kind in ("list", "tuple") and isinstance(style_of(bar), Array):
        bar = fit(builder, bar, builder.call(numpy_op(np.array), operand, hint="t"))
    out = []
    for i, item in enumerate(operand.items):
        if isinstance(item, Const):
            continue
        out += distribute(builder, item, _item(builder, bar, i))
    return out


def _item(builder: Builder, bar: Operand, i: int) -> Operand:
    if isinstance(bar, Pack):
        return bar.items[i]
    style = style_of(bar)
    if isinstance(style, Array):
        index = Pack("index", (Const(i),))
        return builder.call(core.load, bar, index, hint="item_bar")
    return builder.call(core.list_get, bar, Const(i), hint="item_bar")


def as_list(builder: Builder, bar: Operand, style: ListOf) -> Operand:
    """The cotangent of a run-time list from an array whose first axes run over its items, and over theirs."""
    if not isinstance(style_of(bar), Array):
        return bar
    depth, inner = 1, style.elem
    while isinstance(inner, ListOf | Tup):
        depth, inner = depth + 1, core._list_get_style(inner, PY_INT)
    if depth == 1:
        return builder.call(core.list_rows, bar, hint="items_bar")
    return builder.call(core.nested_rows, bar, Const(depth), hint="items_bar")
