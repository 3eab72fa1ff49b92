"""Places in arrays, as far as they can be told apart: the windows of positions, axis by axis, that an index may hit.

    [i, :j]     i, and from 0 to j - 1          [j, k + 1:]     j, and from k + 1

That two places differ is proved from the bounds of the loops (`analysis/affine.py`); what is not proved overlaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pullback.analysis.affine import Form, Integers, Loop
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Const, Operand, Pack
from pullback.styles.style import Array, Scalar, Style, numeric, same_length


@dataclass(frozen=True, slots=True)
class Window:
    """The positions along one axis, from `least` to `greatest` (both included); None: not known."""

    least: Form | None
    greatest: Form | None


Windows: TypeAlias = list[Window]
EVERYTHING = Window(Form(), None)


class Places:
    """The places of a function, by its integers."""

    def __init__(self, integers: Integers) -> None:
        self.integers = integers

    def apart(self, a: Windows, b: Windows, loop: Loop | None = None) -> bool:
        """Whether two places are proved to share nothing; `loop`: one of them was taken at a later iteration of it."""
        return any(self._before(x, y, loop) or self._before(y, x, loop) for x, y in zip(a, b, strict=False))

    def _before(self, a: Window, b: Window, loop: Loop | None) -> bool:
        if a.greatest is None or b.least is None:
            return False
        return self.integers.at_least(b.least.plus(a.greatest, -1), 1, loop)

    def windows(self, steps: Sequence[Operand], loop: Loop | None = None) -> Windows:
        """The windows of the first step of a path, axis by axis, as far as the axes can be told."""
        first = steps[0] if steps else None
        if not isinstance(first, Pack) or first.kind != "index":
            return []
        found: Windows = []
        for entry in first.items:
            window = self._window(entry, loop)
            if window is None:
                break
            found.append(window)
        return found

    def _window(self, entry: Operand, loop: Loop | None) -> Window | None:
        if isinstance(entry, Const) and isinstance(entry.value, slice):
            whole = entry.value
            return self._slice([Const(x) for x in (whole.start, whole.stop, whole.step)], loop)
        if isinstance(entry, Pack):
            return self._slice(entry.items, loop) if entry.kind == "slice" else None
        style = numeric(style_of(entry))
        if not isinstance(style, Scalar | Array) or style.dtype is None or style.kind != "i":
            return None  # not certainly one axis
        form = self._position(entry, loop)
        return EVERYTHING if form is None else Window(form, form)

    def _slice(self, parts: Sequence[Operand], loop: Loop | None) -> Window:
        start, stop, step = parts
        if not isinstance(step, Const) or not (
            step.value is None or (type(step.value) is int and step.value > 0)
        ):
            return EVERYTHING
        least, end = self._position(start, loop), self._position(stop, loop)
        return Window(least or Form(), None if end is None else end.shifted(-1))

    def _position(self, operand: Operand, loop: Loop | None) -> Form | None:
        """A position counted from the front; None where it may be counted from the end."""
        form = self.integers.form(operand, loop)
        return form if self.integers.at_least(form, 0, loop) else None


def stored_as_it_is(value: Operand, place: Style) -> bool:
    """Whether a value is stored without a cast and without broadcasting."""
    a, b = numeric(style_of(value)), numeric(place)
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return a.dtype is not None and (a.dtype, a.weak) == (b.dtype, b.weak)
    if not isinstance(a, Array) or not isinstance(b, Array) or a.axes is None or b.axes is None:
        return False
    same = len(a.axes) == len(b.axes) and all(map(same_length, a.axes, b.axes))
    return a.dtype is not None and a.dtype == b.dtype and same
