"""What may stand in a kernel, as what, and over which axes it runs.

A map computes element by element.  A reduction reads what a map gives and ends it.  A store changes part of a buffer.
What is *free* is never computed at all in a loop: constants, what is broadcast, shapes; each kernel that reads such a
value gets a copy of the call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import numpy as np

from pullback.ir import core_ops as core
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Call, Const, Operand, Pack, Var
from pullback.ir.slices import SliceLengths
from pullback.styles.broadcast import as_array
from pullback.styles.indexing import is_basic
from pullback.styles.style import Array, Axis, Dim, Scalar, Style, numeric, same_length

Space = tuple[Axis, ...]


class Role(Enum):
    """What a call is to a kernel."""

    MAP = "map"
    REDUCTION = "reduction"
    STORE = "store"
    FREE = "free"


_MAPS = frozenset({core.accumulate, core.cast, core.copy})
_STORES = frozenset({core.store, core.add_at})
_REDUCTIONS: tuple[Callable[..., Any], ...] = (
    *(np.sum, np.mean, np.max, np.min, np.amax, np.amin, np.prod, np.any, np.all),
)
_CONSTANTS = (np.zeros, np.ones, np.full, np.zeros_like, np.ones_like, np.full_like)
_NUMBERS = (bool, int, float, complex, np.number, np.bool_)


def role_of(call: Call) -> Role | None:
    """What a call may be to a kernel; None for what stays outside."""
    if len(call.targets) != 1:
        return None
    op, fn = call.op, call.op.fn
    if op is core.shape:
        return Role.FREE
    if _is_one_of(fn, _CONSTANTS) or fn is np.broadcast_to:
        return Role.FREE if _is_plain_constant(call) else None
    if _is_one_of(fn, _REDUCTIONS):
        return Role.REDUCTION if _is_plain_reduction(call) else None
    if op in _STORES:
        return Role.STORE if _is_plain_store(call) else None
    if op in _MAPS or op.elementwise:
        return Role.MAP if _is_plain_map(call) else None
    return None


def space_of(call: Call, role: Role, slices: SliceLengths) -> Space:
    """The axes that a map, a reduction or a store runs over."""
    if role is Role.STORE:
        return _stored_axes(call, slices)
    style = style_of(call.args[0]) if role is Role.REDUCTION else call.targets[0].style
    assert isinstance(style, Array) and style.axes is not None
    return style.axes


def same_space(a: Space, b: Space) -> bool:
    """Whether two spaces are proved to be one."""
    return len(a) == len(b) and all(map(same_length, a, b))


def may_broadcast(a: Space, b: Space) -> bool:
    """Whether one space may be another, or broadcasts to it; not where it is certainly smaller."""
    if len(a) != len(b):
        return False
    return all(
        same_length(x, y) or not (isinstance(x, int) and isinstance(y, int))
        for x, y in zip(a, b, strict=True)
    )


def is_dense(var: Var) -> bool:
    """Whether a value is an array of known dtype and rank, not of rank 0."""
    style = var.style
    return isinstance(style, Array) and bool(style.axes) and _plain(style.dtype)


def read_by(call: Call, role: Role) -> Iterator[Operand]:
    """The operands whose elements a member reads; not the base of a store, which it changes."""
    if role is Role.STORE:
        yield call.args[1]
    elif role is Role.REDUCTION:
        yield call.args[0]
    elif role is Role.MAP:
        yield from call.args


def is_whole_store(call: Call) -> bool:
    """Whether a store changes every element, to those of an array of the same dtype and shape."""
    if call.op is not core.store or len(call.args) != 2:
        return False
    base, value = style_of(call.args[0]), style_of(call.args[1])
    if not isinstance(base, Array) or not isinstance(value, Array) or base.dtype != value.dtype:
        return False
    return same_space(base.axes or (), value.axes or ())


def _stored_axes(call: Call, slices: SliceLengths) -> Space:
    """The axes of what a store writes; where only the run time knows a length of it, that of the value.

    The value may then be of length 1 and broadcast: a target tells when it runs the store.
    """
    base, _, *steps = call.args
    style, whole = slices.named(_region(call), base, steps), style_of(base)
    assert isinstance(style, Array) and style.axes is not None and isinstance(whole, Array)
    value = as_array(style_of(call.args[1]))
    given = (value.axes if isinstance(value, Array) else None) or ()
    known = {axis.sym for axis in whole.axes or () if isinstance(axis, Dim)}
    out = list(style.axes)
    for k in range(1, len(given) + 1):
        place = out[-k]
        if isinstance(place, Dim) and place.sym not in known and given[-k] != 1:
            out[-k] = given[-k]
    return tuple(out)


def region_axes(call: Call) -> Space | None:
    """The axes of what a store writes."""
    style = _region(call)
    return style.axes if isinstance(style, Array) else None


def _region(call: Call) -> Style:
    return core.load_style(style_of(call.args[0]), *(style_of(step) for step in call.args[2:]))


def _is_plain_constant(call: Call) -> bool:
    """Whether a call makes an array of one number, or spreads an array or number over another shape."""
    if not is_dense(call.targets[0]) or any(
        name != "dtype" or not isinstance(x, Const) for name, x in call.kwargs
    ):
        return False
    if call.op.fn is np.broadcast_to:
        return len(call.args) == 2 and _is_element(call.args[0])
    filled = call.args[1:] if call.op.fn in (np.full, np.full_like) else ()
    return len(call.args) == 1 + len(filled) and all(_is_element(x) and not _is_array(x) for x in filled)


def _is_array(operand: Operand) -> bool:
    return isinstance(operand, Var) and isinstance(operand.style, Array)


def _is_plain_map(call: Call) -> bool:
    if not is_dense(call.targets[0]) or any(not _is_flag(name, x) for name, x in call.kwargs):
        return False
    operands = call.args[:1] if call.op is core.cast else call.args
    return all(map(_is_element, operands)) and any(isinstance(x, Var) for x in operands)


def _is_flag(name: str, operand: Operand) -> bool:
    return name == "selects" and isinstance(operand, Const)


def _is_element(operand: Operand) -> bool:
    """Whether an operand is an array or number that a loop can read."""
    if isinstance(operand, Const):
        return isinstance(operand.value, _NUMBERS)
    if not isinstance(operand, Var):
        return False
    style = numeric(operand.style)
    return (isinstance(style, Scalar) and _plain(style.dtype)) or is_dense(operand)


def _is_plain_reduction(call: Call) -> bool:
    operand, *rest = call.args
    names = ("axis",) if len(rest) == 1 else ()
    options = dict([*zip(names, rest, strict=True), *call.kwargs]) if len(rest) == len(names) else None
    if options is None or not options.keys() <= {"axis", "keepdims"}:
        return False
    style = numeric(call.targets[0].style)
    known = isinstance(style, Scalar | Array) and _plain(style.dtype)
    static = all(isinstance(x, Const) and _is_option(x.value) for x in options.values())
    return known and static and isinstance(operand, Var) and is_dense(operand)


def _is_option(value: Any) -> bool:
    return value is None or isinstance(value, int) or _is_axes(value)


def _is_axes(value: Any) -> bool:
    return isinstance(value, tuple) and all(type(x) is int for x in value)


def _is_plain_store(call: Call) -> bool:
    base, value, *steps = call.args
    if not isinstance(base, Var) or not is_dense(base) or not _is_element(value):
        return False
    if not all(is_basic_step(step) for step in steps):
        return False
    axes, style = region_axes(call), style_of(value)
    if not axes:
        return False
    return not isinstance(style, Array) or (style.axes is not None and len(style.axes) <= len(axes))


def is_basic_step(step: Operand) -> bool:
    """Whether a step of a path is indexing by numbers and slices."""
    return (
        isinstance(step, Pack)
        and step.kind == "index"
        and is_basic(tuple(style_of(x) for x in step.items)) is True
    )


def _plain(dtype: np.dtype[Any] | None) -> bool:
    return dtype is not None and dtype.kind in "biufc"


def _is_one_of(fn: Any, functions: tuple[Any, ...]) -> bool:
    return any(fn is f for f in functions)
