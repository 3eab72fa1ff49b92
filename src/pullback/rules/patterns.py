"""Patterns of operand styles: which operands a rule is for, and which of two patterns is the more specific.

A pattern is written as a name ("array", "scalar", "static", "real", "complex", "number", "any"), as
"array:2" for an
array of rank 2, as a class (an ndarray subclass or another library's array class), or as a function of the
style.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pullback.styles.style import (
    Array,
    Foreign,
    ListOf,
    Scalar,
    Static,
    Style,
    Tup,
    kind,
    numeric,
    style_of_number,
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """`rank` orders patterns by how much they say: 0 is "any"."""

    name: str
    matches: Callable[[Style], bool]
    rank: int

    def __repr__(self) -> str:
        return self.name


def is_number(style: Style) -> bool:
    """A scalar or array style (a static number included): what H1 rules are for unless they say otherwise."""
    return isinstance(numeric(style), Scalar | Array)


def _is_array(style: Style) -> bool:
    return isinstance(style, Array)


def _is_scalar(style: Style) -> bool:
    return isinstance(numeric(style), Scalar)


def _is_static(style: Style) -> bool:
    return isinstance(style, Static)


def _is_static_number(style: Style) -> bool:
    return isinstance(style, Static) and style_of_number(style.value) is not None


def _is_complex(style: Style) -> bool:
    return kind(style) == "c"


def _is_real(style: Style) -> bool:
    return kind(style) in tuple("bif")


def _is_sequence(style: Style) -> bool:
    return isinstance(style, Tup)


def _is_list(style: Style) -> bool:
    return isinstance(style, ListOf)


_NAMED = {
    p.name: p
    for p in (
        Pattern("any", lambda style: True, 0),
        Pattern("number", is_number, 1),
        Pattern("real", _is_real, 2),
        Pattern("complex", _is_complex, 2),
        Pattern("array", _is_array, 2),
        Pattern("scalar", _is_scalar, 2),
        Pattern("static", _is_static, 3),
        Pattern("static number", _is_static_number, 3),
        Pattern("sequence", _is_sequence, 3),
        Pattern("list", _is_list, 3),
    )
}
NUMBER = _NAMED["number"]
ANYTHING = _NAMED["any"]


def pattern(spec: Any) -> Pattern:
    """The pattern that a specification denotes."""
    if isinstance(spec, Pattern):
        return spec
    if isinstance(spec, str) and spec.startswith("array:"):
        return _ranked(int(spec[len("array:") :]))
    if isinstance(spec, str):
        return _NAMED[spec]
    if isinstance(spec, type):
        return _of_class(spec)
    return Pattern(getattr(spec, "__name__", "custom"), spec, 3)


def _ranked(rank: int) -> Pattern:
    return Pattern(f"array:{rank}", lambda style: isinstance(style, Array) and style.rank == rank, 3)


def _of_class(cls: type) -> Pattern:
    def matches(style: Style) -> bool:
        if isinstance(style, Foreign):
            return issubclass(style.cls, cls)
        if cls is np.ndarray:
            return isinstance(style, Array)
        number = numeric(style)
        return (
            cls in (int, float, complex)
            and isinstance(number, Scalar)
            and number.weak is True
            and (number.kind == {int: "i", float: "f", complex: "c"}[cls])
        )

    return Pattern(cls.__name__, matches, 4)


def patterns(specs: Any) -> tuple[Pattern, ...]:
    """Patterns by position."""
    if specs is None:
        return ()
    if isinstance(specs, str | Pattern | type) or not isinstance(specs, Sequence):
        specs = (specs,)
    return tuple(pattern(s) for s in specs)


def more_specific(a: Sequence[Pattern], b: Sequence[Pattern]) -> bool:
    """Whether `a` says at least as much of every operand as `b`, and more of one."""
    n = max(len(a), len(b))
    ranks = [(_rank(a, i), _rank(b, i)) for i in range(n)]
    return all(x >= y for x, y in ranks) and any(x > y for x, y in ranks)


def _rank(items: Sequence[Pattern], i: int) -> int:
    return items[i].rank if i < len(items) else 0
