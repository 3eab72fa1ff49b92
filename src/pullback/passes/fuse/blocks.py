"""Fusion of a whole function, block by block, run by run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import prod

from pullback.ir import core_ops as core
from pullback.ir.nodes import Block, Call, Function, Stmt
from pullback.ir.walk import block_ends, map_operands, targets
from pullback.passes.dce import dce
from pullback.passes.fuse.apart import copy_apart
from pullback.passes.fuse.facts import Facts
from pullback.passes.fuse.group import Group, Joining
from pullback.passes.fuse.members import Space
from pullback.passes.fuse.outline import Outliner
from pullback.passes.fuse.run import Run
from pullback.passes.fuse.shapes import ask_elsewhere
from pullback.styles.style import Array

RUN = 512  # statements that are looked at together
WORTH = 5  # arrays that a group must save, where a target runs single calls as well by itself
FEW = 32_768  # elements of arrays that fit the cache


def fuse(
    function: Function,
    *,
    single: bool = False,
    takes: Callable[[Call], bool] = lambda call: True,
    sums_overlap: bool = False,
    taken: dict[str, int] | None = None,
) -> Function:
    """The function with groups of elementwise work as kernels; it must be bufferised.

    single  every elementwise call, reduction and store that fits becomes a kernel, even one alone; forward statements
            go together with reverse ones.  Otherwise only groups that are worth one, for targets that run them block by
            block: no stores, and `begin_reverse` keeps its place, since NumPy's warnings are turned off there; a kernel
            with statements from both sides holds one of its own
    takes   which calls the target can run in a kernel
    sums_overlap  several `add_at` of one kernel may add to places of one buffer that overlap, each to the result of the
                  one before; the loop must then not take it that they are apart
    taken   how often each name is in use, where several functions share their kernels' names
    """
    if not single and not _has_chains(function):
        return function
    before, function = function, ask_elsewhere(function)
    if single:
        function = copy_apart(function)
    facts = Facts(function, takes if single else _computing(takes), not single)
    outliner = Outliner(facts, function.kind, {} if taken is None else taken)
    body = _Blocks(facts, single, sums_overlap, outliner).block(function.body)
    return dce(replace(function, body=body)) if outliner.made else before


def _computing(takes: Callable[[Call], bool]) -> Callable[[Call], bool]:
    """What only moves values is done as well outside a kernel."""
    return lambda call: takes(call) and call.op not in (core.store, core.add_at, core.copy)


def _has_chains(function: Function) -> bool:
    """Whether some block has enough elementwise calls on arrays for a group that is worth a kernel."""
    blocks = [function.body]
    while blocks:
        block = blocks.pop()
        blocks += [inner for stmt in block.stmts for _, inner, _ in block_ends(stmt)]
        if _has_chain(block.stmts):
            return True
    return False


def _has_chain(stmts: Sequence[Stmt]) -> bool:
    return sum(isinstance(s, Call) and _computes(s) for s in stmts) > WORTH


def _computes(call: Call) -> bool:
    """Whether a call computes an array that may be large, element by element."""
    if not (call.op.elementwise or call.op is core.accumulate) or len(call.targets) != 1:
        return False
    style = call.targets[0].style
    axes = style.axes if isinstance(style, Array) else None
    return bool(axes) and not _is_small(axes or ())


def _is_small(space: Space) -> bool:
    sizes = [n for n in space if isinstance(n, int)]
    return len(sizes) == len(space) and prod(sizes) < FEW


class _Blocks:
    def __init__(self, facts: Facts, single: bool, sums_overlap: bool, outliner: Outliner) -> None:
        self.facts = facts
        self.joining = Joining(facts, sums_overlap)
        self.single = single
        self.outliner = outliner

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
        crossed = (core.begin_reverse, core.check_length) if self.single else (core.begin_reverse,)
        return stmt.op.effect and stmt.op not in crossed

    def _run(self, stmts: Sequence[Stmt]) -> Iterator[Stmt]:
        turn = next(
            (i for i, s in enumerate(stmts) if isinstance(s, Call) and s.op is core.begin_reverse), None
        )
        run = Run(stmts, self.joining, None if self.single else turn)
        run.merge_equal()
        run.absorb()
        kept = run.settled({u for u in set(run.at) if self._is_worth(run.groups[u], stmts)})
        for unit in run.scheduled(kept) if kept else range(len(stmts)):
            if isinstance(unit, int):
                yield stmts[unit]
            else:
                members = [s for s in (stmts[m] for m in unit.members) if isinstance(s, Call)]
                forward = len(members) if run.turn is None else sum(m < run.turn for m in unit.members)
                assert unit.space is not None
                yield self.outliner.call(members, unit.space, forward, self.joining.apart(unit))

    def _is_worth(self, group: Group, stmts: Sequence[Stmt]) -> bool:
        if group.space is None:
            return False
        if self.single:
            return True
        if _is_small(group.space):
            return False
        ids = {id(stmts[m]) for m in group.members}
        made = [t for m in group.members for t in targets(stmts[m]) if t in group.virtual]
        return sum(self.facts.readers(t) <= ids for t in made) >= WORTH
