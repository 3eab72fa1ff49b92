"""Rules of `simplify` for whole arrays that the reverse sweep makes.

sum(ones((n, m)))                n * m
sum(full((n, m), v), axis=0)     full((m,), v * n)
transpose(x[:, None] * y)        y[:, None] * x          where nothing else reads the product
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pullback.ir import core_ops as core
from pullback.ir.builder import index_step, infer, slice_
from pullback.ir.core_ops import OPERATORS, style_of
from pullback.ir.nodes import Call, Const, Operand, Pack, Var
from pullback.rules.registry import op_of
from pullback.styles.style import Array, Scalar, Style, numeric

if TYPE_CHECKING:
    from pullback.passes.simplify import Simplify

_TURNED = frozenset((OPERATORS["*"], OPERATORS["u-"], core.scale, core.accumulate))


def fits(found: Style, call: Call) -> bool:
    """Whether a value of a style may stand for a call's result: same dtype, rank, axes, and kind of scalar."""
    a, b = numeric(found), numeric(call.targets[0].style)
    if isinstance(a, Array) and isinstance(b, Array):
        return a.dtype == b.dtype and a.dtype is not None and a.axes == b.axes and a.axes is not None
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return a.dtype == b.dtype and a.dtype is not None and (a.weak is b.weak or b.weak is None)
    return False


# ------------------------------------------------------------------------------------------------------------- sums


def sum_of_one_number(walk: Simplify, call: Call) -> Call | Operand:
    """A sum over an array all of whose items are one number: that number times how many there are."""
    made = walk.made.get(call.args[0]) if isinstance(call.args[0], Var) else None
    options = dict(call.kwargs)
    axis, keeps = options.pop("axis", Const(None)), options.pop("keepdims", Const(False))
    if made is None or call.targets[0] not in walk.reversed or options or len(call.args) != 1:
        return call
    value = _one_number(made)
    style = made.targets[0].style
    if value is None or not isinstance(axis, Const) or not isinstance(keeps, Const):
        return call
    assert isinstance(style, Array)
    axes = style.axes or ()
    summed = _axes(axis.value, len(axes))
    kept = [1 if k in summed else a for k, a in enumerate(axes) if keeps.value or k not in summed]
    made_style = Array(style.dtype, tuple(kept)) if kept else Scalar(style.dtype, False)
    lengths = _lengths(walk, call, made, len(axes)) if summed and fits(made_style, call) else None
    if lengths is None:
        return call
    total = value
    for k in summed:
        total = walk.emit(call, OPERATORS["*"], total, lengths[k], hint="total")
    if not kept:
        return total
    shape = [Const(1) if k in summed else n for k, n in enumerate(lengths) if keeps.value or k not in summed]
    op = op_of(np.full)
    assert op is not None
    return replace(call, op=op, args=(Pack("tuple", tuple(shape)), total), kwargs=())


def _axes(axis: object, rank: int) -> list[int]:
    """The axes that are summed over."""
    if axis is None:
        return list(range(rank))
    items = axis if isinstance(axis, tuple) else (axis,)
    return [k % rank for k in items if type(k) is int]


def _one_number(made: Call) -> Operand | None:
    """The number that an array is filled with, of the array's dtype."""
    style, fn = made.targets[0].style, made.op.fn
    if not isinstance(style, Array) or not style.axes or style.dtype is None or made.kwargs:
        return None
    if fn in (np.ones, np.ones_like):
        return Const(style.dtype.type(1)) if len(made.args) == 1 else None
    if len(made.args) != 2 or fn not in (np.full, np.broadcast_to):
        return None
    value = made.args[1 if fn is np.full else 0]
    if isinstance(value, Const) and isinstance(value.value, float | np.floating):
        return Const(style.dtype.type(value.value))
    known = numeric(style_of(value))
    same = isinstance(known, Scalar) and known.dtype == style.dtype and known.weak is False
    return value if same else None


def _lengths(walk: Simplify, call: Call, made: Call, rank: int) -> Sequence[Operand] | None:
    """The lengths of an array, of how its shape was told."""
    shape = made.args[1 if made.op.fn is np.broadcast_to else 0]
    if isinstance(shape, Pack):
        return shape.items
    asked: Operand | None = shape if made.op.fn is np.ones_like else None
    if asked is None:
        found = walk.call_of(shape, core.shape)
        asked = found.args[0] if found is not None else None
    if asked is None or numeric(style_of(asked)) is None:
        return None
    known = numeric(style_of(asked))
    if not isinstance(known, Array) or known.rank != rank:
        return None
    return [walk.emit(call, core.dim, asked, Const(k), hint="n") for k in range(rank)]


# ------------------------------------------------------------------------------------------------------- transposes


def transpose(walk: Simplify, call: Call) -> Call:
    """The transpose of what the sweep computed element by element: computed from the transposes of its operands."""
    made = walk.made.get(call.args[0]) if isinstance(call.args[0], Var) else None
    if made is None or made.op not in _TURNED or len(call.args) != 1 or call.kwargs:
        return call
    if not {call.targets[0], made.targets[0]} <= walk.reversed or walk.reads.get(made.targets[0]) != 1:
        return call
    parts = [found for x in made.args if (found := _turned(walk, x)) is not None]
    if len(parts) != len(made.args) or not _is_matrix(made.targets[0].style):
        return call
    styles = [infer(core.load, x, {})[0] if isinstance(x, tuple) else style_of(x) for x in parts]
    (style,) = infer(made.op, tuple(Var("t", s) for s in styles), dict(made.kwargs))
    if not fits(style, call):
        return call
    args = tuple(walk.emit(call, core.load, *x) if isinstance(x, tuple) else x for x in parts)
    return replace(made, targets=call.targets, args=args, loc=call.loc)


def _is_matrix(style: Style) -> bool:
    return isinstance(style, Array) and style.axes is not None and len(style.axes) == 2


def _turned(walk: Simplify, operand: Operand) -> Operand | tuple[Operand, Pack] | None:
    """What stands for an operand in the transpose: itself, or the load that makes it; None where nothing does."""
    style = numeric(style_of(operand))
    if isinstance(style, Scalar):
        return operand
    if not isinstance(style, Array) or style.axes is None:
        return None
    if len(style.axes) == 1:
        return operand, index_step(slice_(), Const(None))
    if len(style.axes) != 2:
        return None
    viewed = walk.call_of(operand, core.load)
    if viewed is not None and len(viewed.args) == 2 and _is_column(viewed):
        return viewed.args[0]
    op = op_of(np.transpose)
    assert op is not None
    return operand, Pack("view", (), op)


def _is_column(load: Call) -> bool:
    """Whether a load is `x[:, None]` of a vector."""
    base, index = numeric(style_of(load.args[0])), load.args[1]
    if not isinstance(base, Array) or base.rank != 1 or not isinstance(index, Pack) or index.kind != "index":
        return False
    if len(index.items) != 2:
        return False
    every, new = index.items
    if not isinstance(new, Const) or new.value is not None:
        return False
    parts = every.items if isinstance(every, Pack) else (every,)
    return all(isinstance(x, Const) and x.value in (None, slice(None)) for x in parts)
