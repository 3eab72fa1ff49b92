"""One element of an elementwise operation as a C expression.

`element(call, operands)` gives the expression; the dtypes in which NumPy computes come from `ufunc.resolve_dtypes`.
The functions named here are those of `c/maths.h`: `pb_exp` for double, `pb_expf` for float.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import DTYPES, c_type
from pullback.ir import core_ops as core
from pullback.ir.nodes import Call
from pullback.styles.broadcast import as_array
from pullback.styles.style import Array, Scalar, Static, Style

FLOATS = ("float32", "float64")
_WEAK: dict[str, Any] = {"b": np.dtype(np.bool_), "i": int, "f": float, "c": complex}

_INFIX: dict[np.ufunc, str] = {np.add: "+", np.subtract: "-", np.multiply: "*"}
_COMPARE: dict[np.ufunc, str] = {
    np.less: "<", np.less_equal: "<=", np.greater: ">", np.greater_equal: ">=", np.equal: "==", np.not_equal: "!=",
}  # fmt: skip
_LOGICAL: dict[np.ufunc, str] = {np.logical_and: "&&", np.logical_or: "||"}
_BITS: dict[np.ufunc, str] = {np.bitwise_and: "&", np.bitwise_or: "|", np.bitwise_xor: "^"}
# ufuncs whose C function for floating point has NumPy's name
_BY_NAME: frozenset[np.ufunc] = frozenset({
    np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.sqrt, np.cbrt, np.sin, np.cos, np.tan,
    np.arcsin, np.arccos, np.arctan, np.arctan2, np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh,
    np.hypot, np.logaddexp, np.logaddexp2, np.floor, np.ceil, np.trunc, np.rint, np.maximum, np.minimum, np.fmax,
    np.fmin, np.sign, np.copysign, np.heaviside, np.fmod, np.remainder, np.floor_divide, np.power, np.float_power,
    np.fabs, np.nextafter,
})  # fmt: skip
# ufuncs of complex numbers, by the names of their C functions
_COMPLEX: dict[np.ufunc, str] = {
    np.divide: "cdiv", np.power: "cpow", np.reciprocal: "creciprocal", np.absolute: "cabs", np.exp: "cexp",
    np.log: "clog", np.sqrt: "csqrt", np.sin: "csin", np.cos: "ccos", np.tan: "ctan", np.sinh: "csinh",
    np.cosh: "ccosh", np.tanh: "ctanh",
}  # fmt: skip
_FACTORS: dict[np.ufunc, float] = {
    np.deg2rad: math.pi / 180.0, np.radians: math.pi / 180.0, np.rad2deg: 180.0 / math.pi, np.degrees: 180.0 / math.pi,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Term:
    """A C expression (an identifier, a literal, or in brackets) of a dtype."""

    text: str
    dtype: np.dtype[Any]

    def to(self, dtype: np.dtype[Any]) -> str:
        """The expression converted."""
        return self.text if dtype == self.dtype else convert(self.text, self.dtype, dtype)


def convert(text: str, source: np.dtype[Any], target: np.dtype[Any]) -> str:
    """A conversion as `astype` makes it."""
    if target.kind == "b":
        return f"(uint8_t)({text} != 0)"
    if source.kind == "c" and target.kind != "c":
        text = f"(__real__ {text})"
    if source.kind in "fc" and target.kind in "iu":
        return f"pb_to_{target.name}({text})"
    return f"({c_type(target)}){text}"


def ufunc_of(call: Call) -> np.ufunc | None:
    """The ufunc that an elementwise call is."""
    if call.op in core.UFUNC_OF_OPERATOR:
        return core.UFUNC_OF_OPERATOR[call.op]
    return call.op.fn if isinstance(call.op.fn, np.ufunc) else None


@lru_cache(maxsize=4096)
def _loop(ufunc: np.ufunc, given: tuple[Any, ...]) -> tuple[np.dtype[Any], ...] | None:
    try:
        return tuple(ufunc.resolve_dtypes(given + (None,) * ufunc.nout))
    except TypeError:
        return None


def loop_of(ufunc: np.ufunc, styles: Sequence[Style]) -> tuple[np.dtype[Any], ...]:
    """The dtypes in which NumPy computes: of the operands, then of the results."""
    given: list[Any] = []
    for style in map(as_array, styles):
        if style.dtype is None:
            raise Untaken("a number whose dtype is not known")
        weak = isinstance(style, Scalar) and style.weak is not False
        given.append(_WEAK[style.kind] if weak else style.dtype)
    if all(g is int for g in given):  # NumPy compares Python integers as objects, of any size
        given = [np.dtype(np.int64)] * len(given)
    found = _loop(ufunc, tuple(given))
    if found is None or any(d.name not in DTYPES for d in found):
        raise Untaken(f"np.{ufunc.__name__} of these dtypes")
    for operand, kind, dtype in zip(styles, given, found, strict=False):
        if kind is int and dtype.kind in "iu" and dtype != np.int64:
            _check_fits(operand, dtype)
    return found


def _check_fits(style: Style, dtype: np.dtype[Any]) -> None:
    """A Python integer among narrower ones: NumPy raises where it does not fit."""
    info = np.iinfo(dtype)
    if not isinstance(style, Static) or not info.min <= style.value <= info.max:
        raise Untaken(f"a Python integer among those of dtype {dtype}")


def element(ufunc: np.ufunc, dtypes: Sequence[np.dtype[Any]], operands: Sequence[Term]) -> Term:
    """`ufunc(*operands)` computed in the given dtypes (operands, then result)."""
    result = dtypes[len(operands)]
    texts = [term.to(dtype) for term, dtype in zip(operands, dtypes, strict=False)]
    for table in (_plain, _functions):
        text = table(ufunc, dtypes, texts)
        if text is not None:
            return Term(text, result)
    raise Untaken(f"np.{ufunc.__name__} of dtype {dtypes[0]}")


def _plain(ufunc: np.ufunc, dtypes: Sequence[np.dtype[Any]], x: Sequence[str]) -> str | None:
    """What C has an operator for."""
    kind = dtypes[0].kind
    if ufunc in _INFIX and kind == "b":
        if ufunc is np.subtract:
            return None
        return f"({x[0]} {'|' if ufunc is np.add else '&'} {x[-1]})"
    if ufunc in _INFIX:
        return (
            f"({_wrapped(ufunc, dtypes[0], x)})" if kind in "iu" else _arithmetic(ufunc, kind, dtypes[0], x)
        )
    if ufunc in _COMPARE and kind != "c":
        return f"({x[0]} {_COMPARE[ufunc]} {x[1]})"
    if ufunc in (np.equal, np.not_equal):
        return f"({x[0]} {_COMPARE[ufunc]} {x[1]})"
    return _logic(ufunc, dtypes, x) or _unary(ufunc, dtypes, kind, x)


def _logic(ufunc: np.ufunc, dtypes: Sequence[np.dtype[Any]], x: Sequence[str]) -> str | None:
    """Logical operations, of truth values and of bits."""
    kind = dtypes[0].kind
    if ufunc in _LOGICAL:
        return f"(({x[0]} != 0) {_LOGICAL[ufunc]} ({x[1]} != 0))"
    if ufunc is np.logical_not:
        return f"({x[0]} == 0)"
    if ufunc is np.logical_xor:
        return f"(({x[0]} != 0) != ({x[1]} != 0))"
    if ufunc in _BITS and kind in "biu":
        return f"(({c_type(dtypes[0])})({x[0]} {_BITS[ufunc]} {x[1]}))"
    if ufunc is np.invert:
        return f"(!{x[0]})" if kind == "b" else f"(({c_type(dtypes[0])})~{x[0]})"
    return None


def _unary(ufunc: np.ufunc, dtypes: Sequence[np.dtype[Any]], kind: str, x: Sequence[str]) -> str | None:
    ctype = c_type(dtypes[0])
    if ufunc is np.negative:
        return f"(-{x[0]})" if kind in "fc" else f"(({ctype})(0 - (uint64_t){x[0]}))"
    if ufunc is np.positive:
        return x[0]
    if ufunc is np.conjugate:
        return f"(~{x[0]})" if kind == "c" else x[0]
    if ufunc is np.square:
        return _plain(np.multiply, [*dtypes[:1], *dtypes], [x[0], x[0]])
    if ufunc is np.divide and kind == "f":
        return f"({x[0]} / {x[1]})"
    if ufunc is np.reciprocal and kind == "f":
        return f"(1 / {x[0]})"
    if ufunc is np.absolute and kind in "iu":
        return f"(({ctype})({x[0]} < 0 ? 0 - (uint64_t){x[0]} : (uint64_t){x[0]}))" if kind == "i" else x[0]
    if ufunc in (np.absolute, np.fabs) and kind == "f":
        return f"{'__builtin_fabsf' if ctype == 'float' else '__builtin_fabs'}({x[0]})"
    if ufunc in _FACTORS and kind == "f":
        return f"({x[0]} * ({ctype}){_FACTORS[ufunc]!r})"
    return _asked(ufunc, kind, x)


def _asked(ufunc: np.ufunc, kind: str, x: Sequence[str]) -> str | None:
    """Questions to a real number."""
    if kind == "f":
        if ufunc is np.isnan:
            return f"({x[0]} != {x[0]})"
        if ufunc is np.isfinite:
            return f"({x[0]} - {x[0]} == 0)"
        if ufunc is np.isinf:
            return f"({x[0]} == {x[0]} && {x[0]} - {x[0]} != 0)"
        if ufunc is np.signbit:
            return f"(__builtin_signbit({x[0]}) != 0)"
    if kind in "biu" and ufunc in (np.isnan, np.isinf, np.isfinite):
        return "1" if ufunc is np.isfinite else "0"
    return None


def _wrapped(ufunc: np.ufunc, dtype: np.dtype[Any], x: Sequence[str]) -> str:
    """Integer arithmetic that wraps, as NumPy's does: C says nothing of signed overflow."""
    return f"({c_type(dtype)})((uint64_t){x[0]} {_INFIX[ufunc]} (uint64_t){x[1]})"


def _arithmetic(ufunc: np.ufunc, kind: str, dtype: np.dtype[Any], x: Sequence[str]) -> str | None:
    if kind == "c":
        suffix = "f" if dtype.name == "complex64" else ""
        return (
            f"pb_cmul{suffix}({x[0]}, {x[1]})" if ufunc is np.multiply else f"({x[0]} {_INFIX[ufunc]} {x[1]})"
        )
    return f"({x[0]} {_INFIX[ufunc]} {x[1]})"


def _functions(ufunc: np.ufunc, dtypes: Sequence[np.dtype[Any]], x: Sequence[str]) -> str | None:
    """What is a function of `c/maths.h`."""
    name = dtypes[0].name
    arguments = ", ".join(x)
    if name in FLOATS and ufunc in _BY_NAME:
        stem = "pow" if ufunc in (np.power, np.float_power) else ufunc.__name__
        return f"pb_{stem}{'f' if name == 'float32' else ''}({arguments})"
    if dtypes[0].kind == "c" and ufunc in _COMPLEX:
        return f"pb_{_COMPLEX[ufunc]}{'f' if name == 'complex64' else ''}({arguments})"
    if dtypes[0].kind in "iu" and ufunc in _INTEGERS:
        return _INTEGERS[ufunc](name, x)
    if ufunc in (np.maximum, np.minimum) and dtypes[0].kind == "b":
        return f"({x[0]} {'|' if ufunc is np.maximum else '&'} {x[1]})"
    return None


def _choice(sign: str) -> Callable[[str, Sequence[str]], str]:
    return lambda name, x: f"({x[0]} {sign} {x[1]} ? {x[0]} : {x[1]})"


def _integer(stem: str) -> Callable[[str, Sequence[str]], str]:
    return lambda name, x: f"pb_{stem}_{name}({', '.join(x)})"


_INTEGERS: dict[np.ufunc, Callable[[str, Sequence[str]], str]] = {
    np.maximum: _choice(">"), np.fmax: _choice(">"), np.minimum: _choice("<"), np.fmin: _choice("<"),
    np.sign: lambda name, x: f"(({x[0]} > 0) - ({x[0]} < 0))",
    np.floor_divide: _integer("floor_divide"), np.remainder: _integer("remainder"), np.fmod: _integer("fmod"),
    np.left_shift: _integer("left_shift"), np.right_shift: _integer("right_shift"), np.gcd: _integer("gcd"),
    np.lcm: _integer("lcm"),
    np.floor: lambda name, x: x[0], np.ceil: lambda name, x: x[0], np.trunc: lambda name, x: x[0],
}  # fmt: skip


def literal(value: Any, dtype: np.dtype[Any]) -> str:
    """A constant number as a C literal of a dtype."""
    kind = dtype.kind
    if kind == "b":
        return "1" if value else "0"
    if kind in "iu":
        return _integer_literal(int(value), dtype)
    if kind == "c":
        number = complex(value)
        part = np.dtype(np.float32 if dtype.name == "complex64" else np.float64)
        return f"PB_COMPLEX({c_type(part)}, {literal(number.real, part)}, {literal(number.imag, part)})"
    number_ = dtype.type(value)
    suffix = "f" if dtype.name == "float32" else ""
    if np.isnan(number_):
        return f'__builtin_nan{suffix}("")'
    if np.isinf(number_):
        return f"({'-' if number_ < 0 else ''}__builtin_inf{suffix}())"
    text = repr(float(number_))
    return f"({text}{suffix})" if text.startswith("-") else f"{text}{suffix}"


def _integer_literal(value: int, dtype: np.dtype[Any]) -> str:
    info = np.iinfo(dtype)
    if not info.min <= value <= info.max:
        raise Untaken(f"an integer that does not fit {dtype}")
    if value == -(2**63):
        return "INT64_MIN"
    text = (
        f"{abs(value)}"
        if abs(value) < 2**31
        else (f"UINT64_C({abs(value)})" if value > 2**63 - 1 else f"INT64_C({abs(value)})")
    )
    return f"(-{text})" if value < 0 else text


def is_number(style: Style) -> bool:
    """Whether a style is that of a number (not an array)."""
    return isinstance(as_array(style), Scalar) and not isinstance(style, Array)
