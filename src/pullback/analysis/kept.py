"""Values that can be read again from where an array keeps them: as it is later, or as it was earlier.

    for i in range(1, n) carry y: ... v = load(y, [i - 1]) ... y' = store(y, u, [i]) ... yield y' -> y''

Here v is load(y'', [i - 1]) and u is load(y'', [i]), of the array after the loop: no write after the load, in this
iteration or a later one, is at a place that it read.  A load of [i + 1] is one of the array before the loop: no write
before the load, in this iteration or an earlier one, was there.  Such a value need not be saved for the reverse sweep.
That places differ is proved from the loops' bounds, axis by axis; what is not proved is taken to overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pullback.analysis.affine import Integers, Loop
from pullback.analysis.places import Places, Windows, stored_as_it_is
from pullback.analysis.versions import Step, Versions
from pullback.ir import core_ops as core
from pullback.ir.builder import infer
from pullback.ir.nodes import Block, Call, For, Function, Operand, Pack, Var, While
from pullback.ir.paths import repeats_nothing
from pullback.ir.walk import block_ends, statements, targets
from pullback.styles.style import Array, Scalar, Style, numeric


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
        self.places = Places(self.integers)
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
        """What is stored as it is can be read where it was stored."""
        _, value, *steps = call.args
        if not steps or not isinstance(value, Var):
            return
        (place,) = infer(core.load, (call.targets[0], *steps), {})
        once = all(isinstance(step, Pack) and repeats_nothing(step) for step in steps)
        if isinstance(value.style, Scalar) or (once and stored_as_it_is(value, place)):
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
        read = self.places.windows(steps)
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
        read = self.places.windows(steps)
        while array in self.versions.places:
            place = self.versions.places[array]
            frame = place.frame
            if not all(self._apart(read, call, None) for call in _writes(frame.steps[: place.position])):
                break
            if isinstance(frame.stmt, For | While):
                loop = frame.stmt
                later = self.places.windows(steps, loop)
                if not all(self._apart(later, call, loop, read_later=True) for call in _writes(frame.steps)):
                    break
            array = frame.before
        return array

    def _worth_keeping(self, array: Var) -> bool:
        loop = self.integers.loop_of(array)
        return loop is None or self.integers.made_in(self.versions.first(array), loop)

    def _apart(self, read: Windows, write: Call, loop: Loop | None, read_later: bool = False) -> bool:
        """Whether a write is at no place that is read; `loop`: at a later iteration of it, or the read is."""
        if write.op not in (core.store, core.add_at):
            return False
        written = self.places.windows(write.args[2:], None if read_later else loop)
        return self.places.apart(read, written, loop)


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
