"""Values that can be read again from where an array keeps them: as it is later, or as it was earlier.

    for i in range(1, n) carry y: ... v = load(y, [i - 1]) ... y' = store(y, u, [i]) ... yield y' -> y''

Here v is load(y'', [i - 1]) and u is load(y'', [i]), of the array after the loop: no write after the load, in this
iteration or a later one, is at a place that it read.  A load of [i + 1] is one of the array before the loop: no write
before the load, in this iteration or an earlier one, was there.  Such a value need not be saved for the reverse sweep.
That places differ is proved from the loops' bounds, axis by axis; what is not proved is taken to overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pullback.analysis.affine import Form, Integers, Loop
from pullback.analysis.versions import Step, Versions
from pullback.ir import core_ops as core
from pullback.ir.builder import infer
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Block, Call, Const, For, Function, Operand, Pack, Var, While
from pullback.ir.walk import block_ends, statements, targets
from pullback.styles.style import Array, Scalar, Style, numeric


@dataclass(frozen=True, slots=True)
class Window:
    """The positions along one axis, from `least` to `greatest` (both included); None: not known."""

    least: Form | None
    greatest: Form | None


EVERYTHING = Window(Form(), None)


def kept_reads(function: Function) -> dict[Var, Call]:
    """For values read from or stored to an array in a loop: the load that gives them again outside the loop.

    The array that it reads, after the loop or else before it, belongs to no loop, or to one in whose body the array
    itself is made: where keeping it costs no more than making it did.
    """
    return _Kept(function).found


class _Kept:
    def __init__(self, function: Function) -> None:
        self.found: dict[Var, Call] = {}
        if not any(isinstance(stmt, For | While) for stmt in statements(function.body)):
            return
        self.integers = Integers(function)
        self.versions = Versions(function)
        self._block(function.body, ())

    def _block(self, block: Block, heads: Iterable[Var]) -> None:
        bound = set(heads)
        for stmt in block.stmts:
            if isinstance(stmt, Call) and stmt.op is core.load:
                self._load(stmt)
            elif isinstance(stmt, Call) and stmt.op is core.store and stmt.args[1] in bound:
                self._store(stmt)  # in the block of its value: where that is known, it has been stored
            for inner_heads, inner, _ in block_ends(stmt):
                self._block(inner, inner_heads)
            bound.update(targets(stmt))

    def _load(self, call: Call) -> None:
        array, *steps = call.args
        if steps and isinstance(array, Var):
            self._read(call.targets[0], array, steps)

    def _store(self, call: Call) -> None:
        """A number that is stored as it is can be read where it was stored."""
        _, value, *steps = call.args
        if steps and isinstance(value, Var) and isinstance(value.style, Scalar):
            self._read(value, call.targets[0], steps)

    def _read(self, value: Var, array: Var, steps: Sequence[Operand]) -> None:
        if value in self.found or array not in self.versions.places:
            return
        for other in (self._last(array, steps), self._earliest(array, steps)):
            if other is array or not self._worth_keeping(other):
                continue
            (style,) = infer(core.load, (other, *steps), {})
            if _same(style, value.style):
                again = Var(value.hint, value.style)
                self.found[value] = Call((again,), core.load, (other, *steps))
                return

    def _last(self, array: Var, steps: Sequence[Operand]) -> Var:
        """The last version of an array that is the same at a path as the given one."""
        read = self._windows(steps)
        while array in self.versions.places:
            place = self.versions.places[array]
            frame = place.frame
            after = _writes(frame.steps[place.position :])
            if not all(self._apart(read, call, None) for call in after):
                break
            if isinstance(frame.stmt, For | While):
                loop = frame.stmt
                if not all(self._apart(read, call, loop) for call in _writes(frame.steps)):
                    break
            array = frame.after
        return array

    def _earliest(self, array: Var, steps: Sequence[Operand]) -> Var:
        """The earliest version of an array, at the head of a loop or branch, that is the same at a path."""
        read = self._windows(steps)
        while array in self.versions.places:
            place = self.versions.places[array]
            frame = place.frame
            if not all(self._apart(read, call, None) for call in _writes(frame.steps[: place.position])):
                break
            if isinstance(frame.stmt, For | While):
                loop = frame.stmt
                later = self._windows(steps, loop)
                if not all(self._apart_before(later, call, loop) for call in _writes(frame.steps)):
                    break
            array = frame.before
        return array

    def _worth_keeping(self, array: Var) -> bool:
        loop = self.integers.loop_of(array)
        return loop is None or self.integers.made_in(self.versions.first(array), loop)

    # ------------------------------------------------------------------------------------------------------ places

    def _apart(self, read: Sequence[Window], write: Call, loop: Loop | None) -> bool:
        """Whether a write is at no place that is read; `loop`: at a later iteration of it."""
        if write.op not in (core.store, core.add_at):
            return False
        written = self._windows(write.args[2:], loop)
        return any(
            self._before(a, b, loop) or self._before(b, a, loop) for a, b in zip(read, written, strict=False)
        )

    def _apart_before(self, later: Sequence[Window], write: Call, loop: Loop) -> bool:
        """Whether a write of one iteration is at no place that is read at a later one."""
        if write.op not in (core.store, core.add_at):
            return False
        written = self._windows(write.args[2:])
        return any(
            self._before(a, b, loop) or self._before(b, a, loop) for a, b in zip(later, written, strict=False)
        )

    def _before(self, a: Window, b: Window, loop: Loop | None) -> bool:
        if a.greatest is None or b.least is None:
            return False
        return self.integers.at_least(b.least.plus(a.greatest, -1), 1, loop)

    def _windows(self, steps: Sequence[Operand], loop: Loop | None = None) -> list[Window]:
        """The windows of the first step of a path, axis by axis, as far as the axes can be told."""
        first = steps[0] if steps else None
        if not isinstance(first, Pack) or first.kind != "index":
            return []
        found: list[Window] = []
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


def _writes(steps: Iterable[Step]) -> Iterator[Call]:
    """The writes of some steps, those in branches and loops included."""
    for step in steps:
        if isinstance(step.stmt, Call):
            yield step.stmt
        for frame in step.frames:
            yield from _writes(frame.steps)


def _same(a: Style, b: Style) -> bool:
    """Whether a value read from an array is, by its style, the one that is wanted."""
    a, b = numeric(a), numeric(b)
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return a.dtype is not None and (a.dtype, a.weak) == (b.dtype, b.weak)
    return isinstance(a, Array) and isinstance(b, Array)
