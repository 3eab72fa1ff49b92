"""Compile-time objects in generated code: literals, NumPy names, and objects bound in the module's namespace.

`Globals` belongs to one generated module.  It collects what the module imports and the objects that have no
literal (functions, classes, arrays, user objects), each under a readable name of its own.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import math
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pullback import runtime
from pullback.ir import core_ops as core
from pullback.ir.callee import Callee
from pullback.ir.nodes import ABSENT, UNDEF, Call, Const, Function, Op, Operand, Pack
from pullback.ir.walk import block_ends, definitions, own_operands, param_variables, statements
from pullback.rules.registry import path_of

RUNTIME = tuple(sorted(name for name, obj in vars(runtime).items() if isinstance(obj, types.FunctionType)))
SYNTAX_BUILTINS = ("range", "reversed", "zip", "len", "list", "bool", "slice")  # that statements print
_MODULES: dict[str, Any] = {"np": np, "math": math}
_WIDTHS = {"int": (8, 16, 32, 64), "uint": (8, 16, 32, 64), "float": (16, 32, 64), "complex": (64, 128)}
_NUMPY_DTYPES = {"bool", *(f"{kind}{bits}" for kind, sizes in _WIDTHS.items() for bits in sizes)}


def name(text: str) -> ast.Name:
    """A name as an expression."""
    return ast.Name(text, ast.Load())


def attribute(path: str, base: ast.expr | None = None) -> ast.expr:
    """A dotted name; of `base`, if that is given."""
    first, *rest = path.split(".")
    out: ast.expr = name(first) if base is None else ast.Attribute(base, first, ast.Load())
    for part in rest:
        out = ast.Attribute(out, part, ast.Load())
    return out


def call(fn: ast.expr, *args: ast.expr, **kwargs: ast.expr) -> ast.Call:
    """A call."""
    return ast.Call(fn, list(args), [ast.keyword(k, v) for k, v in kwargs.items()])


class Globals:
    """What a generated module refers to from outside."""

    def __init__(self, functions: Iterable[Function], taken: Iterable[str] = ()) -> None:
        functions = tuple(functions)
        self.namespace: dict[str, Any] = {}
        self.runtime: set[str] = set()
        self.modules: set[str] = set()
        self._names: dict[int, str] = {}
        self._builtins: set[str] = set()
        self._params = {p.name for f in functions for p in f.params}
        self._functions = {f.name for f in functions}
        self._taken = self._functions | set(RUNTIME) | {"np", "math"} | _hints(functions) | set(taken)
        for builtin in sorted(self._params.intersection(SYNTAX_BUILTINS)):
            self.builtin(builtin)
        for helper in sorted(self._params.intersection(RUNTIME)):
            self.helper(helper)
        for function in functions:
            self._prepare(function)
        self.runtime.clear()  # what is printed in the end says what to import
        self.modules.clear()

    def reserved(self) -> set[str]:
        """The names that no local variable may take."""
        return {*self.namespace, *RUNTIME, *self._builtins}

    def _prepare(self, function: Function) -> None:
        """Meet every object once, so that local names can avoid theirs."""
        for param in function.params:
            if param.default is not UNDEF:
                self.constant(param.default)
        for stmt in statements(function.body):
            if isinstance(stmt, Call) and not isinstance(stmt.op.fn, Callee):
                self.function_of(stmt.op)
            for operand in own_operands(stmt):
                self._prepare_operand(operand)
            for _, _, ends in block_ends(stmt):
                for operand in ends:
                    self._prepare_operand(operand)
        for operand in function.results:
            self._prepare_operand(operand)

    def _prepare_operand(self, operand: Operand) -> None:
        if isinstance(operand, Const):
            self.constant(operand.value)
        elif isinstance(operand, Pack):
            if operand.kind == "new":
                self.constant(operand.meta[0])
            elif operand.kind == "view":
                self.function_of(operand.meta)
            for item in operand.items:
                self._prepare_operand(item)

    # ------------------------------------------------------------------------------------------- references

    def helper(self, text: str) -> ast.expr:
        """A function of the runtime module."""
        if text in self._params:
            return self.bind(getattr(runtime, text), text)
        self.runtime.add(text)
        return name(text)

    def path(self, path: str) -> ast.expr:
        """A dotted path: NumPy, `math`, a function of this module, a helper of the runtime, a builtin."""
        first, _, rest = path.partition(".")
        if path in self._functions:
            return name(path)
        if first in _MODULES and first in self._params:
            module = self.bind(_MODULES[first], first)
            return attribute(rest, module) if rest else module
        if first in _MODULES:
            self.modules.add(first)
        elif path in RUNTIME:
            return self.helper(path)
        else:
            return self.builtin(path)
        return attribute(path)

    def numpy(self, text: str) -> ast.expr:
        """A name in NumPy."""
        return self.path(f"np.{text}")

    def builtin(self, text: str) -> ast.expr:
        """A builtin by its name (by another where a parameter has that name)."""
        if text in self._params:
            return self.bind(getattr(builtins, text), text)
        self._builtins.add(text)
        return name(text)

    def function_of(self, op: Op) -> ast.expr | None:
        """The function that an operation calls; None for the operations with syntax of their own."""
        if op.numpy_path:
            return self.path(op.numpy_path)
        if op in _CORE:
            return None
        return self.bind(op.fn if op.fn is not None else op.impl, op.name)

    def bind(self, obj: Any, base: str) -> ast.expr:
        """An object under a name of its own in the module's namespace."""
        key = id(obj)
        if key not in self._names:
            stem = "".join(c if c.isalnum() or c == "_" else "_" for c in base).strip("_") or "constant"
            stem = f"f_{stem}" if stem[0].isdigit() or keyword.iskeyword(stem) else stem
            text, n = stem, 1
            while text in self._taken or hasattr(builtins, text):
                n += 1
                text = f"{stem}_{n}"
            self._taken.add(text)
            self._names[key] = text
            self.namespace[text] = obj
        return name(self._names[key])

    # ------------------------------------------------------------------------------------------- constants

    def constant(self, value: Any) -> ast.expr:
        """The expression of a compile-time object."""
        kind = type(value)
        if value is None or value is Ellipsis or kind in (bool, str, bytes):
            return ast.Constant(value)
        if value is ABSENT:
            return ast.Constant(None)
        literal = _LITERALS.get(kind)
        if literal is not None:
            return literal(self, value)
        if isinstance(value, np.generic):
            return self._numpy_scalar(value)
        if isinstance(value, np.dtype):
            return self._dtype(value)
        if isinstance(value, type):
            return self._type(value)
        return self._object(value)

    def _integer(self, value: int) -> ast.expr:
        return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))

    def _float(self, value: float) -> ast.expr:
        if math.isnan(value):
            return self.numpy("nan")
        magnitude = self.numpy("inf") if math.isinf(value) else ast.Constant(abs(value))
        return ast.UnaryOp(ast.USub(), magnitude) if math.copysign(1.0, value) < 0 else magnitude

    def _complex(self, value: complex) -> ast.expr:
        parts = (value.real, value.imag)
        if any(math.copysign(1.0, p) < 0 or not math.isfinite(p) for p in parts):
            return call(self.builtin("complex"), *(self._float(p) for p in parts))
        imaginary = ast.Constant(complex(0.0, value.imag))
        return imaginary if value.real == 0 else ast.BinOp(ast.Constant(value.real), ast.Add(), imaginary)

    def _tuple(self, value: tuple[Any, ...]) -> ast.expr:
        return ast.Tuple([self.constant(v) for v in value], ast.Load())

    def _list(self, value: list[Any]) -> ast.expr:
        return ast.List([self.constant(v) for v in value], ast.Load())

    def _dict(self, value: dict[Any, Any]) -> ast.expr:
        return ast.Dict([self.constant(k) for k in value], [self.constant(v) for v in value.values()])

    def _slice(self, value: slice) -> ast.expr:
        return call(self.builtin("slice"), *(self.constant(v) for v in (value.start, value.stop, value.step)))

    def _range(self, value: range) -> ast.expr:
        return call(self.builtin("range"), *(self.constant(v) for v in (value.start, value.stop, value.step)))

    def _numpy_scalar(self, value: np.generic) -> ast.expr:
        if value.dtype.name not in _NUMPY_DTYPES:
            return self.bind(value, "constant")
        exact = value.item() if value.dtype.name != "float16" else float(value)
        return call(self._dtype(value.dtype), self.constant(exact))

    def _dtype(self, value: np.dtype[Any]) -> ast.expr:
        if value.name in _NUMPY_DTYPES and value.isnative:
            return self.numpy("bool_" if value.name == "bool" else value.name)
        return (
            call(self.numpy("dtype"), ast.Constant(value.str))
            if value.fields is None
            else self.bind(value, "dtype")
        )

    def _type(self, value: type) -> ast.expr:
        if getattr(builtins, value.__name__, None) is value:
            return self.builtin(value.__name__)
        if getattr(np, value.__name__, None) is value:
            return self.numpy(value.__name__)
        return self.bind(value, value.__name__)

    def _object(self, value: Any) -> ast.expr:
        path = path_of(value) if callable(value) else ""
        if path:
            return self.path(path)
        own = getattr(value, "__name__", "")
        if isinstance(own, str) and own and getattr(builtins, own, None) is value:
            return self.builtin(own)
        if value is np:
            return self.path("np")
        return self.bind(value, own.rsplit(".", 1)[-1] if isinstance(own, str) and own else "constant")


_LITERALS: dict[type, Callable[[Globals, Any], ast.expr]] = {
    int: Globals._integer,
    float: Globals._float,
    complex: Globals._complex,
    tuple: Globals._tuple,
    list: Globals._list,
    dict: Globals._dict,
    slice: Globals._slice,
    range: Globals._range,
}
_CORE = frozenset(op for op in vars(core).values() if isinstance(op, Op)) | frozenset(core.OPERATORS.values())


def _hints(functions: Iterable[Function]) -> set[str]:
    """The names that local variables would like to have."""
    found: set[str] = set()
    for function in functions:
        found.update(p.name for p in function.params)
        found.update(v.hint for v in param_variables(function.params))
        found.update(v.hint for v in definitions(function.body))
    return found
