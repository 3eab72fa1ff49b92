"""Whether a function computes with numbers narrower than those of Python.

Beside a `float32` array a Python float is a `float32`, an `np.float64` is not: there one may not stand for the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from pullback.ir.nodes import Const, Function, Operand, Pack
from pullback.ir.walk import block_ends, definitions, own_operands, param_variables, statements
from pullback.styles.style import Array, ListOf, Scalar, Static, Style, Tup

_WIDE = frozenset("biu")


def is_narrow(functions: Iterable[Function]) -> bool:
    """Whether some value of some functions is narrower than float64, or may be."""
    return any(
        any(_narrow_style(v.style) for v in (*param_variables(f.params), *definitions(f.body)))
        or any(map(_narrow_constant, _operands(f)))
        for f in functions
    )


def _narrow_style(style: Style) -> bool:
    if isinstance(style, Scalar | Array):
        return style.dtype is None or _narrow_dtype(style.dtype)
    if isinstance(style, ListOf):
        return _narrow_style(style.elem)
    if isinstance(style, Tup):
        return any(map(_narrow_style, style.items))
    return isinstance(style, Static) and _narrow_value(style.value)


def _narrow_constant(operand: Operand) -> bool:
    if isinstance(operand, Pack):
        return any(map(_narrow_constant, operand.items))
    return isinstance(operand, Const) and _narrow_value(operand.value)


def _narrow_value(value: Any) -> bool:
    dtype = value if isinstance(value, np.dtype) else getattr(value, "dtype", None)
    return isinstance(dtype, np.dtype) and _narrow_dtype(dtype)


def _narrow_dtype(dtype: np.dtype[Any]) -> bool:
    return dtype.kind not in _WIDE and dtype not in (np.dtype("float64"), np.dtype("complex128"))


def _operands(function: Function) -> Iterator[Operand]:
    for stmt in statements(function.body):
        yield from own_operands(stmt)
        for _, _, ends in block_ends(stmt):
            yield from (x for x in ends if x is not None)
