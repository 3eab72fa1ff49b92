"""Arrays made of several: each gets its part of the cotangent."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs
# Rule functions are text in the language that we compile: their operands are of any style.

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pullback.ir import core_ops as core
from pullback.ir.builder import Builder, index_step, slice_
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Const, Operand, Pack
from pullback.rules.kinds import case
from pullback.rules.lookup import Site
from pullback.rules.numpy.reductions import M, T, V
from pullback.rules.ops.infer import known, normal_axis
from pullback.rules.registry import builder, op_of, rule
from pullback.styles.broadcast import as_array
from pullback.styles.style import Array, ListOf, Scalar, Static, Style, numeric

W = np.array([0.5, 1.0, -2.0])
ROW = np.array([[1.0, -1.0, 2.0]])


@rule(
    np.array,
    cases=(
        case(V),
        case(M),
        case([V, W]),
        case(2.0),
        case([1.0, 2.5]),
        case([[1.0, 2.0], [3.0, 4.0]]),
        case(V, ndmin=2),
    ),
)
def array(object, dtype=None, *, copy=True, order="K", ndmin=0, out, out_bar):
    """The same array; the items of a list get theirs by index."""
    if ndmin:
        return np.reshape(out_bar, np.shape(object))
    return out_bar


@rule((np.asarray, np.asanyarray), linear="a", cases=(case(V), case([V, W]), case(2.0), case([1.0, 2.5])))
def asarray(a, dtype=None, order=None, *, copy=None, out, out_bar):
    """The same array; the items of a list get theirs by index."""
    return out_bar


@rule(
    (np.asarray_chkfinite, np.ascontiguousarray, np.asfortranarray),
    linear="a",
    cases=(case(V), case(M), case([1.0, 2.5])),
)
def converted(a, dtype=None, *, out, out_bar):
    """The same array."""
    return out_bar


@rule(np.copy, linear="a", cases=(case(V), case(M), case(2.0)))
def copy(a, order="K", subok=False, *, out, out_bar):
    """The same array."""
    return out_bar


def astype(x, dtype, *, copy=True, out, out_bar):
    """The engine casts back."""
    return out_bar


# ---------------------------------------------------------------------------------------------- concatenation


def known_axis(position: int):
    """A guard: the axis is known at compile time."""

    def guard(site: Site) -> bool:
        axis = site.option("axis", position)
        return axis is None or isinstance(axis, Static)

    return guard


def _rank(operand: Operand) -> int | None:
    made = as_array(style_of(operand))
    return 0 if isinstance(made, Scalar) else made.rank


def _parts(
    b: Builder, items: Sequence[Operand], out: Operand, bar: Operand, axis: int, flat: bool, least: int
) -> Operand:
    """The slices of a cotangent that belong to the items laid side by side along an axis.

    `flat`: the items were flattened first; `least`: they were given that many axes first.
    """
    pieces: list[Operand] = []
    start: Operand = Const(0)
    for item in items:
        length = _length(b, item, axis, flat, least)
        stop = _plus(b, start, length)
        entries = [slice_()] * axis + [slice_(None if _is_zero(start) else start, stop)]
        piece: Operand = b.call(core.load, bar, index_step(*entries), hint="part_bar")
        rank = _rank(item)
        if flat or rank is None or rank < least or rank == 0:
            shape = op_of(np.shape) or core.shape
            piece = b.call(_op(np.reshape), piece, b.call(shape, item, hint="shape"), hint="part_bar")
        pieces.append(piece)
        start = stop
    return Pack("tuple", tuple(pieces))


def _op(fn: object):
    op = op_of(fn)
    assert op is not None
    return op


def _is_zero(operand: Operand) -> bool:
    return isinstance(operand, Const) and operand.value == 0


def _plus(b: Builder, start: Operand, length: Operand) -> Operand:
    if isinstance(start, Const) and isinstance(length, Const):
        return Const(start.value + length.value)
    if _is_zero(start):
        return length
    return b.call(core.OPERATORS["+"], start, length, hint="stop")


def _length(b: Builder, item: Operand, axis: int, flat: bool, least: int) -> Operand:
    """How much of the joint axis an item takes."""
    made = as_array(style_of(item))
    axes = () if isinstance(made, Scalar) else made.axes
    if flat:
        return Const(1) if axes == () else b.call(_op(np.size), item, hint="size")
    if axes is None:
        return b.call(core.dim, item, Const(axis), hint="n")
    at = axis - _prepended(len(axes), least, axis)
    if at < 0 or at >= len(axes):
        return Const(1)
    exact = axes[at]
    return Const(exact) if isinstance(exact, int) else b.call(core.dim, item, Const(at), hint="n")


def _prepended(rank: int, least: int, axis: int) -> int:
    """How many axes NumPy puts in front of an item (column_stack and dstack append instead)."""
    if rank >= least:
        return 0
    if least == 2 and axis == 1 and rank == 1:
        return 0
    if least == 3:
        return 1 if rank == 1 else 0
    return least - rank


@builder(
    np.concatenate,
    when="sequence",
    guard=known_axis(1),
    linear="arrays",
    cases=(
        case((V, W)),
        case([M, ROW]),
        case((M, M), axis=1),
        case((M, V), axis=None),
        case((M, M), axis=-1),
        case([V, V, W]),
        case((T, T), axis=1),
    ),
)
def concatenate(
    b: Builder, args: Sequence[Operand], kwargs: Mapping[str, Operand], out: Operand, out_bar: Operand
) -> list[Operand]:
    """A slice each."""
    given = args[1] if len(args) > 1 else kwargs.get("axis", Const(0))
    axis = known(style_of(given))
    assert isinstance(args[0], Pack)
    if axis is None:
        return [_parts(b, args[0].items, out, out_bar, 0, True, 0)]
    return [_parts(b, args[0].items, out, out_bar, _positive(out, axis), False, 0)]


def _positive(out: Operand, axis: int) -> int:
    rank = _rank(out)
    at = None if rank is None else normal_axis(axis, rank)
    return axis if at is None else at


@builder(np.hstack, when="sequence", linear="tup", cases=(case((V, W)), case([M, M]), case((2.0, V))))
def hstack(
    b: Builder, args: Sequence[Operand], kwargs: Mapping[str, Operand], out: Operand, out_bar: Operand
) -> list[Operand]:
    """A slice each, of the first axis for vectors, of the second else."""
    assert isinstance(args[0], Pack)
    return [_parts(b, args[0].items, out, out_bar, 0 if _rank(out) == 1 else 1, False, 1)]


@builder(np.vstack, when="sequence", linear="tup", cases=(case((V, W)), case([M, V]), case((M, M))))
def vstack(
    b: Builder, args: Sequence[Operand], kwargs: Mapping[str, Operand], out: Operand, out_bar: Operand
) -> list[Operand]:
    """A slice of rows each."""
    assert isinstance(args[0], Pack)
    return [_parts(b, args[0].items, out, out_bar, 0, False, 2)]


@builder(np.dstack, when="sequence", linear="tup", cases=(case((V, W)), case([M, M]), case((T, T))))
def dstack(
    b: Builder, args: Sequence[Operand], kwargs: Mapping[str, Operand], out: Operand, out_bar: Operand
) -> list[Operand]:
    """A slice of the third axis each."""
    assert isinstance(args[0], Pack)
    return [_parts(b, args[0].items, out, out_bar, 2, False, 3)]


@builder(np.column_stack, when="sequence", linear="tup", cases=(case((V, W)), case([M.T, V])))
def column_stack(
    b: Builder, args: Sequence[Operand], kwargs: Mapping[str, Operand], out: Operand, out_bar: Operand
) -> list[Operand]:
    """Columns each."""
    assert isinstance(args[0], Pack)
    return [_parts(b, args[0].items, out, out_bar, 1, False, 2)]


@builder(
    np.append,
    wrt=(0, 1),
    guard=known_axis(2),
    linear="arr, values",
    cases=(case(V, W), case(V, 2.0), case(M, ROW, axis=0), case(M, V)),
)
def append(
    b: Builder, args: Sequence[Operand], kwargs: Mapping[str, Operand], out: Operand, out_bar: Operand
) -> list[Operand]:
    """A slice each."""
    given = args[2] if len(args) > 2 else kwargs.get("axis", Const(None))
    axis = known(style_of(given))
    values = kwargs.get("values", args[1] if len(args) > 1 else None)
    assert values is not None
    flat = axis is None
    pieces = _parts(b, (args[0], values), out, out_bar, 0 if flat else _positive(out, axis), flat, 0)
    assert isinstance(pieces, Pack)
    return list(pieces.items)


@rule(np.concatenate, when="list", guard=known_axis(1), cases=())
def concatenate_list(arrays, axis=0, *, out, out_bar):
    """A run-time list of slices."""
    moved = np.moveaxis(out_bar, axis, 0)
    bars = []
    start = 0
    for a in arrays:
        stop = start + np.shape(a)[axis]
        bars.append(np.moveaxis(moved[start:stop], 0, axis))
        start = stop
    return bars


def _list_of_rank(*ranks: int):
    def list_of_rank(style: Style) -> bool:
        if not isinstance(style, ListOf):
            return False
        item = numeric(style.elem)
        return (0 if isinstance(item, Scalar) else item.rank if isinstance(item, Array) else None) in ranks

    return list_of_rank


@rule(np.vstack, when=(_list_of_rank(1),))
def vstack_list(tup, *, out, out_bar):
    """A row each."""
    return out_bar


@rule(np.hstack, when=(_list_of_rank(0),))
def hstack_numbers(tup, *, out, out_bar):
    """A number each."""
    return out_bar


@rule(np.hstack, when=(_list_of_rank(1),))
def hstack_list(tup, *, out, out_bar):
    """A run-time list of slices."""
    return concatenate_list(tup, 0, out=out, out_bar=out_bar)


@rule(np.vstack, when=(_list_of_rank(2),))
def vstack_matrices(tup, *, out, out_bar):
    """A run-time list of slices."""
    return concatenate_list(tup, 0, out=out, out_bar=out_bar)


@rule(np.column_stack, when=(_list_of_rank(1),))
def column_stack_list(tup, *, out, out_bar):
    """A column each."""
    return np.transpose(out_bar)


@rule(
    np.stack,
    linear="arrays",
    cases=(
        case((V, W)),
        case((V, W), axis=1),
        case([M, M], axis=-1),
        case((V, W, V), axis=0),
        case((M, M), axis=1),
    ),
)
def stack(arrays, axis=0, *, dtype=None, out, out_bar):
    """The items along the first axis: each gets its own by index."""
    if axis == 0:
        return out_bar
    return np.moveaxis(out_bar, axis, 0)


# ----------------------------------------------------------------------------------------------------- blocks


@builder(
    np.block,
    when="sequence",
    linear="arrays",
    cases=(case([[M, M], [ROW, ROW]]), case([V, W]), case([[M], [V]])),
)
def block(
    b: Builder, args: Sequence[Operand], kwargs: Mapping[str, Operand], out: Operand, out_bar: Operand
) -> list[Operand]:
    """A rectangle each."""
    rank = _rank(out)
    assert rank is not None
    return [_blocks(b, args[0], out_bar, rank)]


def _blocks(b: Builder, blocks: Operand, bar: Operand, rank: int) -> Operand:
    if not isinstance(blocks, Pack):
        own = _rank(blocks)
        return (
            bar
            if own == rank
            else b.call(_op(np.reshape), bar, b.call(core.shape, blocks, hint="shape"), hint="part_bar")
        )
    axis = rank - _depth(blocks)
    pieces = []
    start: Operand = Const(0)
    for item in blocks.items:
        stop = _plus(b, start, _block_length(b, item, axis, rank))
        entries = [slice_()] * axis + [slice_(None if _is_zero(start) else start, stop)]
        pieces.append(_blocks(b, item, b.call(core.load, bar, index_step(*entries), hint="part_bar"), rank))
        start = stop
    return Pack("tuple", tuple(pieces))


def _depth(blocks: Operand) -> int:
    return 1 + max(_depth(x) for x in blocks.items) if isinstance(blocks, Pack) else 0


def _block_length(b: Builder, item: Operand, axis: int, rank: int) -> Operand:
    while isinstance(item, Pack):
        item = item.items[0]
    own = _rank(item)
    assert own is not None
    return _length(b, item, axis - (rank - own), False, 0) if axis >= rank - own else Const(1)


if hasattr(np, "astype"):  # NumPy 2.1
    rule(np.astype, linear="x", cases=(case(M, complex), case(V, np.float64)))(astype)
