"""Operands and calls as Python expressions.

In: names by value, folded values, the module's globals.  Out: `ast` expressions of the node kinds that print
alike on every Python.  `target` gives the place a path names, as something that can be assigned to.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pullback.backend.numpy.constants import Globals, call, name
from pullback.backend.numpy.kernels import kernel_call
from pullback.ir import core_ops as core
from pullback.ir.callee import Callee
from pullback.ir.core_ops import style_of
from pullback.ir.kernel import kernel_of
from pullback.ir.nodes import Call, Const, Op, Operand, Pack, Var
from pullback.styles.style import Array, Scalar, numeric

BINARY: dict[str, type[ast.operator]] = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv, "%": ast.Mod, "**": ast.Pow,
    "@": ast.MatMult, "<<": ast.LShift, ">>": ast.RShift, "&": ast.BitAnd, "|": ast.BitOr, "^": ast.BitXor,
}  # fmt: skip
COMPARE: dict[str, type[ast.cmpop]] = {
    "<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE, "==": ast.Eq, "!=": ast.NotEq, "is": ast.Is,
    "is not": ast.IsNot, "in": ast.In,
}  # fmt: skip
UNARY: dict[str, type[ast.unaryop]] = {"u-": ast.USub, "u+": ast.UAdd, "~": ast.Invert, "not": ast.Not}


class Expressions:
    """Prints operands; `hoisted` are folded values that got a line and a name after all."""

    def __init__(
        self,
        names: Mapping[Var, str],
        folded: Mapping[Var, Call],
        module: Globals,
        guarded: bool = False,
        callees: Mapping[Callee, str] | None = None,
    ) -> None:
        self.names = names
        self.folded = folded
        self.module = module
        self.guarded = guarded
        self.callees = callees or {}
        self.hoisted: dict[Var, str] = {}

    # --------------------------------------------------------------------------------------------- operands

    def operand(self, operand: Operand) -> ast.expr:
        """An operand as an expression."""
        if isinstance(operand, Var):
            return self.variable(operand)
        if isinstance(operand, Const):
            return self.module.constant(operand.value)
        return self._pack(operand)

    def variable(self, var: Var) -> ast.expr:
        """A value: its name, or its expression where it is folded."""
        if var in self.hoisted:
            return name(self.hoisted[var])
        if var in self.folded:
            return self.call(self.folded[var])
        return name(self.names[var])

    def _pack(self, pack: Pack) -> ast.expr:
        if pack.kind == "dict":
            return ast.Dict(
                [self.module.constant(k) for k in pack.meta], [self.operand(x) for x in pack.items]
            )
        items = [self.operand(x) for x in pack.items]
        if pack.kind == "new":
            constructor, fields = pack.meta
            fn = self.module.constant(constructor)
            if fields is None:
                return call(fn, *items)
            named = dict(zip(fields, items, strict=True))
            if _takes_fields(constructor, fields):
                return call(fn, **named)
            return call(self.module.helper("build"), fn, **named)
        if pack.kind == "slice":
            return call(self.module.builtin("slice"), *items)
        if pack.kind == "list":
            return ast.List(items, ast.Load())
        assert pack.kind == "tuple", pack.kind
        return ast.Tuple(items, ast.Load())

    # ------------------------------------------------------------------------------------------------- paths

    def path(self, array: Operand, steps: tuple[Operand, ...]) -> ast.expr:
        """The end of a view path."""
        out = self.operand(array)
        for step in steps:
            assert isinstance(step, Pack)
            out = self._step(out, step)
        return out

    def target(self, array: Operand, steps: tuple[Operand, ...]) -> ast.expr:
        """The place at the end of a path, to be assigned to: always a subscript."""
        whole = [] if steps and _is_index(steps[-1]) else [ast.Constant(...)]
        place = self.path(array, steps)
        return ast.Subscript(place, whole[0], ast.Load()) if whole else place

    def _step(self, base: ast.expr, step: Pack) -> ast.expr:
        if step.kind == "index":
            entries = [self._entry(x) for x in step.items]
            index = ast.Tuple(entries, ast.Load()) if step.meta == "tuple" else entries[0]
            return ast.Subscript(base, index, ast.Load())
        if step.meta.fn is np.transpose and not step.items:
            return ast.Attribute(base, "T", ast.Load())
        return self._numpy_call(step.meta, [base, *(self.operand(x) for x in step.items)], {})

    def _entry(self, entry: Operand) -> ast.expr:
        """An index entry, slices as `a:b`."""
        if isinstance(entry, Pack) and entry.kind == "slice":
            return ast.Slice(*(None if _is_none(x) else self.operand(x) for x in entry.items))
        if isinstance(entry, Const) and isinstance(entry.value, slice):
            parts = (entry.value.start, entry.value.stop, entry.value.step)
            return ast.Slice(*(None if x is None else self.module.constant(x) for x in parts))
        return self.operand(entry)

    # ------------------------------------------------------------------------------------------------- calls

    def call(self, stmt: Call) -> ast.expr:
        """A call as an expression."""
        special = _SPECIAL.get(stmt.op)
        if special is not None:
            return special(self, stmt)
        if stmt.op.name in core.OPERATORS and core.OPERATORS[stmt.op.name] is stmt.op:
            return self._operator(stmt)
        args = [self.operand(x) for x in stmt.args]
        kernel = kernel_of(stmt)
        if kernel is not None:
            return kernel_call(kernel, self.module, args)
        kwargs = {k: self.operand(v) for k, v in stmt.kwargs}
        alone = len(args) == 1 and not kwargs and isinstance(style_of(stmt.args[0]), Array)
        if stmt.op.fn is np.transpose and alone:
            return ast.Attribute(args[0], "T", ast.Load())
        return self._numpy_call(stmt.op, args, kwargs)

    def _operator(self, stmt: Call) -> ast.expr:
        symbol = stmt.op.name
        args = [self.operand(x) for x in stmt.args]
        if symbol in UNARY:
            return ast.UnaryOp(UNARY[symbol](), args[0])
        if symbol in COMPARE:
            return ast.Compare(args[0], [COMPARE[symbol]()], [args[1]])
        return ast.BinOp(args[0], BINARY[symbol](), args[1])

    def _numpy_call(self, op: Op, args: list[ast.expr], kwargs: dict[str, ast.expr]) -> ast.expr:
        if isinstance(op.fn, Callee) and op.fn in self.callees:
            return call(name(self.callees[op.fn]), *args, **kwargs)
        fn = self.module.function_of(op)
        assert fn is not None, op
        return call(fn, *args, **kwargs)

    def _load(self, stmt: Call) -> ast.expr:
        return self.path(stmt.args[0], stmt.args[1:])

    def _copy(self, stmt: Call) -> ast.expr:
        (array,) = stmt.args
        style = style_of(array)
        if isinstance(style, Array) and style.axes and (len(style.axes) == 1 or style.contiguous):
            return call(ast.Attribute(self.operand(array), "copy", ast.Load()))
        return call(self.module.numpy("copy"), self.operand(array))

    def _accumulate(self, stmt: Call) -> ast.expr:
        sign, more = signed(self.operand(stmt.args[1]))
        return ast.BinOp(self.operand(stmt.args[0]), sign, more)

    def _scale(self, stmt: Call) -> ast.expr:
        bar, partial = (self.operand(x) for x in stmt.args)
        if self.guarded:
            selects = [ast.Constant(True)] if stmt.kwargs else []
            return call(self.module.helper("scale"), bar, partial, *selects)
        return ast.BinOp(bar, ast.Mult(), partial)

    def _cast(self, stmt: Call) -> ast.expr:
        bar, dtype = stmt.args
        style, kind = numeric(style_of(bar)), self.operand(dtype)
        assert isinstance(dtype, Const)
        real = isinstance(style, Array | Scalar) and (
            style.kind in "bif" or np.dtype(dtype.value).kind == "c"
        )
        if real and isinstance(style, Scalar):
            return call(kind, self.operand(bar))
        if real and isinstance(style, Array) and style.axes and style.dtype is not None:
            return call(ast.Attribute(self.operand(bar), "astype", ast.Load()), kind)
        return call(self.module.helper("cast"), self.operand(bar), kind)

    def _number(self, stmt: Call) -> ast.expr:
        value, number = stmt.args
        if (
            isinstance(value, Const)
            and isinstance(number, Const)
            and type(value.value) is number.value is float
        ):
            return self.operand(value)
        return call(self.operand(stmt.args[1]), self.operand(stmt.args[0]))

    def _shape(self, stmt: Call) -> ast.expr:
        (array,) = stmt.args
        style = style_of(array)
        if isinstance(style, Array) and style.axes is not None:
            return ast.Attribute(self.operand(array), "shape", ast.Load())
        return call(self.module.numpy("shape"), self.operand(array))

    def _dim(self, stmt: Call) -> ast.expr:
        array, axis = stmt.args
        shape = self._shape(Call((), core.shape, (array,)))
        return ast.Subscript(shape, self.operand(axis), ast.Load())

    def _compare(self, stmt: Call) -> ast.expr:
        left, right = (self.operand(x) for x in stmt.args)
        return ast.Compare(left, [COMPARE[stmt.op.name]()], [right])

    def _not(self, stmt: Call) -> ast.expr:
        return ast.UnaryOp(ast.Not(), self.operand(stmt.args[0]))

    def _item(self, stmt: Call) -> ast.expr:
        items, index = stmt.args
        return ast.Subscript(self.operand(items), self._entry(index), ast.Load())

    def _make_list(self, stmt: Call) -> ast.expr:
        (items,) = stmt.args
        if isinstance(items, Pack) and items.kind in ("list", "tuple"):
            return ast.List([self.operand(x) for x in items.items], ast.Load())
        return call(self.module.builtin("list"), self.operand(items))

    def _len(self, stmt: Call) -> ast.expr:
        return call(self.module.builtin("len"), self.operand(stmt.args[0]))

    def _bool(self, stmt: Call) -> ast.expr:
        return call(self.module.builtin("bool"), self.operand(stmt.args[0]))

    def _format(self, stmt: Call) -> ast.expr:
        fmt, *args = (self.operand(x) for x in stmt.args)
        return call(ast.Attribute(fmt, "format", ast.Load()), *args)

    def _attribute(self, stmt: Call) -> ast.expr:
        owner, text = stmt.args
        assert isinstance(text, Const)
        return ast.Attribute(self.operand(owner), text.value, ast.Load())

    def _effect(self, stmt: Call) -> ast.expr:
        fn, *args = (self.operand(x) for x in stmt.args)
        return call(fn, *args, **{k: self.operand(v) for k, v in stmt.kwargs})


def signed(value: ast.expr) -> tuple[ast.operator, ast.expr]:
    """How a value is added: what is negated is subtracted."""
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        return ast.Sub(), value.operand
    return ast.Add(), value


_SPECIAL: dict[Op, Callable[[Expressions, Call], ast.expr]] = {
    core.load: Expressions._load,
    core.copy: Expressions._copy,
    core.accumulate: Expressions._accumulate,
    core.scale: Expressions._scale,
    core.cast: Expressions._cast,
    core.number: Expressions._number,
    core.shape: Expressions._shape,
    core.dim: Expressions._dim,
    core.is_: Expressions._compare,
    core.is_not: Expressions._compare,
    core.contains: Expressions._compare,
    core.not_: Expressions._not,
    core.list_get: Expressions._item,
    core.list_slice: Expressions._item,
    core.make_list: Expressions._make_list,
    core.list_len: Expressions._len,
    core.truth: Expressions._bool,
    core.format_: Expressions._format,
    core.attribute: Expressions._attribute,
    core.call_effect: Expressions._effect,
    core.enter: Expressions._effect,
}


def _is_index(step: Operand) -> bool:
    return isinstance(step, Pack) and step.kind == "index"


def _is_none(operand: Operand) -> bool:
    return isinstance(operand, Const) and operand.value is None


def _takes_fields(cls: Any, fields: Sequence[str]) -> bool:
    """Whether a class's constructor does nothing but set these fields: a named tuple, a plain dataclass."""
    if issubclass(cls, tuple):
        return True
    if not dataclasses.is_dataclass(cls) or hasattr(cls, "__post_init__"):
        return False
    own = {f.name for f in dataclasses.fields(cls) if f.init}
    made = getattr(vars(cls).get("__init__"), "__code__", None)
    return made is not None and made.co_filename == "<string>" and own == set(fields)
