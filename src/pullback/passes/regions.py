"""Runs of statements as functions of their own: the parts of a function that another target takes.

    for ...: ...               %a, %b = region_1(%x, %n)
    %t = print(...)      ->    %t = print(...)
    for ...: ...               %c = region_2(%a, %b)

In: a function, before it is bufferised, and a judge, who says of a function what stands against it.  Out: the function
in which each region is a call of a function compiled apart (`ir.callee`), and what the judge had against the rest.  A
region is a longest run of statements that the judge takes and that repays its call: it has a loop, or some elementwise
work on arrays that are not known to be small.  What is not taken whole is looked into: the branches of a branch, the
body of a loop.

A region has the meaning of a function: it changes no operand.  In a loop that could cost a copy of an array in each
iteration, so there a region neither writes into an array from outside nor takes a list that the loop has not made.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from pullback.analysis.binding import maybe_unbound
from pullback.errors import NOWHERE, Loc
from pullback.ir import core_ops as core
from pullback.ir.callee import Callee, operation
from pullback.ir.nodes import Block, Call, For, Function, If, Operand, Param, Stmt, Var, While
from pullback.ir.walk import (
    definitions,
    free_variables,
    own_operands,
    statements,
    substitute_block,
    targets,
    uses,
    variables_in,
)
from pullback.styles.style import Array, ListOf, Style

MANY = 4  # elementwise calls on arrays repay a call
SMALL = 64  # items of an array that is small
TRIES = 200  # so often the judge is asked of one function
_QUIET = (core.begin_reverse, core.raise_, core.assert_)


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a statement is not taken, and where it stands."""

    reason: str
    loc: Loc


class Judge(Protocol):
    """Who takes functions."""

    def function(self, function: Function) -> Fault | None:
        """What stands against a function; None: it is taken."""

    def crosses(self, style: Style) -> bool:
        """Whether a value of a style may pass in and out."""


@dataclass(frozen=True, slots=True)
class Outlined:
    """A function, the regions that it calls, and what is left in it for a reason."""

    function: Function
    regions: tuple[Callee, ...]
    faults: tuple[Fault, ...]


def outline(function: Function, judge: Judge, number: Callable[[], int]) -> Outlined:
    """Take regions out of a function; they are numbered by `number`."""
    made = _Outliner(judge, number, maybe_unbound(function), _hints(function), function.kind == "pullback")
    stmts = made.block(function.body.stmts, function.results, 0)
    outlined = replace(function, body=Block(tuple(stmts)))
    return Outlined(outlined, tuple(made.regions), tuple(dict.fromkeys(made.faults)))


def _hints(function: Function) -> set[str]:
    return {p.name for p in function.params} | {v.hint for v in definitions(function.body)}


@dataclass(slots=True)
class _Outliner:
    judge: Judge
    number: Callable[[], int]
    unbound: Collection[Var]
    taken: set[str]
    reverse: bool  # what is looked at belongs to the reverse sweep
    own: set[Var] = field(default_factory=set)  # what the body of the innermost loop makes or is given anew
    regions: list[Callee] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    tries: int = 0

    def block(self, stmts: Sequence[Stmt], ends: Iterable[Operand | None], depth: int) -> list[Stmt]:
        """The statements of a block, with regions as calls; `ends` are read after the last."""
        later: set[Var] = set(variables_in(ends))
        wanted: list[set[Var]] = []  # what is read after each statement
        for stmt in reversed(stmts):
            wanted.append(set(later))
            later.update(uses(stmt))
        wanted.reverse()
        out: list[Stmt] = []
        run: list[int] = []
        for k, stmt in enumerate(stmts):
            if isinstance(stmt, Call) and stmt.op.effect:
                out += self.run([stmts[i] for i in run], wanted[run[-1]] if run else set(), depth)
                run = []
                self.reverse = self.reverse or stmt.op is core.begin_reverse
                if stmt.op not in _QUIET:
                    self.faults.append(Fault("a call that does more than compute", stmt.loc))
                out.append(stmt)
            else:
                run.append(k)
        return out + self.run([stmts[i] for i in run], wanted[run[-1]] if run else set(), depth)

    def run(self, stmts: list[Stmt], wanted: set[Var], depth: int) -> list[Stmt]:
        """A run of statements: one region, or what is left where some statements are not taken."""
        if not _repays(stmts):
            return stmts
        made = self.region(stmts, wanted, depth)
        if not isinstance(made, set):
            return made
        if len(stmts) == 1:
            return [self.inside(stmts[0], depth)]
        out: list[Stmt] = []
        pieces = _split(stmts, made) if made else [stmts[: len(stmts) // 2], stmts[len(stmts) // 2 :]]
        for k, piece in enumerate(pieces):
            after = set(wanted)
            for other in pieces[k + 1 :]:
                after.update(v for stmt in other for v in uses(stmt))
            alone = len(piece) == 1 and id(piece[0]) in made
            out += [self.inside(piece[0], depth)] if alone else self.run(piece, after, depth)
        return out

    def inside(self, stmt: Stmt, depth: int) -> Stmt:
        """A statement that is not taken whole, with the regions inside it."""
        match stmt:
            case If():
                then = self.block(stmt.then.stmts, stmt.then_yields, depth)
                orelse = self.block(stmt.orelse.stmts, stmt.else_yields, depth)
                return replace(stmt, then=Block(tuple(then)), orelse=Block(tuple(orelse)))
            case For() | While():
                outer = self.own
                self.own = set(stmt.index) if isinstance(stmt, For) else set()
                self.own.update(definitions(stmt.body))
                body = self.block(stmt.body.stmts, (*stmt.yields, stmt.go), depth + 1)
                self.own = outer
                return replace(stmt, body=Block(tuple(body)))
        return stmt

    # --------------------------------------------------------------------------------------------- one region

    def region(self, stmts: Sequence[Stmt], wanted: set[Var], depth: int) -> list[Stmt] | set[int]:
        """A call of a region, in a list; or the statements (by `id`) that stand against it: none if nobody knows."""
        block = Block(tuple(stmts))
        reads = list(free_variables(block))
        results = [t for stmt in stmts for t in targets(stmt) if t in wanted]
        wrong = self._uncrossed(stmts, reads, results, depth)
        if wrong or not results or self.tries >= TRIES:
            return wrong or set(map(id, stmts))
        self.tries += 1
        function = self._function(block, reads, results)
        fault = self.judge.function(function)
        if fault is not None:
            found = {id(s) for s in stmts if any(x.loc == fault.loc for x in statements(Block((s,))))}
            if not found and len(stmts) > 1:
                return set()
            self.faults.append(fault)
            return found or {id(stmts[0])}
        callee = Callee(function.name, function)
        self.regions.append(callee)
        op = operation(callee, [r.style for r in results], len(reads))
        return [Call(tuple(results), op, tuple(reads), (), function.loc)]

    def _uncrossed(
        self, stmts: Sequence[Stmt], reads: Sequence[Var], results: Sequence[Var], depth: int
    ) -> set[int]:
        """The statements that read or make what cannot pass, or write what comes from outside a loop's body."""
        barred = {v for v in (*reads, *results) if v in self.unbound or not self.judge.crosses(v.style)}
        barred.update(v for v in reads if depth and isinstance(v.style, ListOf) and v not in self.own)
        wrong: set[int] = set()
        given = set(reads)
        for stmt in stmts:
            if not barred.isdisjoint((*uses(stmt), *targets(stmt))):
                self._refuse(stmt, wrong, "a value that does not pass between C and Python")
            elif depth and _writes_into(stmt, given):
                self._refuse(stmt, wrong, "a write into an array that a loop on NumPy carries")
        return wrong

    def _refuse(self, stmt: Stmt, wrong: set[int], reason: str) -> None:
        wrong.add(id(stmt))
        if stmt.loc.line:
            self.faults.append(Fault(reason, stmt.loc))

    def _function(self, block: Block, reads: Sequence[Var], results: Sequence[Var]) -> Function:
        name = f"region_{self.number()}"
        while name in self.taken:
            name += "_"
        mapping: dict[Var, Operand] = {v: Var(v.hint, v.style) for v in reads}
        names = _distinct([v.hint for v in reads])
        params = tuple(Param(n, mapping[v]) for n, v in zip(names, reads, strict=True))
        body = substitute_block(block, mapping)
        locs = [s.loc for s in statements(block) if s.loc.line]
        kind = "pullback" if self.reverse else "primal"
        loc = min(locs, key=lambda loc: loc.line, default=NOWHERE)
        return Function(name, params, body, tuple(results), loc, _doc(locs), kind=kind)


def _doc(locs: Sequence[Loc]) -> str:
    lines = [loc.line for loc in locs]
    if not lines:
        return "Compiled to C; this runs where C leaves a call."
    first, last = min(lines), max(lines)
    where = f"line {first}" if first == last else f"lines {first} to {last}"
    return f"Compiled to C, of {where}; this runs where C leaves a call."


def _distinct(hints: Sequence[str]) -> list[str]:
    out: list[str] = []
    for hint in hints:
        name, n = hint if hint.isidentifier() else "t", 1
        while name in out:
            n += 1
            name = f"{hint}_{n}"
        out.append(name)
    return out


def _split(stmts: Sequence[Stmt], wrong: set[int]) -> list[list[Stmt]]:
    """The runs between statements, and these by themselves."""
    out: list[list[Stmt]] = []
    fresh = True
    for stmt in stmts:
        if id(stmt) in wrong:
            out.append([stmt])
            fresh = True
        elif fresh:
            out.append([stmt])
            fresh = False
        else:
            out[-1].append(stmt)
    return out


def _repays(stmts: Sequence[Stmt]) -> bool:
    """Whether a run has enough to do for a call."""
    inner = list(statements(Block(tuple(stmts))))
    if any(isinstance(s, For | While) for s in inner):
        return True
    return sum(1 for s in inner if isinstance(s, Call) and _is_work(s)) >= MANY


def _is_work(call: Call) -> bool:
    """Whether a call does elementwise work on an array that is not known to be small."""
    if not (call.op.elementwise or call.op in (core.accumulate, core.scale)) or not call.targets:
        return False
    style = call.targets[0].style
    if not isinstance(style, Array) or not style.axes:
        return False
    items = 1
    for axis in style.axes:
        if not isinstance(axis, int):
            return True
        items *= axis
    return items > SMALL


def _writes_into(stmt: Stmt, given: set[Var]) -> bool:
    """Whether a statement changes a value from outside, or a later name of it, which is added to `given`."""
    if isinstance(stmt, Call):
        base = set(variables_in(stmt.args[:1]))
        if stmt.op.writes and not base.isdisjoint(given):
            return True
        given.update(t for t in stmt.targets if not stmt.op.writes and _may_share(stmt, given))
        return False
    if isinstance(stmt, If):
        found = [_writes_into(s, given) for block in (stmt.then, stmt.orelse) for s in block.stmts]
        ends = (*stmt.then_yields, *stmt.else_yields)
        given.update(stmt.results if not given.isdisjoint(variables_in(ends)) else ())
        return any(found)
    for param, init in zip(stmt.params, stmt.inits, strict=True):
        if not given.isdisjoint(variables_in((init,))):
            given.add(param)
    inner = (*stmt.cond.stmts, *stmt.body.stmts) if isinstance(stmt, While) else stmt.body.stmts
    found = [_writes_into(s, given) for s in inner]
    if not given.isdisjoint((*stmt.params, *variables_in(stmt.yields))):
        given.update(stmt.results)
    return any(found)


def _may_share(call: Call, given: set[Var]) -> bool:
    """Whether the results of a call may be names of a value from outside."""
    alias = call.op.alias
    kind = alias(call).kind if callable(alias) else alias.kind
    return kind != "fresh" and not given.isdisjoint(variables_in(own_operands(call)))
