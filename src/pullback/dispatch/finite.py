"""Whether the cotangents that a reverse sweep returned are finite: then strong zeros need no second sweep."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pullback.frontend.instances import field_names


def finite(bars: Any) -> bool:
    """Whether every number of a cotangent is finite."""
    if type(bars) is np.ndarray:
        return finite_array(bars)
    if isinstance(bars, float):
        return math.isfinite(bars)
    if isinstance(bars, tuple | list):
        return all([finite(b) for b in bars])
    if isinstance(bars, dict):
        return all([finite(b) for b in bars.values()])
    if bars is None:
        return True
    if isinstance(bars, complex | np.generic | int):
        return bool(np.isfinite(bars))
    return all([finite(getattr(bars, name)) for name in field_names(bars) or ()])


def finite_array(array: np.ndarray[Any, Any]) -> bool:
    """A dot product is the cheapest test; it may overflow where the array is finite."""
    if array.dtype.kind in "fc" and math.isfinite(np.vdot(array, array).real):
        return True
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())
