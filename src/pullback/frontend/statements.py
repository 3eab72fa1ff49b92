"""Simple statements: assignment in all its forms, assertions, raising, `with`, imports."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.frontend import library
from pullback.frontend.access import Access
from pullback.frontend.environment import Path
from pullback.frontend.expressions import BINARY
from pullback.frontend.library import lists
from pullback.frontend.machine import Unreachable
from pullback.frontend.names import part_hint
from pullback.frontend.refusals import refuse
from pullback.frontend.values import (
    ArrayRef,
    CellRef,
    DictCell,
    FrozenRef,
    GrowingCell,
    Known,
    ListCell,
    Num,
    ObjectCell,
    SliceValue,
    TupleValue,
    Value,
)
from pullback.ir import core_ops as core
from pullback.ir.nodes import Const
from pullback.styles.style import Array, ListOf, Style, numeric

_INPLACE = {
    "+": "iadd",
    "-": "isub",
    "*": "imul",
    "/": "itruediv",
    "@": "imatmul",
    "**": "ipow",
    "//": "ifloordiv",
    "%": "imod",
    "&": "iand",
    "|": "ior",
    "^": "ixor",
    "<<": "ilshift",
    ">>": "irshift",
}


class Statements(Access):
    """Executes statements."""

    def execute(self, stmts: Sequence[ast.stmt]) -> None:
        """Lower statements in order, up to one that never ends."""
        for stmt in stmts:
            if self.state.dead:
                return
            self.statement(stmt)

    def statement(self, stmt: ast.stmt) -> None:
        """Lower one statement at its place."""
        frame = self.frame
        assert frame is not None
        handler: Callable[[Any], None] | None = getattr(self, f"do_{type(stmt).__name__}", None)
        if handler is None:
            self.refuse(f"this statement ({type(stmt).__name__}) is not supported", node=stmt)
        saved = frame.stmt, self.builder.loc, len(self.temps), self.base
        frame.stmt, self.builder.loc, self.base = stmt, self.place(stmt), len(self.temps)
        try:
            handler(stmt)
        except Unreachable:
            self.state.dead = True
        finally:
            frame.stmt, self.builder.loc, _, self.base = saved
            del self.temps[saved[2] :]

    # -------------------------------------------------------------------------------------------- assignments

    def do_Pass(self, stmt: ast.Pass) -> None:
        """Nothing."""

    def do_Expr(self, stmt: ast.Expr) -> None:
        """An expression for its effect."""
        self.evaluate(stmt.value)

    def do_Assign(self, stmt: ast.Assign) -> None:
        """`a = b = value`."""
        value = self.evaluate(stmt.value)
        for target in stmt.targets:
            self.assign(target, value)

    def do_AnnAssign(self, stmt: ast.AnnAssign) -> None:
        """`a: int = value`."""
        if stmt.value is not None:
            self.assign(stmt.target, self.evaluate(stmt.value))

    def assign(self, target: ast.expr, value: Value) -> None:
        """Assign to any target."""
        match target:
            case ast.Name(id=name):
                self.bind(name, value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                self._unpack(parts, value, target)
            case ast.Subscript():
                owner = self.evaluate(target.value)
                index = self.evaluate(target.slice)
                self.at_end(lambda: self.store_item(owner, index, value))
            case ast.Attribute():
                self.store_attribute(self.evaluate(target.value), target.attr, value)
                self._name_attribute(target, value)
            case ast.Starred(value=inner):
                self.assign(inner, value)
            case _:
                self.refuse("this target cannot be assigned", node=target)

    def _name_attribute(self, target: ast.Attribute, value: Value) -> None:
        if isinstance(target.value, ast.Name):
            self.named(part_hint(target.value.id, target.attr), value)

    def at_end(self, write: Callable[[], None]) -> None:
        """A write after which nothing of the current statement is read again."""
        previous, self.in_statement_write = self.in_statement_write, True
        try:
            write()
        finally:
            self.in_statement_write = previous

    def _unpack(self, parts: Sequence[ast.expr], value: Value, node: ast.expr) -> None:
        stars = [i for i, p in enumerate(parts) if isinstance(p, ast.Starred)]
        items = self.items_of(value)
        if items is None:
            items = self._checked_items(value, parts, node)
            stars = []
        if not stars:
            if len(items) != len(parts):
                self.refuse(
                    f"{len(items)} items are unpacked into {len(parts)} names",
                    "Python raises ValueError here",
                    node,
                )
            for part, item in zip(parts, items, strict=True):
                self.assign(part, item)
            return
        star, after = stars[0], len(parts) - stars[0] - 1
        if len(items) < len(parts) - 1:
            self.refuse(
                f"{len(items)} items are unpacked into {len(parts)} names",
                "Python raises ValueError here",
                node,
            )
        middle = items[star : len(items) - after]
        given = [*items[:star], self.new_cell(ListCell(tuple(middle))), *items[len(items) - after :]]
        for part, item in zip(parts, given, strict=True):
            self.assign(part, item)

    def _checked_items(self, value: Value, parts: Sequence[ast.expr], node: ast.expr) -> list[Value]:
        """What each name gets of a value of run-time length: the length is checked at run time."""
        star = next((i for i, p in enumerate(parts) if isinstance(p, ast.Starred)), None)
        count = len(parts) if star is None else len(parts) - 1
        self.check_length(value, count, node, at_least=star is not None)
        if star is None:
            return [self.subscript(value, Known(i)) for i in range(count)]
        after = count - star
        window = SliceValue(Known(star), Known(-after if after else None), Known(None))
        middle = self.call_value(Known(list), [self.subscript(value, window)], {})
        first = [self.subscript(value, Known(i)) for i in range(star)]
        return [*first, middle, *(self.subscript(value, Known(i - after)) for i in range(after))]

    # ----------------------------------------------------------------------------------- augmented assignments

    def do_AugAssign(self, stmt: ast.AugAssign) -> None:
        """`a += b`: in place for arrays and lists, a new binding for numbers."""
        symbol = BINARY[type(stmt.op)]
        match stmt.target:
            case ast.Name(id=name):
                current = self.read(name)
                new = self._in_place(symbol, current, self.evaluate(stmt.value), stmt)
                if new is not current:
                    self.bind(name, new)
            case ast.Subscript():
                owner = self.evaluate(stmt.target.value)
                index = self.evaluate(stmt.target.slice)
                self._augment_item(symbol, owner, index, stmt)
            case ast.Attribute(attr=attr):
                owner = self.evaluate(stmt.target.value)
                current = self.attribute(owner, attr)
                new = self._in_place(symbol, current, self.evaluate(stmt.value), stmt)
                if new is not current:
                    self.store_attribute(owner, attr, new)
                    self._name_attribute(stmt.target, new)

    def _augment_item(self, symbol: str, owner: Value, index: Value, stmt: ast.AugAssign) -> None:
        if isinstance(owner, FrozenRef) and isinstance(self.style(owner), Array):
            owner = self.thaw(owner)
        current = self.subscript(owner, index)
        if isinstance(owner, ArrayRef):
            value = self.evaluate(stmt.value)
            if isinstance(current, ArrayRef | FrozenRef):
                self._check_cast(symbol, current, value, stmt)
            new = self.binary(symbol, current, value, stmt)
            self.at_end(lambda: self.write(owner, (self.step(index),), new))
            return
        new = self._in_place(symbol, current, self.evaluate(stmt.value), stmt)
        if new is not current:
            self.store_item(owner, index, new)

    def _in_place(self, symbol: str, current: Value, value: Value, stmt: ast.AugAssign) -> Value:
        """The value that the target holds afterwards: `current` itself where it was changed in place."""
        if isinstance(current, FrozenRef) and not isinstance(self.style(current), ListOf):
            if isinstance(self.style(current), Array) and self.style(current).axes is None:  # type: ignore[union-attr]
                return self._in_place_unknown(symbol, current, value, stmt)
            current = self.thaw(current)
        if isinstance(current, ArrayRef):
            target = current
            self._check_cast(symbol, current, value, stmt)
            new = self.binary(symbol, current, value, stmt)
            self.at_end(lambda: self.write(target, (), new))
            return current
        if isinstance(current, CellRef):
            return self._in_place_container(symbol, current, value, stmt)
        return self.binary(symbol, current, value, stmt)

    def _in_place_unknown(self, symbol: str, current: FrozenRef, value: Value, stmt: ast.AugAssign) -> Value:
        """An array or a NumPy scalar, which only the run time knows: the same where nothing shares it."""
        self.at_end(lambda: self.check_held_once(current))
        self.thaw(current)
        new = self.binary(symbol, current, value, stmt)
        before, after = self.style(current), self.style(new)
        if (
            isinstance(before, Array)
            and before.dtype is not None
            and getattr(after, "dtype", None) == before.dtype
        ):
            return new
        self.refuse(
            f"`{symbol}=` on a value that is an array on one path and a number on another",
            "write a = a + b, or make it an array on every path",
            stmt,
        )

    def _in_place_container(self, symbol: str, current: CellRef, value: Value, stmt: ast.AugAssign) -> Value:
        cell = self.cell(current)
        if isinstance(cell, ListCell | GrowingCell) and symbol == "+":
            library.method(self, current, "extend", [value], {})
            return current
        if isinstance(cell, ListCell) and symbol == "*":
            self.set_cell(current, ListCell(cell.items * int(self.known(value)), cell.param))
            return current
        if isinstance(cell, DictCell) and symbol == "|":
            library.method(self, current, "update", [value], {})
            return current
        if isinstance(cell, ObjectCell) and hasattr(cell.cls, f"__{_INPLACE[symbol]}__"):
            return self.call_value(self.attribute(current, f"__{_INPLACE[symbol]}__"), [value], {})
        return self.binary(symbol, current, value, stmt)

    def _check_cast(self, symbol: str, target: Value, value: Value, stmt: ast.AugAssign) -> None:
        """NumPy's casting rule for results written in place ("same_kind")."""
        style = self.style(target)
        if isinstance(value, CellRef | TupleValue):
            return
        result: Style = core.OPERATORS[symbol].style(style, self.style(value))
        have = getattr(style, "dtype", None)
        new = getattr(numeric(result), "dtype", None)
        kinds = getattr(style, "kind", "c"), getattr(numeric(result), "kind", "c")
        if have is None or new is None:
            if have is not None and "bifc".find(kinds[1]) <= "bifc".find(kinds[0]):
                return
            self.refuse(
                f"whether NumPy casts the result of `{symbol}=` here is known at run time only",
                f"write a = a {symbol} b, or convert with astype",
                stmt,
            )
        if not np.can_cast(new, have, "same_kind"):
            self.refuse(
                f"`{symbol}=` of a result of dtype {new} into an array of dtype {have}: NumPy does not cast that",
                f"convert the array first, or write a = a {symbol} b",
                stmt,
            )

    # -------------------------------------------------------------------------------------------------- others

    def do_Delete(self, stmt: ast.Delete) -> None:
        """`del name`."""
        assert self.frame is not None
        for target in stmt.targets:
            if isinstance(target, ast.Subscript):
                lists.delete(self, self.evaluate(target.value), self.evaluate(target.slice))
                continue
            assert isinstance(target, ast.Name)
            self.read(target.id)
            self.state.names.pop(self.frame.key(target.id), None)

    def do_FunctionDef(self, stmt: ast.FunctionDef) -> None:
        """A nested function."""
        value: Value = self.function_value(stmt, stmt.name)
        for decorator in reversed(stmt.decorator_list):
            value = self.call_value(self.evaluate(decorator), [value], {})
        self.bind(stmt.name, value)

    def do_Assert(self, stmt: ast.Assert) -> None:
        """`assert test, message`."""
        test = self.test(self.evaluate(stmt.test))
        if isinstance(test, Known):
            if test.obj:
                return
            self._raise_now(AssertionError, [self.evaluate(stmt.msg)] if stmt.msg is not None else [])
            return
        message = () if stmt.msg is None else (self.operand(self.evaluate(stmt.msg)),)
        self.builder.call_many(core.assert_, (test, *message), {}, ())

    def _raise_now(self, cls: type[BaseException], args: Sequence[Value]) -> None:
        error = library.dispatch(self, cls, args, {})
        assert error is not None
        self.builder.call_many(core.raise_, (self.operand(error),), {}, ())
        self.state.dead = True

    def do_Raise(self, stmt: ast.Raise) -> None:
        """`raise error`."""
        if stmt.exc is None:
            self.refuse("`raise` without an exception", "name the exception", stmt)
        error = self.evaluate(stmt.exc)
        if isinstance(error, Known) and isinstance(error.obj, type):
            error = self.call_value(error, (), {})
        self.builder.call_many(core.raise_, (self.operand(error),), {}, ())
        self.state.dead = True

    def do_With(self, stmt: ast.With) -> None:
        """`with np.errstate(...)`: the scope is entered and left around the body."""
        managers = [self._enter(item) for item in stmt.items]
        self.execute(stmt.body)
        if self.state.dead:
            return
        for manager in reversed(managers):
            self.builder.call_many(core.leave, (self.operand(manager),), {}, ())

    def _enter(self, item: ast.withitem) -> Value:
        call = item.context_expr
        fn = self.evaluate(call.func) if isinstance(call, ast.Call) else None
        if not (isinstance(fn, Known) and fn.obj in _CONTEXTS) or not isinstance(call, ast.Call):
            refuse(
                "with", self.place(call), name=ast.unparse(call.func if isinstance(call, ast.Call) else call)
            )
        args = self.sequence(call.args)
        kwargs = {k.arg: self.evaluate(k.value) for k in call.keywords if k.arg is not None}
        manager = Num(
            self.builder.call(
                core.enter,
                Const(fn.obj),
                *[self.operand(a) for a in args],
                hint="context",
                **{k: self.operand(v) for k, v in kwargs.items()},
            )
        )
        if item.optional_vars is not None:
            self.assign(item.optional_vars, Known(None))
        return manager

    def do_Import(self, stmt: ast.Import) -> None:
        """`import module`, resolved at compile time."""
        for alias in stmt.names:
            module = importlib.import_module(alias.name)
            if alias.asname is None:
                module = importlib.import_module(alias.name.split(".")[0])
            self.bind(alias.asname or alias.name.split(".")[0], Known(module, self._import_path(module)))

    def do_ImportFrom(self, stmt: ast.ImportFrom) -> None:
        """`from module import name`."""
        package = self.frame.fn.__globals__.get("__package__") if self.frame and self.frame.fn else None
        module = importlib.import_module("." * stmt.level + (stmt.module or ""), package)
        for alias in stmt.names:
            value = self.attribute(Known(module, self._import_path(module)), alias.name)
            self.bind(alias.asname or alias.name, value)

    def _import_path(self, module: Any) -> Path:
        return Path(_loaded, "global", "sys").attr("modules").item(module.__name__)


def _loaded() -> None:
    """A function whose globals hold `sys`: the root of paths to modules imported in a body."""


_CONTEXTS = (np.errstate, np.printoptions)

assert sys  # reached through `_loaded`
