"""Recursion whose depth only the run time knows: the recursive call is one operation, differentiated apart.

`Apart(fn)` stands for the user's function as an operation: the primal calls the function itself, the gradient its own
compiled pullback (the public `vjp`, cached per signature).
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from pullback.ir.nodes import Alias, Op
from pullback.rules import registry
from pullback.styles.style import Anything, Array, Scalar, Style, fresh_dim


class Apart:
    """A recursive function as an operation."""

    def __init__(self, fn: FunctionType) -> None:
        self.fn = fn
        self.__name__ = fn.__name__
        self.__qualname__ = fn.__qualname__

    def __call__(self, *args: Any) -> Any:
        return self.fn(*args)

    def vjp(self, *args: Any) -> tuple[Any, Callable[[Any], Any]]:
        """The value, and the pullback to the cotangents of all arguments (the only one comes bare)."""
        import pullback

        value, pull = pullback.vjp(self.fn, *args)
        return value, pull if len(args) > 1 else lambda out_bar: pull(out_bar)[0]


_known: dict[FunctionType, Apart] = {}


def operation(fn: FunctionType, style: Style, count: int) -> Op:
    """The operation of one call: its result may share the arguments."""
    if fn not in _known:
        made = _known[fn] = Apart(fn)
        registry.opaque(made, style=lambda *_: Anything(), layer="builtin")(made.vjp)
    found = _known[fn]
    return Op(fn.__name__, found, lambda *_: style, Alias("maybe", tuple(range(count))), fn=found)


def loose(style: Style) -> Style | None:
    """A number's or array's style with nothing said of lengths; None for anything else."""
    if isinstance(style, Scalar):
        return Scalar(style.dtype, style.weak, style.kind)
    if isinstance(style, Array):
        axes = None if style.axes is None else tuple(fresh_dim() for _ in style.axes)
        return Array(style.dtype, axes, False, style.kind)
    return None
