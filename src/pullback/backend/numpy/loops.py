"""Loops: the branch that decides how one goes on, last in its body; headers (ranges, lists, reversed, in step)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from pullback.backend.numpy.constants import call, name
from pullback.backend.numpy.expressions import Expressions
from pullback.backend.numpy.naming import Names
from pullback.ir.nodes import Block, Call, Const, For, If, Iter, Operand, Range, Seq, Var, While
from pullback.ir.walk import iter_operands, map_operands, targets, uses


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


def deciding_last(block: Block) -> Block:
    """The branch that decides whether a loop goes on comes last in its body, so that it can `break`.

    What stands after it (the count of iterations, say) moves before it where it reads nothing of the branch.
    """
    out = []
    for stmt in block.stmts:
        if not isinstance(stmt, Call):
            stmt = map_operands(stmt, lambda x: x, deciding_last)
        if isinstance(stmt, For | While) and isinstance(stmt.go, Var):
            stmt = replace(stmt, body=_last(stmt.body, stmt.go))
        out.append(stmt)
    return Block(tuple(out))


def _last(body: Block, go: Var) -> Block:
    at = next((i for i, s in enumerate(body.stmts) if isinstance(s, If) and go in s.results), None)
    if at is None:
        return body
    branch, after = body.stmts[at], body.stmts[at + 1 :]
    decided = set(targets(branch))
    pure = all(isinstance(s, Call) and not s.op.effect and not s.op.writes for s in after)
    if not pure or any(v in decided for s in after for v in uses(s)):
        return body
    return Block((*body.stmts[:at], *after, branch))
