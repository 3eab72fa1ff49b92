"""The module-level random draws of `np.random`: effects with results."""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.ir.core_ops import shape_axes
from pullback.rules.ops.infer import INT, NONE, array, axes_of
from pullback.rules.registry import declare
from pullback.styles.broadcast import broadcast_axes
from pullback.styles.style import FLOAT64, PY_FLOAT, PY_INT, Anything, Array, Static, Style, Tup


def _dims_style(*dims: Style) -> Style:
    return array(FLOAT64, shape_axes(Tup(dims)), True) if dims else PY_FLOAT


def _sized_style(size: Style = NONE) -> Style:
    return PY_FLOAT if size == NONE else array(FLOAT64, shape_axes(size), True)


def _draw_style(*parameters: Style, size: Style = NONE, **more: Style) -> Style:
    """A distribution with two parameters, then the size."""
    if len(parameters) > 2:
        size = parameters[2]
    if size != NONE:
        return array(FLOAT64, shape_axes(size), True)
    axes: Any = ()
    for p in (*parameters[:2], *more.values()):
        own = axes_of(p)
        axes = None if axes is None or own is None else broadcast_axes(axes, own)
    return PY_FLOAT if axes == () else array(FLOAT64, axes, True)


def _randint_style(low: Style, high: Style = NONE, size: Style = NONE, dtype: Style = INT) -> Style:
    if size == NONE:
        return PY_INT
    return Array(np.dtype(int) if dtype == Static(int) else None, shape_axes(size), True, "i")


def _unknown_style(*args: Style, **options: Style) -> Style:
    return Anything()


def _declare_all() -> None:
    fn: Any
    for fn in (np.random.rand, np.random.randn):
        declare(fn, style=_dims_style, effect=True)
    for fn in (np.random.random, np.random.random_sample, np.random.standard_normal):
        declare(fn, style=_sized_style, effect=True)
    for fn in (np.random.normal, np.random.uniform):
        declare(fn, style=_draw_style, effect=True)
    declare(np.random.randint, style=_randint_style, effect=True)
    for fn in (np.random.seed, np.random.default_rng):
        declare(fn, style=_unknown_style, effect=True)


_declare_all()
