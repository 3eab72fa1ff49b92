"""Where control flow meets: two states become one.

`Meeting` walks two states from their live names.  Equal parts stay; run-time values that differ become *leaves*, for
which the caller makes If results or carried values.  Storages are matched one to one; a reference that would break
this is frozen: it goes on as a value, and a write to a storage concerned while it lives is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from pullback.frontend.values import (
    ArrayCell,
    ArrayRef,
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
from pullback.ir.nodes import UNDEF, Const, Operand, Pack, Var
from pullback.styles.style import style_of_number


Leaf = Callable[[tuple[Any, ...], Operand, Operand], Operand]


@dataclass(slots=True)
class Meeting:
    """The meeting of two states.

    leaf(place, a, b)   the operand that stands for two different ones
    read(side, value)   the operand of an array reference as a value, on side 0 or 1
    mismatch(place, a, b)  the value for two of different structure
    """

    a: State
    b: State
    leaf: Leaf
    read: Callable[[int, Value], Operand]
    mismatch: Callable[[Meeting, tuple[Any, ...], Value | None, Value | None], Value | None]
    new_id: Callable[[], int]
    result: State = field(default_factory=State)
    frozen: bool = False
    _pairs: dict[tuple[int, int], int] = field(default_factory=dict)
    _apart: set[tuple[int, int]] = field(default_factory=set)

    def run(self, keys: Iterable[str]) -> State:
        """The joined state, restricted to names that live."""
        keys = list(keys)
        self._apart = _conflicts(self.a, self.b, keys)
        for key in keys:
            va, vb = self.a.names.get(key), self.b.names.get(key)
            if va is None and vb is None:
                continue
            joined = self.value(("name", key), va, vb)
            if joined is not None:
                self.result.names[key] = joined
        self._rename_concerned()
        return self.result

    def keep_cells(self, cells: Iterable[int]) -> None:
        """Storages from before the paths parted that no live name reaches stay (a value being computed may hold one)."""
        renamed = {c for pair in self._pairs for c in pair}
        for c in cells:
            if c in renamed or c in self.result.cells or c not in self.a.cells or c not in self.b.cells:
                continue
            ca, cb = self.a.cells[c], self.b.cells[c]
            if ca is cb:
                self.result.cells[c] = ca
            elif isinstance(ca, ArrayCell):
                self._array_cell(c, c)
            else:
                self._cells(("cell", c, c), CellRef(c), CellRef(c))

    def _rename_concerned(self) -> None:
        """A frozen reference is concerned with a storage under the number it has from here on."""
        if not any(isinstance(v, FrozenRef) and v.cells for v in self.result.names.values()):
            return
        new: dict[int, set[int]] = {}
        for (x, y), z in self._pairs.items():
            new.setdefault(x, set()).add(z)
            new.setdefault(y, set()).add(z)
        for key, value in self.result.names.items():
            if isinstance(value, FrozenRef) and value.cells:
                cells = value.cells.union(*[new.get(c, set()) for c in value.cells])
                self.result.names[key] = replace(value, cells=cells)

    # -- values

    def value(self, place: tuple[Any, ...], a: Value | None, b: Value | None) -> Value | None:
        """The meeting of two values."""
        if a is None or b is None:
            return self._one_sided(place, a, b)
        match a, b:
            case Known(), Known() if _same_object(a.obj, b.obj):
                return a
            case (Known() | Num()), (Known() | Num()) if _is_plain(a) and _is_plain(b):
                return self._plain(place, a, b)
            case ArrayRef(), ArrayRef():
                return self._arrays(place, a, b)
            case (ArrayRef() | FrozenRef()), (ArrayRef() | FrozenRef()):
                return self._freeze(place, a, b)
            case TupleValue(), TupleValue() if len(a.items) == len(b.items) and a.cls is b.cls:
                pairs = zip(a.items, b.items, strict=True)
                items = [self.value((*place, i), x, y) for i, (x, y) in enumerate(pairs)]
                return replace(a, items=tuple(x for x in items if x is not None))
            case CellRef(), CellRef():
                return self._cells(place, a, b)
            case FunctionValue(), FunctionValue() if a.node is b.node and a.scope is b.scope:
                return a
            case SliceValue(), SliceValue():
                parts = [
                    self.value((*place, i), x, y)
                    for i, (x, y) in enumerate(zip(_parts(a), _parts(b), strict=True))
                ]
                return SliceValue(*[x for x in parts if x is not None])
            case IterValue(), IterValue() if a is b:
                return a
        if a is b:
            return a
        return self.mismatch(self, place, a, b)

    def _plain(self, place: tuple[Any, ...], a: Value, b: Value) -> Value:
        x, y = _operand(a), _operand(b)
        if x is y:
            return a
        return Num(self.leaf(place, x, y))

    def _one_sided(self, place: tuple[Any, ...], a: Value | None, b: Value | None) -> Value | None:
        """A name bound on one side only: its run-time parts are undefined on the other."""
        value, state, missing = (a, self.a, 1) if b is None else (b, self.b, 0)
        assert value is not None
        undef = Const(UNDEF)

        def leaf(at: tuple[Any, ...], x: Operand) -> Operand:
            return self.leaf(at, x, undef) if missing == 1 else self.leaf(at, undef, x)

        return self._lonely(place, value, state, leaf, 1 - missing)

    def _lonely(self, place: tuple[Any, ...], value: Value, state: State, leaf: Any, side: int) -> Value | None:
        match value:
            case Known() if _is_plain(value):
                return Num(leaf(place, Const(value.obj)))
            case Num():
                return Num(leaf(place, value.operand))
            case ArrayRef() | FrozenRef():
                cells = _shared(value)
                known = frozenset(c for c in cells if c in self.a.cells and c in self.b.cells)
                operand = leaf(place, self.read(side, value))
                if isinstance(value, ArrayRef) and not value.path and not known:
                    return self._new_array(operand, value.cell)
                self.frozen = self.frozen or bool(known)
                return FrozenRef(operand, known)
            case TupleValue():
                items = [self._lonely((*place, i), x, state, leaf, side) for i, x in enumerate(value.items)]
                return replace(value, items=tuple(x for x in items if x is not None))
            case CellRef():
                return self._lonely_cell(place, value, state, leaf, side)
        return self.mismatch(self, place, value, None)

    def _new_array(self, operand: Operand, old: int) -> Value:
        pair = (old, -1)
        if pair not in self._pairs:
            self._pairs[pair] = self.new_id()
            self.result.cells[self._pairs[pair]] = ArrayCell(operand)
        return ArrayRef(self._pairs[pair])

    def _lonely_cell(self, place: tuple[Any, ...], ref: CellRef, state: State, leaf: Any, side: int) -> Value | None:
        cell = state.cells[ref.cell]
        pair = (ref.cell, -1)
        if pair in self._pairs:
            return CellRef(self._pairs[pair])
        new = self._pairs[pair] = self.new_id()
        if isinstance(cell, GrowingCell):
            self.result.cells[new] = replace(cell, operand=leaf((*place, "list"), cell.operand))
            return CellRef(new)
        parts = {k: self._lonely((*place, k), v, state, leaf, side) for k, v in _items(cell)}
        self.result.cells[new] = _rebuilt(cell, {k: v for k, v in parts.items() if v is not None})
        return CellRef(new)

    def add_cell(self, cell: Cell) -> Value:
        """A container that comes of the meeting itself."""
        ref = CellRef(self.new_id())
        self.result.cells[ref.cell] = cell
        return ref

    # -- arrays

    def _arrays(self, place: tuple[Any, ...], a: ArrayRef, b: ArrayRef) -> Value:
        if (a.cell, b.cell) in self._apart or not _alike(a.path, b.path):
            return self._freeze(place, a, b)
        cell = self._array_cell(a.cell, b.cell)
        steps = [self._step((*place, i), x, y) for i, (x, y) in enumerate(zip(a.path, b.path, strict=True))]
        return ArrayRef(cell, tuple(steps))

    def _array_cell(self, a: int, b: int) -> int:
        if (a, b) not in self._pairs:
            new = self._pairs[a, b] = a if a == b else self.new_id()
            ca, cb = self.a.cells[a], self.b.cells[b]
            assert isinstance(ca, ArrayCell) and isinstance(cb, ArrayCell)
            same = ca.operand is cb.operand
            operand = ca.operand if same else self.leaf(("cell", a, b), ca.operand, cb.operand)
            self.result.cells[new] = ArrayCell(operand, ca.param or cb.param)
        return self._pairs[a, b]

    def _step(self, place: tuple[Any, ...], a: Operand, b: Operand) -> Any:
        if isinstance(a, Pack) and isinstance(b, Pack):
            pairs = zip(a.items, b.items, strict=True)
            return replace(a, items=tuple(self._step((*place, i), x, y) for i, (x, y) in enumerate(pairs)))
        if a is b or (isinstance(a, Const) and isinstance(b, Const) and _same_object(a.value, b.value)):
            return a
        return self.leaf(place, a, b)

    def _freeze(self, place: tuple[Any, ...], a: Value, b: Value) -> Value:
        x, y = self.read(0, a), self.read(1, b)
        cells = frozenset(c for c in _shared(a) | _shared(b))
        self.frozen = True
        if x is y:
            return FrozenRef(x, cells)
        return FrozenRef(self.leaf(place, x, y), cells)

    # -- containers

    def _cells(self, place: tuple[Any, ...], a: CellRef, b: CellRef) -> Value | None:
        if (a.cell, b.cell) in self._pairs:
            return CellRef(self._pairs[a.cell, b.cell])
        if (a.cell, b.cell) in self._apart:
            return self.mismatch(self, place, a, b)
        ca, cb = self.a.cells[a.cell], self.b.cells[b.cell]
        if isinstance(ca, GrowingCell) and isinstance(cb, GrowingCell):
            new = self._enter(a.cell, b.cell)
            same = ca.operand is cb.operand
            operand = ca.operand if same else self.leaf(("cell", a.cell, b.cell), ca.operand, cb.operand)
            self.result.cells[new] = GrowingCell(operand, ca.shares | cb.shares, ca.param or cb.param)
            return CellRef(new)
        if type(ca) is not type(cb) or [k for k, _ in _items(ca)] != [k for k, _ in _items(cb)]:
            return self.mismatch(self, place, a, b)
        if isinstance(ca, ObjectCell) and isinstance(cb, ObjectCell) and ca.cls is not cb.cls:
            return self.mismatch(self, place, a, b)
        new = self._enter(a.cell, b.cell)
        other = dict(_items(cb))
        parts = {k: self.value((*place, k), v, other[k]) for k, v in _items(ca)}
        self.result.cells[new] = _rebuilt(ca, {k: v for k, v in parts.items() if v is not None})
        return CellRef(new)

    def _enter(self, a: int, b: int) -> int:
        self._pairs[a, b] = a if a == b else self.new_id()
        return self._pairs[a, b]


def _parts(value: SliceValue) -> tuple[Value, Value, Value]:
    return value.start, value.stop, value.step


def _shared(value: Value) -> frozenset[int]:
    if isinstance(value, ArrayRef):
        return frozenset({value.cell})
    return value.cells if isinstance(value, FrozenRef) else frozenset()


def _is_plain(value: Value) -> bool:
    """A number or opaque run-time object, or a compile-time number, string or None."""
    return isinstance(value, Num) or is_constant(value)


def is_constant(value: Value) -> bool:
    """A compile-time object that can be carried at run time: a number, a string, None."""
    if not isinstance(value, Known):
        return False
    return style_of_number(value.obj) is not None or value.obj is None or isinstance(value.obj, str)


def _operand(value: Value) -> Operand:
    if isinstance(value, Known):
        return Const(value.obj)
    assert isinstance(value, Num)
    return value.operand


def _same_object(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, float | complex):
        return repr(a) == repr(b)
    if isinstance(a, int | str | bytes | bool | slice | tuple | frozenset):
        return bool(a == b)
    return False


def _alike(a: tuple[Pack, ...], b: tuple[Pack, ...]) -> bool:
    """Whether two paths differ in the values of indices only."""
    return len(a) == len(b) and all(_alike_operands(x, y) for x, y in zip(a, b, strict=True))


def _alike_operands(a: Operand, b: Operand) -> bool:
    if isinstance(a, Pack) and isinstance(b, Pack):
        same = a.kind == b.kind and a.meta == b.meta and len(a.items) == len(b.items)
        return same and all(_alike_operands(x, y) for x, y in zip(a.items, b.items, strict=True))
    if isinstance(a, Pack) or isinstance(b, Pack):
        return False
    return _index_kind(a) == _index_kind(b)


def _index_kind(operand: Operand) -> str:
    if isinstance(operand, Var) or (isinstance(operand, Const) and type(operand.value) is int):
        return "number"
    assert isinstance(operand, Const)
    return repr(operand.value)


def _items(cell: Cell) -> list[tuple[Any, Value]]:
    match cell:
        case ListCell(items):
            return list(enumerate(items))
        case DictCell(items):
            return list(items.items())
        case ObjectCell(_, fields):
            return list(fields.items())
    return []


def _rebuilt(cell: Cell, parts: dict[Any, Value]) -> Cell:
    match cell:
        case ListCell():
            return replace(cell, items=tuple(parts.values()))
        case DictCell():
            return replace(cell, items=parts)
        case ObjectCell():
            return replace(cell, fields=parts)
    return cell


def _conflicts(a: State, b: State, keys: list[str]) -> set[tuple[int, int]]:
    """The pairs of storages that would break the one-to-one matching; a storage matched with itself goes first."""
    pairs: dict[tuple[int, int], None] = {}
    seen: set[tuple[int, int]] = set()

    def walk(x: Value | None, y: Value | None) -> None:
        match x, y:
            case ArrayRef(), ArrayRef():
                pairs[x.cell, y.cell] = None
            case TupleValue(), TupleValue():
                for u, v in zip(x.items, y.items, strict=False):
                    walk(u, v)
            case CellRef(), CellRef():
                pairs[x.cell, y.cell] = None
                if (x.cell, y.cell) not in seen:
                    seen.add((x.cell, y.cell))
                    other = dict(_items(b.cells[y.cell]))
                    for k, v in _items(a.cells[x.cell]):
                        walk(v, other.get(k))

    for key in keys:
        walk(a.names.get(key), b.names.get(key))
    left: dict[int, int] = {}
    right: dict[int, int] = {}
    ordered = sorted(pairs, key=lambda p: p[0] != p[1])
    apart = set()
    for x, y in ordered:
        if left.setdefault(x, y) != y or right.setdefault(y, x) != x:
            apart.add((x, y))
    return apart
