"""Cotangent arithmetic made simple, where the result is the same.

    scale(b, 1.0)                            b
    scale(1.0, p), p a scalar                p
    scale(broadcast_to(b, shape), p)         scale(b, p)              where p has that shape
    scale(b, -p)                             -scale(b, p)
    accumulate(zeros, m)                     m
    accumulate(scale(b, x), scale(b, x))     scale(2.0 * b, x)        doubling is exact
    accumulate(b, -m), of scalars            b - m
    scale(where(c, g, 0), p)                 where(c, scale(g, p), 0)
    -(-b), of a cotangent                    b

Only operations that the reverse sweep emits are touched (and what it negates); the user's own arithmetic stays as it
is.  "The same" is equality of numbers: the sign of a zero and the last bit of a subnormal number may differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from pullback.ir import core_ops as core
from pullback.ir.builder import infer
from pullback.ir.core_ops import OPERATORS, style_of
from pullback.ir.nodes import Call, Const, Function, Op, Operand, Var
from pullback.ir.walk import statements, variables_in
from pullback.passes.rewrite import Rewriter
from pullback.styles.join import below
from pullback.styles.style import Array, Scalar, Style, numeric

Outcome: TypeAlias = Call | Operand
_MINUS = OPERATORS["u-"]


def simplify(function: Function) -> Function:
    """The function with simpler cotangent arithmetic.

    >>> from pullback.ir.builder import Builder
    >>> from pullback.ir.nodes import Param
    >>> from pullback.ir.pretty import pretty
    >>> from pullback.styles.style import FLOAT64, Dim
    >>> build, b, x = Builder(), Var("b", Scalar(FLOAT64)), Var("x", Array(FLOAT64, (Dim(0),)))
    >>> once, twice = (build.call(core.scale, b, x, hint="t_bar") for _ in range(2))
    >>> x_bar = build.call(core.accumulate, once, twice, hint="x_bar")
    >>> f = Function("f", (Param("b", b), Param("x", x)), build.finish(), (x_bar,))
    >>> from pullback.passes.dce import dce
    >>> print(pretty(dce(simplify(f))), end="")
    primal f(%b: f64, %x: f64[n]) -> %x_bar
      %t_bar: f64 = 2.0 * %b
      %x_bar: f64[n] = scale(%t_bar, %x)
    """
    return _Simplify(function).function(function)


class _Simplify(Rewriter):
    def __init__(self, function: Function) -> None:
        super().__init__()
        self.made: dict[Var, Call] = {}
        self.reads: dict[Var, int] = {}
        for stmt in statements(function.body):
            if isinstance(stmt, Call):
                for var in variables_in((*stmt.args, *(x for _, x in stmt.kwargs))):
                    self.reads[var] = self.reads.get(var, 0) + 1

    def call(self, call: Call) -> Call | None:
        """Apply the first rule that fits."""
        rule = _RULES.get(call.op)
        found = rule(self, call) if rule is not None and len(call.targets) == 1 else call
        if not isinstance(found, Call):
            self.mapping[call.targets[0]] = found
            return None
        if len(found.targets) == 1:
            self.made[found.targets[0]] = found
        return found

    def call_of(self, operand: Operand, op: Op) -> Call | None:
        """The call of `op` that made an operand."""
        made = self.made.get(operand) if isinstance(operand, Var) else None
        return made if made is not None and made.op is op else None

    def spread(self, operand: Operand) -> Operand | None:
        """What `np.broadcast_to` made an operand of."""
        made = self.made.get(operand) if isinstance(operand, Var) else None
        return (
            made.args[0] if made is not None and made.op.fn is np.broadcast_to and not made.kwargs else None
        )

    def emit(self, like: Call, op: Op, *args: Operand, hint: str = "t_bar") -> Var:
        """Put a new call before the present one."""
        (style,) = infer(op, args, {})
        var = Var(hint, style)
        made = Call((var,), op, args, (), like.loc)
        self.made[var] = made
        self.emitted.append(made)
        return var


def _is_one(operand: Operand) -> bool:
    return (
        isinstance(operand, Const) and isinstance(operand.value, float | np.floating) and operand.value == 1.0
    )


def _is_zero(operand: Operand) -> bool:
    return isinstance(operand, Const) and type(operand.value) in (int, float) and operand.value == 0


def _fits(found: Style, call: Call) -> bool:
    """Whether a value of a style may stand for a call's result: same dtype, rank, axes, and kind of scalar."""
    a, b = numeric(found), numeric(call.targets[0].style)
    if isinstance(a, Array) and isinstance(b, Array):
        return a.dtype == b.dtype and a.dtype is not None and a.axes == b.axes and a.axes is not None
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return a.dtype == b.dtype and a.dtype is not None and (a.weak is b.weak or b.weak is None)
    return False


def _scale(walk: _Simplify, call: Call) -> Outcome:
    bar, partial = call.args
    if _is_one(partial) and _fits(style_of(bar), call):
        return bar
    if _is_one(bar) and _fits(style_of(partial), call) and isinstance(numeric(style_of(partial)), Scalar):
        return partial  # one is not zero: the strong-zero product is the plain one
    spread = walk.spread(bar)
    if spread is not None:
        (style,) = infer(core.scale, (spread, partial), {})
        if _fits(style, call):
            return replace(call, args=(spread, partial))
    minus = walk.call_of(partial, _MINUS)
    if minus is not None:
        (style,) = infer(core.scale, (bar, minus.args[0]), {})
        if _fits(style, call):
            product = walk.emit(call, core.scale, bar, minus.args[0], hint=call.targets[0].hint)
            return replace(call, op=_MINUS, args=(product,))
    return _select(walk, call)


def _select(walk: _Simplify, call: Call) -> Call:
    """Multiply inside a select: one select a chain, and no product with what is not selected."""
    bar, partial = call.args
    made = walk.made.get(bar) if isinstance(bar, Var) else None
    if made is None or made.op.fn is not np.where or len(made.args) != 3 or made.kwargs:
        return call
    test, chosen, other = made.args
    if walk.reads.get(made.targets[0]) != 1 or not _is_zero(other) or not isinstance(chosen, Var):
        return call
    (style,) = infer(core.scale, (chosen, partial), {})
    product = Var("t_bar", style)
    (selected,) = infer(made.op, (test, product, other), {})
    if not _fits(selected, call) or not _fits(style, call):
        return call
    return replace(call, op=made.op, args=(test, walk.emit(call, core.scale, chosen, partial), other))


def _accumulate(walk: _Simplify, call: Call) -> Outcome:
    old, more = call.args
    if _is_zeros(walk, old) and _fits(style_of(more), call):
        return more
    if _is_zeros(walk, more) and _fits(style_of(old), call):
        return old
    minus = walk.call_of(more, _MINUS)
    if minus is not None and isinstance(call.targets[0].style, Scalar):
        (style,) = infer(OPERATORS["-"], (old, minus.args[0]), {})
        if _fits(style, call):
            return replace(call, op=OPERATORS["-"], args=(old, minus.args[0]))
    return _doubled(walk, call)


def _doubled(walk: _Simplify, call: Call) -> Call:
    """`b * x + b * x` is `(2 b) * x`."""
    a, b = (walk.call_of(x, core.scale) for x in call.args)
    if a is None or b is None or any(x is not y for x, y in zip(a.args, b.args, strict=True)):
        return call
    bar, partial = a.args
    if _is_one(bar) and isinstance(bar, Const) and type(bar.value) is float:
        twice: Operand = Const(2.0)
    else:
        twice = walk.emit(call, OPERATORS["*"], Const(2.0), bar)
    (style,) = infer(core.scale, (twice, partial), {})
    return replace(call, op=core.scale, args=(twice, partial)) if _fits(style, call) else call


def _is_zeros(walk: _Simplify, operand: Operand) -> bool:
    made = walk.made.get(operand) if isinstance(operand, Var) else None
    return made is not None and made.op.fn in (np.zeros_like, np.zeros)


def _negative(walk: _Simplify, call: Call) -> Outcome:
    """Twice negated, where the inner one is the sweep's (it negates cotangents only)."""
    inner = walk.call_of(call.args[0], _MINUS)
    if inner is not None and inner.targets[0].hint.endswith("_bar") and _fits(style_of(inner.args[0]), call):
        return inner.args[0]
    return call


def _known(walk: _Simplify, call: Call) -> Outcome:
    """Where no more is known than before."""
    return call.args[0] if below(style_of(call.args[0]), call.targets[0].style) else call


_RULES: dict[Op, Callable[[_Simplify, Call], Outcome]] = {
    core.known: _known,
    core.scale: _scale,
    core.accumulate: _accumulate,
    _MINUS: _negative,
}
