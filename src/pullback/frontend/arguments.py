"""The arguments of a function compiled apart: taken apart in the caller, put together again in the callee.

The leaves are the arrays and numbers in the arguments, and those that local functions among them capture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from pullback.frontend.bodies import Body, Frame, captured
from pullback.frontend.machine import Core
from pullback.frontend.names import Names
from pullback.frontend.program import kept, kind_of
from pullback.frontend.values import (
    ArrayCell,
    ArrayRef,
    Cell,
    CellRef,
    DictCell,
    FrozenRef,
    FunctionValue,
    Known,
    ListCell,
    Num,
    ObjectCell,
    SliceValue,
    TupleValue,
    Value,
)
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Const, Operand, Param, Var
from pullback.styles.style import (
    Array,
    Static,
)

PLAIN_NUMBERS = (int, float, complex)

# How much a function compiled apart serves: one set of constants; any numbers; also arrays with axes of length one.
NARROW, NUMBERS, WIDE = range(3)


class Taken:
    """The arguments of a call taken apart: a key for their kinds, and their leaves as operands, in order."""

    def __init__(self, caller: Core, body: Body, width: int) -> None:
        self.caller = caller
        self.body = body
        self.width = width
        self.leaves: list[Operand] = []
        self.values: list[Value] = []  # of the leaves, in the caller
        self.cells: dict[int, int] = {}
        self.functions: dict[tuple[int, int], int] = {}

    def take(self, value: Value) -> Any:
        """Take a value apart; the key of its kind."""
        match value:
            case Known(obj) if self.width > NARROW and type(obj) in PLAIN_NUMBERS:
                self._add(value, Const(obj))
                return kind_of(Static(obj))
            case Known(obj):
                plain = isinstance(obj, int | float | complex | str | tuple)
                return ("known", type(obj), repr(obj) if plain else id(obj))
            case Num() | ArrayRef() | FrozenRef():
                return self._leaf(value, self.caller.operand(value))
            case TupleValue(items, cls):
                return ("tuple", cls, *[self.take(v) for v in items])
            case SliceValue(start, stop, step):
                return ("slice", *[self.take(v) for v in (start, stop, step)])
            case CellRef(number):
                return self._cell(value, number)
            case FunctionValue():
                return self._function(value)
        self._refuse()

    def _function(self, fn: FunctionValue) -> Any:
        """A function defined in the caller, by its definition and what it captures."""
        key = (id(fn.node), id(fn.scope))
        if key in self.functions:
            return ("same function", self.functions[key])
        self.functions[key] = len(self.functions)
        held = [*fn.defaults, *fn.kw_defaults.values(), *_captured(self.caller, fn).values()]
        return ("function", id(fn.node), *[self.take(v) for v in held])

    def stored(self, leaf: int) -> ArrayRef:
        """The caller's reference to an array into which the function writes."""
        value = self.values[leaf]
        others = self.caller.cells_of(v for k, v in enumerate(self.values) if k != leaf)
        if not isinstance(value, ArrayRef) or value.cell in others:
            self.caller.refuse(
                f"`{self.body.name}` is compiled apart and writes into an argument that may share memory with another",
                "pass copies, or return a new array",
            )
        return value

    def _add(self, value: Value, operand: Operand) -> None:
        self.values.append(value)
        self.leaves.append(operand)

    def _leaf(self, value: Value, operand: Operand) -> Any:
        if isinstance(operand, Const):
            return ("constant", type(operand.value), repr(operand.value))
        if not isinstance(operand, Var):
            self._refuse()
        self._add(value, operand)
        return kind_of(kept(operand.style, self.width == WIDE))

    def _cell(self, value: CellRef, number: int) -> Any:
        if number in self.cells:
            return ("same", self.cells[number])
        self.cells[number] = len(self.cells)
        match self.caller.content(number):
            case ListCell(items):
                return ("list", *[self.take(v) for v in items])
            case DictCell(items):
                return ("dict", tuple(items), *[self.take(v) for v in items.values()])
            case ObjectCell(cls, fields):
                return ("object", cls, tuple(fields), *[self.take(v) for v in fields.values()])
        self._refuse()

    def _refuse(self) -> NoReturn:
        self.caller.refuse(
            f"`{self.body.name}` calls itself, or is called more than once, and gets an iterator or a list of a "
            "length known at run time only",
            "pass numbers and arrays, in tuples, lists of fixed length, dicts or objects",
        )


class Params:
    """The arguments of a call as the values of a function's parameters, in the machine that lowers it."""

    def __init__(self, caller: Core, machine: Names, width: int) -> None:
        self.caller = caller
        self.machine = machine
        self.width = width
        self.made: list[Param] = []
        self.cells: dict[int, CellRef] = {}
        self.containers: dict[int, Cell] = {}  # as they were passed
        self.numbers: dict[int, int] = {}  # the storages of arrays, and the leaves that these are
        self.functions: dict[tuple[int, int], FunctionValue] = {}
        self.frames: dict[Frame, Frame] = {}

    def value(self, name: str, value: Value, hint: str = "") -> Value:
        """The value of the parameter `name` (or of a part of it)."""
        hint = hint or name
        match value:
            case Known(obj) if self.width > NARROW and type(obj) in PLAIN_NUMBERS:
                return self._leaf(name, Const(obj), hint)
            case Num() | ArrayRef() | FrozenRef():
                operand = self.caller.operand(value)
                return self._leaf(name, operand, hint) if isinstance(operand, Var) else value
            case TupleValue(items, cls):
                return TupleValue(self._items(name, items, hint), cls)
            case SliceValue(start, stop, step):
                return SliceValue(*self._items(name, (start, stop, step), hint))
            case CellRef(number):
                if number not in self.cells:
                    self.cells[number] = self._cell(name, number, hint)
                return self.cells[number]
            case FunctionValue():
                return self.closure(name, value, hint)
        return value

    def closure(self, name: str, fn: FunctionValue, hint: str = "") -> FunctionValue:
        """The function over frames of its own, in which what it captures are parameters."""
        key = (id(fn.node), id(fn.scope))
        if key not in self.functions:
            defaults = self._items(name, fn.defaults, hint)
            kw_defaults = self._fields(name, fn.kw_defaults, hint)
            scope = self._frame(fn.scope)
            self.functions[key] = replace(fn, scope=scope, defaults=defaults, kw_defaults=kw_defaults)
            for (frame, held), value in _captured(self.caller, fn).items():
                self.machine.state.names[self._frame(frame).key(held)] = self.value(name, value, held)
        return self.functions[key]

    def _frame(self, frame: Frame) -> Frame:
        if frame not in self.frames:
            parent = None if frame.parent is None else self._frame(frame.parent)
            number = self.machine.fresh_number()
            self.frames[frame] = Frame(frame.body, number, parent, frame.fn, frame.globals, kept=True)
        return self.frames[frame]

    def _items(self, name: str, items: Sequence[Value], hint: str) -> tuple[Value, ...]:
        return tuple(self.value(name, v, f"{hint}_{i}") for i, v in enumerate(items))

    def _leaf(self, name: str, operand: Var | Const, hint: str) -> Value:
        style = kept(style_of(operand), self.width == WIDE)
        var = Var(unique(hint, {p.name for p in self.made}), style)
        self.made.append(Param(var.hint, var))
        self.machine.claimed.add(var)
        if isinstance(operand, Var) and operand in self.caller.sources:
            self.machine.sources[var] = self.caller.sources[operand]
        if not isinstance(style, Array):
            return Num(var)
        array = self.machine.parameter_array(ArrayCell(var, name))
        self.numbers[array.cell] = len(self.made) - 1
        return array if style.axes is not None else FrozenRef(var, frozenset((array.cell,)))

    def _cell(self, name: str, number: int, hint: str) -> CellRef:
        made: ListCell | DictCell | ObjectCell
        match self.caller.content(number):
            case ListCell(items):
                made = ListCell(self._items(name, items, hint), name)
            case DictCell(items):
                made = DictCell(self._fields(name, items, hint), name)
            case ObjectCell(cls, fields):
                made = ObjectCell(cls, self._fields(name, fields, hint), name)
            case other:
                raise AssertionError(other)  # taking the arguments apart has refused it
        reference = self.machine.parameter_cell(made)
        self.containers[reference.cell] = made
        return reference

    def pinned(self) -> dict[str, Value]:
        """What of the arguments matters to the end, whatever becomes of the names."""
        cells: list[Value] = [*map(ArrayRef, self.numbers), *map(CellRef, self.containers)]
        return {f".given{i}": value for i, value in enumerate([*cells, *self.functions.values()])}

    def stored(self, body: Body) -> dict[int, Operand]:
        """The arrays into which the function has written, by leaf, as they are at its end."""
        machine = self.machine
        changed = [n for n, made in self.containers.items() if machine.content(n) is not made]
        if changed:
            self.caller.refuse(
                f"`{body.name}` is compiled apart, and changes a list, dict or object that it gets",
                "return the new values, or write it as a loop",
            )
        found: dict[int, Operand] = {}
        for number, leaf in self.numbers.items():
            content = machine.content(number)
            assert isinstance(content, ArrayCell)
            if content.operand is not self.made[leaf].tree:
                found[leaf] = content.operand
        return found

    def _fields(self, name: str, items: Mapping[Any, Value], hint: str) -> dict[Any, Value]:
        return {k: self.value(name, v, f"{hint}_{k}") for k, v in items.items()}


def _captured(caller: Core, fn: FunctionValue) -> dict[tuple[Frame, str], Value]:
    """The variables that a function defined in the caller takes from the frames around it."""
    found: dict[tuple[Frame, str], Value] = {}
    for name in sorted(captured(fn.node)):
        frame: Frame | None = fn.scope
        while frame is not None and frame.key(name) not in caller.state.names:
            frame = frame.parent
        if frame is not None:
            found[frame, name] = caller.state.names[frame.key(name)]
    return found


def unique(hint: str, taken: set[str]) -> str:
    hint = hint if hint.isidentifier() else "value"
    name, n = hint, 1
    while name in taken:
        n += 1
        name = f"{hint}_{n}"
    return name
