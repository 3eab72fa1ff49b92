"""Names for the lengths of slices that only the run time knows: one symbol for one axis and the same bounds.

    %a: f64[k] = load(%x[n], [:%i])        %b: f64[k] = load(%y[n], [:%i])

How many items a slice takes depends on nothing but the length of the axis and its bounds.  Two slices with the same
operands for bounds, of axes of one length, so have one length, wherever they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from pullback.ir import core_ops as core
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Call, Const, Function, Operand, Pack, Var
from pullback.ir.walk import statements
from pullback.styles.indexing import is_basic
from pullback.styles.style import Array, Axis, Scalar, Style, is_varying, numeric

Key: TypeAlias = tuple[Any, ...]  # what is sliced (an axis, or the key of a slice), start, stop, step


@dataclass(slots=True)
class SliceLengths:
    """The lengths that slices have been found to have.  `name` tells which of equal axes stands for them."""

    known: dict[Key, Axis] = field(default_factory=dict)
    name: Callable[[Axis], Axis] = lambda axis: axis

    def named(self, style: Style, base: Operand, steps: Sequence[Operand]) -> Style:
        """The style at the end of a path, its slices by the lengths that they are known to have."""
        if not isinstance(style, Array) or style.axes is None:
            return style
        axes = list(style.axes)
        for k, key in self.keys(base, steps):
            axes[k] = self.known.setdefault(key, axes[k])
        return replace(style, axes=tuple(axes)) if axes != list(style.axes) else style

    def keys(self, base: Operand, steps: Sequence[Operand]) -> Iterator[tuple[int, Key]]:
        """The axes at the end of a path that are slices of a length to be named."""
        style, found = style_of(base), None
        for step in steps:
            if not isinstance(style, Array) or style.axes is None or not isinstance(step, Pack):
                return
            after = core.load_style(style, style_of(step))
            cut = self._cut(style.axes, found or [None] * len(style.axes), step, after)
            if cut is None:
                return
            style, found = after, cut
        for k, key in enumerate(found or ()):
            if key is not None:
                yield k, key

    def _cut(
        self, axes: Sequence[Axis], keys: Sequence[Key | None], step: Pack, after: Style
    ) -> list[Key | None] | None:
        """The keys of the axes after one step of basic indexing; None for another step."""
        basic = step.kind == "index" and is_basic(tuple(map(style_of, step.items))) is True
        if not basic or not isinstance(after, Array) or after.axes is None:
            return None
        out: list[Key | None] = []
        rest = list(zip(axes, keys, strict=True))
        for at, entry in enumerate(step.items):
            if isinstance(entry, Const) and entry.value is None:
                out.append(None)
            elif isinstance(entry, Const) and entry.value is Ellipsis:
                more = sum(_uses_axis(x) for x in step.items[at + 1 :])
                out += [key for _, key in rest[: len(rest) - more]]
                del rest[: len(rest) - more]
            elif isinstance(numeric(style_of(entry)), Scalar):
                del rest[:1]
            elif rest and len(out) < len(after.axes):
                axis, key = rest.pop(0)
                out.append(self._key(axis, key, entry))
            else:
                return None
        out += [key for _, key in rest]
        return out if len(out) == len(after.axes) else None

    def _key(self, axis: Axis, key: Key | None, entry: Operand) -> Key | None:
        """The key of a slice of an axis."""
        bounds = _bounds(entry)
        if bounds is None or is_varying(axis):
            return None
        if bounds == (0, None, 1):
            return key
        of = self.name(axis)
        whole = key if key is not None else of if isinstance(of, int) else (of.sym, of.minus)
        return (whole, *bounds)


def slice_lengths(function: Function) -> SliceLengths:
    """The lengths that the slices of a function have."""
    found = SliceLengths()
    for stmt in statements(function.body):
        if isinstance(stmt, Call) and stmt.op is core.load and isinstance(stmt.targets[0].style, Array):
            found.named(stmt.targets[0].style, stmt.args[0], stmt.args[1:])
    return found


def _uses_axis(entry: Operand) -> bool:
    return not (isinstance(entry, Const) and entry.value is None)


def _bounds(entry: Operand) -> Key | None:
    """Start, stop and step, as they can be compared."""
    if isinstance(entry, Const) and isinstance(entry.value, slice):
        parts: list[Any] = [entry.value.start, entry.value.stop, entry.value.step]
    elif isinstance(entry, Pack) and entry.kind == "slice":
        parts = [x.value if isinstance(x, Const) else x for x in entry.items]
    else:
        return None
    if not all(x is None or isinstance(x, Var) or type(x) is int for x in parts):
        return None
    start, stop, step = parts
    step = 1 if step is None else step
    return (0 if start is None and step == 1 else start, stop, step)
