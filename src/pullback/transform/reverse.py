"""The reverse sweep over structured IR: statement by statement, backwards.

`Sweep.block` takes the statements of a forward block, emits their reverse into the builder, and returns the forward
statements with what the reverse needs saved added: a branch yields the values it saves, a loop appends them to a list
an iteration.  A reverse loop runs over those lists (and the reversed range) in step; nothing else is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pullback.ir.builder import Builder
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import (
    ABSENT,
    Block,
    Call,
    Const,
    For,
    If,
    Operand,
    Stmt,
    Var,
    While,
)
from pullback.ir.walk import definitions, free_variables
from pullback.styles.join import covering
from pullback.transform.bars import Bars
from pullback.transform.choose import Choices
from pullback.transform.cotangents import add, bar_hint, exact, give_name, zero
from pullback.transform.pull_back import pull_back
from pullback.transform.residuals import Lengths, Needs, resolve
from pullback.transform.reverse_loop import reverse_loop


@dataclass(slots=True)
class Facts:
    """What the analyses found: active values, those that may be unbound, index arrays without repeats, kept reads.

    And the parameters from which lengths of axes can be had.
    """

    active: set[Var]
    unbound: set[Var]
    distinct: set[Var]
    kept: dict[Var, Call]
    lengths: Lengths


class Sweep:
    """The state of a reverse sweep: the builder of the reverse statements and the cotangents so far."""

    def __init__(self, builder: Builder, facts: Facts, chosen: Choices) -> None:
        self.builder = builder
        self.facts = facts
        self.chosen = chosen
        self.bars = Bars()
        self.again: list[tuple[Var, Call]] = []  # values computed again, and the calls that do

    # ------------------------------------------------------------------------------------------- cotangents

    def accumulate(self, operand: Operand, bar: Operand | None) -> None:
        """Add a contribution to the cotangents of an operand's Vars ."""
        if bar is not None and isinstance(operand, Var) and operand in self.facts.active:
            give_name(bar, operand)
            self.bars.set(operand, add(self.builder, operand, self.bars.get(operand), bar))

    def is_active(self, operand: Operand) -> bool:
        """Whether an operand is an active value."""
        return operand in self.facts.active

    def is_distinct(self, index: Operand) -> bool:
        """Whether an integer index array is proved to hold no position twice."""
        return index in self.facts.distinct

    def zero(self, var: Var) -> Operand:
        """The zero cotangent of a value."""
        return zero(self.builder, var, var in self.facts.unbound)

    def accumulate_exact(self, operand: Operand, bar: Operand | None) -> None:
        """The same, for a cotangent that may be a loose zero."""
        if isinstance(operand, Var) and operand in self.facts.active and bar is not None:
            loose = operand in self.facts.unbound
            self.accumulate(operand, bar if loose else exact(self.builder, operand, bar))

    # ------------------------------------------------------------------------------------------- statements

    def block(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        """Reverse a block's statements; returns its forward statements, extended by what is saved."""
        forward: list[Stmt] = []
        for stmt in reversed(stmts):
            forward += reversed(self.statement(stmt))
        forward.reverse()
        return forward

    def statement(self, stmt: Stmt) -> list[Stmt]:
        """Reverse one statement."""
        previous, self.builder.loc = self.builder.loc, stmt.loc
        try:
            match stmt:
                case Call():
                    return self._call(stmt)
                case If():
                    return self._if(stmt)
                case For() | While():
                    return self._loop(stmt)
        finally:
            self.builder.loc = previous

    def _call(self, stmt: Call) -> list[Stmt]:
        bars = [self.bars.pop(t) if t in self.facts.active else None for t in stmt.targets]
        if all(bar is None for bar in bars):
            return [stmt]
        whole = [
            b if b is None else exact(self.builder, t, b) for t, b in zip(stmt.targets, bars, strict=True)
        ]
        return pull_back(self, stmt, whole)

    # --------------------------------------------------------------------------------------------- branches

    def _if(self, stmt: If) -> list[Stmt]:
        bars = [self.bars.pop(r) if r in self.facts.active else None for r in stmt.results]
        inside = set(definitions(stmt.then)) | set(definitions(stmt.orelse))
        sides = []
        for block, yields in ((stmt.then, stmt.then_yields), (stmt.orelse, stmt.else_yields)):
            sides.append(self._branch(block, yields, bars))
        changed: dict[Var, None] = {}
        for _, _, table in sides:
            changed.update(dict.fromkeys(v for v in table.changed() if v not in inside))
        wanted = list(changed)
        if not wanted:
            return [replace(stmt, then=Block(tuple(sides[0][0])), orelse=Block(tuple(sides[1][0])))]
        ends = [self._branch_ends(table, wanted, stmts) for _, stmts, table in sides]
        needs = [
            resolve(f, self._unbound(r, e), r, e, self.facts.kept, lengths=self.facts.lengths)
            for (f, r, _), e in zip(sides, ends, strict=True)
        ]
        self.again += [x for need in needs for x in need.again]
        forward = _lift(stmt, needs)
        results = tuple(
            Var(bar_hint(v), covering(style_of(a), style_of(b)))
            for v, a, b in zip(wanted, needs[0].ends, needs[1].ends, strict=True)
        )
        self.builder.add(
            If(stmt.test, needs[0].reverse, needs[0].ends, needs[1].reverse, needs[1].ends, results, stmt.loc)
        )
        for var, result in zip(wanted, results, strict=True):
            self.bars.set(var, result)
        return [forward]

    def _unbound(self, reverse: Sequence[Stmt], ends: Sequence[Operand]) -> list[Var]:
        """Values from before a branch that are bound for sure only inside it: they are saved there."""
        return [v for v in free_variables(Block(tuple(reverse)), ends) if v in self.facts.unbound]

    def _branch(
        self, block: Block, yields: Sequence[Operand], bars: Sequence[Operand | None]
    ) -> tuple[list[Stmt], list[Stmt], Bars]:
        """Reverse one branch into statements of its own, with a table of cotangents of its own."""
        outer, self.bars = self.bars, Bars(self.bars)
        try:
            with self.builder.block() as stmts:
                for operand, bar in zip(yields, bars, strict=True):
                    self.accumulate_exact(operand, bar)
                forward = self.block(block.stmts)
            return forward, stmts, self.bars
        finally:
            self.bars = outer

    def _branch_ends(self, table: Bars, wanted: Sequence[Var], stmts: list[Stmt]) -> tuple[Operand, ...]:
        """The cotangents that a branch yields; where it contributes nothing, what was there before, or zero."""
        ends: list[Operand] = []
        with self.builder.block() as more:
            for var in wanted:
                bar = table.get(var)
                ends.append(self.zero(var) if bar is None else bar)
        stmts += more
        return tuple(ends)

    # ----------------------------------------------------------------------------------------------- loops

    def _loop(self, stmt: For | While) -> list[Stmt]:
        active = self.facts.active
        carried = any(p in active or r in active for p, r in zip(stmt.params, stmt.results, strict=True))
        if not carried:
            return [stmt]
        return reverse_loop(self, stmt)


def _lift(stmt: If, needs: Sequence[Needs]) -> If:
    """The forward branch statement, yielding what its reverse needs; None on the side that does not have it."""
    then_yields, else_yields, results = list(stmt.then_yields), list(stmt.else_yields), list(stmt.results)
    none = Const(ABSENT)
    for side, need in enumerate(needs):
        mapping: dict[Var, Operand] = {}
        for var in need.saved:
            lifted = Var(var.hint, var.style)
            mapping[var] = lifted
            then_yields.append(none if side else var)
            else_yields.append(var if side else none)
            results.append(lifted)
        need.bind(mapping)
    return replace(
        stmt,
        then=Block(tuple(needs[0].forward)),
        orelse=Block(tuple(needs[1].forward)),
        then_yields=tuple(then_yields),
        else_yields=tuple(else_yields),
        results=tuple(results),
    )
