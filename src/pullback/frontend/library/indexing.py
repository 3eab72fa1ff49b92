"""NumPy's helpers for indices: `np.ix_`, and the objects that are indexed: `np.c_`, `np.r_`, `np.s_`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pullback.frontend.context import Context
from pullback.frontend.library import facts, numpy_calls
from pullback.frontend.library.calls import Handler, emit, is_array
from pullback.frontend.values import Known, SliceValue, TupleValue, Value


def ix_(ctx: Context, *args: Value) -> Value:
    """`np.ix_(rows, columns)`: indices that make the outer product of several."""
    out = []
    for k, value in enumerate(args):
        array = value if is_array(value) else emit(ctx, np.array, value)
        dtype = facts.dtype_of(ctx, array)
        if facts.rank(ctx, array) != 1 or dtype is None:
            ctx.refuse("`np.ix_` of something that is not a vector", "pass vectors of integers or booleans")
        if dtype.kind == "b":
            array = emit(ctx, np.flatnonzero, array)
        others = tuple(i for i in range(len(args)) if i != k)
        out.append(numpy_calls.call(ctx, np.expand_dims, [array, Known(others)], {}) if others else array)
    return TupleValue(tuple(out))


def _parts(ctx: Context, index: Value, name: str) -> list[Value]:
    parts = list(index.items) if isinstance(index, TupleValue) else [index]
    for part in parts:
        known_text = isinstance(part, Known) and isinstance(part.obj, str | slice)
        if known_text or isinstance(part, SliceValue) or facts.rank(ctx, _as_array(ctx, part)) is None:
            ctx.refuse(
                f"`{name}` with slices or options", "use np.concatenate, np.arange and np.column_stack"
            )
    return [_as_array(ctx, part) for part in parts]


def _as_array(ctx: Context, value: Value) -> Value:
    number = facts.scalar_style(ctx, value) is not None
    if number or is_array(value) or (isinstance(value, Known) and isinstance(value.obj, str | slice)):
        return value
    return emit(ctx, np.array, value) if not isinstance(value, SliceValue) else value


def columns(ctx: Context, index: Value) -> Value:
    """`np.c_[a, b]`: vectors as columns, matrices side by side."""
    parts = _parts(ctx, index, "np.c_")
    if not all(facts.rank(ctx, p) in (1, 2) for p in parts):
        ctx.refuse("`np.c_` of numbers, or of arrays of more than two axes", "use np.concatenate")
    return emit(ctx, np.column_stack, TupleValue(tuple(parts)))


def rows(ctx: Context, index: Value) -> Value:
    """`np.r_[a, 0.0, b]`: numbers and vectors one after another."""
    parts = _parts(ctx, index, "np.r_")
    if all(facts.rank(ctx, p) in (0, 1) for p in parts):
        vectors = [p if facts.rank(ctx, p) == 1 else _one_row(ctx, p, parts) for p in parts]
        return emit(ctx, np.concatenate, TupleValue(tuple(vectors)))
    if any(facts.rank(ctx, p) == 0 for p in parts):
        ctx.refuse("`np.r_` of numbers together with matrices", "use np.concatenate")
    return emit(ctx, np.concatenate, TupleValue(tuple(parts)))


def _one_row(ctx: Context, number: Value, parts: list[Value]) -> Value:
    """A number as a vector, of the dtype of all parts if it is one of Python's."""
    style = facts.scalar_style(ctx, number)
    found = [_promoting(ctx, p) for p in parts]
    if style is None or not style.weak or any(x is None for x in found):
        return emit(ctx, np.array, TupleValue((number,)))
    dtype = Known(np.result_type(*found))
    return numpy_calls.call(ctx, np.array, [TupleValue((number,))], {"dtype": dtype})


def _promoting(ctx: Context, part: Value) -> Any:
    """What stands for a value when NumPy looks for the dtype of several: a number of Python, or the dtype."""
    style = facts.scalar_style(ctx, part)
    if style is not None and style.weak:
        return {"b": True, "i": 1, "f": 1.0, "c": 1j}.get(style.kind)
    return facts.dtype_of(ctx, part)


def _itself(ctx: Context, index: Value) -> Value:
    return index


def _as_tuple(ctx: Context, index: Value) -> Value:
    return index if isinstance(index, TupleValue) else TupleValue((index,))


def _grid(ctx: Context, index: Value) -> Value:
    ctx.refuse("`np.mgrid` and `np.ogrid`", "use np.meshgrid(..., indexing='ij') or np.indices")


def nonzero(ctx: Context, a: Value) -> Value:
    """`np.nonzero(a)`: of a vector a tuple of one."""
    array = a if is_array(a) else emit(ctx, np.array, a)
    if facts.rank(ctx, array) == 1:
        return TupleValue((emit(ctx, np.flatnonzero, array),))
    return numpy_calls.call(ctx, np.nonzero, [array], {})


def where(ctx: Context, condition: Value, *choices: Value) -> Value:
    """`np.where(c, x, y)`, or `np.where(c)`: where it holds."""
    if not choices:
        return nonzero(ctx, condition)
    return numpy_calls.call(ctx, np.where, [condition, *choices], {})


FUNCTIONS: dict[Any, Handler] = {np.ix_: ix_, np.nonzero: nonzero, np.where: where}

# keyed by identity: these are instances
SUBSCRIPTS: dict[int, Callable[[Context, Value], Value]] = {
    id(np.c_): columns,
    id(np.r_): rows,
    id(np.s_): _itself,
    id(np.index_exp): _as_tuple,
    id(np.mgrid): _grid,
    id(np.ogrid): _grid,
}
