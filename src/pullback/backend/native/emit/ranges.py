"""Between which numbers the values of a kernel lie, and the mathematics that is enough for them.

    t_0 = -abs(x)      at most 0           t_1 = exp(t_0)     0 to 1: `pb_exp_below`, which knows no overflow
    t_2 = log1p(t_1)   `pb_log1p_unit`, which splits no exponent off

A bound holds for every value that is not NaN: what the functions of maths.h make of NaN is NaN, whatever they take for
granted.  Rounding is monotone, so bounds computed in the same arithmetic are bounds of what is computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pullback.backend.native.emit.element import ufunc_of
from pullback.ir.nodes import Call, Const, Operand, Var

_COPIES = ("cast", "same", "copy", "known", "np.broadcast_to", "np.full", "np.full_like")
_FILLED = {"np.zeros_like": 0.0, "np.ones_like": 1.0, "np.zeros": 0.0, "np.ones": 1.0}


@dataclass(frozen=True, slots=True)
class Range:
    """From `low` to `high`, both included."""

    low: float = -math.inf
    high: float = math.inf


ALL = Range()
Bound = Callable[..., Range]


def _corners(function: Callable[[float, float], float]) -> Bound:
    """The range of a function that is monotone in each of two operands; what is no number there says nothing."""

    def bound(a: Range, b: Range) -> Range:
        found = [function(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
        return ALL if any(map(math.isnan, found)) else Range(min(found), max(found))

    return bound


def _rising(function: Any, low: float = -math.inf) -> Bound:
    """The range of a function that rises, and takes nothing below `low`; an ulp or so is left to either side."""

    def bound(x: Range) -> Range:
        with np.errstate(all="ignore"):
            ends = [float(function(max(end, low))) for end in (x.low, max(x.high, low))]
        if any(map(math.isnan, ends)):
            return ALL
        return Range(ends[0] - 1e-15 * abs(ends[0]), ends[1] + 1e-15 * abs(ends[1]))

    return bound


def _product(a: float, b: float) -> float:
    return 0.0 if a == 0.0 or b == 0.0 else a * b  # an infinite bound stands for numbers without one


def _quotient(a: Range, b: Range) -> Range:
    if not (b.low > 0.0 or b.high < 0.0):
        return ALL
    over = Range(*sorted((1.0 / b.low, 1.0 / b.high)))
    wide = _corners(_product)(a, over)
    return Range(wide.low - 1e-15 * abs(wide.low), wide.high + 1e-15 * abs(wide.high))


def _size(x: Range) -> Range:
    least = 0.0 if x.low <= 0.0 <= x.high else min(abs(x.low), abs(x.high))
    return Range(least, max(abs(x.low), abs(x.high)))


def _square(x: Range) -> Range:
    size = _size(x)
    return Range(size.low * size.low, size.high * size.high)


_UNIT = Range(-1.0, 1.0)
_BOUNDS: dict[np.ufunc, Bound] = {
    np.add: _corners(lambda a, b: a + b),
    np.subtract: _corners(lambda a, b: a - b),
    np.multiply: _corners(_product),
    np.divide: _quotient,
    np.reciprocal: lambda x: _quotient(Range(1.0, 1.0), x),
    np.negative: lambda x: Range(-x.high, -x.low),
    np.positive: lambda x: x,
    np.absolute: _size, np.fabs: _size, np.square: _square,
    np.maximum: lambda a, b: Range(max(a.low, b.low), max(a.high, b.high)),
    np.minimum: lambda a, b: Range(min(a.low, b.low), min(a.high, b.high)),
    np.exp: _rising(np.exp), np.exp2: _rising(np.exp2), np.expm1: _rising(np.expm1),
    np.log: _rising(np.log, 0.0), np.log1p: _rising(np.log1p, -1.0), np.sqrt: _rising(np.sqrt, 0.0),
    np.tanh: lambda x: _UNIT, np.sin: lambda x: _UNIT, np.cos: lambda x: _UNIT, np.sign: lambda x: _UNIT,
    np.cosh: lambda x: Range(1.0, math.inf), np.hypot: lambda a, b: Range(0.0, math.inf),
}  # fmt: skip

# For a function of double: what its argument must lie between, and the function that is then enough.
_ENOUGH: dict[np.ufunc, tuple[tuple[float, float, str], ...]] = {
    np.exp: ((-math.inf, 290.0, "pb_exp_below"),),
    np.log: ((2.0**-1022, math.inf, "pb_log_normal"),),
    np.log1p: ((0.0, 1.0 + 1e-9, "pb_log1p_unit"),),
}


class Ranges:
    """The ranges of a kernel's values."""

    def __init__(self) -> None:
        self.ranges: dict[Var, Range] = {}

    def of(self, operand: Operand) -> Range:
        """That of an operand."""
        if isinstance(operand, Var):
            return self.ranges.get(operand, ALL)
        value = operand.value if isinstance(operand, Const) else None
        if isinstance(value, int | np.integer) and abs(int(value)) > 2**60:
            return ALL
        if isinstance(value, int | float | np.integer | np.floating) and value == value:
            return Range(float(value), float(value))
        return ALL

    def made(self, call: Call, dtype: np.dtype[Any]) -> None:
        """Note that of a call's result."""
        found = self._made(call) if dtype.kind == "f" else ALL
        if found != ALL:
            self.ranges[call.targets[0]] = found

    def _made(self, call: Call) -> Range:
        if call.op.name in _FILLED:
            return Range(_FILLED[call.op.name], _FILLED[call.op.name])
        if call.op.name in _COPIES:
            return self.of(call.args[1 if call.op.name in ("np.full", "np.full_like") else 0])
        ranges = list(map(self.of, call.args))
        if call.op.name == "np.where" and len(ranges) == 3:
            return Range(min(ranges[1].low, ranges[2].low), max(ranges[1].high, ranges[2].high))
        ufunc = ufunc_of(call) or (np.absolute if call.op.fn is abs else None)
        if ufunc is np.power and isinstance(call.args[1], Const) and call.args[1].value in (2, 4, 6):
            return Range(0.0)
        if ufunc is np.multiply and call.args[0] is call.args[1]:
            return _square(ranges[0])
        return _BOUNDS[ufunc](*ranges) if ufunc in _BOUNDS and not call.kwargs else ALL

    def enough(self, ufunc: np.ufunc, dtypes: Sequence[np.dtype[Any]], call: Call) -> str:
        """The function that is enough for a call of a ufunc in these dtypes; "" where it is the general one."""
        if dtypes[0].name != "float64" or len(call.args) != 1:
            return ""
        x = self.of(call.args[0])
        return next(
            (name for low, high, name in _ENOUGH.get(ufunc, ()) if low <= x.low and x.high <= high), ""
        )
