"""Structures of arrays: the arguments and gradients that kernels have."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np


def is_float(leaf: Any) -> bool:
    """Whether a leaf is something that has a derivative."""
    return isinstance(leaf, np.ndarray | np.generic | float | complex) and np.asarray(leaf).dtype.kind in "fc"


def leaves(value: Any, name: str = "") -> list[tuple[str, Any]]:
    """The leaves of a structure with their places; dictionaries in the order of sorted keys."""
    if isinstance(value, dict):
        return [leaf for key in sorted(value, key=str) for leaf in leaves(value[key], f"{name}[{key!r}]")]
    if isinstance(value, tuple | list):
        return [leaf for key, item in enumerate(value) for leaf in leaves(item, f"{name}[{key}]")]
    return [(name, value)]


def floats(value: Any) -> list[Any]:
    """The leaves that have a derivative."""
    return [leaf for _, leaf in leaves(value) if is_float(leaf)]


def map_leaves(function: Callable[[Any], Any], value: Any) -> Any:
    """The structure with a function applied to each leaf."""
    if isinstance(value, dict):
        mapped = {key: map_leaves(function, value[key]) for key in sorted(value, key=str)}
        return {key: mapped[key] for key in value}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(map_leaves(function, item) for item in value))
    if isinstance(value, tuple | list):
        return type(value)(map_leaves(function, item) for item in value)
    return function(value)


def copied(value: Any) -> Any:
    """A copy that shares nothing."""
    return copy.deepcopy(value)


def same(first: Any, second: Any) -> bool:
    """Whether two structures hold the same bits."""
    ours, theirs = leaves(first), leaves(second)
    return len(ours) == len(theirs) and all(
        a == b and np.array_equal(np.asarray(x), np.asarray(y), equal_nan=_may_be_nan(x))
        for (a, x), (b, y) in zip(ours, theirs, strict=True)
    )


def _may_be_nan(leaf: Any) -> bool:
    return bool(np.asarray(leaf).dtype.kind in "fc")


def megabytes(value: Any) -> float:
    """The size of the arrays in a structure."""
    return sum(np.asarray(leaf).nbytes for _, leaf in leaves(value) if is_float(leaf)) / 1e6
