"""Numbers whose class is not Python's own: a member of an IntEnum, a float with a unit.

They go into a signature by value.  Their classes inherit the operators that they do not define, so that beside a
Python number they are plain numbers; NumPy takes them for numbers of its own, which are not weak: `float32` times such
a float is `float64`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, NoReturn, Protocol

import numpy as np

from pullback.frontend.values import Known, Value
from pullback.styles.style import Array, Scalar, Style, numeric


class Refusing(Protocol):
    """What is needed of the front end."""

    def style(self, value: Value) -> Style: ...

    def refuse(self, message: str, hint: str = "", node: ast.AST | None = None) -> NoReturn: ...


_BASES: tuple[type, ...] = (bool, int, float, complex)
_NEVER_A_NUMBER = (str, bytes, type, tuple, list, dict, frozenset, set, range, slice, np.dtype)


def operands(
    ctx: Refusing, symbol: str, method: str, args: Sequence[Value], node: ast.AST | None
) -> Sequence[Value]:
    """The operands of an operator (its method `mul`), such numbers among them as what they are beside the others."""
    if all(isinstance(v, Known) for v in args):
        return args  # Python computes it
    styles = [numeric(ctx.style(v)) for v in args]
    numpy = any(isinstance(s, Array) or (isinstance(s, Scalar) and s.weak is False) for s in styles)
    return [_operand(ctx, symbol, method, v, numpy, node) for v in args]


def _operand(
    ctx: Refusing, symbol: str, method: str, value: Value, numpy: bool, node: ast.AST | None
) -> Value:
    obj = value.obj if isinstance(value, Known) else None
    base = base_of(obj)
    if base is None:
        return value
    if not inherits(obj, base, method):
        ctx.refuse(
            f"`{symbol.lstrip('u')}` on {obj!r}: the class {type(obj).__name__} defines it",
            f"use the plain number: {base.__name__}(...)",
            node,
        )
    return Known(beside_numpy(obj) if numpy else base(obj))


def base_of(obj: Any) -> type | None:
    """Python's own class of such a number; None for every other object."""
    if isinstance(obj, np.generic) or type(obj) in _BASES:
        return None
    return next((base for base in _BASES if isinstance(obj, base)), None)


def inherits(obj: Any, base: type, operator: str) -> bool:
    """Whether the class has an operator (`mul`) as it is in Python's own."""
    cls = type(obj)
    names = (f"__{operator}__", f"__r{operator}__")
    return all(getattr(cls, name, None) is getattr(base, name, None) for name in names)


def beside_numpy(obj: Any) -> Any:
    """The number that NumPy takes it for."""
    return np.asarray(obj)[()]


def never_equals_a_number(obj: Any) -> bool:
    """Whether `==` of an object and a number is False whatever the number."""
    return isinstance(obj, _NEVER_A_NUMBER) or getattr(type(obj), "__eq__", None) is object.__eq__
