"""Fusion of a whole function, block by block, run by run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pullback.ir import core_ops as core
from pullback.ir.nodes import Block, Call, Function, Stmt
from pullback.ir.walk import map_operands
from pullback.passes.dce import dce
from pullback.passes.fuse.apart import copy_apart
from pullback.passes.fuse.facts import Facts
from pullback.passes.fuse.group import Group, Joining
from pullback.passes.fuse.members import Role
from pullback.passes.fuse.outline import Outliner
from pullback.passes.fuse.run import Run
from pullback.passes.fuse.shapes import ask_elsewhere

RUN = 512  # statements that are looked at together
WORTH = 2  # members that are worth a kernel, where a target runs single calls as well by itself


def fuse(
    function: Function,
    *,
    single: bool = False,
    takes: Callable[[Call], bool] = lambda call: True,
    sums_overlap: bool = False,
) -> Function:
    """The function with groups of elementwise work as kernels; it must be bufferised.

    single  every elementwise call, reduction and store that fits becomes a kernel, even one alone; forward statements
            may go together with reverse ones.  Otherwise only groups that are worth one, and none across
            `begin_reverse`, where NumPy's warnings are turned off
    takes   which calls the target can run in a kernel
    sums_overlap  several `add_at` of one kernel may add to places of one buffer that overlap, each to the result of the
                  one before; the loop must then not take it that they are apart
    """
    function = ask_elsewhere(function)
    if single:
        function = copy_apart(function)
    facts = Facts(function, takes)
    body = _Blocks(facts, single, sums_overlap).block(function.body)
    return dce(replace(function, body=body))


class _Blocks:
    def __init__(self, facts: Facts, single: bool, sums_overlap: bool) -> None:
        self.facts = facts
        self.joining = Joining(facts, sums_overlap)
        self.single = single
        self.outliner = Outliner(facts)

    def block(self, block: Block) -> Block:
        """A block with its kernels."""
        out: list[Stmt] = []
        run: list[Stmt] = []
        for stmt in block.stmts:
            if self._is_barrier(stmt) or len(run) == RUN:
                out += self._run(run)
                run = []
            if self._is_barrier(stmt):
                out.append(map_operands(stmt, lambda x: x, self.block))
            else:
                run.append(stmt)
        return Block((*out, *self._run(run)))

    def _is_barrier(self, stmt: Stmt) -> bool:
        if not isinstance(stmt, Call):
            return True
        return stmt.op.effect and not (self.single and stmt.op in (core.begin_reverse, core.check_length))

    def _run(self, stmts: Sequence[Stmt]) -> Iterator[Stmt]:
        run = Run(stmts, self.joining)
        run.merge_equal()
        run.absorb()
        kept = {u for u in set(run.at) if self._is_worth(run.groups[u], stmts)}
        for unit in run.scheduled(kept):
            if isinstance(unit, int):
                yield stmts[unit]
            else:
                members = [s for s in (stmts[m] for m in unit.members) if isinstance(s, Call)]
                assert unit.space is not None
                yield self.outliner.call(members, unit.space)

    def _is_worth(self, group: Group, stmts: Sequence[Stmt]) -> bool:
        if group.space is None:
            return False
        if self.single:
            return True
        roles = [self.facts.role[id(stmts[m])] for m in group.members]
        return len(group.members) >= WORTH and Role.MAP in roles
