"""Truth values and small integers of a kernel as floating-point numbers too.

    const uint8_t t_0 = (x0 > 0.0);    const double t_0_real = (t_0 ? 1.0 : 0.0);

What is computed of comparisons (`0.5 * ((x > 0) + (x >= 0))`, a mask times a number) is soon a floating-point number
again.  Vector code chooses between two numbers by the comparison itself, but to bring it down to one byte and up again
takes a dozen instructions.  So such a value has a twin, which is used where a floating-point number is wanted.  Both
are constants of the loop: of the two the compiler drops the one that nothing reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pullback.backend.native.emit.element import Term, literal, ufunc_of
from pullback.backend.native.emit.leaves import c_type, operand_style
from pullback.ir.nodes import Call, Const, Operand, Var
from pullback.styles.broadcast import as_array

MOST = 2**20  # numbers up to here are exact in every dtype of twins
_COMPARE = frozenset({np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal})
_SUMS: dict[np.ufunc, str] = {np.add: "+", np.subtract: "-", np.multiply: "*"}
_COPIES = ("cast", "same", "copy", "known", "np.broadcast_to")


@dataclass(frozen=True, slots=True)
class _Twin:
    """Its name or text, its dtype, and how large it is at most."""

    term: Term
    most: int


class Reals:
    """The twins of a kernel's values."""

    def __init__(self) -> None:
        self.twins: dict[Var, _Twin] = {}

    def term(self, operand: Operand, dtype: np.dtype[Any]) -> Term | None:
        """The twin of an operand, where a floating-point number is wanted and there is one."""
        twin = self.twins.get(operand) if isinstance(operand, Var) and dtype.kind == "f" else None
        return twin.term if twin is not None else None

    def made(self, call: Call, name: str, dtype: np.dtype[Any]) -> str:
        """The definition of the twin of a call's result, which is called `name`; "" where it has none."""
        twin = self._twin(call, name, dtype)
        if twin is None or twin.most > MOST:
            return ""
        ctype, own = c_type(twin.term.dtype), f"{name}_real"
        self.twins[call.targets[0]] = _Twin(Term(own, twin.term.dtype), twin.most)
        return f"const {ctype} {own} = {twin.term.text};"

    def _twin(self, call: Call, name: str, dtype: np.dtype[Any]) -> _Twin | None:
        ufunc = ufunc_of(call)
        if dtype.kind == "b":
            real = _compared(call) if ufunc in _COMPARE else None
            if real is None:
                return self._of(call.args[0], None) if call.op.name in _COPIES else None
            return _Twin(Term(f"({name} ? {literal(1, real)} : {literal(0, real)})", real), 1)
        if dtype.kind not in "iu":
            return None
        if call.op.name in _COPIES:
            return self._of(call.args[0], None)
        if ufunc in _SUMS and len(call.args) == 2:
            return self._sum(ufunc, call, dtype)
        return None

    def _sum(self, ufunc: np.ufunc, call: Call, dtype: np.dtype[Any]) -> _Twin | None:
        a, b = call.args
        first = self._of(a, None)
        second = self._of(b, first)
        first = first or self._of(a, second)
        if first is None or second is None:
            return None
        most = first.most * second.most if ufunc is np.multiply else first.most + second.most
        if most > np.iinfo(dtype).max or (dtype.kind == "u" and ufunc is np.subtract):
            return None
        real = np.promote_types(first.term.dtype, second.term.dtype)
        text = f"({first.term.to(real)} {_SUMS[ufunc]} {second.term.to(real)})"
        return _Twin(Term(text, real), most)

    def _of(self, operand: Operand, beside: _Twin | None) -> _Twin | None:
        """The twin of an operand; of a constant, where it stands beside one that has a twin."""
        if isinstance(operand, Var):
            return self.twins.get(operand)
        value = operand.value if isinstance(operand, Const) else None
        if beside is None or not isinstance(value, int | np.integer | np.bool_) or abs(int(value)) > MOST:
            return None
        return _Twin(Term(literal(int(value), beside.term.dtype), beside.term.dtype), abs(int(value)))


def _compared(call: Call) -> np.dtype[Any] | None:
    """The floating-point dtype in which a comparison is made."""
    dtypes = [as_array(operand_style(x)).dtype for x in call.args]
    found = [d for d in dtypes if d is not None and d.name in ("float32", "float64")]
    narrow = [d for x, d in zip(call.args, dtypes, strict=True) if isinstance(x, Var) and d is not None]
    return min(narrow, key=lambda d: d.itemsize) if narrow and all(d in found for d in narrow) else None
