"""Values as operands of the IR, and the storages that references denote: reading, sharing, writing.

Invariant: an ArrayRef denotes an ndarray for certain, and reads the current version of its storage; a FrozenRef is a
snapshot, and no storage it may share is written while it lives.
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from pullback.errors import NoRuleError
from pullback.frontend.ground import Ground
from pullback.frontend.refusals import refusal
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
    TupleValue,
    Value,
)
from pullback.ir import core_ops as core
from pullback.ir.nodes import UNDEF, Const, Operand, Pack, Var
from pullback.styles.indexing import is_basic
from pullback.styles.style import Anything, Array, ListOf, Scalar, Static, Style, Tup

READ_ONLY = (np.broadcast_to, np.diagonal, np.diag, np.lib.stride_tricks.sliding_window_view)


class Storages(Ground):
    """Values and storages."""

    def refuse_unknown(self, value: Value, reason: str, hint: str, node: ast.AST | None = None) -> NoReturn:
        """Refuse what needs to know more of a value; names the function without a rule that it comes from."""
        origin = getattr(self.style(value), "origin", "")
        if not origin:
            self.refuse(reason, hint, node)
        raise NoRuleError(
            f"{reason}: it comes from `{origin}`, which has no rule",
            loc=self.place(node),
            hint=f"give `{origin}` a rule with pb.rule; or call it outside, and pass what it returns as an argument",
        )

    # -------------------------------------------------------------------------------------- values and operands

    def operand(self, value: Value) -> Operand:
        """The IR operand of a value as it is now."""
        match value:
            case Known(obj):
                return Const(obj)
            case Num(operand) | FrozenRef(operand):
                return operand
            case ArrayRef(cell, path):
                return self._load(self._array(cell).operand, path)
            case TupleValue(items, cls):
                packed = tuple(self.operand(v) for v in items)
                return Pack("tuple", packed) if cls is None else Pack("new", packed, (cls, None))
            case SliceValue(start, stop, step):
                return Pack("slice", tuple(self.operand(v) for v in (start, stop, step)))
            case CellRef(cell):
                return self._container(self.content(cell))
            case FunctionValue():
                self.refuse(
                    f"the function `{value.name}` would have to exist at run time",
                    "call it here, or pass it to code that the compiler can follow",
                )
            case BoundMethod():
                self.refuse(f"the method `{value.name}` would have to exist at run time", "call it here")
            case IterValue():
                self.refuse(
                    "an iterator would have to exist at run time", "make a list of it, or loop over it here"
                )

    def _container(self, cell: Cell) -> Operand:
        match cell:
            case ArrayCell(operand) | GrowingCell(operand):
                return operand
            case ListCell(items):
                return Pack("list", tuple(self.operand(v) for v in items))
            case DictCell(items):
                return Pack("dict", tuple(self.operand(v) for v in items.values()), tuple(items))
            case ObjectCell(cls, fields):
                names = tuple(fields)
                make = self.constructor(cls, names)
                return Pack("new", tuple(self.operand(v) for v in fields.values()), (make, names))

    def constructor(self, cls: type, names: tuple[str, ...]) -> Any:
        """What rebuilds an instance from its fields."""
        known = getattr(cls, "__dataclass_fields__", None)
        if known is None or set(names) != {n for n, f in known.items() if f.init}:
            self.refuse(
                f"an instance of `{cls.__name__}` would have to exist at run time",
                "return or pass its attributes, or make the class a dataclass",
            )
        return cls

    def _load(self, base: Operand, path: tuple[Pack, ...]) -> Operand:
        if not path:
            return base
        key = (id(base), _key(path))
        for table in reversed(self._loads):
            if key in table:
                known: Operand = table[key][0]
                return known
        out: Var = self.builder.call(core.load, base, *path, hint=_hint(base))
        self._loads[-1][key] = (out, base, path)  # the last two only stay alive, as their ids are keys
        return out

    def style(self, value: Value) -> Style:
        """The style of a value."""
        match value:
            case Known(obj):
                return Static(obj)
            case Num(operand) | FrozenRef(operand):
                return core.style_of(operand)
            case ArrayRef(cell, path):
                return core.load_style(core.style_of(self._array(cell).operand), *map(core.style_of, path))
            case TupleValue(items):
                return Tup(tuple(self.style(v) for v in items))
            case CellRef(cell):
                return self._container_style(self.content(cell))
            case SliceValue(start, stop, step):
                return Tup(tuple(self.style(v) for v in (start, stop, step)), "slice")
        return Anything()

    def _container_style(self, cell: Cell) -> Style:
        match cell:
            case ArrayCell(operand) | GrowingCell(operand):
                return core.style_of(operand)
            case ListCell(items):
                return Tup(tuple(self.style(v) for v in items), "list")
            case DictCell(items):
                return Tup(tuple(self.style(v) for v in items.values()), "dict")
            case ObjectCell(_, fields):
                return Tup(tuple(self.style(v) for v in fields.values()), "new")

    def wrap(self, operand: Operand, shares: Sequence[Value] = ()) -> Value:
        """A Value for a fresh IR result."""
        style = core.style_of(operand)
        cells = self.cells_of(shares)
        if isinstance(operand, Pack) and operand.kind == "tuple":
            return TupleValue(tuple(self.wrap(x, shares) for x in operand.items))
        if isinstance(operand, Const) and operand.value is not UNDEF:
            return Known(operand.value)
        match style:
            case Array(_, axes):
                if axes is None or cells:  # a mark of its own tells of the names that will share it
                    return self.frozen(operand, cells or frozenset((self.fresh_number(),)))
                return self.new_array(operand)
            case ListOf():
                return self.new_cell(GrowingCell(operand, cells))
            case Anything() | Tup() if cells:
                return self.frozen(operand, cells)
        return Num(operand)

    def frozen(self, operand: Operand, cells: frozenset[int]) -> FrozenRef:
        """A snapshot that may share storages."""
        self.risky |= cells
        return FrozenRef(operand, cells)

    def cells_of(self, values: Iterable[Value]) -> frozenset[int]:
        """The storages that something made of values may share."""
        found: set[int] = set()
        for value in values:
            self._collect_cells(value, found)
        return frozenset(found)

    def _collect_cells(self, value: Value, found: set[int]) -> None:
        match value:
            case ArrayRef(cell):
                found.add(cell)
            case FrozenRef(_, cells):
                found |= cells
            case TupleValue(items) | IterValue(over=items):
                for item in items:
                    self._collect_cells(item, found)
            case CellRef(cell):
                if cell not in found:
                    found.add(cell)
                    for item in contents(self.content(cell)):
                        self._collect_cells(item, found)
                    content = self.content(cell)
                    if isinstance(content, GrowingCell):
                        found |= content.shares
            case BoundMethod(owner):
                self._collect_cells(owner, found)

    # ------------------------------------------------------------------------------------------------ storage

    def fresh_number(self) -> int:
        """A number that no storage has."""
        return next(self._ids)

    def new_array(self, operand: Operand) -> ArrayRef:
        """A reference to a new storage."""
        number = next(self._ids)
        self.state.cells[number] = ArrayCell(operand)
        return ArrayRef(number)

    def new_cell(self, cell: Cell) -> CellRef:
        """A reference to a new container."""
        number = next(self._ids)
        self.state.cells[number] = cell
        self.note_shares(cell)
        return CellRef(number)

    def note_shares(self, cell: Cell) -> None:
        """Remember what a run-time list shares."""
        if isinstance(cell, GrowingCell):
            self.risky |= cell.shares

    def _array(self, number: int) -> ArrayCell:
        cell = self.state.cells.get(number) or self.outside_cells.get(number)
        if not isinstance(cell, ArrayCell):
            self.refuse("an iterator over an array that is no longer at hand", "loop over the array itself")
        return cell

    def content(self, number: int) -> Cell:
        """The cell of a given number."""
        return self.state.cells[number] if number in self.state.cells else self.outside_cells[number]

    def cell(self, value: Value) -> Cell:
        """The cell that a reference points to."""
        assert isinstance(value, ArrayRef | CellRef)
        return self.content(value.cell)

    def set_cell(self, value: Value, cell: Cell) -> None:
        """Replace the container that a reference points to."""
        if not isinstance(value, CellRef):
            self.refuse(
                "a write to something that is not known to be one list, dict or object",
                "keep one name for it, or copy it",
            )
        if value.cell in self.items_of_lists:
            self.refuse(
                "a write to a list that is itself an item of a list of run-time length",
                "put a new list in its place: items[i] = [...]",
            )
        old = self.content(value.cell)
        self._note_write(old, value.cell, items=False)
        self.state.cells[value.cell] = cell
        self.note_shares(cell)

    def _note_write(self, cell: Cell, number: int, items: bool = True) -> None:
        self.note_write(cell.param)
        if number in self.risky:
            self.check_not_shared(number, items)

    def note_write(self, params: str) -> None:
        """Record that a parameter's storage is written; refuse it where that would be state between calls."""
        for param in filter(None, params.split(",")):
            if param in self.fixed:
                self.refuse(*refusal("implicit-store", name=param))
            self.written[param] = None

    @abstractmethod
    def check_not_shared(self, number: int, items: bool = True) -> None:
        """Refuse a write to a storage of which a live name holds a snapshot (`items`: of its elements)."""

    @abstractmethod
    def thaw(self, target: FrozenRef) -> Value:
        """A snapshot that nothing else shares, as a storage of its own."""

    def write(self, target: Value, steps: Sequence[Pack], value: Value) -> None:
        """`target[steps] = value` on an array reference."""
        if isinstance(target, FrozenRef):
            target = self.thaw(target)
        if not isinstance(target, ArrayRef):
            self.refuse(
                "a write into something that is not known to be an array", "write into an array or a list"
            )
        if any(step.kind == "view" and step.meta.fn in READ_ONLY for step in target.path):
            self.refuse(
                "a write into a view that NumPy makes read-only",
                "write into a copy, or into the base by index",
            )
        cell = self._array(target.cell)
        operand = self.operand(value)
        self._note_write(cell, target.cell)
        if len(steps) == 1 and is_whole(self.style(target), steps[0]):
            steps = ()
        new = self.builder.call(
            core.store, cell.operand, operand, *target.path, *steps, hint=_hint(cell.operand)
        )
        self.state.cells[target.cell] = ArrayCell(new, cell.param)

    def replace_array(self, target: ArrayRef, new: Var) -> None:
        """`target[...] = new`, an array of the same shape and dtype that is the next version of the target."""
        if target.path:
            self.write(target, (), Num(new))
            return
        cell = self._array(target.cell)
        self._note_write(cell, target.cell)
        self.state.cells[target.cell] = ArrayCell(new, cell.param)

    def view(self, array: Value, step: Pack) -> Value:
        """The array reference one view step further."""
        if isinstance(array, ArrayRef):
            return ArrayRef(array.cell, (*array.path, step))
        if step.kind == "view":
            out = self.builder.call(step.meta, self.operand(array), *step.items)
        else:
            out = self.builder.call(core.load, self.operand(array), step)
        return self.wrap(out, [array])

    def load_index(self, array: Value, step: Pack, hint: str = "t") -> Value:
        """`array[step]`: a number, a longer path, or a fresh storage."""
        style = core.load_style(self.style(array), core.style_of(step))
        if isinstance(style, Scalar):
            if isinstance(array, ArrayRef):
                return Num(self._load(self._array(array.cell).operand, (*array.path, step)))
            return Num(self.builder.call(core.load, self.operand(array), step, hint=hint))
        basic = is_basic(tuple(core.style_of(item) for item in step.items))
        if basic and isinstance(array, ArrayRef) and isinstance(style, Array) and style.axes is not None:
            return array if is_whole(self.style(array), step) else self.view(array, step)
        out = self.builder.call(core.load, self.operand(array), step, hint=hint)
        return self.wrap(out, [] if basic is False else [array])


def is_whole(style: Style, step: Pack) -> bool:
    """Whether a step is the index of all elements of an array in their places: `A[:]`, `A[:, :]`, `A[...]`."""
    if step.kind != "index" or not isinstance(style, Array) or style.axes is None:
        return False
    slices = [item for item in step.items if not (isinstance(item, Const) and item.value is Ellipsis)]
    return len(slices) <= len(style.axes) and all(map(_is_all, slices))


def _is_all(entry: Operand) -> bool:
    if isinstance(entry, Const):
        return isinstance(entry.value, slice) and entry.value in (slice(None), slice(None, None, 1))
    ends = entry.items if isinstance(entry, Pack) and entry.kind == "slice" else ()
    return bool(ends) and all(isinstance(x, Const) and x.value is None for x in ends)


def contents(cell: Cell) -> tuple[Value, ...]:
    """The values in a container."""
    match cell:
        case ListCell(items):
            return items
        case DictCell(items):
            return tuple(items.values())
        case ObjectCell(_, fields):
            return tuple(fields.values())
    return ()


def _hint(base: Operand) -> str:
    return base.hint if isinstance(base, Var) else "t"


def _key(operand: Any) -> Any:
    """Equal keys for operands that are the same for certain."""
    if isinstance(operand, tuple):
        return tuple(_key(x) for x in operand)
    if isinstance(operand, Pack):
        meta = operand.meta if operand.kind == "index" else id(operand.meta)
        return (operand.kind, meta, *(_key(x) for x in operand.items))
    if isinstance(operand, Const):
        return (type(operand.value), repr(operand.value))
    return id(operand)
