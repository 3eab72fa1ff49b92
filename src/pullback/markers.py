"""Functions that mean something to the compiler, and are plain NumPy outside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """`x` itself; no derivative passes through it.

    >>> stop_gradient(2.0)
    2.0
    """
    return x


def broadcast(f: Callable[..., Any], *args: Any) -> Any:
    """A function of scalars, element by element over arrays that broadcast against each other.

    Outside a differentiated function this is `np.vectorize`; inside, the call descends the hops of rule lookup, and the
    gradient also reaches the variables that `f` captures.

    >>> broadcast(abs, np.array([-1.0, 2.0]))
    array([1., 2.])
    """
    if isinstance(f, np.ufunc):
        return f(*args)
    out = np.vectorize(f)(*args)
    return out[()] if isinstance(out, np.ndarray) and out.ndim == 0 else out
