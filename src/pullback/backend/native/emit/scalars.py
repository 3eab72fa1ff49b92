"""Calls on numbers: Python's operators with Python's meaning, ufuncs with NumPy's.

Where Python would raise, or go on with an integer of more than 64 bits or a complex number, the function is left
with an error code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pullback.backend.native.emit.builtins import call_builtin, is_builtin, leave_unless_finite
from pullback.backend.native.emit.dtypes import Loose
from pullback.backend.native.emit.element import Term, element, loop_of, ufunc_of
from pullback.backend.native.emit.emitter import OVERFLOW, VALUE_ERROR, ZERO_DIVISION, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import Number, c_type, leaves_of, operand_style
from pullback.backend.native.emit.values import parts
from pullback.ir import core_ops as core
from pullback.ir.nodes import Call, Const, Operand
from pullback.styles.broadcast import as_array
from pullback.styles.style import Scalar, Style, numeric

FLOAT64 = np.dtype(np.float64)
INT64 = np.dtype(np.int64)
_OVERFLOWING = {"+": "add", "-": "sub", "*": "mul"}
_OVERFLOWING_UFUNCS = {np.add: "add", np.subtract: "sub", np.multiply: "mul"}
_BY_ZERO = ("/", "//", "%")
SYMBOLS = {op: symbol for symbol, op in core.OPERATORS.items()}


def call_of_numbers(e: Emitter, call: Call) -> None:
    """An elementwise call all of whose operands are numbers."""
    styles = [numeric(operand_style(x)) for x in call.args]
    symbol = SYMBOLS.get(call.op)
    if isinstance(call.targets[0].style, Loose):
        _loose(e, call, symbol)
    elif is_builtin(call):
        call_builtin(e, call)
    elif symbol is not None and _python(styles):
        _operator(e, call, symbol, styles)
    else:
        _ufunc(e, call, styles)


def _loose(e: Emitter, call: Call, symbol: str | None) -> None:
    """A result that is an int where all operands are: exact in a double as far as that holds it."""
    value, whole = e.leaves(call.targets[0])
    mark = len(e.scratch)
    pairs = [parts(e, x, Loose(FLOAT64, None)) for x in call.args]
    e.settle(mark)
    if symbol == "**":
        _loose_power(e, call, pairs)
        return
    if symbol not in ("+", "-", "*", "u-", "u+"):
        raise Untaken(f"`{call.op.name}` of a number that is an integer or a float")
    texts = [p[0] for p in pairs]
    text = f"{texts[0]} {symbol} {texts[1]}" if len(texts) == 2 else f"{symbol[1]}{texts[0]}"
    out, flag = e.temporary("number"), e.temporary("whole")
    e.line(f"const uint8_t {flag} = {' && '.join(p[1] for p in pairs)};")
    e.line(f"const double {out} = {text};")
    e.check(f"!({flag} && __builtin_fabs({out}) > 0x1p53)", OVERFLOW)
    e.line(f"{value} = {flag} ? {out} + 0.0 : {out}; {whole} = {flag};")  # an int is never -0


def _loose_power(e: Emitter, call: Call, pairs: Sequence[Sequence[str]]) -> None:
    """An integer where both are, and the exponent is none below zero."""
    value, whole = e.leaves(call.targets[0])
    (x, x_whole), (y, y_whole) = pairs
    flag, out = e.temporary("whole"), e.temporary("number")
    e.line(f"const uint8_t {flag} = {x_whole} && {y_whole} && {y} >= 0;")
    e.check(f"{flag} || !({x} == 0 && {y} < 0)", ZERO_DIVISION)
    e.check(f"{flag} || !({x} < 0 && __builtin_floor({y}) != {y})", VALUE_ERROR)
    made = element(np.power, (FLOAT64,) * 3, [Term(x, FLOAT64), Term(y, FLOAT64)])
    e.line(f"const double {out} = {made.text};")
    e.check(f"{out} - {out} == 0 && !({flag} && __builtin_fabs({out}) > 0x1p53)", OVERFLOW)
    e.line(f"{value} = {flag} ? __builtin_rint({out}) + 0.0 : {out}; {whole} = {flag};")


def _python(styles: Sequence[Style]) -> bool:
    """Whether all operands are Python numbers, or may be."""
    return all(isinstance(s, Scalar) and s.weak is not False for s in styles)


def _operator(e: Emitter, call: Call, symbol: str, styles: Sequence[Style]) -> None:
    kinds = {as_array(s).kind for s in styles}
    (target,) = call.targets
    if symbol in core.COMPARISONS:
        if {"i", "f"} <= kinds:
            _exactly_floats(e, call.args)
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
            _exactly_floats(e, call.args)
        e.set_number(target, Term(f"({a} / {b})", FLOAT64))
    else:
        ufunc = np.floor_divide if symbol == "//" else np.remainder
        e.set_number(target, element(ufunc, (dtype,) * 3, [Term(a, dtype), Term(b, dtype)]))


def _exactly_floats(e: Emitter, operands: Sequence[Operand]) -> None:
    """Leave where an integer is none of those that a float has, all up to 2 to the 53rd: Python rounds them later."""
    for x in operands:
        if as_array(operand_style(x)).kind != "i":
            continue
        if isinstance(x, Const) and abs(int(x.value)) <= 2**53:
            continue
        text = e.integer(x)
        e.check(f"{text} <= (INT64_C(1) << 53) && {text} >= -(INT64_C(1) << 53)", OVERFLOW)


def _power_or_complex(e: Emitter, call: Call, symbol: str, styles: Sequence[Style]) -> None:
    kinds = [as_array(s).kind for s in styles]
    if symbol != "**" or "c" in kinds:
        if symbol in ("//", "%"):
            raise Untaken("a remainder of complex numbers")
        if symbol in ("/", "**"):
            zero = call.args[1 if symbol == "/" else 0]
            if not (isinstance(zero, Const) and zero.value != 0):
                e.check(f"{e.term(zero).text} != 0", ZERO_DIVISION)
        _ufunc(e, call, styles)
        if symbol in ("/", "**"):
            _leave_unless_finite_parts(e, call)
        return
    (target,) = call.targets
    base, exponent = call.args
    whole = exponent.value if isinstance(exponent, Const) and type(exponent.value) is int else None
    if set(kinds) <= {"i", "b"}:
        _integer_power(e, call)
        return
    x = e.number(base, FLOAT64)
    if whole is not None and 0 <= whole <= 3:
        text = ["1.0", x, f"({x} * {x})", f"({x} * {x} * {x})"][whole]
        e.set_number(target, Term(text, FLOAT64))
        return
    y = e.number(exponent, FLOAT64)
    e.check(f"!({x} == 0 && {y} < 0)", ZERO_DIVISION)
    e.check(f"!({x} < 0 && __builtin_floor({y}) != {y})", VALUE_ERROR)  # Python goes on with a complex number
    e.set_number(target, element(np.power, (FLOAT64,) * 3, [Term(x, FLOAT64), Term(y, FLOAT64)]))
    leave_unless_finite(e, call)


def _integer_power(e: Emitter, call: Call) -> None:
    """A Python integer to the power of one that is not negative; a product of more than 64 bits is left."""
    base, exponent = map(e.integer, call.args)
    (target,) = call.targets
    leaf = leaves_of(target.style)[0]
    if not isinstance(leaf, Number) or leaf.dtype != INT64:
        raise Untaken("an integer to an integer power")
    out = e.temporary("power")
    e.line(f"int64_t {out} = 0;")
    e.check(f"{exponent} >= 0 && pb_checked_power({base}, {exponent}, &{out})", OVERFLOW)
    e.set_number(target, Term(out, INT64))


def _leave_unless_finite_parts(e: Emitter, call: Call) -> None:
    (name,) = e.leaves(call.targets[0])
    e.check(" && ".join(f"__{p}__ {name} - __{p}__ {name} == 0" for p in ("real", "imag")), OVERFLOW)


def _ufunc(e: Emitter, call: Call, styles: Sequence[Style]) -> None:
    """A ufunc with NumPy's meaning; integers that may be Python's are left where NumPy's would wrap."""
    ufunc = ufunc_of(call)
    if ufunc is None or ufunc.nout != 1 or call.kwargs:
        raise Untaken(f"{call.op.name} of numbers")
    dtypes = loop_of(ufunc, styles)
    _same_either_way(ufunc, styles, dtypes)
    for x, style, dtype in zip(call.args, styles, dtypes, strict=False):
        _fits(e, x, style, dtype)
    terms = [Term(e.number(x, d), d) for x, d in zip(call.args, dtypes, strict=False)]
    if ufunc in _OVERFLOWING_UFUNCS and dtypes[-1].kind in "iu":
        _not_wrapped(e, call, _OVERFLOWING_UFUNCS[ufunc], terms, dtypes[-1])
        return
    if ufunc is np.power and dtypes[1].kind == "i":
        e.check(f"{terms[1].text} >= 0", VALUE_ERROR)
    made = element(ufunc, dtypes, terms)
    if dtypes[-1].kind == "b":
        made = Term(f"(uint8_t){made.text}", dtypes[-1])
    e.set_number(call.targets[0], made)


def _same_either_way(
    ufunc: np.ufunc, styles: Sequence[Style], dtypes: Sequence[np.dtype[np.generic]]
) -> None:
    """A number that may be Python's or NumPy's must mean the same in both cases."""
    if any(isinstance(s, Scalar) and s.weak is None for s in styles):
        strong = [replace(s, weak=False) if isinstance(s, Scalar) and s.weak is None else s for s in styles]
        if loop_of(ufunc, strong) != tuple(dtypes):
            raise Untaken("a number that may be Python's or NumPy's")


def _fits(e: Emitter, operand: Operand, style: Style, dtype: np.dtype[np.generic]) -> None:
    """A Python integer beside one of NumPy's of fewer bits: NumPy raises where it does not fit."""
    if (
        isinstance(operand, Const)
        or not isinstance(style, Scalar)
        or style.weak is False
        or style.kind != "i"
    ):
        return
    if dtype.kind in "iu" and dtype != INT64:
        x = e.integer(operand)
        e.check(
            f"(int64_t)({c_type(dtype)}){x} == {x}{f' && {x} >= 0' if dtype.kind == 'u' else ''}", OVERFLOW
        )


def _not_wrapped(
    e: Emitter, call: Call, name: str, terms: Sequence[Term], dtype: np.dtype[np.generic]
) -> None:
    """NumPy warns where an integer wraps: the function is left."""
    out = e.temporary("out")
    e.line(f"{c_type(dtype)} {out};")
    e.line(
        f"if (PB_RARE(__builtin_{name}_overflow({terms[0].text}, {terms[1].text}, &{out}))) {e.fail(OVERFLOW)}"
    )
    e.set_number(call.targets[0], Term(out, dtype))


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
    if not isinstance(leaf, Number):
        raise Untaken("a cast between a number and an array without axes")
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
    if isinstance(target.style, Loose):
        _loose(e, call, "+")
        return
    (leaf,) = leaves_of(target.style)
    if not isinstance(leaf, Number):
        raise Untaken("a sum of cotangents that is no number")
    a, b = (e.number(x, leaf.dtype) for x in call.args)
    e.set_number(target, Term(f"({a} + {b})", leaf.dtype))
