"""Gradients against finite differences of the function itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pullback.api import value_and_grad
from pullback.gradients import Argnums
from pullback.errors import GradientMismatchError

STEP = 1e-5


def check_gradients(
    f: Callable[..., Any], *args: Any, argnums: Argnums = 0, rtol: float = 1e-6, atol: float = 1e-7, **kwargs: Any
) -> None:
    """Compare the gradient of `f` with central differences (one Richardson step), entry by entry.

    Raises GradientMismatchError, which says which entry differs and by how much (absolute, against
    atol + rtol * max(1, largest entry)).  Arguments asked for by position must be arrays or numbers.
    """
    _, bars = value_and_grad(f, argnums)(*args, **kwargs)
    wanted = (argnums,) if isinstance(argnums, int | str) else tuple(argnums)
    bars = (bars,) if isinstance(argnums, int | str) else bars
    for which, bar in zip(wanted, bars, strict=True):
        expected = _differences(f, args, kwargs, which)
        _compare(which, np.asarray(bar), expected, rtol, atol)


def _compare(which: int | str, found: Any, expected: Any, rtol: float, atol: float) -> None:
    error = np.abs(found - expected)
    allowed = atol + rtol * max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    if np.all(error <= allowed):
        return
    worst = np.unravel_index(int(np.argmax(np.where(np.isnan(error), np.inf, error))), error.shape)
    entry = f"[{', '.join(map(str, worst))}]" if worst else ""
    raise GradientMismatchError(
        f"gradient of argument {which!r} differs from finite differences at entry {entry or '()'}: "
        f"{found[worst]} against {expected[worst]}, off by {error[worst]:.3g} (allowed {allowed:.3g}); "
        f"{int(np.sum(~(error <= allowed)))} of {error.size} entries differ"
    )


def _differences(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], which: int | str) -> Any:
    """Central differences with one Richardson step, each entry with a step relative to its size."""
    base = np.array(kwargs[which] if isinstance(which, str) else args[which], dtype=float)
    out = np.zeros(base.shape)

    def at(index: tuple[int, ...], shift: float) -> float:
        moved = base.copy()
        moved[index] += shift
        value = moved if base.shape else float(moved)
        copies = [np.array(a) if isinstance(a, np.ndarray) else a for a in args]
        if isinstance(which, str):
            return float(f(*copies, **{**kwargs, which: value}))
        copies[which] = value
        return float(f(*copies, **kwargs))

    for index in np.ndindex(base.shape):
        step = STEP * max(1.0, abs(float(base[index])))
        wide = (at(index, step) - at(index, -step)) / (2 * step)
        narrow = (at(index, step / 2) - at(index, -step / 2)) / step
        out[index] = (4 * narrow - wide) / 3
    return out
