"""Functions that move elements: each sends the cotangent the way back."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs
# Rule functions are text in the language that we compile: their operands are of any style.

from __future__ import annotations

import numpy as np

from pullback.rules.kinds import case
from pullback.rules.lookup import Site
from pullback.rules.numpy.reductions import M, T, V
from pullback.rules.registry import rule
from pullback.styles.style import Static


def plain_order(position: int):
    """A guard: `order` is "C" or "F", so that the way back does not hang on the memory layout of a
    cotangent.
    """

    def guard(site: Site) -> bool:
        return site.option("order", position) in (None, Static("C"), Static("F"))

    return guard


@rule(
    np.reshape,
    guard=plain_order(2),
    linear="a",
    cases=(
        case(M, (3, 2)),
        case(M, -1),
        case(T, (4, -1)),
        case(V, (3, 1)),
        case(M, (3, 2), order="F"),
        case(2.0, (1,)),
    ),
)
def reshape(a, shape=None, order="C", *, newshape=None, copy=None, out, out_bar):
    """The old shape."""
    return np.reshape(out_bar, np.shape(a), order)


@rule(
    np.ravel,
    guard=plain_order(1),
    linear="a",
    cases=(case(M), case(T), case(V), case(M, order="F"), case(2.0)),
)
def ravel(a, order="C", *, out, out_bar):
    """The old shape."""
    return np.reshape(out_bar, np.shape(a), order)


@rule(np.squeeze, linear="a", cases=(case(V[None]), case(M[:, None], axis=1), case(V)))
def squeeze(a, axis=None, *, out, out_bar):
    """The old shape."""
    return np.reshape(out_bar, np.shape(a))


@rule(np.expand_dims, linear="a", cases=(case(V, 0), case(M, (0, -1)), case(2.0, 0)))
def expand_dims(a, axis, *, out, out_bar):
    """The old shape."""
    return np.reshape(out_bar, np.shape(a))


@rule(
    (np.atleast_1d, np.atleast_2d, np.atleast_3d), linear="ary", cases=(case(2.0), case(V), case(M), case(T))
)
def atleast(ary, *, out, out_bar):
    """The old shape."""
    return np.reshape(out_bar, np.shape(ary))


@rule(np.transpose, linear="a", cases=(case(M), case(T), case(T, (1, 2, 0)), case(T, (-1, 0, 1)), case(V)))
def transpose(a, axes=None, *, out, out_bar):
    """The inverse permutation."""
    if axes is None:
        return np.transpose(out_bar)
    return np.moveaxis(out_bar, tuple(range(np.ndim(a))), axes)


@rule(np.swapaxes, linear="a", cases=(case(M, 0, 1), case(T, 0, -1)))
def swapaxes(a, axis1, axis2, *, out, out_bar):
    """Swapped back."""
    return np.swapaxes(out_bar, axis1, axis2)


def matrix_transpose(x, *, out, out_bar):
    """Swapped back."""
    return np.swapaxes(out_bar, -1, -2)


@rule(np.moveaxis, linear="a", cases=(case(T, 0, -1), case(T, (0, 1), (1, 2)), case(M, 1, 0)))
def moveaxis(a, source, destination, *, out, out_bar):
    """Moved back."""
    return np.moveaxis(out_bar, destination, source)


@rule(np.rollaxis, linear="a", cases=(case(T, 2), case(T, 0, 3), case(T, 1, 1), case(T, -1, 1)))
def rollaxis(a, axis, start=0, *, out, out_bar):
    """Moved back from where it went."""
    n = np.ndim(a)
    source = axis % n
    before = start + n if start < 0 else start
    return np.moveaxis(out_bar, before - 1 if source < before else before, source)


@rule(np.flip, linear="m", cases=(case(V), case(M), case(M, 0), case(T, (0, 2))))
def flip(m, axis=None, *, out, out_bar):
    """Flipped back."""
    return np.flip(out_bar, axis)


@rule(np.fliplr, linear="m", cases=(case(M), case(T)))
def fliplr(m, *, out, out_bar):
    """Flipped back."""
    return np.fliplr(out_bar)


@rule(np.flipud, linear="m", cases=(case(V), case(M)))
def flipud(m, *, out, out_bar):
    """Flipped back."""
    return np.flipud(out_bar)


@rule(np.rot90, linear="m", cases=(case(M), case(M, 2), case(T, 3, (1, 2)), case(M, 0)))
def rot90(m, k=1, axes=(0, 1), *, out, out_bar):
    """Turned back."""
    return np.rot90(out_bar, -k, axes)


@rule(np.roll, linear="a", cases=(case(V, 1), case(M, 2), case(M, 1, axis=1), case(T, (1, 2), axis=(0, 2))))
def roll(a, shift, axis=None, *, out, out_bar):
    """Rolled back."""
    if isinstance(shift, tuple):
        return np.roll(out_bar, tuple([-s for s in shift]), axis)
    return np.roll(out_bar, -shift, axis)


@rule(
    np.broadcast_to,
    linear="array",
    cases=(case(V, (4, 3)), case(V, (3,)), case(2.0, (2, 3)), case(M[:, :1], (2, 4))),
)
def broadcast_to(array, shape, *, out, out_bar):
    """The engine sums it back."""
    return out_bar


def padded(values, length):
    """A shape or counts with leading ones."""
    return (1,) * (length - len(values)) + tuple(values)


@rule(np.tile, linear="A", cases=(case(V, 2), case(M, (2, 3)), case(V, (2, 2)), case(M, 2), case(2.0, 3)))
def tile(A, reps, *, out, out_bar):
    """The copies add up."""
    counts = reps if isinstance(reps, (tuple, list)) else (reps,)
    n = max(len(counts), np.ndim(A))
    pairs = zip(padded(counts, n), padded(np.shape(A), n))
    split = np.reshape(out_bar, tuple([length for pair in pairs for length in pair]))
    return np.reshape(np.sum(split, axis=tuple(range(0, 2 * n, 2))), np.shape(A))


@rule(
    np.repeat,
    linear="a",
    cases=(
        case(V, 2),
        case(M, 3),
        case(M, 2, axis=0),
        case(T, 2, axis=-1),
        case(V, np.array([1, 0, 3])),
        case(M, np.array([2, 1, 0]), axis=1),
        case(2.0, 3),
    ),
)
def repeat(a, repeats, axis=None, *, out, out_bar):
    """The copies add up."""
    if axis is None:
        return np.reshape(gathered(np.size(a), repeats, out_bar, 0), np.shape(a))
    return gathered(np.shape(a)[axis], repeats, out_bar, axis)


def gathered(n, repeats, bar, axis):
    """Sums of `repeats` entries each along an axis."""
    moved = np.moveaxis(bar, axis, 0)
    if np.ndim(repeats) == 0:
        return np.moveaxis(np.sum(np.reshape(moved, (n, repeats) + np.shape(moved)[1:]), axis=1), 0, axis)
    sums = np.zeros((n,) + np.shape(moved)[1:], dtype=moved.dtype)
    np.add.at(sums, np.repeat(np.arange(n), repeats), moved)
    return np.moveaxis(sums, 0, axis)


# --------------------------------------------------------------------------------------- diagonals, triangles


def on_diagonal(a, bar, offset):
    """Zeros like `a`, with `bar` on the diagonal of the last two axes."""
    n = np.shape(bar)[-1]
    i = np.arange(n) + max(-offset, 0)
    j = np.arange(n) + max(offset, 0)
    out = np.zeros(np.shape(a), dtype=bar.dtype)
    out[..., i, j] = bar
    return out


@rule(np.diagonal, linear="a", cases=(case(M), case(T), case(M, 1), case(T, 0, 1, 2), case(T, -1, 2, 0)))
def diagonal(a, offset=0, axis1=0, axis2=1, *, out, out_bar):
    """Zeros elsewhere."""
    moved = np.moveaxis(a, (axis1, axis2), (-2, -1))
    return np.moveaxis(on_diagonal(moved, out_bar, offset), (-2, -1), (axis1, axis2))


def linalg_diagonal(x, *, offset=0, out, out_bar):
    """Zeros elsewhere."""
    return on_diagonal(x, out_bar, offset)


@rule(np.diag, linear="v", cases=(case(V), case(V, 1), case(V, -2), case(M), case(M, 1), case(M @ M.T)))
def diag(v, k=0, *, out, out_bar):
    """The diagonal of a matrix, or the matrix of a diagonal."""
    if np.ndim(v) == 1:
        return np.diagonal(out_bar, k)
    return on_diagonal(v, out_bar, k)


@rule(np.diagflat, linear="v", cases=(case(V), case(M), case(V, 1)))
def diagflat(v, k=0, *, out, out_bar):
    """The diagonal in the old shape."""
    return np.reshape(np.diagonal(out_bar, k), np.shape(v))


def trace_bar(x, offset, bar):
    """A constant along the diagonal of the last two axes."""
    rows, cols = np.shape(x)[-2:]
    n = max(min(rows + min(offset, 0), cols - max(offset, 0)), 0)
    spread = np.broadcast_to(np.expand_dims(bar, -1), np.shape(x)[:-2] + (n,))
    return on_diagonal(x, spread, offset)


@rule(np.trace, linear="a", cases=(case(M), case(M @ M.T), case(M, 1), case(T), case(T, 0, 1, 2)))
def trace(a, offset=0, axis1=0, axis2=1, dtype=None, *, out, out_bar):
    """A constant along the diagonal."""
    moved = np.moveaxis(a, (axis1, axis2), (-2, -1))
    return np.moveaxis(trace_bar(moved, offset, out_bar), (-2, -1), (axis1, axis2))


def linalg_trace(x, *, offset=0, dtype=None, out, out_bar):
    """A constant along the diagonal."""
    return trace_bar(x, offset, out_bar)


@rule(np.triu, linear="m", cases=(case(M), case(M, 1), case(T, -1), case(V)))
def triu(m, k=0, *, out, out_bar):
    """The same triangle; of a vector's copies the engine takes the sum."""
    return np.triu(out_bar, k)


@rule(np.tril, linear="m", cases=(case(M), case(M, 1), case(T, -1), case(V)))
def tril(m, k=0, *, out, out_bar):
    """The same triangle; of a vector's copies the engine takes the sum."""
    return np.tril(out_bar, k)


# -------------------------------------------------------------------------------------------------- splitting


def rejoined(out, bars, axis):
    """The cotangents of the pieces side by side; zeros for a piece without one."""
    if not isinstance(bars, tuple):
        return bars
    pieces = [np.zeros_like(piece) if bar is None else bar for piece, bar in zip(out, bars)]
    return np.concatenate(pieces, axis=axis)


@rule(
    (np.split, np.array_split),
    linear="ary",
    cases=(case(V, 3), case(M, 3, axis=1), case(M, [1], axis=1), case(T, [1, 3], axis=2)),
)
def split(ary, indices_or_sections, axis=0, *, out, out_bar):
    """Joined again."""
    return rejoined(out, out_bar, axis)


@rule(np.hsplit, linear="ary", cases=(case(V, 3), case(M, 3), case(M, [1])))
def hsplit(ary, indices_or_sections, *, out, out_bar):
    """Joined again."""
    return rejoined(out, out_bar, 0 if np.ndim(ary) == 1 else 1)


@rule(np.vsplit, linear="ary", cases=(case(M, 2), case(T, 2)))
def vsplit(ary, indices_or_sections, *, out, out_bar):
    """Joined again."""
    return rejoined(out, out_bar, 0)


@rule(np.dsplit, linear="ary", cases=(case(T, 2),))
def dsplit(ary, indices_or_sections, *, out, out_bar):
    """Joined again."""
    return rejoined(out, out_bar, 2)


def unstack(x, *, axis=0, out, out_bar):
    """Stacked again."""
    if isinstance(out_bar, list):  # of a length known at run time only
        return np.stack(out_bar, axis=axis)
    if not isinstance(out_bar, tuple):
        return np.expand_dims(out_bar, axis)
    return np.stack(
        [np.zeros_like(piece) if bar is None else bar for piece, bar in zip(out, out_bar)], axis=axis
    )


def _newer_functions() -> None:
    """Functions that NumPy 2.0 has under other names, or not at all."""
    rule(np.matrix_transpose, linear="x", cases=(case(M), case(T)))(matrix_transpose)
    rule(np.linalg.matrix_transpose, linear="x", cases=(case(M), case(T)))(matrix_transpose)
    rule(np.linalg.diagonal, linear="x", cases=(case(M), case(T), case(T, offset=1)))(linalg_diagonal)
    rule(np.linalg.trace, linear="x", cases=(case(M), case(T), case(T, offset=-1)))(linalg_trace)
    if hasattr(np, "unstack"):
        rule(np.unstack, linear="x", cases=(case(M), case(T, axis=1)))(unstack)


_newer_functions()
