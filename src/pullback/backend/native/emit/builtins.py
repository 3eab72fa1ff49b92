"""Python's own functions of numbers, `math` included, with Python's meaning.

Where Python would raise, or give an integer of more than 64 bits, the function is left with an error code.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from pullback.backend.native.emit.element import Term, element
from pullback.backend.native.emit.emitter import OVERFLOW, VALUE_ERROR, ZERO_DIVISION, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import operand_style
from pullback.ir.nodes import Call, Operand
from pullback.styles.broadcast import as_array

FLOAT64 = np.dtype(np.float64)
INT64 = np.dtype(np.int64)
BOOL = np.dtype(np.bool_)
_FLOATING = {
    math.sin: np.sin, math.cos: np.cos, math.tan: np.tan, math.asin: np.arcsin, math.acos: np.arccos,
    math.atan: np.arctan, math.atan2: np.arctan2, math.sinh: np.sinh, math.cosh: np.cosh, math.tanh: np.tanh,
    math.asinh: np.arcsinh, math.acosh: np.arccosh, math.atanh: np.arctanh, math.exp: np.exp, math.expm1: np.expm1,
    math.log: np.log, math.log1p: np.log1p, math.log2: np.log2, math.log10: np.log10, math.sqrt: np.sqrt,
    math.hypot: np.hypot, math.fabs: np.fabs, math.copysign: np.copysign, math.pow: np.power, math.fmod: np.fmod,
    math.degrees: np.degrees, math.radians: np.radians,
}  # fmt: skip
_ASKED = {math.isnan: np.isnan, math.isinf: np.isinf, math.isfinite: np.isfinite}
_WHOLE = {math.floor: "__builtin_floor", math.ceil: "__builtin_ceil", math.trunc: "__builtin_trunc"}
_LARGEST_FACTORIAL = 20  # the last one of 64 bits


def is_builtin(call: Call) -> bool:
    """Whether a call of numbers is one of these."""
    try:
        return call.op.fn in _HANDLERS
    except TypeError:  # a function that cannot be hashed
        return False


def call_builtin(e: Emitter, call: Call) -> None:
    """A function of the module `math`, or `abs`."""
    if call.kwargs:
        raise Untaken(f"{call.op.name} with options")
    _HANDLERS[call.op.fn](e, call)


def _floating(e: Emitter, call: Call) -> None:
    """It raises where the result is not finite, but for some operands that are not: all of these are left."""
    ufunc = _FLOATING[call.op.fn]
    if len(call.args) != ufunc.nin:
        raise Untaken(f"{call.op.name} of {len(call.args)} arguments")
    operands = [Term(e.number(x, FLOAT64), FLOAT64) for x in call.args]
    e.set_number(call.targets[0], element(ufunc, (FLOAT64,) * (len(operands) + 1), operands))
    leave_unless_finite(e, call)


def leave_unless_finite(e: Emitter, call: Call) -> None:
    """Leave where a result is infinite or NaN."""
    (name,) = e.leaves(call.targets[0])
    e.check(f"{name} - {name} == 0", VALUE_ERROR)


def _asked(e: Emitter, call: Call) -> None:
    x = Term(e.number(call.args[0], FLOAT64), FLOAT64)
    e.set_number(call.targets[0], element(_ASKED[call.op.fn], (FLOAT64, BOOL), [x]))


def _whole(e: Emitter, call: Call) -> None:
    if is_integral(call.args[0]):
        e.set_number(call.targets[0], Term(e.integer(call.args[0]), INT64))
    else:
        _to_integer(e, call, f"{_WHOLE[call.op.fn]}({e.number(call.args[0], FLOAT64)})")


def is_integral(operand: Operand) -> bool:
    """Whether a number is an integer or a truth value."""
    return as_array(operand_style(operand)).kind in "bi"


def _to_integer(e: Emitter, call: Call, text: str) -> None:
    """A whole number held as a double as an integer; beyond 64 bits, and NaN, are left."""
    whole = e.temporary("whole")
    e.line(f"const double {whole} = {text};")
    e.check(f"{whole} >= -0x1p63 && {whole} < 0x1p63", OVERFLOW)
    e.set_number(call.targets[0], Term(f"(int64_t){whole}", INT64))


def integer(e: Emitter, call: Call) -> None:
    """`int(x)`: towards zero."""
    if len(call.args) != 1:
        raise Untaken("`int` of a text")
    term = e.term(call.args[0])
    if term.dtype.kind in "bi":
        e.set_number(call.targets[0], Term(term.to(INT64), INT64))
    elif term.dtype.kind == "f":
        _to_integer(e, call, f"__builtin_trunc({term.to(FLOAT64)})")
    else:
        raise Untaken(f"`int` of {term.dtype}")


def rounded(e: Emitter, call: Call) -> None:
    """`round(x)`: to the nearest, halves to even."""
    if len(call.args) != 1 or call.kwargs or e.is_array(call.args[0]):
        raise Untaken("`round` to some digits")
    if is_integral(call.args[0]):
        e.set_number(call.targets[0], Term(e.integer(call.args[0]), INT64))
    else:
        _to_integer(e, call, f"__builtin_rint({e.number(call.args[0], FLOAT64)})")


def least(e: Emitter, call: Call) -> None:
    """The smallest of some integers."""
    _chosen(e, call, "<")


def greatest(e: Emitter, call: Call) -> None:
    """The largest of some integers."""
    _chosen(e, call, ">")


def _chosen(e: Emitter, call: Call, sign: str) -> None:
    if not all(is_integral(x) and not e.is_array(x) for x in call.args) or len(call.args) < 2:
        raise Untaken(f"`{call.op.name}` of these operands")
    best = e.temporary("best")
    first, *others = map(e.integer, call.args)
    e.line(f"int64_t {best} = {first};")
    for text in others:
        e.line(f"{best} = {text} {sign} {best} ? {text} : {best};")
    e.set_number(call.targets[0], Term(best, INT64))


def _absolute(e: Emitter, call: Call) -> None:
    (target,) = call.targets
    term = e.term(call.args[0])
    if term.dtype.kind in "bi" and term.dtype.itemsize in (1, 8):
        x = e.temporary("x")
        e.line(f"const int64_t {x} = {term.to(INT64)};")
        least_of = "INT64_MIN" if term.dtype.itemsize == 8 else "INT8_MIN"
        e.check(f"{x} != {least_of}", OVERFLOW)
        e.set_number(target, Term(f"({x} < 0 ? -{x} : {x})", INT64))
        return
    result = FLOAT64 if term.dtype.kind == "c" and term.dtype.itemsize == 16 else term.dtype
    if term.dtype.kind == "c" and result != FLOAT64:
        result = np.dtype(np.float32)
    e.set_number(target, element(np.absolute, (term.dtype, result), [term]))
    if term.dtype.kind == "c":
        leave_unless_finite(e, call)


def _factorial(e: Emitter, call: Call) -> None:
    if not is_integral(call.args[0]):
        raise Untaken("a factorial of a number that is no integer")
    n, k, out = e.integer(call.args[0]), e.temporary("k"), e.temporary("product")
    e.check(f"{n} >= 0 && {n} <= {_LARGEST_FACTORIAL}", OVERFLOW)
    e.line(f"int64_t {out} = 1;")
    e.line(f"for (int64_t {k} = 2; {k} <= {n}; {k}++) {out} *= {k};")
    e.set_number(call.targets[0], Term(out, INT64))


def _common(e: Emitter, call: Call) -> None:
    if len(call.args) != 2 or not all(map(is_integral, call.args)):
        raise Untaken("`math.gcd` of these operands")
    a, b = map(e.integer, call.args)
    e.check(f"{a} != INT64_MIN && {b} != INT64_MIN", OVERFLOW)
    e.set_number(call.targets[0], Term(f"pb_gcd_int64({a}, {b})", INT64))


def _root(e: Emitter, call: Call) -> None:
    """`math.isqrt`: the root in floating point, mended."""
    if not is_integral(call.args[0]):
        raise Untaken("an integer root of a number that is no integer")
    n, root = e.integer(call.args[0]), e.temporary("root")
    e.check(f"{n} >= 0 && {n} <= (INT64_C(1) << 62)", VALUE_ERROR)
    e.line(f"int64_t {root} = (int64_t)__builtin_sqrt((double){n});")
    e.line(f"while ({root} * {root} > {n}) {root}--;")
    e.line(f"while (({root} + 1) * ({root} + 1) <= {n}) {root}++;")
    e.set_number(call.targets[0], Term(root, INT64))


def divmod_(e: Emitter, call: Call) -> None:
    """`divmod(a, b)` of Python's numbers."""
    styles = [as_array(operand_style(x)) for x in call.args]
    if len(call.targets) != 2 or any(getattr(s, "weak", False) is not True for s in styles):
        raise Untaken("`divmod` of these operands")
    dtype = INT64 if all(map(is_integral, call.args)) else FLOAT64
    a, b = (Term(e.number(x, dtype), dtype) for x in call.args)
    e.check(f"{b.text} != 0", ZERO_DIVISION)
    if dtype == INT64:
        e.check(f"!({a.text} == INT64_MIN && {b.text} == -1)", OVERFLOW)
    made = [element(u, (dtype,) * 3, [a, b]) for u in (np.floor_divide, np.remainder)]
    held = []
    for term in made:
        held.append(e.temporary("part"))
        e.line(f"const {'int64_t' if dtype == INT64 else 'double'} {held[-1]} = {term.text};")
    for target, name in zip(call.targets, held, strict=True):
        if e.used(target):
            e.set_number(target, Term(name, dtype))


_HANDLERS: dict[object, Callable[[Emitter, Call], None]] = {
    **dict.fromkeys(_FLOATING, _floating), **dict.fromkeys(_ASKED, _asked), **dict.fromkeys(_WHOLE, _whole),
    math.factorial: _factorial, math.gcd: _common, math.isqrt: _root, abs: _absolute,
}  # fmt: skip
