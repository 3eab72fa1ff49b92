"""Frozen references: no storage is written while a live name holds a snapshot that may share it.

The live values are those of the names that liveness reports, in every frame, of the variables that live closures read,
and the values that expressions around the current statement hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from pullback.errors import AliasError
from pullback.frontend.names import Names
from pullback.frontend.storages import contents
from pullback.frontend.values import (
    ArrayRef,
    BoundMethod,
    CellRef,
    FrozenRef,
    FunctionValue,
    GrowingCell,
    IterValue,
    TupleValue,
    Value,
)
from pullback.styles.style import Array

HINT = "write a copy there, or keep a copy: name = name.copy()"


class Sharing(Names):
    """Checks writes against live snapshots."""

    def live_keys(self) -> set[str]:
        """The keys of the names that may be read later."""
        keys: set[str] = set()
        for frame in self.frames:
            last = frame is self.frames[-1] and self.in_statement_write
            keys |= frame.following() if last else frame.around()
        return keys

    def live(self) -> Iterator[tuple[str, Value, bool]]:
        """Every live value with the name that leads to it and whether it is inside a container."""
        names = self.state.names
        pending: list[tuple[str, Value, bool]] = [
            (k, names[k], False) for k in sorted(self.live_keys()) if k in names
        ]
        held = self.temps[: self.base] if self.in_statement_write else self.temps
        pending += [("", v, False) for v in held]
        seen: set[int] = set()
        while pending:
            name, value, inside = pending.pop()
            yield name, value, inside
            match value:
                case TupleValue(items) | IterValue(over=items):
                    pending += [(name, v, True) for v in items]
                case CellRef(number) if number not in seen:
                    seen.add(number)
                    pending += [(name, v, True) for v in contents(self.content(number))]
                case BoundMethod(owner):
                    pending.append((name, owner, inside))
                case FunctionValue() if id(value) not in seen:
                    seen.add(id(value))
                    pending += [(k, names[k], False) for k in sorted(self.closure_keys(value)) if k in names]
                    pending += [(name, v, True) for v in (*value.defaults, *value.kw_defaults.values())]

    def check_not_shared(self, number: int, items: bool = True) -> None:
        """Refuse a write to a storage of which a live name holds a snapshot.

        A list that changes (not `items`) is another list: what was read from it stays what it is.
        """
        for name, value, _ in self.live():
            frozen = isinstance(value, FrozenRef) and number in value.cells
            if frozen and (items or not isinstance(self.style(value), Array)):
                self._refuse_write(name)
            if isinstance(value, CellRef):
                cell = self.content(value.cell)
                if isinstance(cell, GrowingCell) and number in cell.shares and value.cell != number:
                    self._refuse_write(name)

    def _refuse_write(self, name: str) -> NoReturn:
        shown = name.split("@")[0].lstrip(".")
        what = f"`{shown}`" if shown else "a value that is still needed"
        raise AliasError(
            f"this write may change {what}, which may share memory with what is written here",
            loc=self.builder.loc,
            hint=HINT,
        )

    def thaw(self, target: FrozenRef) -> Value:
        """A snapshot that nothing else shares, as a storage of its own."""
        for name, value, inside in self.live():
            if value is target:
                if inside:
                    self._refuse_frozen(name)
                continue
            if self._touches(value, target):
                self._refuse_frozen(name)
        for number in target.cells:
            if number in self.state.cells or number in self.outside_cells:
                self.note_write(self.content(number).param)
            self.note_write(self.parameter_of.get(number, ""))
        fresh = self.new_array(target.operand)
        names = self.state.names
        for key in [k for k, v in names.items() if v is target]:
            names[key] = fresh
        self.temps[:] = [fresh if v is target else v for v in self.temps]
        return fresh

    def check_held_once(self, target: FrozenRef) -> None:
        """Refuse what changes a value in place if it is an array, and not if it is a number, under two names."""
        held = [(name, inside) for name, value, inside in self.live() if value is target]
        holders = dict.fromkeys(held)
        if len(holders) > 1 or sum(inside for _, inside in held) > 1:
            self._refuse_frozen(next(iter(holders))[0])

    def _touches(self, value: Value, target: FrozenRef) -> bool:
        match value:
            case ArrayRef(cell):
                return cell in target.cells
            case FrozenRef(operand, cells):
                return bool(cells & target.cells) or operand is target.operand
            case CellRef(number):
                content = self.content(number)
                shares = content.shares if isinstance(content, GrowingCell) else frozenset[int]()
                return number in target.cells or bool(shares & target.cells)
        return False

    def _refuse_frozen(self, name: str) -> NoReturn:
        shown = name.split("@")[0].lstrip(".")
        what = f"`{shown}`" if shown else "another value that is still needed"
        raise AliasError(
            f"a write into an array that may share memory with {what}, by the path taken",
            loc=self.builder.loc,
            hint=HINT,
        )
