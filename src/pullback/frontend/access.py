"""Subscripts, read and written: arrays by NumPy's indexing, containers by position or key."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from pullback.frontend import library
from pullback.frontend.expressions import Expressions
from pullback.frontend.library import lists
from pullback.frontend.refusals import refusal
from pullback.frontend.values import (
    ArrayRef,
    CellRef,
    DictCell,
    FrozenRef,
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
from pullback.ir.builder import index_step
from pullback.ir.nodes import Operand, Pack
from pullback.styles.style import Anything, Array, Foreign, ListOf, Scalar, Tup


class Access(Expressions):
    """Reads and writes items."""

    # ------------------------------------------------------------------------------------------------- indices

    def step(self, index: Value) -> Pack:
        """An index as one step of a path."""
        if isinstance(index, Known) and isinstance(index.obj, tuple):
            index = TupleValue(tuple(Known(x) for x in index.obj))
        if isinstance(index, TupleValue):
            return index_step(*[self._entry(v) for v in index.items], as_tuple=True)
        return index_step(self._entry(index))

    def _entry(self, value: Value) -> Operand:
        if isinstance(value, Known) and isinstance(value.obj, slice):
            return Pack(
                "slice",
                tuple(self.operand(Known(x)) for x in (value.obj.start, value.obj.stop, value.obj.step)),
            )
        if isinstance(value, IterValue):
            items = self.items_of(value)
            if items is None:
                self.refuse("an index that is an iterator", "index with np.arange(...) or a slice")
            value = self.new_cell(ListCell(tuple(items)))
        return self.operand(value)

    # -------------------------------------------------------------------------------------------------- loads

    def subscript(self, owner: Value, index: Value) -> Value:
        """`owner[index]`."""
        match owner:
            case TupleValue(items):
                return self._item(owner, items, index)
            case CellRef():
                return self._cell_item(owner, index)
            case Known(obj):
                return self._known_item(owner, obj, index)
            case IterValue():
                return self._iterator_item(owner, index)
        style = self.style(owner)
        if isinstance(owner, ArrayRef) or isinstance(style, Array):
            return self.load_index(owner, self.step(index))
        if isinstance(style, ListOf | Tup):
            return self._run_time_item(owner, index)
        if isinstance(style, Scalar):
            if isinstance(index, TupleValue) and not index.items:
                return owner
            self.refuse("a number is indexed", "NumPy or Python raises an error here")
        self.refuse_unknown(
            owner, "an item of a value of which the compiler knows nothing", "pass the item as an argument"
        )

    def _iterator_item(self, owner: IterValue, index: Value) -> Value:
        if owner.range_ is None:
            self.refuse("an iterator is indexed", "make a list of it")
        if isinstance(index, Known) and isinstance(index.obj, int) and isinstance(owner.length, int):
            if not -owner.length <= index.obj < owner.length:
                self.refuse("the index is out of range", "Python raises IndexError here")
            return owner.item(Known(index.obj % owner.length))
        if isinstance(index, SliceValue) and isinstance(owner.length, int):
            return TupleValue(tuple(owner.item(Known(i)) for i in range(owner.length)[self.known(index)]))
        if isinstance(index, Num):
            return owner.item(index)
        self.refuse("a range of run-time length is indexed from its end or by a slice", "compute the number")

    def _item(self, owner: Value, items: Sequence[Value], index: Value) -> Value:
        """An item of a sequence of known length."""
        if isinstance(index, Num) and self._alike(items) and not self._would_ask(index):
            item = self.builder.call(core.list_get, self.operand(owner), self.operand(index), hint="item")
            return self.wrap(item, [owner])
        place = self.known(index)
        if isinstance(place, slice):
            part = tuple(items[place])
            return TupleValue(part) if isinstance(owner, TupleValue) else self.new_cell(ListCell(part))
        try:
            found: Value = items[place]
        except (IndexError, TypeError) as error:
            self.refuse(str(error), f"Python raises {type(error).__name__} here")
        return found

    def _would_ask(self, index: Num) -> bool:
        """Whether an unrolled loop (not a static parameter) would tell the index."""
        sources: Any = self.sources.get(index.operand, ())  # type: ignore[arg-type]
        return any(token in sources for token in self.unrollable)

    def _alike(self, items: Sequence[Value]) -> bool:
        """Whether the items can be chosen at run time: all numbers, or arrays of one rank and dtype."""
        styles = [self.style(v) for v in items]
        if not styles or any(isinstance(v, CellRef) for v in items):
            return False
        joined = core._list_get_style(Tup(tuple(styles), "list"), Anything())
        if isinstance(joined, Array):
            return joined.dtype is not None and joined.axes is not None
        return isinstance(joined, Scalar)

    def _cell_item(self, owner: CellRef, index: Value) -> Value:
        cell = self.cell(owner)
        match cell:
            case ListCell(items):
                return self._item(owner, items, index)
            case GrowingCell():
                return self._run_time_item(owner, index)
            case DictCell(entries):
                key = self.known(index)
                if key not in entries:
                    self.refuse(f"the dict has no key {key!r}", "Python raises KeyError here")
                return entries[key]
        return self.call_value(self.asked(owner, "__getitem__"), [index], {})

    def _run_time_item(self, owner: Value, index: Value) -> Value:
        style = self.style(owner)
        if isinstance(style, Tup) and style.kind not in ("tuple", "list"):
            self.refuse(
                "an item of a dict or object that is itself an item of a list of run-time length",
                "keep plain tuples in the list, or one list for each key",
            )
        if isinstance(index, SliceValue) or _is_slice(index):
            part = self.builder.call(core.list_slice, self.operand(owner), self._entry(index), hint="items")
            numbers = isinstance(core._list_get_style(self.style(owner), Anything()), Scalar)
            return self.wrap(part, [] if numbers else [owner])
        item = self.wrap(
            self.builder.call(core.list_get, self.operand(owner), self.operand(index), hint="item"), [owner]
        )
        if isinstance(item, CellRef):
            self.items_of_lists.add(item.cell)
        return item

    def _known_item(self, owner: Known, obj: Any, index: Value) -> Value:
        found = library.subscript(self, obj, index)
        if found is not None:
            return found
        if isinstance(obj, tuple | list | range) and isinstance(index, Num):
            return self._item(TupleValue(tuple(Known(x) for x in obj)), [Known(x) for x in obj], index)
        if owner.path is not None and not isinstance(obj, str | tuple | range | bytes | type):
            method = getattr(type(obj), "__getitem__", None)
            if isinstance(obj, dict | list) or method is None:
                return self.outside(owner.path.item(self.known(index)))
            return self.call_value(self.asked(owner, "__getitem__"), [index], {})
        if isinstance(obj, int | float | complex):
            self.refuse("a number is indexed", "Python raises TypeError here")
        try:
            return Known(obj[self.known(index)])
        except (IndexError, KeyError, TypeError) as error:
            self.refuse(str(error), f"Python raises {type(error).__name__} here")

    # -------------------------------------------------------------------------------------------------- stores

    def store_item(self, owner: Value, index: Value, value: Value) -> None:
        """`owner[index] = value`."""
        if isinstance(owner, ArrayRef | FrozenRef) and not isinstance(self.style(owner), ListOf):
            self.write(owner, (self.step(index),), value)
            return
        if isinstance(owner, CellRef):
            self._store_in_cell(owner, index, value)
            return
        if isinstance(owner, Known) and owner.path is not None:
            self.refuse(*refusal("implicit-store", name=owner.path))
        if isinstance(owner, TupleValue):
            self.refuse("an item of a tuple is assigned", "Python raises TypeError here")
        if isinstance(self.style(owner), Foreign | Anything):
            self.refuse_unknown(
                owner,
                "an item of a value of which the compiler knows nothing is assigned",
                "use an array, list or dict",
            )
        self.refuse(
            "an item is assigned to something that is not known to be one array, list or dict",
            "copy it first, so that it is known to be its own",
        )

    def _store_in_cell(self, owner: CellRef, index: Value, value: Value) -> None:
        cell = self.cell(owner)
        match cell:
            case ListCell(items):
                self._store_in_list(owner, cell, items, index, value)
            case GrowingCell() if isinstance(index, SliceValue) or _is_slice(index):
                lists.store_slice(self, owner, index, value, self.cells_of([value]))
            case GrowingCell(operand, shares, param):
                new = self.builder.call(
                    core.list_set, operand, self.operand(value), self.operand(index), hint="items"
                )
                self.set_cell(owner, GrowingCell(new, shares | self.cells_of([value]), param))
            case DictCell(entries, param):
                self.set_cell(owner, DictCell({**entries, self.known(index): value}, param))
            case _:
                self.call_value(self.asked(owner, "__setitem__"), [index, value], {})

    def _store_in_list(
        self, owner: CellRef, cell: ListCell, items: Sequence[Value], index: Value, value: Value
    ) -> None:
        if isinstance(index, Num) and self._alike([*items, value]) and not self._would_ask(index):
            new = self.builder.call(
                core.list_set, self.operand(owner), self.operand(value), self.operand(index), hint="items"
            )
            shares = self.cells_of([*items, value])
            self.set_cell(owner, GrowingCell(new, shares, cell.param))
            return
        place = self.known(index)
        changed = list(items)
        try:
            if isinstance(place, slice):
                changed[place] = self.spread(value, ast.Pass())
            else:
                changed[place] = value
        except (IndexError, TypeError, ValueError) as error:
            self.refuse(str(error), f"Python raises {type(error).__name__} here")
        self.set_cell(owner, ListCell(tuple(changed), cell.param))

    def store_attribute(self, owner: Value, name: str, value: Value) -> None:
        """`owner.name = value`."""
        cell = self.cell(owner) if isinstance(owner, CellRef) else None
        if isinstance(cell, ObjectCell):
            self.check_plain_attributes(cell.cls, name)
            if getattr(cell.cls, "__setattr__", None) is not object.__setattr__ and not _is_frozen(cell.cls):
                self.refuse(f"`{cell.cls.__name__}` says itself how attributes are set", "remove __setattr__")
            member = getattr(cell.cls, name, None)
            if isinstance(member, property):
                self.watch_member(cell.cls, name)
                if member.fset is None:
                    self.refuse(f"property `{name}` has no setter", "Python raises AttributeError here")
                self.call_value(Known(member.fset), [owner, value], {})
                return
            if _is_frozen(cell.cls):
                self.refuse(f"`{cell.cls.__name__}` is frozen", "Python raises FrozenInstanceError here")
            self.set_cell(owner, ObjectCell(cell.cls, {**cell.fields, name: value}, cell.param))
            return
        if isinstance(owner, ArrayRef | FrozenRef) and name in ("real", "imag", "shape", "T"):
            self._store_array_attribute(owner, name, value)
            return
        if isinstance(owner, Known) and owner.path is not None:
            self.refuse(*refusal("implicit-store", name=f"{owner.path}.{name}"))
        self.refuse(
            f"attribute `{name}` is assigned to something that is not an ordinary object",
            "keep the value in a variable",
        )

    def _store_array_attribute(self, owner: Value, name: str, value: Value) -> None:
        part = self.attribute(owner, name)
        if name == "shape" or not isinstance(part, ArrayRef):
            self.refuse(f"`.{name} = ...` of an array", "use reshape, or write into the array itself")
        self.write(part, (), value)


def _is_frozen(cls: type) -> bool:
    return bool(getattr(getattr(cls, "__dataclass_params__", None), "frozen", False))


def _is_slice(index: Value) -> bool:
    return isinstance(index, Known) and isinstance(index.obj, slice)
