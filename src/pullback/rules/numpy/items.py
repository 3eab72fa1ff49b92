"""Arrays whose items were joined, and items taken out or put in."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs
# Rule functions are text in the language that we compile: their operands are of any style.

from __future__ import annotations

import numpy as np

from pullback.rules.kinds import case
from pullback.rules.lookup import Site
from pullback.rules.numpy.joining import known_axis
from pullback.rules.numpy.reductions import M, T, V
from pullback.rules.registry import rule
from pullback.styles.broadcast import as_array
from pullback.styles.style import Array, Scalar, Static


def apart(arrays, bar, axis):
    """The cotangent of the items of an array (its first axis) that were laid side by side along an axis."""
    shape = np.shape(arrays)[1:]
    split = np.reshape(bar, shape[:axis] + (np.shape(arrays)[0],) + shape[axis:])
    return np.moveaxis(split, axis, 0)


@rule(
    np.concatenate,
    when="array",
    guard=known_axis(1),
    cases=(case(M), case(T), case(T, axis=1), case(T, axis=-1), case(T, axis=None)),
)
def items_joined(arrays, axis=0, *, out, out_bar):
    """The items of an array, laid side by side."""
    if axis is None:
        return np.reshape(out_bar, np.shape(arrays))
    return apart(arrays, out_bar, axis % (np.ndim(arrays) - 1))


@rule(np.vstack, when="array", cases=(case(M), case(T)))
def items_stacked(tup, *, out, out_bar):
    """The items of an array, one below the other."""
    return out_bar if np.ndim(tup) == 2 else apart(tup, out_bar, 0)


@rule(np.hstack, when="array", cases=(case(M), case(T)))
def items_beside(tup, *, out, out_bar):
    """The items of an array, side by side."""
    return apart(tup, out_bar, 0 if np.ndim(tup) == 2 else 1)


@rule(np.column_stack, when="array", cases=(case(M), case(T)))
def items_as_columns(tup, *, out, out_bar):
    """The items of an array, as columns."""
    return np.transpose(out_bar) if np.ndim(tup) == 2 else apart(tup, out_bar, 1)


@rule(np.dstack, when="array", cases=(case(M), case(T)))
def items_in_depth(tup, *, out, out_bar):
    """The items of an array, one behind the other."""
    if np.ndim(tup) > 3:
        return apart(tup, out_bar, 2)
    return np.reshape(np.moveaxis(out_bar, -1, 0), np.shape(tup))


@rule(
    np.delete,
    linear="arr",
    cases=(case(V, 1), case(M, 0, axis=0), case(M, np.array([0, 2]), axis=1), case(V, np.array([0]))),
)
def delete(arr, obj, axis=None, *, out, out_bar):
    """Zero for what was deleted."""
    at = 0 if axis is None else axis
    n = np.size(arr) if axis is None else np.shape(arr)[axis]
    moved = np.moveaxis(out_bar, at, 0)
    bar = np.zeros((n,) + np.shape(moved)[1:], dtype=moved.dtype)
    bar[np.delete(np.arange(n), obj)] = moved
    return np.reshape(np.moveaxis(bar, 0, at), np.shape(arr))


def _one_number(site: Site) -> bool:
    """One number put at a place known at compile time, of a vector or of the flattened array."""
    place, axis = site.option("obj", 1), site.option("axis", 3)
    vector = as_array(site.operands[0])
    flat = axis in (None, Static(None)) or (isinstance(vector, Array) and vector.rank == 1)
    known_place = isinstance(place, Static) and isinstance(place.value, int) and place.value >= 0
    return known_place and flat and isinstance(as_array(site.operands[2]), Scalar)


@rule(
    np.insert,
    wrt="arr, values",
    guard=_one_number,
    linear="arr, values",
    cases=(case(V, 1, 2.5, wrt=(0, 2)), case(M, 4, 0.5, wrt=(0, 2))),
)
def insert(arr, obj, values, axis=None, *, out, out_bar):
    """The others keep theirs."""
    return np.reshape(np.delete(out_bar, obj), np.shape(arr)), out_bar[obj]
