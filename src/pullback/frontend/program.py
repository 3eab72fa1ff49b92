"""What callers know of functions compiled apart, while one function is lowered.

A `Summary` describes one of them for one kind of arguments; the `Program` holds all of them, and what is assumed of
those that are being lowered (recursion).
"""

from __future__ import annotations

import builtins
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pullback import runtime
from pullback.errors import UnsupportedError
from pullback.frontend.environment import Path
from pullback.ir.callee import Callee
from pullback.styles.join import join
from pullback.styles.style import (
    Anything,
    Array,
    Axis,
    Scalar,
    Style,
    fresh_dim,
    is_one,
    not_one,
    numeric,
)

# Of a value: None for a leaf, an Argument, a Static, or (class or None, shapes) for a tuple.
Shape: TypeAlias = Any


class CallApart(Exception):
    """A function turns out to be one to compile apart: lower again, with that known from the start."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A function returns the array that it gets as this leaf of its arguments."""

    leaf: int


@dataclass(frozen=True, slots=True)
class Summary:
    """What a caller must know of a function compiled apart.

    styles  of the leaves of its value; None as long as no way to a value has been found
    shape   how the leaves make up the value
    fresh   its arrays share nothing with its arguments, nor with one another
    stores  the leaves of its arguments into which it writes: what they are then follows its results
    effect  it does more than compute
    paths   where its implicit parameters come from
    returns_arguments  an array that it gets and returns is the caller's own (not on every path, where it recurs)
    """

    callee: Callee
    styles: tuple[Style, ...] | None = None
    shape: Shape = None
    fresh: bool = True
    stores: tuple[int, ...] = ()
    effect: bool = False
    paths: tuple[Path, ...] = ()
    returns_arguments: bool = True


@dataclass(slots=True)
class Program:
    """The functions compiled apart in one lowering."""

    made: dict[Any, Summary] = field(default_factory=dict)
    open: dict[Any, Summary] = field(default_factory=dict)  # being lowered: what is assumed of them
    assumed: set[Any] = field(default_factory=set)  # those of which something has been assumed
    apart: dict[Any, int] = field(default_factory=dict)  # in which width
    never: dict[Any, UnsupportedError] = field(default_factory=dict)  # what hinders it
    inlined: Counter[Any] = field(default_factory=Counter)
    names: set[str] = field(default_factory=set)

    def again(self, entry: str) -> None:
        """Begin anew, with what has been found about which functions are to be compiled apart."""
        self.made.clear()
        self.open.clear()
        self.inlined.clear()
        self.names = {entry, *_derived(entry)}

    def name(self, wanted: str) -> str:
        """A name for a callee, its own among all functions of the module."""
        n, name = 1, wanted
        while hasattr(builtins, name) or hasattr(runtime, name) or self.names & {name, *_derived(name)}:
            n += 1
            name = f"{wanted}_{n}"
        self.names.update((name, *_derived(name)))
        return name


def _derived(name: str) -> tuple[str, ...]:
    return f"{name}_primal", f"{name}_pullback", f"{name}_value_and_grad"


def settled(found: Summary, assumed: Summary) -> bool:
    """Whether what a round found is no more than what it assumed."""
    if assumed.styles is None or found.styles is None:
        return found.styles is None and assumed.styles is None
    return (
        (found.shape, found.stores, found.effect, found.paths)
        == (assumed.shape, assumed.stores, assumed.effect, assumed.paths)
        and found.fresh >= assumed.fresh
        and [kind_of(join(a, b)) for a, b in zip(assumed.styles, found.styles, strict=True)]
        == [kind_of(s) for s in assumed.styles]
    )


def kept(style: Style, wide: bool = False) -> Style:
    """What a function compiled apart keeps of a style: for each axis whether it is one; no lengths.

    `wide`: nor whether it is not one, which slices of an array do not tell.
    """
    style = numeric(style)
    if isinstance(style, Scalar):
        return Scalar(style.dtype, style.weak, style.kind)
    if isinstance(style, Array):
        axes = None if style.axes is None else tuple(_kept_axis(a, wide) for a in style.axes)
        return Array(style.dtype, axes, False, style.kind)
    return Anything()


def _kept_axis(axis: Axis, wide: bool) -> Axis:
    return 1 if is_one(axis) and not wide else fresh_dim(not_one(axis) and not wide)


def kind_of(style: Style) -> tuple[Any, ...]:
    """Equal for styles of which the same is kept."""
    style = kept(style)
    if isinstance(style, Scalar):
        return ("scalar", style.dtype, style.weak, style.kind)
    if isinstance(style, Array):
        axes = None if style.axes is None else tuple((is_one(a), not_one(a)) for a in style.axes)
        return ("array", style.dtype, style.kind, axes)
    return ("any",)
