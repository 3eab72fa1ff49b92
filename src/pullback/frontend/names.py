"""Names and attributes: local variables, enclosing functions' variables, and what lies outside.

Outside objects resolve at compile time (guarded) or, where they are data, become implicit parameters of the function.
"""

from __future__ import annotations

import builtins
import functools
import sys
from collections import deque
from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from pullback.errors import ArgumentError, Loc, UnsupportedError
from pullback.frontend import library
from pullback.frontend.bodies import Frame, captured
from pullback.frontend.environment import Path, path_to
from pullback.frontend.members import CONSTANT, Members
from pullback.frontend.signature import Node, Spec, step_name, steps_of
from pullback.frontend.values import (
    ArrayCell,
    ArrayRef,
    CellRef,
    DictCell,
    FrozenRef,
    FunctionValue,
    IterValue,
    Known,
    ListCell,
    Num,
    ObjectCell,
    Super,
    TupleValue,
    Value,
)
from pullback.ir.nodes import Const, Operand, Pack, Var
from pullback.styles.style import PY_INT, Array, Static

_DATA = (int, float, complex, np.ndarray, np.generic, list, dict, tuple)
_CONSTANT_MODULES = ("numpy", "math", "scipy", "sys", "builtins", "pullback")


class Mixed:
    """What a name is bound to where paths meet and leave it with things that cannot be one value."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


class UnboundHere(UnsupportedError):
    """A name is read that nothing has bound."""

    def __init__(self, name: str, reason: str, *, loc: Loc, hint: str) -> None:
        self.name = name
        super().__init__(reason, loc=loc, hint=hint)


class Names(Members):
    """Looks names and attributes up."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.implicits: dict[str, tuple[Operand, Value]] = {}
        self.claimed: set[Var] = set()  # values that bear a user's name
        self.hidden_names = 0
        self._outside: dict[Any, Value] = {}

    # ---------------------------------------------------------------------------------------------- local names

    def read(self, name: str) -> Value:
        """The value of a name in the current function."""
        frame = self.frame
        while frame is not None:
            found = self._bound(frame, name)
            if found is not None:
                self._spend(frame, name, found)
                return self._checked(found)
            if name in frame.body.locals:
                self._unbound(name)
            if frame.parent is None:
                return self._outer(frame, name)
            frame = frame.parent
        self.refuse(f"the name `{name}` is not defined")

    def _bound(self, frame: Frame, name: str) -> Value | None:
        return self.state.names.get(frame.key(name))

    def _spend(self, frame: Frame, name: str, value: Value) -> None:
        """An iterator is good for one use."""
        if isinstance(value, IterValue) and value.range_ is None and not value.reusable:
            spent = Mixed(f"`{name}` is an iterator, which is spent after its first use: make a list of it")
            self.state.names[frame.key(name)] = Known(spent)

    def _checked(self, value: Value) -> Value:
        if isinstance(value, Known) and isinstance(value.obj, Mixed):
            self.refuse(
                value.obj.reason, "use different names, or make both paths bind the same kind of value"
            )
        return value

    def _unbound(self, name: str) -> Value:
        raise UnboundHere(
            name,
            f"the name `{name.lstrip('.')}` is not bound here on any path",
            loc=self.builder.loc,
            hint="bind it before it is used",
        )

    def bind(self, name: str, value: Value) -> None:
        """Bind a name in the current function."""
        assert self.frame is not None
        self.state.names[self.frame.key(name)] = self.named(name, value)

    def named(self, name: str, value: Value) -> Value:
        """A result that has no user's name yet takes this one."""
        cell = self.state.cells.get(value.cell) if isinstance(value, CellRef) else None
        if isinstance(cell, ObjectCell):
            for key, part in cell.fields.items():
                if not isinstance(part, CellRef):
                    self.named(part_hint(name, key), part)
            return value
        operand: Operand | None = value.operand if isinstance(value, Num | FrozenRef) else None
        if isinstance(value, ArrayRef) and not value.path:
            operand = self._array(value.cell).operand
        if (
            isinstance(operand, Var)
            and operand not in self.claimed
            and self.frame is not None
            and not self.hidden_names
        ):
            rename(operand, name.lstrip("."))
            self.claimed.add(operand)
        return value

    # -------------------------------------------------------------------------------------------- outside names

    def _outer(self, frame: Frame, name: str) -> Value:
        fn = frame.fn
        if frame.globals is not None:
            return self._of_rule(frame.globals, name)
        if fn is None:
            return self._builtin(name)
        if name in fn.__code__.co_freevars:
            return self.outside(Path(fn, "cell", name))
        if name in fn.__globals__:
            return self.outside(Path(fn, "global", name))
        found = self._builtin(name)
        if not frame.body.is_prelude:
            self.watch(Path(fn, "builtin", name), found.obj)
        return found

    def _builtin(self, name: str) -> Known:
        if not hasattr(builtins, name):
            self.refuse(f"the name `{name}` is not defined", "Python raises NameError here")
        return Known(getattr(builtins, name))

    def _of_rule(self, names: Mapping[str, Any], name: str) -> Value:
        """A name in a rule's expression: of the rule's module, else of NumPy."""
        if name in names:
            return Known(names[name])
        return Known(getattr(np, name)) if hasattr(np, name) else self._builtin(name)

    def outside(self, path: Path) -> Value:
        """The object at a path: guarded if it belongs to compile time, else an implicit parameter."""
        key = (id(path.fn), path.kind, path.name, path.steps)
        if key not in self._outside:
            try:
                obj = path.fetch()
            except (NameError, AttributeError, LookupError) as error:
                self.refuse(str(error), "Python raises this error here too")
            self._outside[key] = self._resolve(path, obj)
        return self._outside[key]

    def _resolve(self, path: Path, obj: Any) -> Value:
        is_data = isinstance(obj, _DATA) and not isinstance(obj, CONSTANT)
        if is_data and self.environment is not None and not (isinstance(obj, tuple) and _is_constant(obj)):
            return self._implicit(path)
        if isinstance(obj, set):
            self.watch(path.frozen(), frozenset(obj))
            return Known(frozenset(obj), path.frozen())
        if isinstance(obj, bytearray | deque):
            self.refuse(
                f"`{path}` is a {type(obj).__name__}, whose items may change", "use a list or a tuple"
            )
        self.watch(path, obj)
        return Known(obj, path)

    def _implicit(self, path: Path) -> Value:
        assert self.environment is not None
        try:
            name, spec = self.environment.implicit(path)
        except ArgumentError as error:
            self.refuse(error.reason, error.hint)
        self.fixed.add(name)
        tree, value = self.parameter(name, spec)
        self.implicits[name] = (tree, value)
        return value

    def parameter(self, name: str, spec: Spec) -> tuple[Operand, Value]:
        """The operand tree and the value of a parameter of given spec."""
        operand = self._tree(name, spec)
        self._note_sources(operand, name)
        return operand, self._value_of(name, operand)

    def _note_sources(self, operand: Operand, name: str) -> None:
        """The integers in a parameter, which may be asked for by value."""
        if isinstance(operand, Var) and operand.style == PY_INT:
            self.sources[operand] = frozenset({name})
        elif isinstance(operand, Pack):
            for item, step in zip(operand.items, steps_of(operand), strict=True):
                self._note_sources(item, step_name(name, step))

    def _tree(self, hint: str, spec: Spec) -> Operand:
        if isinstance(spec, Static):
            return Const(spec.value)
        if not isinstance(spec, Node):
            return Var(hint, spec)
        names = (
            spec.meta[1]
            if spec.kind == "new" and spec.meta[1]
            else spec.meta
            if spec.kind == "dict"
            else None
        )
        parts = names if names is not None else range(len(spec.items))
        items = tuple(self._tree(part_hint(hint, p), s) for p, s in zip(parts, spec.items, strict=True))
        return Pack(spec.kind, items, spec.meta)

    def _value_of(self, param: str, operand: Operand) -> Value:
        if isinstance(operand, Const):
            held = isinstance(operand.value, FunctionType | MethodType | functools.partial)
            return Known(operand.value, Path(operand.value, "object", param) if held else None)
        if isinstance(operand, Var):
            if isinstance(operand.style, Array):
                return self.parameter_array(ArrayCell(operand, param))
            return Num(operand)
        items = tuple(self._value_of(param, x) for x in operand.items)
        match operand.kind:
            case "tuple":
                return TupleValue(items)
            case "list":
                return self.parameter_cell(ListCell(items, param))
            case "dict":
                return self.parameter_cell(DictCell(dict(zip(operand.meta, items, strict=True)), param))
        cls, names = operand.meta
        if names is None:
            return TupleValue(items, cls)
        return self.parameter_cell(ObjectCell(cls, dict(zip(names, items, strict=True)), param))

    def parameter_array(self, cell: ArrayCell) -> ArrayRef:
        """A reference to a storage that is a parameter's."""
        return ArrayRef(self._parameter_number(cell))

    def parameter_cell(self, cell: ListCell | DictCell | ObjectCell) -> CellRef:
        """A reference to a container that is a parameter's."""
        return CellRef(self._parameter_number(cell))

    def _parameter_number(self, cell: ArrayCell | ListCell | DictCell | ObjectCell) -> int:
        number = next(self._ids)
        (self.outside_cells if cell.param in self.fixed else self.state.cells)[number] = cell
        self.parameter_of[number] = cell.param
        return number

    # ---------------------------------------------------------------------------------------------- attributes

    def attribute(self, owner: Value, name: str) -> Value:
        """`owner.name`."""
        if isinstance(owner, Known) and isinstance(owner.obj, Super):
            return self._super_attribute(owner.obj, name)
        if isinstance(owner, Known):
            return self._known_attribute(owner, name)
        if isinstance(owner, CellRef):
            cell = self.cell(owner)
            if isinstance(cell, ObjectCell):
                self.check_plain_attributes(cell.cls, name)
                if name not in cell.fields or isinstance(getattr(cell.cls, name, None), property):
                    return self._class_attribute(owner, cell.cls, name)
        if isinstance(owner, TupleValue) and owner.cls is not None and name not in owner.cls._fields:  # type: ignore[attr-defined]
            return self._class_attribute(owner, owner.cls, name)
        if isinstance(owner, FunctionValue) and name == "__name__":
            return Known(owner.name)
        return library.attribute(self, owner, name)

    def _known_attribute(self, owner: Known, name: str) -> Value:
        obj = owner.obj
        if owner.path is None:
            owner = Known(obj, path_to(obj))
        if isinstance(obj, Mixed):
            self._checked(owner)
        if isinstance(obj, np.generic | bool | int | float | complex | str):
            return library.attribute(self, owner, name)
        try:
            found = getattr(obj, name)
        except AttributeError as error:
            self.refuse(str(error), "Python raises AttributeError here")
        member = self._member_of_known(owner, found, name)
        if member is not None:
            return member
        if owner.path is not None and not _is_library(obj):
            return self.outside(owner.path.attr(name))
        if (
            isinstance(found, _DATA)
            and not isinstance(found, CONSTANT)
            and not isinstance(found, int | float | complex | np.generic)
            and not (isinstance(found, tuple) and _is_constant(found))
        ):
            self.refuse(
                f"`{name}` is data of an object that the compiler cannot find again",
                "pass it as an argument",
            )
        return Known(found)

    # ------------------------------------------------------------------------------------------------- closures

    def closure_keys(self, fn: FunctionValue) -> set[str]:
        """The keys of the variables that a nested function reads."""
        found: set[str] = set()
        frame: Frame | None = fn.scope
        names = captured(fn.node) if frame is not None else set()
        while frame is not None:
            found |= {frame.key(n) for n in names}
            frame = frame.parent
        return found


def rename(var: Var, name: str) -> None:
    """Give a value that was just made the name that it is assigned to (a Var's identity is not its name)."""
    object.__setattr__(var, "hint", name)


def part_hint(hint: str, key: Any) -> str:
    """The name of a part of a container that has a name: `p_w` for `p.w`."""
    text = f"{hint}_{key}"
    return text if text.isidentifier() else hint


def _is_constant(obj: Any) -> bool:
    if isinstance(obj, tuple):
        return all(_is_constant(x) for x in obj)
    return isinstance(obj, CONSTANT)


def _is_library(obj: Any) -> bool:
    """Whether attributes of an object are never data of the user's."""
    if isinstance(obj, ModuleType):
        root = obj.__name__.split(".")[0]
        return root in _CONSTANT_MODULES or root in sys.stdlib_module_names
    return isinstance(obj, BuiltinFunctionType | np.ufunc | MethodType)
