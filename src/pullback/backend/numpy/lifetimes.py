"""When each value is live, as intervals of positions in the printed program.

In: a function and its folded values.  Out: `Lifetimes`: for every Var that gets a name, disjoint closed
intervals; the reads of a statement are at its even position, what it binds at the odd one after.  Two Vars
may share a name iff their intervals are disjoint: branches are told apart, and what a loop reads from outside
lives until the loop ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pullback.ir.nodes import Block, Call, For, Function, If, Operand, Stmt, Var, While
from pullback.ir.walk import iter_operands, own_operands, param_variables, variables_in

Interval = tuple[int, int]


@dataclass(slots=True)
class Lifetimes:
    """Intervals by value, in order of definition; `used`: values that are read at all."""

    intervals: dict[Var, list[Interval]] = field(default_factory=dict)
    used: set[Var] = field(default_factory=set)


def lifetimes(function: Function, folded: Mapping[Var, Call], reread: bool = False) -> Lifetimes:
    """The live intervals of a function's values; `reread`: each iteration reads anew what a loop iterates over."""
    walk = _Walk(folded, reread)
    end = walk.number(function.body, 2)
    frame: list[Var] = []
    walk.use(function.results, end, frame)
    walk.block(function.body, frame)
    for var in param_variables(function.params):
        walk.define(var, 0)
    for var, intervals in walk.out.intervals.items():
        walk.out.intervals[var] = _disjoint(intervals)
    return walk.out


def _disjoint(intervals: list[Interval]) -> list[Interval]:
    """Sorted, with overlapping ones merged."""
    if len(intervals) == 1:
        return intervals
    out: list[Interval] = []
    for start, end in sorted(intervals):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


class _Walk:
    """A backward walk; `live` holds the position where the open interval of a live Var ends."""

    def __init__(self, folded: Mapping[Var, Call], reread: bool) -> None:
        self.folded = folded
        self.reread = reread
        self.live: dict[Var, int] = {}
        self.out = Lifetimes()
        self.position: dict[int, tuple[int, ...]] = {}

    # ------------------------------------------------------------------------------------------- numbering

    def number(self, block: Block, at: int) -> int:
        """Give positions (even) to a block's statements; returns the first one after."""
        for stmt in block.stmts:
            at = self._number(stmt, at)
        return at

    def _number(self, stmt: Stmt, at: int) -> int:
        match stmt:
            case Call():
                if len(stmt.targets) == 1 and stmt.targets[0] in self.folded:
                    return at
                self.position[id(stmt)] = (at,)
                return at + 2
            case If():
                then_end = self.number(stmt.then, at + 2)
                else_end = self.number(stmt.orelse, then_end + 2)
                self.position[id(stmt)] = (at, then_end, else_end)
                return else_end + 2
            case For():
                end = self.number(stmt.body, at + 4)
                self.position[id(stmt)] = (at, end)
                return end + 6
            case While():
                test = self.number(stmt.cond, at + 4)
                end = self.number(stmt.body, test + 2)
                self.position[id(stmt)] = (at, end, test)
                return end + 6

    # ------------------------------------------------------------------------------- uses, definitions

    def use(self, operands: Iterable[Operand | None], at: int, frame: list[Var]) -> None:
        """Read operands (through what is folded into them) at a position."""
        for var in variables_in(operands):
            call = self.folded.get(var)
            if call is not None:
                self.use(own_operands(call), at, frame)
            elif var not in self.live:
                self.live[var] = at
                self.out.used.add(var)
                frame.append(var)

    def define(self, var: Var, at: int) -> None:
        """Bind a Var at a position: its open interval begins here."""
        self.out.intervals.setdefault(var, []).append((at, self.live.pop(var, at)))

    def _close(self, frame: list[Var], start: int) -> list[Var]:
        """End a branch: what it read from outside begins to live there at its start."""
        outside = []
        for var in frame:
            if var in self.live:
                self.define(var, start)
                outside.append(var)
        return outside

    # ---------------------------------------------------------------------------------------- the walk

    def block(self, block: Block, frame: list[Var]) -> None:
        """Walk a block backwards; `frame` collects the Vars that come to life in it."""
        for stmt in reversed(block.stmts):
            match stmt:
                case Call():
                    self._call(stmt, frame)
                case If():
                    self._if(stmt, frame)
                case For() | While():
                    self._loop(stmt, frame)

    def _call(self, stmt: Call, frame: list[Var]) -> None:
        position = self.position.get(id(stmt))
        if position is None:
            return
        for var in stmt.targets:
            self.define(var, position[0] + 1)
        self.use(own_operands(stmt), position[0], frame)

    def _if(self, stmt: If, frame: list[Var]) -> None:
        at, then_end, else_end = self.position[id(stmt)]
        for var in stmt.results:
            self.define(var, else_end + 1)
            self.out.intervals[var].append((then_end + 1, then_end + 1))
        outside: list[Var] = []
        branches = (
            (stmt.orelse, stmt.else_yields, then_end + 2, else_end),
            (stmt.then, stmt.then_yields, at + 2, then_end),
        )
        for block, yields, start, end in branches:
            inner: list[Var] = []
            self.use(yields, end, inner)
            self.block(block, inner)
            outside += self._close(inner, start)
        for var in outside:
            if var not in self.live:
                self.live[var] = at
                frame.append(var)
        self.use((stmt.test,), at, frame)

    def _loop(self, stmt: For | While, frame: list[Var]) -> None:
        positions = self.position[id(stmt)]
        at, end = positions[0], positions[1]
        leave = end + 4
        kept = [p for p, r in zip(stmt.params, stmt.results, strict=True) if r in self.live]
        for var in stmt.results:
            self.define(var, leave + 1)
        inner: list[Var] = []
        self.use((*stmt.yields, stmt.go), end, inner)
        self.block(stmt.body, inner)
        if isinstance(stmt, While):
            self.use((stmt.test, *kept), positions[2], inner)
            self.block(stmt.cond, inner)
        else:
            for var in stmt.index:
                self.define(var, at + 3)
        self._params(stmt, at, end, set(kept))
        for var in inner:
            if var in self.live:
                self.live[var] = leave
                frame.append(var)
        if isinstance(stmt, For):
            # As late as the index begins to live: `for x in reversed(x)` would read badly.
            last = leave if self.reread else at + 3
            self.use([x for it in stmt.iters for x in iter_operands(it)], last, frame)
        self.use(stmt.inits, at, frame)

    def _params(self, stmt: For | While, at: int, end: int, kept: set[Var]) -> None:
        """A carried value lives from the entry to its last read, and from the back edge to the way out."""
        for var in stmt.params:
            needed = var in self.live or var in kept or var in self.out.used
            self.define(var, at + 1)
            self.out.intervals[var].append((end + 1, end + 4 if needed else end + 1))
            if var in kept:
                self.out.used.add(var)
