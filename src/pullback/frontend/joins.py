"""Where paths meet: two states become one, up to a one-to-one renaming of storages.

In: the states at the ends of two paths (or at the head and at the end of a loop's body) and the keys of the names that
live.  Out: one state; a value that differs becomes a slot, of which `slot` decides what it is (a result of an `If`, a
carried value of a loop).  References that disagree are frozen: they read as values from then on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pullback.errors import UnsupportedError
from pullback.frontend.names import Mixed, Names, part_hint
from pullback.frontend.values import (
    ArrayCell,
    ArrayRef,
    BoundMethod,
    Cell,
    CellRef,
    DictCell,
    FrozenRef,
    FunctionValue,
    GrowingCell,
    IterValue,
    Known,
    ListCell,
    Num,
    ObjectCell,
    SliceValue,
    State,
    TupleValue,
    Value,
)
from pullback.ir import core_ops as core
from pullback.ir.nodes import UNDEF, Const, Operand, Pack, Stmt, Var
from pullback.styles.join import join
from pullback.styles.style import Anything, Array, ListOf, Scalar, Static, Style, Undef, numeric

_CODE = (FunctionValue, BoundMethod, IterValue)


@dataclass(slots=True)
class Side:
    """One of the two paths: its state, and the block at whose end its operands are read (None: the current one)."""

    state: State
    stmts: list[Stmt] | None


class Merge:
    """Joins the states of two sides.  `a` comes first; at a loop it is the head."""

    def __init__(self, machine: Names, a: Side, b: Side, keys: Iterable[str]) -> None:
        self.machine = machine
        self.a, self.b = a, b
        self.keys = keys
        self.pairs: dict[tuple[int | None, int | None], None] = {}
        self.partners: dict[tuple[str, int], set[int | None]] = {}
        self._taken: set[int] | None = None
        self._aside: dict[int, int] = {}
        self._owners: dict[int, str] = {}  # what a joined container is called
        self.unsettled = False  # kinds differ that one iteration might settle
        self.current: str | None = None  # the name being joined
        self._seen: set[str] = set()

    # ---------------------------------------------------------------------------------------------- to override

    def slot(self, a: Operand, b: Operand, hint: str) -> Operand:
        """What a value is that is `a` on one side and `b` on the other."""
        raise NotImplementedError

    def read(self, first: bool, value: Value) -> Operand:
        """The operand of a value at the end of a side."""
        side = self.a if first else self.b
        machine = self.machine
        saved, machine.state = machine.state, side.state
        try:
            if side.stmts is None:
                return machine.operand(value)
            with machine.inside(side.stmts):
                return machine.operand(value)
        finally:
            machine.state = saved

    # ------------------------------------------------------------------------------------------------- the join

    def run(
        self, held: Sequence[Value], extra: Sequence[tuple[Value, Value]] = ()
    ) -> tuple[State, list[Value]]:
        """The joined state and the joined extra values.  `held` values keep their meaning on both sides."""
        for key in sorted(self.keys):
            self._collect_key(key)
        for value in held:
            self._collect(value, value)
        for first, second in extra:
            self._collect(first, second)
        names: dict[str, Value] = {}
        for key in sorted(self._seen):
            a, b = self.a.state.names.get(key), self.b.state.names.get(key)
            if a is not None or b is not None:
                self.current = key
                names[key] = self.value(*self.refine(key, a, b), key.split("@")[0].lstrip("."))
        self.current = None
        values = [self.value(x, y, "value") for x, y in extra]
        return State(names, self._cells()), values

    def refine(self, key: str, a: Value | None, b: Value | None) -> tuple[Value | None, Value | None]:
        """A hook: the values of a name as they are to be joined."""
        return a, b

    def _collect_key(self, key: str) -> None:
        if key not in self._seen:
            self._seen.add(key)
            self._collect(self.a.state.names.get(key), self.b.state.names.get(key))

    def _collect(self, a: Value | None, b: Value | None) -> None:  # noqa: C901 (a case a kind of value)
        """Find the pairs of storages that references on the two sides lead to."""
        for value in (a, b):
            if isinstance(value, FunctionValue):
                for key in sorted(self.machine.closure_keys(value)):
                    self._collect_key(key)
        match a, b:
            case (ArrayRef(), ArrayRef() | None) | (None, ArrayRef()):
                if _alike_references(a, b):
                    self._pair(_number(a), _number(b))
            case (CellRef(), CellRef() | None) | (None, CellRef()):
                if self._same_kind(a, b) and self._pair(_number(a), _number(b)):
                    self._collect_contents(a, b)
            case (TupleValue(), TupleValue() | None) | (None, TupleValue()):
                if a is None or b is None or _alike_tuples(a, b):
                    for x, y in _zip_items(a, b):
                        self._collect(x, y)
            case BoundMethod(), BoundMethod():
                self._collect(a.owner, b.owner)
            case (IterValue(), IterValue() | None) | (None, IterValue()):
                for one, two in _runs_over(a, b):
                    self._collect(one, two)

    def _collect_contents(self, a: Value | None, b: Value | None) -> None:
        first, second = self._content(True, a), self._content(False, b)
        if isinstance(first, ListCell | None) and isinstance(second, ListCell | None):
            one, two = _items(first), _items(second)
            if one is None or two is None or len(one) == len(two):
                for x, y in _aligned(one, two):
                    self._collect(x, y)
        else:
            for x, y in _by_key(first, second):
                self._collect(x, y)

    def _same_kind(self, a: Value | None, b: Value | None) -> bool:
        first, second = self._content(True, a), self._content(False, b)
        if first is None or second is None:
            return True
        lists = (ListCell, GrowingCell)
        if isinstance(first, lists) or isinstance(second, lists):
            return isinstance(first, lists) and isinstance(second, lists)
        if isinstance(first, ObjectCell) and isinstance(second, ObjectCell):
            return first.cls is second.cls
        return type(first) is type(second)

    def _content(self, first: bool, ref: Value | None) -> Cell | None:
        if ref is None:
            return None
        assert isinstance(ref, ArrayRef | CellRef)
        cells = (self.a if first else self.b).state.cells
        return cells.get(ref.cell) or self.machine.outside_cells[ref.cell]

    def _pair(self, a: int | None, b: int | None) -> bool:
        new = (a, b) not in self.pairs
        self.pairs[a, b] = None
        if a is not None:
            self.partners.setdefault(("a", a), set()).add(b)
        if b is not None:
            self.partners.setdefault(("b", b), set()).add(a)
        return new

    def _renames(self, a: int | None, b: int | None) -> bool:
        """Whether a pair of storages is one storage of the joined state."""
        if a == b:
            return True
        if a in self.machine.outside_cells or b in self.machine.outside_cells:
            return False
        alone = (None, "a", a), (None, "b", b)
        return all(number is None or len(self.partners[side, number]) == 1 for _, side, number in alone)

    @staticmethod
    def _joined(a: int | None, b: int | None) -> int:
        number = b if a is None else a
        assert number is not None
        return number

    # ------------------------------------------------------------------------------------------------- values

    def value(self, a: Value | None, b: Value | None, hint: str) -> Value:  # noqa: C901 (a case a kind of value)
        """The joined value; None: not bound on that side."""
        if isinstance(a, Known) and isinstance(b, Known) and same_object(a.obj, b.obj):
            return a
        for side in (a, b):
            if isinstance(side, Known) and isinstance(side.obj, Mixed):
                return side
        match a, b:
            case (ArrayRef(), ArrayRef() | None) | (None, ArrayRef()):
                return self._reference(a, b, hint)
            case (CellRef(), CellRef() | None) | (None, CellRef()):
                return self._container(a, b, hint)
            case (TupleValue(), TupleValue() | None) | (None, TupleValue()):
                if a is None or b is None or _alike_tuples(a, b):
                    items = [self.value(x, y, f"{hint}_{i}") for i, (x, y) in enumerate(_zip_items(a, b))]
                    return TupleValue(tuple(items), (a or b).cls)  # type: ignore[union-attr]
            case SliceValue(), SliceValue():
                parts = [(a.start, b.start), (a.stop, b.stop), (a.step, b.step)]
                return SliceValue(*[self.value(x, y, hint) for x, y in parts])
            case BoundMethod(), BoundMethod() if a.name == b.name:
                return BoundMethod(self.value(a.owner, b.owner, hint), a.name)
            case FunctionValue(), FunctionValue() if a.node is b.node and a.scope is b.scope:
                return self._function(a, b, hint)
        if a is b and a is not None and not isinstance(a, Num | FrozenRef):
            return a
        if a is None or b is None:
            bound = b if a is None else a
            if isinstance(bound, _CODE) or (isinstance(bound, Known) and not is_datum(bound.obj)):
                return bound  # a function or module bound on one path is what it is
        if isinstance(a, _CODE) or isinstance(b, _CODE):
            return self._mixed(hint)
        return self._leaf(a, b, hint)

    def _mixed(self, hint: str, reason: str = "") -> Known:
        self.note_unsettled()
        return Known(Mixed(reason or f"`{hint}` is bound to things of different kinds by the path taken"))

    def _function(self, a: FunctionValue, b: FunctionValue, hint: str) -> Value:
        defaults = tuple(self.value(x, y, hint) for x, y in zip(a.defaults, b.defaults, strict=True))
        named = {k: self.value(v, b.kw_defaults[k], hint) for k, v in a.kw_defaults.items()}
        return FunctionValue(a.node, a.scope, a.fn, defaults, named, a.name)

    def _reference(self, a: Value | None, b: Value | None, hint: str) -> Value:
        assert isinstance(a, ArrayRef | None) and isinstance(b, ArrayRef | None)
        first, second = _number(a), _number(b)
        if (
            not _alike_references(a, b)
            or (first, second) not in self.pairs
            or not self._renames(first, second)
        ):
            return self._leaf(a, b, hint)
        one = a.path if a is not None else tuple(_blank(step) for step in b.path)  # type: ignore[union-attr]
        two = b.path if b is not None else tuple(_blank(step) for step in one)
        path = tuple(self._step(x, y) for x, y in zip(one, two, strict=True))
        return ArrayRef(self._joined(first, second), path)

    def _step(self, a: Pack, b: Pack) -> Pack:
        out = self._operand(a, b)
        assert isinstance(out, Pack)
        return out

    def _operand(self, a: Operand, b: Operand) -> Operand:
        if isinstance(a, Pack) and isinstance(b, Pack):
            return Pack(
                a.kind, tuple(self._operand(x, y) for x, y in zip(a.items, b.items, strict=True)), a.meta
            )
        return self.slot(a, b, "i")

    def _container(self, a: Value | None, b: Value | None, hint: str) -> Value:
        first, second = _number(a), _number(b)
        if (first, second) in self.pairs and self._renames(first, second):
            self._owners.setdefault(self._joined(first, second), hint)
            return CellRef(self._joined(first, second))
        if (first, second) in self.pairs:
            cells = [c for c in (self._content(True, a), self._content(False, b)) if c is not None]
            if all(isinstance(c, ListCell | GrowingCell) for c in cells):
                return self._leaf(a, b, hint)
        return self._mixed(hint, f"`{hint}` refers to different objects by the path taken")

    def _leaf(self, a: Value | None, b: Value | None, hint: str) -> Value:
        """The join as values: what the two sides read."""
        try:
            first = Const(UNDEF) if a is None else self._read_leaf(True, a)
            second = Const(UNDEF) if b is None else self._read_leaf(False, b)
        except UnsupportedError as error:
            return self._mixed(hint, f"`{hint}` cannot be one value after the paths meet: {error.reason}")
        self._note_kinds(a, b, first, second)
        out = self.slot(first, second, hint)
        if isinstance(out, Const):
            return Known(out.value)
        style = core.style_of(out)
        if isinstance(style, Scalar):
            return Num(out)
        cells = self.map_cells(True, self._cells_of(True, a)) | self.map_cells(
            False, self._cells_of(False, b)
        )
        if isinstance(style, Array | ListOf) or cells:
            return self.machine.frozen(out, cells)
        return Num(out)

    def _read_leaf(self, first: bool, value: Value) -> Operand:
        operand = self.read(first, value)
        if isinstance(operand, Pack) and operand.kind == "list":
            side = self.a if first else self.b
            return self._make_list(side, operand)
        return operand

    def _make_list(self, side: Side, packed: Operand) -> Operand:
        if side.stmts is None:
            return self.machine.builder.call(core.make_list, packed, hint="items")
        with self.machine.inside(side.stmts):
            return self.machine.builder.call(core.make_list, packed, hint="items")

    def _note_kinds(self, a: Value | None, b: Value | None, first: Operand, second: Operand) -> None:
        if a is None or b is None:
            return
        one, two = (numeric(core.style_of(x)) for x in (first, second))
        if (
            type(one) is not type(two)
            or isinstance(one, Static)
            or (isinstance(one, Array) and isinstance(two, Array) and one.rank != two.rank)
        ):
            self.note_unsettled()

    def note_unsettled(self) -> None:
        """Kinds differ here."""
        self.unsettled = True

    def _cells_of(self, first: bool, value: Value | None) -> frozenset[int]:
        if value is None:
            return frozenset()
        machine = self.machine
        saved, machine.state = machine.state, (self.a if first else self.b).state
        try:
            return machine.cells_of([value])
        finally:
            machine.state = saved

    def map_cells(self, first: bool, cells: frozenset[int]) -> frozenset[int]:
        """Storages of one side as storages of the joined state."""
        out: set[int] = set()
        for number in cells:
            others = self.partners.get(("a" if first else "b", number), ())
            pairs = [(number, other) if first else (other, number) for other in others]
            joined = {self._joined(*pair) for pair in pairs if self._renames(*pair)}
            out |= joined or {self._unreached(number)}
        return frozenset(out)

    def _unreached(self, number: int) -> int:
        """A storage that only snapshots share: it goes on as a mark that they may share it with one another."""
        if self._taken is None:
            self._taken = {self._joined(a, b) for a, b in self.pairs if self._renames(a, b)}
        if number in self._taken and number not in self.machine.parameter_of:
            return self.aside(number)  # the number stands for another storage from here on
        return self.mark(number)

    def mark(self, number: int) -> int:
        """The number of a storage that only snapshots share."""
        return number

    def aside(self, number: int) -> int:
        """The same, where the number is taken."""
        return self._aside.setdefault(number, self.machine.fresh_number())

    # -------------------------------------------------------------------------------------------------- cells

    def _cells(self) -> dict[int, Cell]:
        cells: dict[int, Cell] = {}
        outside = self.machine.outside_cells
        for a, b in self.pairs:
            if self._renames(a, b) and not (a == b and a in outside):
                first = None if a is None else self.a.state.cells[a]
                second = None if b is None else self.b.state.cells[b]
                joined = self.cell(first, second, self._name(a, b))
                self.machine.note_shares(joined)
                cells[self._joined(a, b)] = joined
        others = self.b.state.cells
        for number, cell in self.a.state.cells.items():
            if number not in cells and others.get(number) is cell:
                cells[number] = cell
        return cells

    def _name(self, a: int | None, b: int | None) -> str:
        for side, number in ((self.a, a), (self.b, b)):
            cell = side.state.cells.get(number) if number is not None else None
            operand = getattr(cell, "operand", None)
            if isinstance(operand, Var):
                return operand.hint
        return self._owners.get(self._joined(a, b), "items")

    def cell(self, a: Cell | None, b: Cell | None, hint: str) -> Cell:
        """The joined content of a storage or container."""
        param = ",".join(dict.fromkeys(p for c in (a, b) if c is not None for p in c.param.split(",") if p))
        one = a if a is not None else b
        match one:
            case ArrayCell():
                first = a.operand if isinstance(a, ArrayCell) else Const(UNDEF)
                second = b.operand if isinstance(b, ArrayCell) else Const(UNDEF)
                operand = self.slot(first, second, hint)
                return one if operand is one.operand and param == one.param else ArrayCell(operand, param)
            case DictCell():
                return self._dict(a, b, hint, param)
            case ObjectCell():
                fields = {k: self.value(x, y, part_hint(hint, k)) for k, (x, y) in _named(a, b).items()}
                return ObjectCell(one.cls, fields, param)
        return self._list(a, b, hint, param)

    def _dict(self, a: Cell | None, b: Cell | None, hint: str, param: str) -> Cell:
        pairs = _named(a, b)
        if a is not None and b is not None and any(x is None or y is None for x, y in pairs.values()):
            missing = next(k for k, (x, y) in pairs.items() if x is None or y is None)
            self.machine.refuse(
                f"a dict has the key {missing!r} on one path only", "set the key on every path"
            )
        return DictCell({k: self.value(x, y, part_hint(hint, k)) for k, (x, y) in pairs.items()}, param)

    def _list(self, a: Cell | None, b: Cell | None, hint: str, param: str) -> Cell:
        one, two = _items(a), _items(b)
        fixed = isinstance(a, ListCell | None) and isinstance(b, ListCell | None)
        if fixed and (one is None or two is None or len(one) == len(two)):
            pairs = enumerate(_aligned(one, two))
            return ListCell(tuple(self.value(x, y, f"{hint}_{i}") for i, (x, y) in pairs), param)
        return self.growing(a, b, hint, param)

    def growing(self, a: Cell | None, b: Cell | None, hint: str, param: str) -> Cell:
        """A run-time list of two lists of different (or run-time) lengths."""
        first, shares_a = self._as_list(True, a)
        second, shares_b = self._as_list(False, b)
        operand = self.slot(first, second, hint)
        return GrowingCell(operand, self.map_cells(True, shares_a) | self.map_cells(False, shares_b), param)

    def _as_list(self, first: bool, cell: Cell | None) -> tuple[Operand, frozenset[int]]:
        if cell is None:
            return Const(UNDEF), frozenset()
        if isinstance(cell, GrowingCell):
            return cell.operand, cell.shares
        assert isinstance(cell, ListCell)
        side = self.a if first else self.b
        items = tuple(self._read_leaf(first, v) for v in cell.items)
        shares: frozenset[int] = frozenset()
        for v in cell.items:
            shares |= self._cells_of(first, v)
        return self._make_list(side, Pack("list", items)), shares


class BranchMerge(Merge):
    """The join after an `if`: what differs becomes a result of the `If`."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.slots: list[tuple[Operand, Operand, Var]] = []
        self._known: dict[tuple[int, int], Var] = {}

    def slot(self, a: Operand, b: Operand, hint: str) -> Operand:
        """A result of the `If`, unless both sides have the same."""
        if same_operand(a, b):
            return a
        key = (id(a), id(b))
        if key not in self._known:
            self._known[key] = Var(hint, joined_style(a, b))
            self.slots.append((a, b, self._known[key]))
        return self._known[key]


# ------------------------------------------------------------------------------------------------------- helpers


def same_operand(a: Operand, b: Operand) -> bool:
    """Certainly the same value."""
    if a is b:
        return True
    if isinstance(a, Const) and isinstance(b, Const):
        return same_object(a.value, b.value)
    if isinstance(a, Pack) and isinstance(b, Pack) and a.kind == b.kind and len(a.items) == len(b.items):
        return bool(a.meta == b.meta) and all(
            same_operand(x, y) for x, y in zip(a.items, b.items, strict=True)
        )
    return False


def same_object(a: Any, b: Any) -> bool:
    """The same compile-time object, or equal plain constants of one type."""
    if a is b:
        return True
    if type(a) is not type(b) or not isinstance(a, int | float | complex | str | bytes | tuple):
        return False
    return repr(a) == repr(b)


def joined_style(a: Operand, b: Operand) -> Style:
    """The style of a value that is `a` or `b`."""
    style = plain_style(join(_wide(core.style_of(a)), _wide(core.style_of(b))))
    if isinstance(style, Array) and style.axes is None:
        return Array(style.dtype, None, False, style.kind)  # it may be a number, too
    return style


def plain_style(style: Style) -> Style:
    """The style of a Var: never Static, never Undef."""
    style = numeric(style)
    return Anything() if isinstance(style, Static | Undef) else style


def _wide(style: Style) -> Style:
    style = numeric(style)
    return Anything() if isinstance(style, Static) else style


def is_datum(obj: Any) -> bool:
    """A compile-time object that may be a run-time value: a number, a string, None."""
    return obj is None or isinstance(obj, int | float | complex | str | bytes | np.generic)


def _blank(step: Any) -> Any:
    """A step of a path with nothing bound for what it computes."""
    if isinstance(step, Pack):
        return replace(step, items=tuple(_blank(x) for x in step.items))
    return Const(UNDEF) if isinstance(step, Var) else step


def _number(ref: Value | None) -> int | None:
    if ref is None:
        return None
    assert isinstance(ref, ArrayRef | CellRef)
    return ref.cell


def _items(cell: Cell | None) -> tuple[Value, ...] | None:
    return cell.items if isinstance(cell, ListCell) else None


def _aligned(
    one: tuple[Value, ...] | None, two: tuple[Value, ...] | None
) -> list[tuple[Value | None, Value | None]]:
    if one is None:
        return [(None, y) for y in two or ()]
    if two is None:
        return [(x, None) for x in one]
    return list(zip(one, two, strict=True))


def _zip_items(a: Value | None, b: Value | None) -> list[tuple[Value | None, Value | None]]:
    one = a.items if isinstance(a, TupleValue) else None
    two = b.items if isinstance(b, TupleValue) else None
    return _aligned(one, two)


def _runs_over(a: Value | None, b: Value | None) -> list[tuple[Value | None, Value | None]]:
    """What an iterator reads its items from; two different ones are no one value afterwards."""
    if a is not None and b is not None and a is not b:
        return []
    one, two = (x.over if isinstance(x, IterValue) else None for x in (a, b))
    return _aligned(one, two)


def _alike_tuples(a: Value, b: Value) -> bool:
    assert isinstance(a, TupleValue) and isinstance(b, TupleValue)
    return a.cls is b.cls and len(a.items) == len(b.items)


def _mapping(cell: Cell | None) -> Mapping[Any, Value]:
    if isinstance(cell, DictCell):
        return cell.items
    return cell.fields if isinstance(cell, ObjectCell) else {}


def _named(a: Cell | None, b: Cell | None) -> dict[Any, tuple[Value | None, Value | None]]:
    one, two = _mapping(a), _mapping(b)
    return {k: (one.get(k), two.get(k)) for k in [*one, *(k for k in two if k not in one)]}


def _by_key(a: Cell | None, b: Cell | None) -> list[tuple[Value | None, Value | None]]:
    return list(_named(a, b).values())


def _alike_references(a: Value | None, b: Value | None) -> bool:
    return not (isinstance(a, ArrayRef) and isinstance(b, ArrayRef)) or _alike_paths(a.path, b.path)


def _alike_paths(a: Sequence[Pack], b: Sequence[Pack]) -> bool:
    return len(a) == len(b) and all(_alike(x, y) for x, y in zip(a, b, strict=True))


def _alike(a: Operand, b: Operand) -> bool:
    """Whether two operands of view steps differ at most in integers."""
    if same_operand(a, b):
        return True
    if isinstance(a, Pack) and isinstance(b, Pack):
        same = a.kind == b.kind and len(a.items) == len(b.items) and a.meta == b.meta
        return same and all(_alike(x, y) for x, y in zip(a.items, b.items, strict=True))
    styles = numeric(core.style_of(a)), numeric(core.style_of(b))
    return all(isinstance(s, Scalar) and s.kind == "i" for s in styles)


__all__ = ["BranchMerge", "Merge", "Side", "joined_style", "plain_style", "same_object", "same_operand"]
