"""Differences, integrals, statistics of order, functions with several array arguments."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs
# Rule functions are text in the language that we compile: their operands are of any style.

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pullback.ir.builder import Builder
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Const, Operand, Pack
from pullback.rules.kinds import case
from pullback.rules.lookup import Site
from pullback.rules.numpy.elementwise import conj
from pullback.rules.numpy.reductions import M, T, V, spread
from pullback.rules.ops.infer import known
from pullback.rules.registry import builder, op_of, rule
from pullback.styles.broadcast import as_array
from pullback.styles.style import Scalar, Static

W = np.array([0.5, 1.0, -2.0])
LONG = np.array([1.0, 4.0, 9.0, 16.0, 20.0])


def _known_count(site: Site) -> bool:
    return isinstance(site.option("n", 1) or Static(1), Static)


@rule(
    np.diff,
    wrt="a, prepend, append",
    guard=_known_count,
    linear="a, prepend, append",
    cases=(
        case(V, wrt=(0,)),
        case(LONG, 2, wrt=(0,)),
        case(M, wrt=(0,)),
        case(M, axis=0, wrt=(0,)),
        case(T, 2, axis=1, wrt=(0,)),
        case(LONG, n=0, wrt=(0,)),
        case(V, 1, -1, 0.5, wrt=(0, 3)),
        case(V, 2, -1, 0.5, W, wrt=(0, 3, 4)),
        case(M, 1, 0, M[:1], 2.0, wrt=(0, 3, 4)),
    ),
)
def diff(a, n=1, axis=-1, prepend=None, append=None, *, out, out_bar):
    """Each difference takes from its left element and gives to its right one."""
    bar = np.moveaxis(out_bar, axis, 0)
    for _ in range(n):
        edge = np.zeros((1,) + np.shape(bar)[1:], dtype=bar.dtype)
        bar = np.concatenate((edge, bar)) - np.concatenate((bar, edge))
    first = width(prepend, axis)
    stop = np.shape(bar)[0] - width(append, axis)
    a_bar = np.moveaxis(bar[first:stop], 0, axis)
    prepend_bar = None if prepend is None else np.moveaxis(bar[:first], 0, axis)
    append_bar = None if append is None else np.moveaxis(bar[stop:], 0, axis)
    return a_bar, prepend_bar, append_bar


def width(edge, axis):
    """How much an edge takes of the axis."""
    if edge is None:
        return 0
    return 1 if np.ndim(edge) == 0 else np.shape(edge)[axis]


@rule(
    np.ediff1d,
    guard=lambda site: len(site.operands) == 1 and not site.kwargs,
    linear="ary",
    cases=(case(V), case(M)),
)
def ediff1d(ary, *, out, out_bar):
    """As the difference of the flattened array."""
    edge = np.zeros(1, dtype=out_bar.dtype)
    return np.reshape(np.concatenate((edge, out_bar)) - np.concatenate((out_bar, edge)), np.shape(ary))


@rule(
    np.trapezoid,
    wrt="y, x, dx",
    cases=(
        case(V),
        case(M, axis=0, wrt=(0,)),
        case(V, V * V + np.arange(3.0), wrt=(0, 1)),
        case(M, W, wrt=(0, 1)),
        case(M, dx=0.5),
    ),
)
def trapezoid(y, x=None, dx=1.0, axis=-1, *, out, out_bar):
    """Half of each piece goes to either end."""
    bar = np.expand_dims(out_bar, 0)
    moved = np.moveaxis(conj(y), axis, 0)
    sums = (moved[1:] + moved[:-1]) / 2
    if x is None:
        halves = np.broadcast_to(bar * conj(dx) / 2, np.shape(sums))
        return np.moveaxis(to_both_ends(halves), 0, axis), None, np.sum(sums * bar)
    points = np.moveaxis(x, axis, 0) if np.ndim(x) > 1 else np.reshape(x, (-1,) + (1,) * (np.ndim(y) - 1))
    halves = np.broadcast_to(bar * conj(points[1:] - points[:-1]) / 2, np.shape(sums))
    y_bar = np.moveaxis(to_both_ends(halves), 0, axis)
    pieces = sums * bar
    edge = np.zeros_like(pieces[:1])
    x_bar = np.concatenate((edge, pieces)) - np.concatenate((pieces, edge))
    if np.ndim(x) > 1:
        return y_bar, np.moveaxis(x_bar, 0, axis), None
    return y_bar, np.sum(np.reshape(x_bar, (np.shape(x)[0], -1)), axis=1), None


def to_both_ends(pieces):
    """Pieces between points along the first axis, given to both points."""
    edge = np.zeros_like(pieces[:1])
    return np.concatenate((edge, pieces)) + np.concatenate((pieces, edge))


def _unit_or_scalar_spacing(site: Site) -> bool:
    spacing = site.operands[1:]
    plain = all(isinstance(as_array(s), Scalar) for s in spacing) and len(spacing) <= 1
    return (
        plain
        and site.option("edge_order") in (None, Static(1))
        and as_array(site.operands[0]).dtype is not None
    )


@rule(
    np.gradient,
    wrt="f",
    guard=_unit_or_scalar_spacing,
    linear="f",
    cases=(
        case(LONG),
        case(M),
        case(LONG, 0.5, wrt=(0,)),
        case(M, axis=0),
        case(T, axis=1),
        case(M, 0.25, wrt=(0,)),
        case(np.array([1.0, 3.0])),
    ),
)
def gradient(f, spacing=1.0, *, axis=None, edge_order=1, out, out_bar):
    """Central differences inside, one-sided ones at the ends, axis by axis."""
    if axis is not None and not isinstance(axis, tuple):
        return gradient_bar(out_bar, axis, spacing)
    if not isinstance(out_bar, tuple):
        return gradient_bar(out_bar, 0 if axis is None else axis[0], spacing)
    axes = tuple(range(np.ndim(f))) if axis is None else axis
    total = np.zeros_like(f)
    for k in range(len(axes)):
        if out_bar[k] is not None:
            total = total + gradient_bar(out_bar[k], axes[k], spacing)
    return total


def gradient_bar(bar, axis, spacing):
    """The transpose of the difference stencil along an axis."""
    g = np.moveaxis(bar, axis, 0) / spacing
    total = np.zeros_like(g)
    total[2:] += g[1:-1] / 2
    total[:-2] -= g[1:-1] / 2
    total[1] += g[0]
    total[0] -= g[0]
    total[-1] += g[-1]
    total[-2] -= g[-1]
    return np.moveaxis(total, 0, axis)


# ---------------------------------------------------------------------------------------- statistics of order


@rule(
    (np.median, np.nanmedian),
    cases=(case(V), case(LONG[:4]), case(M), case(M, axis=0), case(M, axis=1, keepdims=True)),
)
def median(a, axis=None, overwrite_input=False, keepdims=False, *, out, out_bar):
    """The middle value, or the mean of the middle two."""
    return quantile(a, 0.5, axis, overwrite_input, "linear", keepdims, out=out, out_bar=out_bar)


def _linear_quantile(site: Site) -> bool:
    axis = site.option("axis", 2)
    q = as_array(site.operands[1])
    scalar = isinstance(q, Scalar) or q.axes == ()
    return (
        scalar
        and site.option("method", 5) in (None, Static("linear"))
        and (axis is None or (isinstance(axis, Static) and not isinstance(axis.value, tuple)))
    )


@rule(
    (np.quantile, np.nanquantile),
    wrt="a",
    guard=_linear_quantile,
    cases=(
        case(V, 0.3, wrt=(0,)),
        case(M, 0.7, wrt=(0,)),
        case(M, 0.4, axis=0, wrt=(0,)),
        case(M, 0.9, axis=1, keepdims=True, wrt=(0,)),
        case(V, 1.0, wrt=(0,)),
    ),
)
def quantile(a, q, axis=None, overwrite_input=False, method="linear", keepdims=False, *, out, out_bar):
    """The two neighbours in the order, by their weights; NaNs come last in the order and do not count."""
    bar = spread(out_bar, axis, keepdims)
    flat = np.reshape(a, (1, -1)) if axis is None else np.moveaxis(a, axis, -1)
    bars = np.reshape(bar, (1, 1)) if axis is None else np.moveaxis(bar, axis, -1)
    order = np.argsort(flat, axis=-1, kind="stable")
    rank = np.argsort(order, axis=-1, kind="stable")
    last = np.sum(~np.isnan(flat), axis=-1, keepdims=True) - 1
    place = q * last
    low = np.clip(np.floor(place), 0, np.maximum(last - 1, 0))
    weight = place - low
    share = np.where(rank == low, 1 - weight, 0) + np.where(rank == np.minimum(low + 1, last), weight, 0)
    result = bars * share
    return np.reshape(result, np.shape(a)) if axis is None else np.moveaxis(result, -1, axis)


@rule(
    (np.percentile, np.nanpercentile),
    wrt="a",
    guard=_linear_quantile,
    cases=(case(V, 30.0, wrt=(0,)), case(M, 40.0, axis=0, wrt=(0,))),
)
def percentile(a, q, axis=None, overwrite_input=False, method="linear", keepdims=False, *, out, out_bar):
    """A quantile of a hundredth."""
    return quantile(a, q / 100, axis, overwrite_input, method, keepdims, out=out, out_bar=out_bar)


# ---------------------------------------------------------------------------- several arrays, several results


@builder(
    np.broadcast_arrays,
    wrt=(0, 1, 2, 3, 4, 5, 6, 7),
    linear="args",
    cases=(case(V, M, wrt=(0, 1)), case(M, 2.0, V, wrt=(0, 1, 2))),
)
def broadcast_arrays(
    b: Builder, args: Sequence[Operand], kwargs: Mapping[str, Operand], out: Operand, out_bar: Operand
) -> list[Operand | None]:
    """Each its own; the engine sums."""
    return _each(out_bar, len(args))


def _each(out_bar: Operand, count: int) -> list[Operand | None]:
    """The cotangents of several results; None for one without."""
    bars = out_bar.items if isinstance(out_bar, Pack) and count > 1 else (out_bar,)
    return [None if isinstance(x, Const) and x.value is None else x for x in bars]


@builder(
    (np.atleast_1d, np.atleast_2d, np.atleast_3d),
    wrt=(0, 1, 2, 3, 4, 5, 6, 7),
    guard=lambda site: len(site.operands) > 1,
    linear="arys",
    cases=(case(V, 2.0, wrt=(0, 1)),),
)
def atleast_several(
    b: Builder, args: Sequence[Operand], kwargs: Mapping[str, Operand], out: Operand, out_bar: Operand
) -> list[Operand | None]:
    """Each in its old shape."""
    reshape, shape = op_of(np.reshape), op_of(np.shape)
    assert reshape is not None and shape is not None
    return [
        None if x is None else b.call(reshape, x, b.call(shape, a, hint="shape"), hint="bar")
        for x, a in zip(_each(out_bar, len(args)), args, strict=True)
    ]


@builder(
    np.meshgrid,
    wrt=(0, 1, 2, 3, 4, 5),
    linear="xi",
    guard=lambda site: all(isinstance(s, Static) for _, s in site.kwargs),
    cases=(
        case(V, W, wrt=(0, 1)),
        case(V, LONG, indexing="ij", wrt=(0, 1)),
        case(V, W, sparse=True, wrt=(0, 1)),
        case(V, W, LONG, wrt=(0, 1, 2)),
    ),
)
def meshgrid(
    b: Builder, args: Sequence[Operand], kwargs: Mapping[str, Operand], out: Operand, out_bar: Operand
) -> list[Operand | None]:
    """Sums over the axes of the other coordinates."""
    indexing = known(style_of(kwargs["indexing"])) if "indexing" in kwargs else "xy"
    n = len(args)
    order = list(range(n))
    if indexing == "xy" and n > 1:
        order[0], order[1] = 1, 0
    total, reshape, shape = op_of(np.sum), op_of(np.reshape), op_of(np.shape)
    assert total is not None and reshape is not None and shape is not None
    bars: list[Operand | None] = []
    for i, bar in enumerate(_each(out_bar, n)):
        if bar is None:
            bars.append(None)
            continue
        rest = tuple(k for k in range(n) if k != order.index(i))
        line = b.call(total, bar, axis=Const(rest), hint="bar") if rest else bar
        bars.append(b.call(reshape, line, b.call(shape, args[i], hint="shape"), hint="bar"))
    return bars
