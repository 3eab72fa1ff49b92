"""Recompute or save: how a reverse block gets at the values of its forward block.

The reverse sweep is written as if it saw every value of the forward sweep.  Here each such read across blocks is
resolved: a cheap value is computed again from what is at hand, a shape is taken where the value lives, the rest is
saved.  What is saved is returned; the caller lifts it out of the branch, appends it to a list an iteration, or puts it
among the residuals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pullback.ir import core_ops as core
from pullback.ir.nodes import Block, Call, Const, Operand, Stmt, Var
from pullback.ir.walk import (
    block_ends,
    copy_stmt,
    free_variables,
    own_operands,
    statements,
    substitute,
    substitute_block,
    targets,
    variables_in,
)
from pullback.passes.dce import prune
from pullback.styles.style import Array
from pullback.transform.cotangents import numpy_op

MAX_RECOMPUTE_DEPTH = 8


@dataclass(slots=True)
class Needs:
    """The outcome: the reverse block and its end operands as rewritten so far, and the values to save."""

    reverse: Block
    ends: tuple[Operand, ...]
    forward: list[Stmt]  # with the shapes that were taken
    saved: list[Var] = field(default_factory=list)
    again: tuple[tuple[Var, Call], ...] = ()  # what is computed again, and the call that does

    def bind(self, mapping: dict[Var, Operand]) -> None:
        """Read saved values under the names by which the reverse block gets them."""
        self.reverse = substitute_block(self.reverse, mapping)
        self.ends = tuple(substitute(x, mapping) for x in self.ends)


def resolve(
    forward: Sequence[Stmt],
    heads: Iterable[Var],
    reverse: Sequence[Stmt],
    ends: Sequence[Operand],
    late: Mapping[Var, Call],
    at_hand: Callable[[Var], bool] = lambda var: False,
) -> Needs:
    """Resolve the reads of a reverse block from its forward block.

    heads    Vars bound at the head of the forward block (loop params and indices)
    late     loads that give values again, from an array as it is later
    at_hand  heads that the reverse block has anyway (the index of a range)
    """
    block = prune(Block(tuple(reverse)), tuple(ends))
    forward_list, block = _take_shapes(list(forward), set(heads), block, ends)
    needs = Needs(block, tuple(ends), forward_list)
    defined = {var: stmt for stmt in forward_list for var in targets(stmt)}
    inside = set(defined) | set(heads)
    wanted = [v for v in free_variables(block, ends) if v in inside and not at_hand(v)]
    decide = _Decision(defined, inside, late, at_hand)
    decide.choose(wanted)
    needs.saved = list(decide.saved)
    needs.again = tuple(decide.again.items())
    _recompute(needs, decide.again)
    return needs


class _Decision:
    """Which of the wanted values are saved, and which statements are run again."""

    def __init__(
        self,
        defined: dict[Var, Stmt],
        inside: set[Var],
        late: Mapping[Var, Call],
        at_hand: Callable[[Var], bool],
    ) -> None:
        self.defined = defined
        self.inside = inside
        self.late = late
        self.at_hand = at_hand
        self.saved: dict[Var, None] = {}
        self.again: dict[Var, Call] = {}  # in the order in which to run them

    def choose(self, wanted: Sequence[Var]) -> None:
        for var in wanted:
            if not any(self._sources(var)):
                self.saved[var] = None
        for var in wanted:
            if var in self.saved:
                continue
            plan = dict(self.again)
            if self._plan(var, plan, 0):
                self.again = plan
            else:
                self.saved[var] = None

    def _sources(self, var: Var) -> Iterator[Call]:
        """The calls that give a value again: a read of what keeps it, or its own if that is cheap."""
        if var in self.late:
            yield self.late[var]
        stmt = self.defined.get(var)
        if isinstance(stmt, Call) and stmt.op.cheap and not stmt.op.effect and len(stmt.targets) == 1:
            yield stmt

    def _plan(self, var: Var, plan: dict[Var, Call], depth: int) -> bool:
        """Whether a value can be had again from what is saved or at hand; collects the calls to run."""
        if var not in self.inside or var in self.saved or var in plan or self.at_hand(var):
            return True
        if depth > MAX_RECOMPUTE_DEPTH:
            return False
        for call in self._sources(var):
            more = dict(plan)
            if all(self._plan(v, more, depth + 1) for v in variables_in(own_operands(call))):
                plan.update(more)
                plan[var] = call
                return True
        return False


def _recompute(needs: Needs, again: dict[Var, Call]) -> None:
    """Put copies of the calls to run again at the head of the reverse block."""
    if not again:
        return
    mapping: dict[Var, Operand] = {}
    copies = []
    for var, call in again.items():
        copies.append(copy_stmt(call, mapping))
        mapping[var] = mapping[call.targets[0]]
    needs.bind(mapping)
    needs.reverse = Block((*copies, *needs.reverse.stmts))


_SHAPE_OF = (core.shape, core.dim)


def _take_shapes(
    forward: list[Stmt], heads: set[Var], block: Block, ends: Sequence[Operand]
) -> tuple[list[Stmt], Block]:
    """Where the reverse block needs a value only for its shape, take the shape in the forward block.

    Also turns `np.zeros_like(v)` into `np.zeros(shape of v)` for such values.
    """
    inside = heads | {v for stmt in forward for v in targets(stmt)}
    other = _other_uses(block, ends)
    mapping: dict[Var, Operand] = {}
    taken: dict[Var, Var] = {}

    def shape_of(var: Var) -> Var:
        if var not in taken:
            (style,) = (core.shape.style(var.style),)
            taken[var] = Var(f"{var.hint}_shape", style)
            forward.append(Call((taken[var],), core.shape, (var,)))
        return taken[var]

    def rewrite(stmt: Stmt) -> Stmt | None:
        if isinstance(stmt, Call) and stmt.args and isinstance(stmt.args[0], Var):
            var = stmt.args[0]
            if var in inside and var not in other:
                if stmt.op is core.shape:
                    mapping[stmt.targets[0]] = shape_of(var)
                    return None
                if stmt.op is core.dim:
                    return replace(stmt, op=core.list_get, args=(shape_of(var), stmt.args[1]))
                if _is_zeros_like(stmt) and isinstance(var.style, Array) and var.style.dtype is not None:
                    kwargs = (("dtype", Const(var.style.dtype)),) if var.style.dtype != np.float64 else ()
                    return replace(stmt, op=numpy_op(np.zeros), args=(shape_of(var),), kwargs=kwargs)
        return stmt

    rewritten = _map_statements(block, rewrite)
    return forward, substitute_block(rewritten, mapping) if mapping else rewritten


def _is_zeros_like(stmt: Call) -> bool:
    return stmt.op.fn is np.zeros_like and not stmt.kwargs


def _map_statements(block: Block, rewrite: Callable[[Stmt], Stmt | None]) -> Block:
    from pullback.ir.walk import map_operands

    out = []
    for stmt in block.stmts:
        new = rewrite(stmt)
        if new is None:
            continue
        if not isinstance(new, Call):
            new = map_operands(new, lambda x: x, lambda b: _map_statements(b, rewrite))
        out.append(new)
    return Block(tuple(out))


def _other_uses(block: Block, ends: Sequence[Operand]) -> set[Var]:
    """The Vars that a block reads for more than their shape."""
    found = set(variables_in(ends))
    for stmt in statements(block):
        for _, _, inner_ends in block_ends(stmt):
            found.update(variables_in(inner_ends))
        if isinstance(stmt, Call) and (stmt.op in _SHAPE_OF or _is_zeros_like(stmt)):
            continue
        found.update(variables_in(own_operands(stmt)))
    return found
