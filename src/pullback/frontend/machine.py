"""The core of the abstract machine: values as operands, references, storages, writes, and calls of operations.

What comes in are `Value`s (frontend/values.py), what goes out is IR in `builder`.  Invariant: an ArrayRef denotes an
ndarray for certain, and reads the current version of its storage; a FrozenRef is a snapshot, and no storage it may
share is written while it lives.
"""

from __future__ import annotations

import ast
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from pullback.errors import Loc, NoRuleError, UnsupportedError
from pullback.frontend.bodies import Frame
from pullback.frontend.environment import Environment, NeedStatic
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
    State,
    TupleValue,
    Value,
)
from pullback.ir import core_ops as core
from pullback.ir.builder import Builder
from pullback.ir.nodes import UNDEF, Alias, Call, Const, Op, Operand, Pack, Stmt, Var
from pullback.rules.registry import op_of
from pullback.styles.indexing import is_basic
from pullback.styles.style import Anything, Array, ListOf, Scalar, Static, Style, Tup, numeric

SAFE: dict[str, np.ufunc] = {"/": np.true_divide, "//": np.floor_divide, "%": np.remainder, "**": np.power}
READ_ONLY = (np.broadcast_to, np.diagonal, np.diag, np.lib.stride_tricks.sliding_window_view)


def _computes(op: Op, args: Sequence[Value]) -> bool:
    """Whether an operator of compile-time numbers has a value in Python."""
    try:
        op.impl(*[v.obj for v in args if isinstance(v, Known)])
    except (ArithmeticError, TypeError):  # a division by zero; not all of them are at hand
        return False
    return True


class Unroll(Exception):
    """The index of the loop `token` is needed at compile time."""

    def __init__(self, token: object) -> None:
        self.token = token
        super().__init__("a loop must be unrolled")


class Unreachable(Exception):
    """The rest of the current statement is never reached."""


class Core(ABC):
    """State, builder and everything that needs no syntax."""

    def __init__(self, environment: Environment | None, *, safe: bool = False) -> None:
        self.builder = Builder()
        self.safe_arithmetic = safe
        self.environment = environment
        self.state = State()
        self.frame: Frame | None = None
        self.frames: list[Frame] = []
        self.temps: list[Value] = []
        self.base = 0  # temps below this index belong to expressions around the current statement
        self.in_statement_write = False
        self.written: dict[str, None] = {}
        self.fixed: set[str] = set()  # parameters whose storage must not be written: implicit ones
        self.sources: dict[
            Var, frozenset[Any]
        ] = {}  # integers made of a loop index (token) or a parameter (name)
        self.unrollable: list[Any] = []
        self.outside_cells: dict[int, Cell] = {}  # of implicit parameters: never written, so in no state
        self.parameter_of: dict[int, str] = {}  # the storages of parameters
        self.items_of_lists: set[int] = (
            set()
        )  # lists read from lists of run-time length, at a position not known
        self.risky: set[int] = set()  # storages that a frozen reference may share
        self._loads: list[dict[Any, tuple[Var, Operand, tuple[Pack, ...]]]] = [{}]
        self._ids = itertools.count(1)

    # ------------------------------------------------------------------------------------------------ syntax

    @abstractmethod
    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression."""

    @abstractmethod
    def execute(self, stmts: Sequence[ast.stmt]) -> None:
        """Lower statements in order."""

    @abstractmethod
    def call_value(self, fn: Value, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        """Call anything callable."""

    @abstractmethod
    def attribute(self, owner: Value, name: str) -> Value:
        """`owner.name`."""

    @abstractmethod
    def store_attribute(self, owner: Value, name: str, value: Value) -> None:
        """`owner.name = value`."""

    @abstractmethod
    def special(self, value: Value, name: str) -> Value | None:
        """The method of a user's class that an operation calls."""

    @abstractmethod
    def check_constant(self, values: Iterable[Value]) -> None:
        """Refuse objects whose state may change where they would be used up at compile time."""

    @abstractmethod
    def subscript(self, owner: Value, index: Value) -> Value:
        """`owner[index]`."""

    # ------------------------------------------------------------------------------------------------ blocks

    @contextmanager
    def block(self) -> Iterator[list[Stmt]]:
        """Emit into a nested block."""
        self._loads.append({})
        try:
            with self.builder.block() as stmts:
                yield stmts
        finally:
            self._loads.pop()

    @contextmanager
    def inside(self, stmts: list[Stmt]) -> Iterator[None]:
        """Emit at the end of a block that was left."""
        with self.block() as more:
            yield
        stmts += more

    # ------------------------------------------------------------------------------------------------ places

    def place(self, node: ast.AST | None = None) -> Loc:
        """The place of a node in the function being lowered."""
        if node is None or self.frame is None or self.environment is None or not hasattr(node, "lineno"):
            return self.builder.loc
        if self.frame.body.is_prelude:
            return self.builder.loc
        return self.frame.body.loc(node)

    def refuse(self, reason: str, hint: str = "", node: ast.AST | None = None) -> NoReturn:
        """Raise UnsupportedError at the current place."""
        raise UnsupportedError(reason, loc=self.place(node), hint=hint)

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

    # ------------------------------------------------------------------------------------------------ calls

    def call(
        self, op: Op, args: Sequence[Value], kwargs: Mapping[str, Value] | None = None, hint: str = "t"
    ) -> Value:
        """Emit an operation and wrap its result as its alias class says; fold it where everything is known."""
        named = dict(kwargs or {})
        folded = self._fold(op, args, named)
        if folded is not None:
            return folded
        viewed = self._as_view(op, args, named)
        if viewed is not None:
            return viewed
        operands = tuple(self.operand(v) for v in args)
        named_operands = {k: self.operand(v) for k, v in named.items()}
        targets = self.builder.call_many(op, operands, named_operands, (hint,))
        self._note_integers(targets, operands)
        shares = self._shares(op, targets, operands, named_operands, [*args, *named.values()])
        values = tuple(self.wrap(t, shares) for t in targets)
        if not values:
            return Known(None)
        return values[0] if len(values) == 1 else TupleValue(values)

    def _fold(self, op: Op, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value | None:
        if op.effect or op.writes or not all(is_plain(v) for v in [*args, *kwargs.values()]):
            return None
        self.check_constant([*args, *kwargs.values()])
        plain = [self.known(v) for v in args]
        named = {k: self.known(v) for k, v in kwargs.items()}
        if any(isinstance(x, _Sized) for x in [*plain, *named.values()]):
            return None
        try:
            with np.errstate(all="raise"):
                out = op.impl(*plain, **named)
        except Exception:
            return None  # it raises or warns: at run time, as the user's would
        return Known(out) if _is_foldable(out) else None

    def _as_view(self, op: Op, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value | None:
        """A view of a reference is a reference with a longer path."""
        if not args or not isinstance(args[0], ArrayRef) or op.alias == Alias() or op.fn in READ_ONLY:
            return None  # NumPy lets nobody write through a read-only view, its cotangent neither
        positional = _positional(op, args, kwargs)
        if positional is None:
            return None
        operands = tuple(self.operand(v) for v in positional[1:])
        step = Pack("view", operands, op)
        style = op.style(self.style(args[0]), *map(core.style_of, operands))
        if not isinstance(style, Array) or style.axes is None:
            return None
        if self._alias(op, (Var("t", style),), (Var("x", self.style(args[0])), *operands), {}) != Alias(
            "view", (0,)
        ):
            return None
        return ArrayRef(args[0].cell, (*args[0].path, step))

    @staticmethod
    def _alias(
        op: Op, targets: Sequence[Var], args: Sequence[Operand], kwargs: Mapping[str, Operand]
    ) -> Alias:
        if isinstance(op.alias, Alias):
            return op.alias
        return op.alias(Call(tuple(targets), op, tuple(args), tuple(kwargs.items())))

    def _shares(
        self,
        op: Op,
        targets: Sequence[Var],
        operands: Sequence[Operand],
        named: Mapping[str, Operand],
        values: Sequence[Value],
    ) -> list[Value]:
        alias = self._alias(op, targets, operands, named)
        if alias.kind == "fresh":
            return []
        return [values[i] for i in alias.operands if i < len(values)]

    def _note_integers(self, targets: Sequence[Var], operands: Sequence[Operand]) -> None:
        """Remember which integers are computed from loop indices and integer parameters alone."""
        if len(targets) != 1 or not isinstance(targets[0].style, Scalar) or targets[0].style.kind not in "bi":
            return
        found: frozenset[Any] = frozenset()
        for operand in operands:
            if isinstance(operand, Var):
                if operand not in self.sources:
                    return
                found |= self.sources[operand]
        if found:
            self.sources[targets[0]] = found

    def operator(self, symbol: str, *args: Value, hint: str = "t") -> Value:
        """A Python operator on values."""
        op = core.OPERATORS[symbol]
        if self.safe_arithmetic and symbol in SAFE and not _computes(op, args):
            styles = [numeric(self.style(v)) for v in args]
            if all(isinstance(s, Scalar) and s.weak is not False for s in styles):
                op = op_of(SAFE[symbol]) or op
        return self.call(op, args, hint=hint)

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
            return self.view(array, step)
        out = self.builder.call(core.load, self.operand(array), step, hint=hint)
        return self.wrap(out, [] if basic is False else [array])

    # ------------------------------------------------------------------------------------------------ knowledge

    def is_known(self, value: Value) -> bool:
        """Whether the value is a compile-time object."""
        return isinstance(value, Known)

    def known(self, value: Value) -> Any:
        """The compile-time object; asks for it where a parameter or a loop could provide it."""
        match value:
            case Known(obj):
                return obj
            case TupleValue(items, cls):
                plain = [self.known(v) for v in items]
                return tuple(plain) if cls is None else cls(*plain)
            case SliceValue(start, stop, step):
                return slice(self.known(start), self.known(stop), self.known(step))
            case CellRef(number):
                cell = self.content(number)
                if isinstance(cell, ListCell):
                    return [self.known(v) for v in cell.items]
                if isinstance(cell, DictCell):
                    return {k: self.known(v) for k, v in cell.items.items()}
            case Num(operand) if isinstance(operand, Var):
                self._ask(self.sources.get(operand, frozenset()))
        self.refuse(
            "this must be known at compile time, but is computed at run time",
            "use a constant, an int parameter, or a value that follows from shapes and types",
        )

    def _ask(self, sources: frozenset[Any]) -> None:
        for token in self.unrollable:
            if token in sources:
                raise Unroll(token)
        for name in sorted(s for s in sources if isinstance(s, str)):
            raise NeedStatic(name)

    def iterate(self, value: Value) -> list[Value] | None:
        """The items of a value whose length is known at compile time and small."""
        match value:
            case TupleValue(items):
                return list(items)
            case CellRef(number):
                cell = self.content(number)
                if isinstance(cell, ListCell):
                    return list(cell.items)
                if isinstance(cell, DictCell):
                    return [Known(k) for k in cell.items]
            case Known(obj) if isinstance(obj, tuple | list | str | frozenset | set | dict | range):
                return [
                    Known(x) for x in (sorted(obj, key=repr) if isinstance(obj, set | frozenset) else obj)
                ]
            case Num(Var(style=Tup(items, kind))) | FrozenRef(Var(style=Tup(items, kind))) if kind in (
                "tuple",
                "list",
            ):
                return [self.call(core.list_get, [value, Known(i)], hint="item") for i in range(len(items))]
        return None

    def truth(self, value: Value) -> Value:
        """Python's bool() of a value."""
        match value:
            case Known(obj):
                return self._known_truth(value, obj)
            case TupleValue(items):
                return Known(bool(items))
            case FunctionValue() | BoundMethod() | SliceValue():
                return Known(True)
            case IterValue(length):
                return Known(bool(length)) if isinstance(length, int) else self.truth(Num(length))
            case CellRef(number):
                return self._container_truth(value, self.content(number))
        style = self.style(value)
        if isinstance(style, Scalar) and style.kind == "b" and style.weak is True:
            return value
        return self.call(core.truth, [value], hint="test")

    def _known_truth(self, value: Known, obj: Any) -> Value:
        """An object found outside may be true at one call and false at another."""
        for name in ("__bool__", "__len__"):
            special = self.special(value, name)
            if special is not None:
                return self.truth(self.call_value(special, (), {}))
        return Known(bool(obj))

    def _container_truth(self, value: Value, cell: Cell) -> Value:
        match cell:
            case ListCell(items) | DictCell(items):
                return Known(bool(items))
            case GrowingCell(operand):
                return self.call(
                    core.truth, [Num(self.builder.call(core.list_len, operand, hint="n"))], hint="test"
                )
            case ObjectCell(cls):
                if hasattr(cls, "__bool__"):
                    return self.call_value(self.attribute(value, "__bool__"), (), {})
                if hasattr(cls, "__len__"):
                    return self.truth(self.call_value(self.attribute(value, "__len__"), (), {}))
        return Known(True)

    def test(self, value: Value) -> Known | Operand:
        """The condition of a branch: known, or an operand whose truth Python takes."""
        style = numeric(self.style(value)) if isinstance(value, Num) else None
        if isinstance(style, Scalar):
            return self.operand(value)
        found = self.truth(value)
        return found if isinstance(found, Known) else self.operand(found)


_FOLDABLE = (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype, type)
_Sized = (np.ndarray, list, dict, set)


def _is_foldable(out: Any) -> bool:
    if isinstance(out, tuple):
        return all(_is_foldable(x) for x in out)
    return isinstance(out, _FOLDABLE)


def is_plain(value: Value) -> bool:
    """Known all through."""
    match value:
        case Known():
            return True
        case TupleValue(items):
            return all(is_plain(v) for v in items)
        case SliceValue(start, stop, step):
            return is_plain(start) and is_plain(stop) and is_plain(step)
    return False


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


def _positional(op: Op, args: Sequence[Value], kwargs: Mapping[str, Value]) -> list[Value] | None:
    """All arguments as positional ones; None where that cannot be."""
    if not kwargs:
        return list(args)
    signature = signature_of(op.fn if op.fn is not None else op.impl)
    if signature is None:
        return None
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    if bound.kwargs:
        return None
    return [v if isinstance(v, _VALUES) else Known(v) for v in bound.args]


_VALUES = (
    Known,
    Num,
    ArrayRef,
    FrozenRef,
    TupleValue,
    CellRef,
    FunctionValue,
    BoundMethod,
    SliceValue,
    IterValue,
)
_signatures: dict[Callable[..., Any], Any] = {}


def signature_of(fn: Callable[..., Any]) -> Any:
    """`inspect.signature`, or None where there is none."""
    import inspect

    if fn not in _signatures:
        try:
            _signatures[fn] = inspect.signature(fn)
        except (TypeError, ValueError):
            _signatures[fn] = None
    return _signatures[fn]
