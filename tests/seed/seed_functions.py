"""Functions that the seed tests share, and how they read an explanation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pullback as pb


def leakyrelu(x: Any, a: Any) -> Any:
    """x where it is positive, else a * x."""
    return np.where(x > 0, x, a * x)


def register_leakyrelu(hop: str = "H1") -> None:
    """The rule of a third party, with the exact derivative for the slope."""
    pb.row(
        leakyrelu,
        "x, a",
        x="np.where(x > 0, 1, a)",
        a="np.where(x > 0, 0, x)",
        hop=hop,
        layer="third_party",
    )


def site_of(f: Callable[..., Any], name: str, *args: Any, **options: Any) -> Any:
    """The one call site of `name` in the explanation of `f`."""
    explanation = pb.differentiable(**options)(f).explain(*args)
    found = [s for s in explanation.sites if s.site.split(" ")[0].removeprefix("np.") == name]
    assert len(found) == 1, f"{len(found)} sites of {name}:\n{explanation}"
    return found[0]


def hops(site: Any) -> list[str]:
    """The hops that a lookup went through."""
    return [t.hop for t in site.trace]
