"""What the calls of a kernel have in common beyond equal calls: quotients by one value, products that are added up.

    a / d, 1 / d, -b / d        d_inverse = 1 / d;  a * d_inverse, d_inverse, -b * d_inverse
    sum = sum + x * y           sum = fma(x, y, sum)

A division takes as long as six products.  The inverse is taken where several quotients share a divisor of which it is
known that it is not small, so that the inverse is no infinity where the quotient is a number; a quotient is then off by
one ulp more.  A sum over a kernel has no order that is NumPy's anyway, and loses nothing where products are not rounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.backend.native.emit.element import Term, ufunc_of
from pullback.backend.native.emit.leaves import c_type
from pullback.backend.native.emit.ranges import Ranges
from pullback.ir.nodes import Call, Const, Var

SMALL = 2.0**-100  # the inverse of what is larger is a normal number in every dtype


class Sharing:
    """Of one kernel."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self.shared = Counter(d for d in map(_divisor, calls) if d is not None)
        self.inverses: dict[tuple[Var, np.dtype[Any]], str] = {}
        self.products: dict[Var, tuple[str, str]] = {}
        self.lines: list[str] = []  # what is to stand before the statement

    def made(
        self, call: Call, ufunc: np.ufunc, terms: Sequence[Term], dtype: np.dtype[Any], ranges: Ranges
    ) -> Term | None:
        """The item of a quotient by way of the inverse; None for what has no shorter way."""
        if dtype.name == "float64" and ufunc is np.multiply:
            self.products[call.targets[0]] = (terms[0].text, terms[1].text)
        divisor = _divisor(call)
        if divisor is None or self.shared[divisor] < 2 or dtype.name not in ("float64", "float32"):
            return None
        if not ranges.of(divisor).low >= SMALL:
            return None
        text = terms[-1].to(dtype)
        if (divisor, dtype) not in self.inverses:
            name = self.inverses[divisor, dtype] = f"pb_inverse{len(self.inverses)}"
            self.lines.append(f"const {c_type(dtype)} {name} = 1 / {text};")
        inverse = self.inverses[divisor, dtype]
        if ufunc is np.reciprocal or (isinstance(call.args[0], Const) and call.args[0].value == 1):
            return Term(inverse, dtype)
        return Term(f"({terms[0].to(dtype)} * {inverse})", dtype)

    def added(self, total: str, operand: Any, dtype: np.dtype[Any]) -> str:
        """A sum with one product more; "" where what is added is none."""
        factors = self.products.get(operand) if isinstance(operand, Var) and dtype.name == "float64" else None
        return f"pb_fma({factors[0]}, {factors[1]}, {total})" if factors else ""


def _divisor(call: Call) -> Var | None:
    """What a call divides by."""
    ufunc = ufunc_of(call)
    if call.kwargs or ufunc not in (np.divide, np.reciprocal):
        return None
    divisor = call.args[-1]
    return divisor if isinstance(divisor, Var) else None
