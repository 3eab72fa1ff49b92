"""Calls on numbers: Python's operators with Python's meaning, ufuncs with NumPy's.

Where Python would raise, or go on with an integer of more than 64 bits or a complex number, the function is left
with an error code.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pullback.backend.native.emit.element import Term, element, loop_of, ufunc_of
from pullback.backend.native.emit.emitter import OVERFLOW, VALUE_ERROR, ZERO_DIVISION, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import Number, c_type, leaves_of, operand_style
from pullback.ir import core_ops as core
from pullback.ir.nodes import Call, Const, Operand
from pullback.styles.broadcast import as_array
from pullback.styles.style import Scalar, Style, numeric

FLOAT64 = np.dtype(np.float64)
INT64 = np.dtype(np.int64)
_OVERFLOWING = {"+": "add", "-": "sub", "*": "mul"}
_BY_ZERO = ("/", "//", "%")
_MATH = {
    math.sin: np.sin, math.cos: np.cos, math.tan: np.tan, math.asin: np.arcsin, math.acos: np.arccos,
    math.atan: np.arctan, math.atan2: np.arctan2, math.sinh: np.sinh, math.cosh: np.cosh, math.tanh: np.tanh,
    math.asinh: np.arcsinh, math.acosh: np.arccosh, math.atanh: np.arctanh, math.exp: np.exp, math.expm1: np.expm1,
    math.log: np.log, math.log1p: np.log1p, math.log2: np.log2, math.log10: np.log10, math.sqrt: np.sqrt,
    math.hypot: np.hypot, math.fabs: np.fabs, math.copysign: np.copysign,
}  # fmt: skip
SYMBOLS = {op: symbol for symbol, op in core.OPERATORS.items()}


def call_of_numbers(e: Emitter, call: Call) -> None:
    """An elementwise call all of whose operands are numbers."""
    styles = [numeric(operand_style(x)) for x in call.args]
    symbol = SYMBOLS.get(call.op)
    if call.op.fn in _MATH:
        _math(e, call)
    elif symbol is not None and _python(styles):
        _operator(e, call, symbol, styles)
    else:
        _ufunc(e, call, styles)


def _python(styles: Sequence[Style]) -> bool:
    """Whether all operands are Python numbers, or may be."""
    return all(isinstance(s, Scalar) and s.weak is not False for s in styles)


def _operator(e: Emitter, call: Call, symbol: str, styles: Sequence[Style]) -> None:
    kinds = {as_array(s).kind for s in styles}
    (target,) = call.targets
    if symbol in core.COMPARISONS:
        _ufunc(e, call, styles)
    elif "c" in kinds or symbol == "**":
        _power_or_complex(e, call, symbol, styles)
    elif symbol in _BY_ZERO:
        _division(e, call, symbol)
    elif kinds <= {"i", "b"} and symbol in _OVERFLOWING:
        _checked(e, call, symbol)
    elif kinds <= {"i", "b"} and symbol == "u-":
        x = e.integer(call.args[0])
        e.check(f"{x} != INT64_MIN", OVERFLOW)
        e.set_number(target, Term(f"(-{x})", INT64))
    else:
        _ufunc(e, call, styles)


def _checked(e: Emitter, call: Call, symbol: str) -> None:
    """Python integers: beyond 64 bits the function is left."""
    (target,) = call.targets
    a, b = map(e.integer, call.args)
    (leaf,), (name,) = leaves_of(target.style), e.leaves(target)
    if not isinstance(leaf, Number) or leaf.dtype != INT64:
        raise Untaken("an integer in a place of another kind")
    overflows = f"__builtin_{_OVERFLOWING[symbol]}_overflow({a}, {b}, &{name})"
    e.line(f"if (PB_RARE({overflows})) {e.fail(OVERFLOW)}")


def _division(e: Emitter, call: Call, symbol: str) -> None:
    (target,) = call.targets
    integers = all(as_array(operand_style(x)).kind in "ib" for x in call.args)
    dtype = INT64 if integers and symbol != "/" else FLOAT64
    a, b = (e.number(x, dtype) for x in call.args)
    divisor = call.args[1]
    if not (isinstance(divisor, Const) and divisor.value != 0):
        e.check(f"{b} != 0", ZERO_DIVISION)
    if symbol == "/":
        if integers:  # Python divides integers exactly before it rounds
            for text in (e.integer(x) for x in call.args):
                e.check(f"{text} <= (INT64_C(1) << 53) && {text} >= -(INT64_C(1) << 53)", OVERFLOW)
        e.set_number(target, Term(f"({a} / {b})", FLOAT64))
    else:
        ufunc = np.floor_divide if symbol == "//" else np.remainder
        e.set_number(target, element(ufunc, (dtype,) * 3, [Term(a, dtype), Term(b, dtype)]))


def _power_or_complex(e: Emitter, call: Call, symbol: str, styles: Sequence[Style]) -> None:
    kinds = [as_array(s).kind for s in styles]
    if symbol != "**" or "c" in kinds:
        if symbol in _BY_ZERO:
            raise Untaken("a division of complex Python numbers")
        _ufunc(e, call, styles)
        return
    (target,) = call.targets
    base, exponent = call.args
    whole = exponent.value if isinstance(exponent, Const) and type(exponent.value) is int else None
    if kinds == ["i", "i"]:
        raise Untaken("an integer to an integer power")
    x = e.number(base, FLOAT64)
    if whole is not None and 0 <= whole <= 3:
        text = ["1.0", x, f"({x} * {x})", f"({x} * {x} * {x})"][whole]
        e.set_number(target, Term(text, FLOAT64))
        return
    y = e.number(exponent, FLOAT64)
    e.check(f"!({x} == 0 && {y} < 0)", ZERO_DIVISION)
    e.check(f"!({x} < 0 && __builtin_floor({y}) != {y})", VALUE_ERROR)  # Python goes on with a complex number
    e.set_number(target, element(np.power, (FLOAT64,) * 3, [Term(x, FLOAT64), Term(y, FLOAT64)]))
    _finite_or_leave(e, call, [x, y])


def _math(e: Emitter, call: Call) -> None:
    """A function of the module `math`: it raises where the result is not what a finite number gives."""
    ufunc = _MATH[call.op.fn]
    if len(call.args) != ufunc.nin or call.kwargs:
        raise Untaken(f"{call.op.name} of {len(call.args)} arguments")
    operands = [e.number(x, FLOAT64) for x in call.args]
    made = element(ufunc, (FLOAT64,) * (len(operands) + 1), [Term(x, FLOAT64) for x in operands])
    e.set_number(call.targets[0], made)
    _finite_or_leave(e, call, operands)


def _finite_or_leave(e: Emitter, call: Call, operands: Sequence[str]) -> None:
    (name,) = e.leaves(call.targets[0])
    finite = " && ".join(f"{x} - {x} == 0" for x in operands)
    e.check(f"{name} - {name} == 0 || !({finite})", VALUE_ERROR)


def _ufunc(e: Emitter, call: Call, styles: Sequence[Style]) -> None:
    """A ufunc with NumPy's meaning; integers that may be Python's are left where NumPy's would wrap."""
    ufunc = ufunc_of(call) or (np.absolute if call.op.fn is abs else None)
    if ufunc is None or ufunc.nout != 1 or call.kwargs:
        raise Untaken(f"{call.op.name} of numbers")
    dtypes = loop_of(ufunc, styles)
    terms = [Term(e.number(x, d), d) for x, d in zip(call.args, dtypes, strict=False)]
    made = element(ufunc, dtypes, terms)
    if dtypes[-1].kind == "b":
        made = Term(f"(uint8_t){made.text}", dtypes[-1])
    e.set_number(call.targets[0], made)


def scale(e: Emitter, call: Call) -> None:
    """The strong-zero product of numbers."""
    bar, partial = call.args[:2]
    (target,) = call.targets
    dtypes = loop_of(np.multiply, [operand_style(bar), operand_style(partial)])
    a, b = (e.number(x, d) for x, d in zip((bar, partial), dtypes, strict=False))
    e.set_number(target, Term(strong_zero(a, b, partial, dtypes[-1], selects(call)), dtypes[-1]))


def selects(call: Call) -> bool:
    """Whether the partial is a choice: where it is zero, so is the product."""
    given = [x for name, x in call.kwargs if name == "selects"] + list(call.args[2:])
    return any(isinstance(x, Const) and x.value is True for x in given)


def strong_zero(bar: str, partial: str, operand: Operand, dtype: np.dtype[np.generic], choice: bool) -> str:
    """`0 where bar is 0 else bar * partial`; plain where the partial is a finite constant."""
    finite = isinstance(operand, Const) and bool(np.isfinite(operand.value))
    product = (
        f"pb_cmul{'f' if dtype.name == 'complex64' else ''}({bar}, {partial})"
        if dtype.kind == "c"
        else f"{bar} * {partial}"
    )
    if finite and not choice:
        return f"({product})"
    zero = f"{bar} == 0 || {partial} == 0" if choice else f"{bar} == 0"
    return f"(({zero}) ? ({c_type(dtype)})0 : {product})"


def cast(e: Emitter, call: Call) -> None:
    """A number in another dtype; the real part where that is not complex."""
    (target,) = call.targets
    (leaf,) = leaves_of(target.style)
    assert isinstance(leaf, Number)
    e.set_number(target, Term(e.term(call.args[0]).to(leaf.dtype), leaf.dtype))


def number(e: Emitter, call: Call) -> None:
    """float(x), complex(x), int(x)."""
    cast(e, call)


def truth(e: Emitter, call: Call) -> None:
    """bool(x)."""
    e.set_number(call.targets[0], Term(f"(uint8_t)({e.term(call.args[0]).text} != 0)", np.dtype(np.bool_)))


def negation(e: Emitter, call: Call) -> None:
    """not x."""
    e.set_number(call.targets[0], Term(f"(uint8_t)({e.term(call.args[0]).text} == 0)", np.dtype(np.bool_)))


def accumulate(e: Emitter, call: Call) -> None:
    """The sum of two cotangents that are numbers."""
    (target,) = call.targets
    (leaf,) = leaves_of(target.style)
    if not isinstance(leaf, Number):
        raise Untaken("a sum of cotangents that is no number")
    a, b = (e.number(x, leaf.dtype) for x in call.args)
    e.set_number(target, Term(f"({a} + {b})", leaf.dtype))
