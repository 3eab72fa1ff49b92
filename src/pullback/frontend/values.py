"""What the front end knows of a Python value while it interprets the user's function abstractly.

    Value = Known(obj)                 a compile-time object: module, function, type, None, string, literal number
          | Num(operand)               an immutable run-time value in the IR: number, or opaque object (style Anything)
          | ArrayRef(cell, path)       a reference to an array: a storage and a view path (Packs "index" / "view")
          | FrozenRef(operand, cells)  an array read as a value; a write to one of `cells` while it lives is refused
          | TupleValue(items, cls)     a tuple of Values (cls: the named tuple class, or None)
          | CellRef(cell)              a reference to a mutable container: list, dict, set of knowns, object
          | FunctionValue(...)         a user function with its closure
          | BoundMethod(owner, name)   attribute of an array or container, waiting to be called
          | SliceValue(start, stop, step)
          | IterValue(length, item)    something a `for` can run over: range, enumerate, zip, reversed, rows of an array

    Cell  = ArrayCell(operand)         a storage: the current version of the whole array
          | ListCell(items)            a list of known length
          | GrowingCell(operand)       a list of unknown length: a run-time list in the IR
          | DictCell(items)            static keys
          | ObjectCell(cls, fields)    an instance of an ordinary class, dataclass included

The state of the abstract machine is `State(names, cells)`.  Names that share a cell id are aliases.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pullback.ir.nodes import Operand, Pack


@dataclass(frozen=True, eq=False, slots=True)
class Known:
    """A compile-time object; `path` is where it was found outside the function (an environment.Path), or None."""

    obj: Any
    path: Any = None


@dataclass(frozen=True, eq=False, slots=True)
class Super:
    """What `super(after, instance)` is: a compile-time object, held by a Known."""

    after: type
    cls: type  # of the instance, or the class that a class method got
    instance: Any  # a Value


@dataclass(frozen=True, eq=False, slots=True)
class Num:
    """An immutable run-time value: a number (Var of style Scalar), or an opaque object."""

    operand: Operand


@dataclass(frozen=True, eq=False, slots=True)
class ArrayRef:
    """An array: storage cell and view path from the whole storage."""

    cell: int
    path: tuple[Pack, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class FrozenRef:
    """An array (or run-time list) read as a value.  `cells` are the storages it may share."""

    operand: Operand
    cells: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False, slots=True)
class TupleValue:
    """A tuple; `cls` is the named tuple's class."""

    items: tuple[Value, ...]
    cls: type | None = None


@dataclass(frozen=True, eq=False, slots=True)
class CellRef:
    """A mutable container."""

    cell: int


@dataclass(frozen=True, eq=False, slots=True)
class FunctionValue:
    """A user function defined inside the function being lowered (its closure is live), or a global one."""

    node: ast.FunctionDef | ast.Lambda
    scope: Any  # the frame whose names it closes over; None for a global function
    fn: Any = None  # a FunctionType
    defaults: tuple[Value, ...] = ()
    kw_defaults: Mapping[str, Value] = field(default_factory=dict)
    name: str = "<lambda>"


@dataclass(frozen=True, eq=False, slots=True)
class BoundMethod:
    """`owner.name`, to be called: the library knows the methods of arrays, lists, dicts, strings."""

    owner: Value
    name: str


@dataclass(frozen=True, eq=False, slots=True)
class SliceValue:
    """A slice of Values."""

    start: Value
    stop: Value
    step: Value


@dataclass(frozen=True, eq=False, slots=True)
class IterValue:
    """Something that can be iterated.

    `length`: a Python int where known at compile time (then a `for` over it is still a loop unless items are of
    different structure), else an integer Operand.  `item(index)` gives the Value at an index (Known int or Num).
    `range_` holds (start, stop, step) operands when it is a plain range.  `reusable`: it is no iterator in Python's
    sense but a view (of a dict), good for any number of uses.  `over`: the values that the items are read from; they
    live as long as this does.
    """

    length: int | Operand
    item: Callable[[Value], Value]
    range_: tuple[Operand, Operand, Operand] | None = None
    reusable: bool = False
    over: tuple[Value, ...] = ()


Value: TypeAlias = (
    Known
    | Num
    | ArrayRef
    | FrozenRef
    | TupleValue
    | CellRef
    | FunctionValue
    | BoundMethod
    | SliceValue
    | IterValue
)


@dataclass(frozen=True, eq=False, slots=True)
class ArrayCell:
    """A storage: the operand is the current version of the whole array.  `owned` is False for a parameter's."""

    operand: Operand
    param: str = ""  # the parameter (or implicit parameter) whose storage this is; "" if made by this call


@dataclass(frozen=True, eq=False, slots=True)
class ListCell:
    """A list of known length."""

    items: tuple[Value, ...]
    param: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class GrowingCell:
    """A run-time list in the IR; its items are frozen values."""

    operand: Operand
    shares: frozenset[int] = frozenset()  # storages of arrays put into it
    param: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class DictCell:
    """A dict with static keys, in insertion order."""

    items: Mapping[Any, Value]
    param: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class ObjectCell:
    """An instance of an ordinary class."""

    cls: type
    fields: Mapping[str, Value]
    param: str = ""


Cell: TypeAlias = ArrayCell | ListCell | GrowingCell | DictCell | ObjectCell


@dataclass(slots=True)
class State:
    """The abstract machine's state at a program point.  Cells are replaced, never changed."""

    names: dict[str, Value] = field(default_factory=dict)
    cells: dict[int, Cell] = field(default_factory=dict)
    dead: bool = False  # control cannot reach this point

    def fork(self) -> State:
        """A copy for a branch (cells are immutable, so this is shallow)."""
        return State(dict(self.names), dict(self.cells), self.dead)
