"""New arrays: filled, copied."""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.backend.native.emit.element import literal
from pullback.backend.native.emit.emitter import ArrayRef, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import ArrayLeaf, Number, leaves_of
from pullback.ir.nodes import Call, Const, Operand, Var


def copy(e: Emitter, call: Call) -> None:
    """`x.copy()`; of a number, itself."""
    (source,) = call.args
    (target,) = call.targets
    (leaf,) = leaves_of(target.style)
    if isinstance(leaf, Number):
        e.set_number(target, e.term(source))
        return
    if not isinstance(leaf, ArrayLeaf):
        raise Untaken("a copy of a list")
    array = e.array(source)
    held = ArrayRef(e.temporary("from"), array.dtype, array.rank)
    with e.block(""):
        e.line(f"pb_array{array.rank} {held.name} = {array.name};")
        e.line(f"PB_RETAIN({held.name});")  # the target may be another name of the source
        out = e.fresh(target, [f"{held.name}.n[{k}]" for k in range(array.rank)])
        e.line(
            f"pb_copy_items({array.rank}, {out.name}.n, {array.size}, {out.name}.data, {out.name}.s, {held.name}.data, {held.name}.s);"
        )
        e.line(f"PB_RELEASE({held.name});")


def alias(e: Emitter, call: Call) -> None:
    """Another name of a value."""
    e.moves(call.targets, call.args[:1])


def zeros(e: Emitter, call: Call) -> None:
    """`np.zeros` of a shape."""
    fill(e, call.targets[0], e.integers(call.args[0]), 0)


def empty(e: Emitter, call: Call) -> None:
    """`np.empty` of a shape: its items are not set."""
    fill(e, call.targets[0], e.integers(call.args[0]), None)


def ones(e: Emitter, call: Call) -> None:
    """`np.ones` of a shape."""
    fill(e, call.targets[0], e.integers(call.args[0]), 1)


def full(e: Emitter, call: Call) -> None:
    """`np.full`."""
    fill(e, call.targets[0], e.integers(call.args[0]), call.args[1])


def zeros_like(e: Emitter, call: Call) -> None:
    """`np.zeros_like`."""
    _like(e, call, 0)


def empty_like(e: Emitter, call: Call) -> None:
    """`np.empty_like`."""
    _like(e, call, None)


def ones_like(e: Emitter, call: Call) -> None:
    """`np.ones_like`."""
    _like(e, call, 1)


def full_like(e: Emitter, call: Call) -> None:
    """`np.full_like`."""
    _like(e, call, call.args[1])


def _like(e: Emitter, call: Call, value: int | Operand | None) -> None:
    shape = e.array(call.args[0]).shape() if e.is_array(call.args[0]) else []
    fill(e, call.targets[0], shape, value)


def fill(e: Emitter, target: Var, shape: list[str], value: int | Operand | None) -> None:
    """Make a result an array of one value; of None, of any."""
    (leaf,) = leaves_of(target.style)
    if isinstance(leaf, Number):
        e.line(f"{e.leaves(target)[0]} = {_value(e, 0 if value is None else value, leaf.dtype)};")
        return
    if not isinstance(leaf, ArrayLeaf) or leaf.rank != len(shape):
        raise Untaken("a new array whose rank is not known")
    out = e.fresh(target, shape)
    if value is None:
        return
    if value == 0:
        e.line(f"memset({out.name}.data, 0, (size_t)(pb_count({out.rank}, {out.name}.n) * {out.size}));")
        return
    with e.block(""):
        e.line(f"const {out.ctype} pb_value = {_value(e, value, leaf.dtype)};")
        e.line(f"{out.ctype} *pb_p = ({out.ctype} *){out.name}.data;")
        e.line(
            f"for (int64_t pb_k = 0, pb_n = pb_count({out.rank}, {out.name}.n); pb_k < pb_n; pb_k++) pb_p[pb_k] = pb_value;"
        )


def _value(e: Emitter, value: int | Operand, dtype: np.dtype[Any]) -> str:
    if isinstance(value, int):
        return literal(value, dtype)
    return e.number(value, dtype) if not isinstance(value, Const) else literal(value.value, dtype)
