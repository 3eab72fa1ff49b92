"""Constants: what is known at compile time is computed then.

    %n: int = 2 + 3                  every read of %n reads 5
    if True: ... else: ...           only the branch that is taken
    np.sum(%x, axis=(0, 1))          the axes are one constant

Folded are pure calls on constants whose result is a plain Python number, text or truth value, lengths that the style
knows, tests, and loops over an empty range.  A call that raises or warns stays where it is.  Arithmetic on the user's
run-time values is never changed.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from pullback.ir import core_ops as core
from pullback.ir.nodes import (
    UNDEF,
    Block,
    Call,
    Const,
    For,
    Function,
    If,
    Operand,
    Pack,
    Range,
    Stmt,
    While,
)
from pullback.passes.rewrite import Rewriter
from pullback.styles.style import Scalar

_PLAIN = (bool, int, float, complex, str, type(None))
_NONE: Any = object()


def fold(function: Function) -> Function:
    """The function with what is constant computed.

    >>> from pullback.ir.builder import Builder
    >>> from pullback.ir.core_ops import OPERATORS
    >>> from pullback.ir.pretty import pretty
    >>> build = Builder()
    >>> n = build.call(OPERATORS["+"], Const(2), Const(3), hint="n")
    >>> m = build.call(OPERATORS["/"], n, Const(0), hint="m")
    >>> print(pretty(fold(Function("f", (), build.finish(), (n, m)))), end="")
    primal f() -> 5, %m
      %m: float = 5 / 0
    """
    return _Fold().function(function)


class _Fold(Rewriter):
    def call(self, call: Call) -> Call | None:
        """Compute a call of constants."""
        if call.op.effect or len(call.targets) != 1:
            return call
        value = _known_length(call)
        if value is _NONE:
            value = _computed(call)
        if value is _NONE:
            return _with_axes(call)
        self.mapping[call.targets[0]] = Const(value)
        return None

    def control(self, stmt: If | For | While) -> Stmt | None:
        """Take the branch that is known; drop a loop that never runs."""
        if isinstance(stmt, If):
            test = self.new(stmt.test)
            if isinstance(test, Const) and test.value is not UNDEF and isinstance(test.value, bool | int):
                self._splice(stmt, bool(test.value))
                return None
        elif isinstance(stmt, For) and any(isinstance(it, Range) and self._is_empty(it) for it in stmt.iters):
            self.mapping.update(zip(stmt.results, [self.new(x) for x in stmt.inits], strict=True))
            return None
        return super().control(stmt)

    def _splice(self, stmt: If, taken: bool) -> None:
        block, yields = (stmt.then, stmt.then_yields) if taken else (stmt.orelse, stmt.else_yields)
        inner: Block = self.block(block)
        self.emitted += inner.stmts
        self.mapping.update(zip(stmt.results, [self.new(x) for x in yields], strict=True))

    def _is_empty(self, it: Range) -> bool:
        bounds = [self.new(x) for x in (it.start, it.stop, it.step)]
        if not all(isinstance(x, Const) and type(x.value) is int for x in bounds):
            return False
        start, stop, step = (x.value for x in bounds if isinstance(x, Const))
        return step != 0 and len(range(start, stop, step)) == 0


def _with_axes(call: Call) -> Call:
    """Axes told one by one, `axis=(0, 1)`, as one constant."""
    if not any(name == "axis" and isinstance(x, Pack) for name, x in call.kwargs):
        return call
    return replace(
        call, kwargs=tuple((name, _constant(x) if name == "axis" else x) for name, x in call.kwargs)
    )


def _constant(operand: Operand) -> Operand:
    items = operand.items if isinstance(operand, Pack) and operand.kind == "tuple" else ()
    values = [x.value for x in items if isinstance(x, Const) and type(x.value) is int]
    return Const(tuple(values)) if values and len(values) == len(items) else operand


def _known_length(call: Call) -> Any:
    """The length of an axis where the array's style has it."""
    style = call.targets[0].style
    if call.op is core.dim and isinstance(style, Scalar) and isinstance(style.length, int):
        return style.length
    return _NONE


def _computed(call: Call) -> Any:
    """The value of a call on constants, or _NONE."""
    operands: list[Operand] = [*call.args, *(x for _, x in call.kwargs)]
    if not operands or not all(isinstance(x, Const) and type(x.value) in _PLAIN for x in operands):
        return _NONE
    args = [x.value for x in call.args if isinstance(x, Const)]
    kwargs = {name: x.value for name, x in call.kwargs if isinstance(x, Const)}
    try:
        with warnings.catch_warnings(), np.errstate(all="raise"):
            warnings.simplefilter("error")
            value = call.op.impl(*args, **kwargs)
    except Exception:  # whatever the operation raises, it raises at run time
        return _NONE
    return value if _is_small(value) else _NONE


def _is_small(value: Any) -> bool:
    if type(value) is int:
        return abs(value) < 2**63
    if type(value) is str:
        return len(value) < 1000
    return type(value) in _PLAIN
