"""Common subexpressions: a pure call that an earlier statement of this block or of one around it made is not repeated.

Calls are equal when operation and operands are; operands are equal by identity of values, constants by type and
representation (0.0 and -0.0, 1 and True differ).  A load is keyed on the version of the array, as every write makes a
new one.  Arrays that are changed later are made anew: sharing them would only bring a copy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pullback.ir.nodes import Block, Call, Const, For, Function, Operand, Pack, Var, While
from pullback.ir.walk import statements
from pullback.passes.rewrite import Rewriter
from pullback.styles.style import Array, Dim, ListOf, Scalar, Style


def cse(function: Function) -> Function:
    """The function with each pure call made once where one serves for all.

    >>> from pullback.ir.builder import Builder
    >>> from pullback.ir.core_ops import OPERATORS
    >>> from pullback.ir.nodes import Param
    >>> from pullback.ir.pretty import pretty
    >>> from pullback.styles.style import PY_FLOAT
    >>> build, x = Builder(), Var("x", PY_FLOAT)
    >>> a, b = (build.call(OPERATORS["*"], x, x, hint=name) for name in "ab")
    >>> y = build.call(OPERATORS["+"], a, b, hint="y")
    >>> print(pretty(cse(Function("f", (Param("x", x),), build.finish(), (y,)))), end="")
    primal f(%x: float) -> %y
      %a: float = %x * %x
      %y: float = %a + %a
    """
    return _Cse(function).function(function)


class _Cse(Rewriter):
    def __init__(self, function: Function) -> None:
        super().__init__()
        self.scopes: list[dict[Any, tuple[Var, ...]]] = []
        self.written = _written(function)

    def block(self, block: Block) -> Block:
        """A block; what it makes serves only in it."""
        self.scopes.append({})
        try:
            return super().block(block)
        finally:
            self.scopes.pop()

    def call(self, call: Call) -> Call | None:
        """Drop a call that was made before."""
        if call.op.effect or not call.targets or any(t in self.written for t in call.targets):
            return call
        kwargs = tuple((name, operand_key(x)) for name, x in call.kwargs)
        key = (call.op, tuple(map(operand_key, call.args)), kwargs)
        for scope in reversed(self.scopes):
            made = scope.get(key)
            if made is not None and all(
                _serves(a.style, b.style) for a, b in zip(made, call.targets, strict=True)
            ):
                self.mapping.update(zip(call.targets, made, strict=True))
                return None
        self.scopes[-1][key] = call.targets
        return call


def _serves(a: Style, b: Style) -> bool:
    """Whether styles of one value say the same; lengths need not be known under the same name."""
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return replace(a, length=None) == replace(b, length=None)
    if isinstance(a, Array) and isinstance(b, Array) and a.axes is not None and b.axes is not None:
        return _unnamed(a) == _unnamed(b)
    return a == b


def _unnamed(style: Array) -> tuple[object, ...]:
    axes = tuple(a.not_one if isinstance(a, Dim) else a for a in style.axes or ())
    return (*axes, style.dtype, style.contiguous, style.kind)


def _written(function: Function) -> set[Var]:
    """The arrays and lists that are changed, or are carried into a loop that may."""
    found: set[Var] = set()
    for stmt in statements(function.body):
        operands: tuple[Operand, ...] = ()
        if isinstance(stmt, Call) and stmt.op.writes:
            operands = stmt.args[:1]
        elif isinstance(stmt, For | While):
            operands = stmt.inits
        found.update(x for x in operands if isinstance(x, Var) and isinstance(x.style, Array | ListOf))
    return found


def operand_key(operand: Operand) -> Any:
    """A key under which equal operands are equal."""
    if isinstance(operand, Const):
        return constant_key(operand.value)
    if isinstance(operand, Pack):
        meta = tuple(map(repr, operand.meta)) if operand.kind == "dict" else operand.meta
        return (operand.kind, _hashable(meta), tuple(map(operand_key, operand.items)))
    return operand


def constant_key(value: Any) -> Any:
    """A key for a compile-time object: by value where it is a plain one, else by identity."""
    if isinstance(value, bool | int | float | complex | str | bytes | np.generic | np.dtype | type(None)):
        return ("const", type(value), repr(value))
    if type(value) is tuple:
        return ("tuple", tuple(map(constant_key, value)))
    return ("object", id(value))


def _hashable(meta: Any) -> Any:
    try:
        hash(meta)
    except TypeError:
        return id(meta)
    return meta
