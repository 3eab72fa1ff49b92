"""What an iteration of a loop does: with which elements, with which numbers, and what every iteration does alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from pullback.ir import core_ops as core
from pullback.ir.callee import callee_of
from pullback.ir.nodes import Block, Call, Const, For, Operand, Pack, Range, Seq, Stmt, Var
from pullback.ir.walk import (
    block_ends,
    definitions,
    map_operands,
    own_operands,
    statements,
    targets,
    variables_in,
)
from pullback.styles.style import Array, ListOf, Scalar, Static, Style, Tup, Undef


def counts(it: Range | Seq) -> bool:
    """Whether an iterator counts from 0."""
    if not isinstance(it, Range) or it.reverse or it.count is not None:
        return False
    return (
        isinstance(it.start, Const)
        and it.start.value == 0
        and isinstance(it.step, Const)
        and it.step.value == 1
    )


def vector_of(it: Range | Seq) -> Iterator[Var]:
    """The vector whose elements an iterator gives, if that is what it does."""
    if isinstance(it, Seq) and not it.reverse and isinstance(it.value, Var) and _is_vector(it.value.style):
        yield it.value


def _is_vector(style: Style) -> bool:
    return (
        isinstance(style, Array)
        and style.dtype is not None
        and style.axes is not None
        and len(style.axes) == 1
    )


def element_of(stmt: Stmt, counters: Iterable[Var]) -> Var | None:
    """The vector of which a statement reads the element of this iteration."""
    if not isinstance(stmt, Call) or stmt.op is not core.load or len(stmt.args) != 2:
        return None
    array, step = stmt.args
    if not isinstance(array, Var) or not _is_vector(array.style) or not isinstance(step, Pack):
        return None
    alone = step.kind == "index" and len(step.items) == 1
    return array if alone and any(step.items[0] is v for v in counters) else None


def invariant(loop: For) -> list[Call]:
    """The calls of a loop's body that no iteration makes another of.

    They are made once, before: it does no harm that one may then be made which no iteration comes to (a function so
    changed is for those who have another version to call where there is an error).  In branches and inner loops only
    what costs nothing is looked for.
    """
    bound = {*loop.index, *loop.params, *definitions(loop.body)}
    found = []
    own = set(map(id, loop.body.stmts))
    for stmt in statements(loop.body):
        if not isinstance(stmt, Call) or stmt.op.effect or stmt.op.writes or callee_of(stmt) is not None:
            continue
        if id(stmt) not in own and not (
            stmt.op in (core.load, core.dim) and all(map(is_number, stmt.targets))
        ):
            continue
        if stmt.targets and not any(v in bound for v in variables_in(own_operands(stmt))):
            found.append(stmt)
            bound.difference_update(stmt.targets)
    return found


def is_of_numbers(stmt: Stmt) -> bool:
    """Whether a statement computes with numbers, and does nothing but that."""
    if isinstance(stmt, Call):
        apart = callee_of(stmt) is not None or stmt.op.effect
        return not apart and all(map(is_number, (*stmt.targets, *own_operands(stmt))))
    heads = [v for head, _, _ in block_ends(stmt) for v in head]
    return all(map(is_number, (*heads, *targets(stmt), *own_operands(stmt))))


def is_number(operand: Operand | None) -> bool:
    """Whether an operand is a number, or a list or tuple of numbers."""
    if isinstance(operand, Pack):
        return operand.kind in ("tuple", "list", "slice") and all(map(is_number, operand.items))
    if isinstance(operand, Const):
        return not isinstance(operand.value, np.ndarray)
    return operand is None or _is_numeric(operand.style)


def _is_numeric(style: Style) -> bool:
    match style:
        case Scalar() | Undef():
            return True
        case Static(value):
            return not isinstance(value, np.ndarray)
        case Tup(items):
            return all(map(_is_numeric, items))
        case ListOf(elem):
            return _is_numeric(elem)
    return False


def without(block: Block, dropped: set[int]) -> Block:
    """A block without some of its statements, inner ones included."""
    out: list[Stmt] = []
    for stmt in block.stmts:
        if id(stmt) not in dropped:
            out.append(map_operands(stmt, lambda x: x, lambda b: without(b, dropped)))
    return Block(tuple(out))
