"""Gradients of plain functions by differences: the reference that owes nothing to the compiler."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from programs import leaves, map_leaves

_STENCIL = ((1, 3.0 / 4.0), (2, -3.0 / 20.0), (3, 1.0 / 60.0))  # central, of sixth order
_STEP = 1e-3


def is_float(leaf: Any) -> bool:
    """Whether a leaf has a gradient."""
    return np.asarray(leaf).dtype.kind in "fc"


def seed_for(value: Any) -> Any:
    """A cotangent of a value: fixed numbers, all different; 1 for a real number."""
    if isinstance(value, float | np.floating) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return np.ones((), np.asarray(value).dtype)[()]
    count = [0]

    def one(leaf: Any) -> Any:
        if not is_float(leaf):
            return leaf
        array = np.asarray(leaf)
        count[0] += 1
        seed = np.cos(np.arange(array.size) * 1.3 + count[0]).reshape(array.shape).astype(array.dtype)
        return seed if isinstance(leaf, np.ndarray) else seed[()]

    return map_leaves(one, value)


def pairing(seed: Any, value: Any) -> float:
    """The real number whose gradient is asked for."""
    total = 0.0
    for s, v in zip(leaves(seed), leaves(value), strict=True):
        if is_float(v):
            total += float(np.sum(np.real(np.conj(s) * np.asarray(v))))
    return total


def numerical_gradients(
    fn: Callable[..., Any], args: Sequence[Any], wrt: Sequence[int], seed: Any
) -> list[list[Any]]:
    """For each parameter in `wrt`, the gradient of <seed, fn(args)> by each of its floating-point leaves."""

    def objective(position: int, number: int, change: Callable[[np.ndarray], None]) -> float:
        moved = list(copy.deepcopy(tuple(args)))
        seen = [-1]

        def at(leaf: Any) -> Any:
            seen[0] += 1
            if seen[0] != number:
                return leaf
            array = np.array(leaf)
            change(array)
            return array if isinstance(leaf, np.ndarray) else array.item()

        moved[position] = map_leaves(at, moved[position])
        return pairing(seed, fn(*moved))

    def slope(position: int, number: int, entry: Any, direction: complex) -> float:
        total = 0.0
        for steps, weight in _STENCIL:
            for sign in (1.0, -1.0):

                def change(array: np.ndarray, amount: complex = sign * steps * _STEP * direction) -> None:
                    array[entry] += amount if array.dtype.kind == "c" else amount.real

                total += sign * weight * objective(position, number, change)
        return total / _STEP

    gradients = []
    for position in wrt:
        found: list[Any] = []
        for number, leaf in enumerate(leaves(args[position])):
            if not is_float(leaf):
                continue
            gradient = np.zeros(np.shape(leaf), np.asarray(leaf).dtype)
            for entry in np.ndindex(gradient.shape):
                gradient[entry] = slope(position, number, entry, 1.0)
                if gradient.dtype.kind == "c":
                    gradient[entry] += 1j * slope(position, number, entry, 1j)
            found.append(gradient)
        gradients.append(found)
    return gradients


def float_leaves(primal: Any, gradient: Any) -> list[Any]:
    """The leaves of a gradient that belong to floating-point leaves of its primal."""
    if isinstance(primal, np.ndarray | np.generic | int | float | complex) and not isinstance(primal, bool):
        return [gradient] if is_float(primal) else []
    if isinstance(primal, dict):
        return [leaf for key in primal for leaf in float_leaves(primal[key], gradient[key])]
    if isinstance(primal, tuple | list):
        return [leaf for p, g in zip(primal, gradient, strict=True) for leaf in float_leaves(p, g)]
    if hasattr(primal, "__dict__") and not callable(primal):
        return [
            leaf
            for key in vars(primal)
            for leaf in float_leaves(getattr(primal, key), getattr(gradient, key))
        ]
    return []
