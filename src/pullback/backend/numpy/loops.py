"""The headers of loops: ranges, lists, both reversed, in step; and where a loop's `go` is a `break`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from pullback.backend.numpy.constants import call, name
from pullback.backend.numpy.expressions import Expressions
from pullback.backend.numpy.naming import Names
from pullback.ir.nodes import Const, For, If, Iter, Operand, Range, Seq, While
from pullback.ir.walk import iter_operands, variables_in


def iterators(
    stmt: For, expr: Expressions, names: Names
) -> tuple[ast.expr, Sequence[Operand], Callable[[], ast.expr]]:
    """The target of a `for`, the operands its iterator reads, and what builds the iterator."""
    targets: list[ast.expr] = [name(names.of[v] if v in names.used else "_") for v in stmt.index]
    target = targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Load())
    operands = [x for it in stmt.iters for x in iter_operands(it)]

    def build() -> ast.expr:
        made = [_iterator(it, expr) for it in stmt.iters]
        return made[0] if len(made) == 1 else call(expr.module.builtin("zip"), *made)

    return target, operands, build


def _iterator(it: Iter, expr: Expressions) -> ast.expr:
    out = expr.operand(it.value) if isinstance(it, Seq) else _range(it, expr)
    return call(expr.module.builtin("reversed"), out) if it.reverse else out


def _range(it: Range, expr: Expressions) -> ast.expr:
    fn = expr.module.builtin("range")
    start, step, stop = it.start, it.step, it.stop
    plain = _is(start, 0) and _is(step, 1)
    if plain and it.count is not None:
        return call(fn, expr.operand(it.count))  # no more than `stop` by its meaning
    if plain:
        return call(fn, expr.operand(stop))
    args = (start, stop) if _is(step, 1) else (start, stop, step)
    out = call(fn, *(expr.operand(x) for x in args))
    if it.count is None:
        return out
    return ast.Subscript(out, ast.Slice(None, expr.operand(it.count), None), ast.Load())


def _is(operand: Operand, value: int) -> bool:
    return isinstance(operand, Const) and type(operand.value) is int and operand.value == value


def break_side(stmt: For | While) -> str | None:
    """Where the body's last statement is a branch of which just one side leaves the loop: that side."""
    go = stmt.go
    if go is None or not stmt.body.stmts:
        return None
    last = stmt.body.stmts[-1]
    if not isinstance(last, If) or go not in last.results or go in set(variables_in(stmt.yields)):
        return None
    k = last.results.index(go)
    sides = [y.value if isinstance(y, Const) else None for y in (last.then_yields[k], last.else_yields[k])]
    if sides == [False, True]:
        return "then"
    return "else" if sides == [True, False] else None
