"""The reverse of views that give each element of an array another place: the cotangent is put back into shape.

A cotangent of such a view needs no zeros to be added into: `np.reshape`, `.T`, `x[:, None]`, `np.flip`, `x[::-1]` and
their kin are undone by another view of it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pullback.ir import core_ops as core
from pullback.ir.builder import Builder
from pullback.ir.nodes import Const, Operand, Pack, Var
from pullback.transform.cotangents import numpy_op

Undo = Callable[[Builder, tuple[Operand, ...], Operand], Operand | None]


def undo_views(
    builder: Builder, array: Var, steps: tuple[Operand, ...], bar: Operand
) -> tuple[Operand, tuple[Operand, ...]]:
    """The cotangent before the last steps of a path, as many as can be undone, and the steps that are left."""
    while steps:
        step = steps[-1]
        assert isinstance(step, Pack)
        undone = _undone(builder, array if len(steps) == 1 else None, step, bar)
        if undone is None:
            break
        bar, steps = undone, steps[:-1]
    return bar, steps


def _undone(builder: Builder, before: Var | None, step: Pack, bar: Operand) -> Operand | None:
    if step.kind == "index":
        return _index_undone(builder, before, step, bar)
    fn, operands = step.meta.fn, step.items
    if fn in _RESHAPES:
        return _reshaped(builder, before, bar)
    undo = _UNDO.get(fn)
    return undo(builder, operands, bar) if undo is not None else None


def _index_undone(builder: Builder, before: Var | None, step: Pack, bar: Operand) -> Operand | None:
    """New axes are taken away again, reversed ones reversed."""
    if all(_is_one_of(item, None, slice(None), Ellipsis) for item in step.items):
        return _reshaped(builder, before, bar)
    if all(_is_one_of(item, slice(None), slice(None, None, -1), Ellipsis) for item in step.items):
        return builder.call(core.load, bar, step, hint="t_bar")
    return None


def _is_one_of(entry: Operand, *known: object) -> bool:
    if isinstance(entry, Pack) and entry.kind == "slice":
        ends = [x.value if isinstance(x, Const) else ... for x in entry.items]
        return any(isinstance(k, slice) and ends == [k.start, k.stop, k.step] for k in known)
    return isinstance(entry, Const) and any(type(entry.value) is type(k) and entry.value == k for k in known)


def _reshaped(builder: Builder, before: Var | None, bar: Operand) -> Operand | None:
    if before is None:
        return None
    shape = builder.call(core.shape, before, hint=f"{before.hint}_shape")
    return builder.call(numpy_op(np.reshape), bar, shape, hint="t_bar")


def _transposed(builder: Builder, operands: tuple[Operand, ...], bar: Operand) -> Operand | None:
    axes = operands[0] if operands else Const(None)
    if not isinstance(axes, Const):
        return None
    if axes.value is None:
        return builder.call(numpy_op(np.transpose), bar, hint="t_bar")
    if not isinstance(axes.value, tuple | list):
        return None
    places = [axis % len(axes.value) for axis in axes.value]
    back = tuple(places.index(k) for k in range(len(places)))
    return builder.call(numpy_op(np.transpose), bar, Const(back), hint="t_bar")


def _again(fn: object) -> Undo:
    """What undoes itself."""
    return lambda builder, operands, bar: builder.call(numpy_op(fn), bar, *operands, hint="t_bar")


def _moved(builder: Builder, operands: tuple[Operand, ...], bar: Operand) -> Operand | None:
    source, destination = operands
    return builder.call(numpy_op(np.moveaxis), bar, destination, source, hint="t_bar")


_RESHAPES = (np.reshape, np.squeeze, np.expand_dims, np.ravel)  # steps of a path are views, so in C order
_UNDO: dict[object, Undo] = {
    np.transpose: _transposed,
    np.moveaxis: _moved,
    **{fn: _again(fn) for fn in (np.swapaxes, np.flip, np.fliplr, np.flipud)},
}
