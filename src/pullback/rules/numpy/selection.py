"""Choosing, ordering and padding: each cotangent goes back to the place that the value came from."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs
# Rule functions are text in the language that we compile: their operands are of any style.

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pullback.ir.builder import Builder
from pullback.ir.nodes import Const, Operand, Pack
from pullback.rules.kinds import case
from pullback.rules.lookup import Site
from pullback.rules.numpy.elementwise import as_array
from pullback.rules.numpy.reductions import M, T, V
from pullback.rules.registry import builder, op_of, rule
from pullback.styles.style import Static, kind

W = np.array([0.5, 1.0, -2.0])
PLACES = np.array([2, 0, 2])


def scattered(a, indices, bar, axis):
    """Zeros like `a`, with `bar` added at the indices of one axis, however often each occurs."""
    moved = np.moveaxis(np.zeros_like(a, dtype=bar.dtype), axis, 0)
    n = np.ndim(indices)
    at = axis % np.ndim(a)
    ends = tuple(range(at, at + n))
    np.add.at(moved, indices, np.moveaxis(bar, ends, tuple(range(n))))
    return np.moveaxis(moved, 0, axis)


@rule(
    np.take,
    linear="a",
    cases=(
        case(V, PLACES),
        case(V, 1),
        case(M, PLACES),
        case(M, PLACES, axis=1),
        case(M, np.array([[0, 1], [1, 1]]), axis=0),
        case(T, -1, axis=1),
        case(V, np.array([3, -1]), mode="wrap"),
        case(V, np.array([5, -7]), mode="clip"),
    ),
)
def take(a, indices, axis=None, mode="raise", *, out, out_bar):
    """Added back at the indices."""
    n = np.size(a) if axis is None else np.shape(a)[axis]
    places = np.asarray(indices)
    if mode == "wrap":
        places = places % n
    if mode == "clip":
        places = np.clip(places, 0, n - 1)
    bar = np.asarray(out_bar)
    if axis is None:
        return np.reshape(scattered(np.ravel(a), places, bar, 0), np.shape(a))
    return scattered(a, places, bar, axis)


@rule(
    np.take_along_axis,
    linear="arr",
    cases=(case(M, np.array([[0, 2], [1, 1]]), 1), case(M, np.array([[1, 0, 1]]), 0), case(V, PLACES, None)),
)
def take_along_axis(arr, indices, axis=-1, *, out, out_bar):
    """Added back at the indices."""
    if axis is None:
        flat = np.zeros(np.size(arr), dtype=out_bar.dtype)
        np.add.at(flat, indices, out_bar)
        return np.reshape(flat, np.shape(arr))
    return added_along(arr, indices, axis, out_bar)


def added_along(arr, indices, axis, bar):
    """Zeros like `arr`, with `bar` added at indices along an axis, the others in step."""
    moved_bar = np.moveaxis(bar, axis, -1)
    n = np.shape(arr)[axis]
    lines = np.size(bar) // max(np.shape(bar)[axis], 1)
    places = np.reshape(np.moveaxis(np.broadcast_to(indices, np.shape(bar)), axis, -1), (lines, -1)) % n
    flat = np.zeros((lines, n), dtype=bar.dtype)
    np.add.at(flat, (np.expand_dims(np.arange(lines), 1), places), np.reshape(moved_bar, (lines, -1)))
    return np.moveaxis(np.reshape(flat, np.shape(moved_bar)[:-1] + (n,)), -1, axis)


def _sorts_by_value(site: Site) -> bool:
    return site.option("order", 3) in (None, Static(None))


@rule(
    np.sort,
    guard=_sorts_by_value,
    cases=(case(V), case(M), case(M, axis=0), case(M, axis=None), case(T, axis=1)),
)
def sort(a, axis=-1, kind=None, order=None, *, stable=None, out, out_bar):
    """Back to where each value stood; equal values keep their order."""
    if axis is None:
        return np.reshape(unsorted(np.ravel(a), out_bar, 0), np.shape(a))
    return unsorted(a, out_bar, axis)


def unsorted(a, bar, axis):
    """The entries of `bar` put where the entries of sorted `a` came from."""
    order = np.argsort(a, axis=axis, kind="stable")
    return np.take_along_axis(bar, np.argsort(order, axis=axis, kind="stable"), axis)


@rule(np.partition, cases=(case(V, 1), case(M, 1), case(M, 0, axis=0)))
def partition(a, kth, axis=-1, kind="introselect", order=None, *, out, out_bar):
    """Back to where each value stood, by the same partition of the indices."""
    places = np.argpartition(a, kth, axis=axis)
    return np.take_along_axis(out_bar, np.argsort(places, axis=axis), axis)


# ---------------------------------------------------------------------------------------------- by conditions


@rule(
    np.compress,
    wrt="a",
    linear="a",
    cases=(
        case(np.array([True, False, True]), V, wrt=(1,)),
        case(np.array([True, False]), M, axis=0, wrt=(1,)),
    ),
)
def compress(condition, a, axis=None, *, out, out_bar):
    """Added back where the condition holds."""
    places = np.flatnonzero(condition)
    if axis is None:
        return np.reshape(scattered(np.ravel(a), places, out_bar, 0), np.shape(a))
    return scattered(a, places, out_bar, axis)


@rule(np.extract, wrt="arr", linear="arr", cases=(case(M > 0, M, wrt=(1,)),))
def extract(condition, arr, *, out, out_bar):
    """Added back where the condition holds."""
    places = np.flatnonzero(condition)
    return np.reshape(scattered(np.ravel(arr), places, out_bar, 0), np.shape(arr))


@builder(
    np.select,
    wrt=(1, 2),
    linear="choicelist, default",
    cases=(
        case([V > 1, V > 0], [V, W], 0.5, wrt=(1, 2)),
        case([M > 1], [M * M], wrt=(1,)),
        case([V > 0, V > 1], [V, V], wrt=(1,)),
    ),
)
def select(
    b: Builder, args: Sequence[Operand], kwargs: Mapping[str, Operand], out: Operand, out_bar: Operand
) -> list[Operand | None]:
    """To the choice of the first condition that holds, else to the default."""
    conditions, choices = args[0], args[1]
    assert isinstance(conditions, Pack) and isinstance(choices, Pack)
    rest: Operand = out_bar
    bars: list[Operand] = []
    where, equal = op_of(np.where), op_of(np.equal)
    assert where is not None and equal is not None
    for condition in conditions.items:
        bars.append(b.call(where, condition, rest, Const(0), hint="choice_bar"))
        rest = b.call(where, condition, Const(0), rest, hint="rest_bar")
    return [None, Pack("tuple", tuple(bars)), rest]


@builder(
    np.choose,
    wrt=(1,),
    linear="choices",
    cases=(case(np.array([0, 1, 1]), [V, W], wrt=(1,)), case([1, 0, 1], [V, 2.0], wrt=(1,))),
)
def choose(
    b: Builder, args: Sequence[Operand], kwargs: Mapping[str, Operand], out: Operand, out_bar: Operand
) -> list[Operand | None]:
    """To the choice that was taken."""
    assert isinstance(args[1], Pack)
    where, equal = op_of(np.where), op_of(np.equal)
    assert where is not None and equal is not None
    bars = []
    for i, _ in enumerate(args[1].items):
        taken = b.call(equal, args[0], Const(i), hint="taken")
        bars.append(b.call(where, taken, out_bar, Const(0), hint="choice_bar"))
    return [None, Pack("tuple", tuple(bars))]


# ---------------------------------------------------------------------------------------------------- padding


def _known_mode(site: Site) -> bool:
    mode = site.option("mode", 2)
    return mode is None or (
        isinstance(mode, Static) and mode.value in ("constant", "edge", "wrap", "reflect", "symmetric")
    )


@rule(
    np.pad,
    guard=_known_mode,
    linear="array",
    cases=(
        case(V, 1),
        case(V, (2, 1)),
        case(M, ((1, 0), (2, 3))),
        case(M, 1, mode="constant"),
        case(V, 2, mode="edge"),
        case(M, ((1, 2), (0, 1)), mode="wrap"),
        case(V, 2, mode="reflect"),
        case(M, 1, mode="symmetric"),
        case(M, 2, mode="constant", constant_values=1.5),
    ),
)
def pad(array, pad_width, mode="constant", *, constant_values=0, reflect_type="even", out, out_bar):
    """What was copied into the margin comes back to where it was copied from."""
    positions = np.reshape(np.arange(np.size(array)), np.shape(array))
    if mode == "constant":
        sources = np.pad(positions, pad_width, "constant", constant_values=-1)
    else:
        sources = np.pad(positions, pad_width, mode)
    inside = sources >= 0
    flat = np.zeros(np.size(array), dtype=out_bar.dtype)
    np.add.at(flat, sources[inside], out_bar[inside])
    return np.reshape(flat, np.shape(array))


@rule(
    np.interp,
    wrt="x, fp",
    cases=(
        case(
            np.array([0.25, 1.5, 3.5]),
            np.array([0.0, 1.0, 2.0, 3.0]),
            np.array([1.0, 3.0, -1.0, 2.0]),
            wrt=(0, 2),
        ),
        case(np.array([0.25, 1.5]), np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, -1.0]), wrt=(0, 2)),
        case(1.25, np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, -1.0]), wrt=(0, 2)),
    ),
)
def interp(x, xp, fp, left=None, right=None, *, out, out_bar):
    """The slope of the piece for x; the two weights for the ends of the piece."""
    points = np.asarray(x)
    xp = as_array(xp)
    fp = as_array(fp)
    n = np.size(xp)
    i = np.clip(np.searchsorted(xp, points, side="right") - 1, 0, n - 2)
    width = xp[i + 1] - xp[i]
    inside = (points >= xp[0]) & (points <= xp[n - 1])
    t = np.clip((points - xp[i]) / width, 0, 1)
    x_bar = np.where(inside, out_bar * (fp[i + 1] - fp[i]) / width, 0)
    weight = np.broadcast_to(out_bar, np.shape(points))
    if left is not None:
        weight = np.where(points < xp[0], 0, weight)
    if right is not None:
        weight = np.where(points > xp[n - 1], 0, weight)
    fp_bar = np.zeros(n, dtype=weight.dtype)
    np.add.at(fp_bar, i, weight * (1 - t))
    np.add.at(fp_bar, i + 1, weight * t)
    return x_bar, fp_bar


@rule(
    np.bincount,
    wrt="weights",
    linear="weights",
    cases=(case(PLACES, V, wrt=(1,)), case(PLACES, V, minlength=5, wrt=(1,))),
)
def bincount(x, weights=None, minlength=0, *, out, out_bar):
    """Each weight gets its bin's cotangent."""
    return out_bar[x]


def _plain_histogram(site: Site) -> bool:
    """Counts or sums of weights, not densities; of real numbers."""
    density = site.option("density", 3)
    plain = density is None or (isinstance(density, Static) and not density.value)
    return plain and all(kind(site.option(*at) or Static(1.0)) != "c" for at in (("a", 0), ("bins", 1)))


@rule(
    np.histogram,
    wrt="a, bins, weights",
    guard=_plain_histogram,
    cases=(
        case(V, 4, wrt=(0,)),
        case(np.zeros(0), 4, wrt=(0,)),
        case(np.zeros(0), 3, None, None, np.zeros(0), wrt=(0, 4)),
        case(V, np.array([-1.0, 0.25, 3.0]), wrt=(1,)),
        case(V, 3, None, None, W, wrt=(0, 4)),
        case(V, 3, (-0.25, 1.75), None, W, wrt=(4,)),
        case(M, np.array([-1.0, 0.25, 3.0]), None, None, M, wrt=(4,)),
    ),
)
def histogram(a, bins=10, range=None, density=None, weights=None, *, out, out_bar):
    """Each weight gets its bin's cotangent; the edges are given, or run from the least value to the largest."""
    values = np.asarray(a)
    edges = out[1]
    a_bar, bins_bar, weights_bar = None, None, None
    if out_bar[1] is not None:
        if np.ndim(bins) == 1:
            bins_bar = out_bar[1]
        elif range is None:
            share = np.arange(np.size(edges)) / (np.size(edges) - 1)
            least = values == np.min(values, initial=np.inf)  # of no values the edges are 0 and 1
            largest = values == np.max(values, initial=-np.inf)
            a_bar = np.where(least, np.sum(out_bar[1] * (1 - share)) / np.sum(least), 0)
            a_bar = a_bar + np.where(largest, np.sum(out_bar[1] * share) / np.sum(largest), 0)
    if out_bar[0] is not None:
        weights_bar = out_bar[0][np.searchsorted(edges[1:-1], values, side="right")]
        if np.ndim(bins) == 1 or range is not None:
            inside = (values >= edges[0]) & (values <= edges[-1])
            weights_bar = np.where(inside, weights_bar, 0)
    return a_bar, bins_bar, weights_bar


@rule(np.unique, guard=lambda site: len(site.operands) == 1 and not site.kwargs, cases=(case(V), case(M)))
def unique(ar, *, out, out_bar):
    """Equal elements share the cotangent of their value."""
    flat = np.ravel(ar)
    places = np.searchsorted(out, flat)
    return np.reshape(out_bar[places] / np.bincount(places)[places], np.shape(ar))


def _one_window(site: Site) -> bool:
    """A number for the window, along one axis."""
    window, axis = site.option("window_shape", 1), site.option("axis", 2)
    known = isinstance(window, Static) and isinstance(window.value, int)
    return known and (axis is None or (isinstance(axis, Static) and not isinstance(axis.value, tuple)))


@rule(
    np.lib.stride_tricks.sliding_window_view,
    guard=_one_window,
    linear="x",
    cases=(case(V, 2), case(M, 2, axis=1), case(T, 3, axis=1)),
)
def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False, out, out_bar):
    """Each element adds up what its windows got."""
    at = np.ndim(x) - 1 if axis is None else axis
    windows = np.moveaxis(out_bar, at, -2)
    n = np.shape(windows)[-2]
    total = np.zeros(np.shape(np.moveaxis(x, at, -1)), dtype=out_bar.dtype)
    for k in range(window_shape):
        total[..., k : k + n] += windows[..., k]
    return np.moveaxis(total, -1, at)
