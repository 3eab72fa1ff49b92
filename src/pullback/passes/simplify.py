"""Cotangent arithmetic made simple, where the result is the same to the last bit.

Only operations that the reverse sweep itself emits (`scale`, `accumulate`, negations of cotangents) are touched; the
user's own arithmetic stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pullback.ir import core_ops as core
from pullback.ir.builder import infer
from pullback.ir.core_ops import OPERATORS, style_of
from pullback.ir.nodes import Block, Call, Const, Function, Op, Operand, Stmt, Var
from pullback.ir.walk import map_operands, statements, substitute, variables_in
from pullback.styles.style import Array, Scalar, numeric


def simplify(function: Function) -> Function:
    """The function with simpler cotangent arithmetic."""
    walk = _Walk(function)
    body = walk.block(function.body)
    if not walk.changed:
        return function
    results = tuple(substitute(r, walk.mapping) for r in function.results)
    return replace(function, body=body, results=results)


class _Walk:
    def __init__(self, function: Function) -> None:
        self.mapping: dict[Var, Operand] = {}
        self.made: dict[Var, Call] = {}
        self.changed = False
        self.uses: dict[Var, int] = {}
        for stmt in statements(function.body):
            if isinstance(stmt, Call):
                for var in variables_in((*stmt.args, *(v for _, v in stmt.kwargs))):
                    self.uses[var] = self.uses.get(var, 0) + 1

    def block(self, block: Block) -> Block:
        out: list[Stmt] = []
        for stmt in block.stmts:
            new = map_operands(stmt, lambda x: substitute(x, self.mapping), self.block)
            if isinstance(new, Call):
                simpler = self._call(new, out)
                if simpler is None:
                    continue
                new = simpler
                if len(new.targets) == 1:
                    self.made[new.targets[0]] = new
            out.append(new)
        return Block(tuple(out))

    def _call(self, call: Call, out: list[Stmt]) -> Call | None:
        rule = _RULES.get(call.op)
        if rule is None:
            return call
        found = rule(self, call, out)
        if found is call:
            return call
        self.changed = True
        if isinstance(found, Call):
            return found
        assert found is not None
        self.mapping[call.targets[0]] = found
        return None

    def call_of(self, operand: Operand, op: Op) -> Call | None:
        """The call of `op` that made an operand."""
        made = self.made.get(operand) if isinstance(operand, Var) else None
        return made if made is not None and made.op is op else None

    def emit(self, out: list[Stmt], like: Call, op: Op, *args: Operand, hint: str = "t") -> Var:
        """Put a new call before the present one."""
        (style,) = infer(op, args, {})
        var = Var(hint, style)
        made = Call((var,), op, args, (), like.loc)
        self.made[var] = made
        out.append(made)
        return var


Outcome = Call | Operand


def _is_one(operand: Operand) -> bool:
    return isinstance(operand, Const) and isinstance(operand.value, float | np.floating) and operand.value == 1.0


def _same_style(operand: Operand, call: Call) -> bool:
    """Whether an operand may stand for a call's result: same kind of value, dtype and rank."""
    a, b = numeric(style_of(operand)), numeric(call.targets[0].style)
    if isinstance(a, Array) and isinstance(b, Array):
        return a.dtype == b.dtype and a.dtype is not None and a.axes == b.axes
    return isinstance(a, Scalar) and isinstance(b, Scalar) and a.dtype == b.dtype and a.dtype is not None


def _scale(walk: _Walk, call: Call, out: list[Stmt]) -> Outcome:
    bar, partial = call.args
    if _is_one(partial) and _same_style(bar, call):
        return bar
    if _is_one(bar) and _same_style(partial, call) and isinstance(numeric(style_of(partial)), Scalar):
        return partial  # 1 is not zero: the strong-zero product is the plain one
    minus = walk.call_of(partial, OPERATORS["u-"])
    if minus is not None:
        (inner,) = minus.args
        product = walk.emit(out, call, core.scale, bar, inner, hint=call.targets[0].hint)
        return replace(call, op=OPERATORS["u-"], args=(product,))
    return call


def _accumulate(walk: _Walk, call: Call, out: list[Stmt]) -> Outcome:
    old, more = call.args
    doubled = _doubled(walk, call, out, old, more)
    if doubled is not None:
        return doubled
    if _is_zeros(walk, old) and _same_style(more, call):
        return more
    return call


def _doubled(walk: _Walk, call: Call, out: list[Stmt], old: Operand, more: Operand) -> Outcome | None:
    """`b * x + b * x` is `(2 b) * x`: doubling is exact."""
    a, b = walk.call_of(old, core.scale), walk.call_of(more, core.scale)
    if old is not more and not (a and b and a.args[0] is b.args[0] and a.args[1] is b.args[1]):
        return None
    if a is None:
        return None
    bar, partial = a.args
    twice: Operand = Const(2.0) if _is_one(bar) else walk.emit(out, call, OPERATORS["*"], Const(2.0), bar, hint="t_bar")
    return replace(call, op=core.scale, args=(twice, partial))


def _is_zeros(walk: _Walk, operand: Operand) -> bool:
    made = walk.made.get(operand) if isinstance(operand, Var) else None
    return made is not None and made.op.fn in (np.zeros_like, np.zeros)


def _negative(walk: _Walk, call: Call, out: list[Stmt]) -> Outcome:
    inner = walk.call_of(call.args[0], OPERATORS["u-"])
    if inner is not None and _same_style(inner.args[0], call):
        return inner.args[0]
    return call


_RULES: dict[Op, Callable[[_Walk, Call, list[Stmt]], Outcome]] = {
    core.scale: _scale,
    core.accumulate: _accumulate,
    OPERATORS["u-"]: _negative,
}
