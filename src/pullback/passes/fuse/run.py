"""A run: statements between two barriers, which of them go together, and in which order they can stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush

from pullback.ir import core_ops as core
from pullback.ir.nodes import Call, Const, Stmt, Var
from pullback.ir.walk import own_operands, targets, variables_in
from pullback.passes.fuse.group import Group, Joining
from pullback.passes.fuse.members import may_broadcast, same_space


class Run:
    """Statements of a block between two barriers; each is in a group, at first alone.

    turn  the position of `begin_reverse`, where it keeps its place: what stands before it stays before it.  A group may
          have members from both sides; it then stands before, and so must all that it needs
    """

    def __init__(self, stmts: Sequence[Stmt], joining: Joining, turn: int | None = None) -> None:
        self.stmts = stmts
        self.joining = joining
        self.turn = turn
        self.facts = joining.facts
        self.groups = [joining.alone(i, stmt) for i, stmt in enumerate(stmts)]
        self.at = list(range(len(stmts)))  # the group of each statement
        self.above = [0] * len(stmts)  # the groups before each group, as bits
        self.below = [0] * len(stmts)
        self.before: list[set[int]] = [set() for _ in stmts]  # the statements that each statement follows
        self.made = {var: i for i, stmt in enumerate(stmts) for var in targets(stmt)}
        self.number = {id(stmt): i for i, stmt in enumerate(stmts)}
        self._order()

    # ------------------------------------------------------------------------------------------------- what follows

    def _order(self) -> None:
        """What each statement must follow: what makes its operands, and what writes or reads the same memory."""
        writer: dict[int, int] = {}
        readers: dict[int, list[int]] = {}
        for i, stmt in enumerate(self.stmts):
            before = self.before[i]
            reads, needed = self._read(i, stmt)
            before.update(self.made[v] for v in needed if v in self.made)
            writes = self.facts.memory.written(stmt)
            for region in reads:
                if region in writer:
                    before.add(writer[region])
                readers.setdefault(region, []).append(i)
            for region in writes:
                before.update(readers.pop(region, ()))
                if region in writer:
                    before.add(writer[region])
                writer[region] = i
            before.discard(i)
            before |= self._turned(i, stmt)
            for j in before:
                self.above[i] |= self.above[j] | 1 << j
            for j in _bits(self.above[i]):
                self.below[j] |= 1 << i

    def _turned(self, i: int, stmt: Stmt) -> set[int]:
        """What a statement follows since the reverse sweep begins between them."""
        if self.turn is None or i < self.turn:
            return set()
        if i == self.turn:
            return {j for j in range(i) if not _is_silent(self.stmts[j])}
        return set() if self.groups[i].space is not None or _is_silent(stmt) else {self.turn}

    def _read(self, i: int, stmt: Stmt) -> tuple[frozenset[int], list[Var]]:
        memory = self.facts.memory
        if self.groups[i].space is None or not isinstance(stmt, Call):
            return memory.read(stmt), list(variables_in(own_operands(stmt)))
        needed = self.facts.needs(stmt).inputs
        return frozenset().union(*(memory.of(v) for v, elements in needed.items() if elements)), list(needed)

    # ----------------------------------------------------------------------------------------------------- merging

    def merge_equal(self) -> None:
        """Put together what runs over one space and makes, reads or shares something with one another."""
        readers: dict[Var, list[int]] = {}
        places = _Near()
        for i in range(len(self.stmts)):
            if self.group(i).space is None:
                continue
            near: dict[int, None] = {}
            if self.joining.in_turn:
                near.update(dict.fromkeys(places.add(i, *self._roots(i))))
            for var in self.group(i).reads:
                near.update(dict.fromkeys([self.made[var]] if var in self.made else []))
            for var in self.group(i).reads:
                near.update(dict.fromkeys(readers.get(var, ())))
                readers.setdefault(var, []).append(i)
            for j in near:
                if self._equal(i, j):
                    self.merge(i, j)

    def _roots(self, i: int) -> tuple[set[Var], set[Var]]:
        """The arrays that parts are read of, and those that parts are written of, by a statement."""
        memory, group = self.facts.memory, self.groups[i]
        return {memory.place(v)[0] for v in group.reads}, {w.place[0] for w in group.writes}

    def _equal(self, i: int, j: int) -> bool:
        a, b = self.group(i).space, self.group(j).space
        return a is not None and b is not None and same_space(a, b)

    def absorb(self) -> None:
        """Put what only one other kernel reads into it, though it is not proved to run over the same space.

        It broadcasts to that space, or the statements raise an error.
        """
        for i in reversed(range(len(self.stmts))):
            group = self.group(i)
            if group.space is None or group.ends or group.members[-1] != i:
                continue
            readers = {
                r for m in group.members for t in targets(self.stmts[m]) for r in self.facts.readers(t)
            }
            outside = readers - {id(self.stmts[m]) for m in group.members}
            if not outside or not all(r in self.number for r in outside):
                continue
            found = {self.at[self.number[r]] for r in outside}
            other = self.groups[found.pop()]
            if not found and other.space is not None and may_broadcast(group.space, other.space):
                self.merge(other.members[-1], i)

    def group(self, i: int) -> Group:
        """The group of a statement."""
        return self.groups[self.at[i]]

    def merge(self, i: int, j: int) -> bool:
        """Put the groups of two statements together, the space that of the first, if nothing forbids it."""
        a, b = self.at[i], self.at[j]
        if a == b:
            return True
        both = (self.above[a] & self.below[b]) | (self.below[a] & self.above[b])
        if both:  # something stands between
            return False
        joined = self.joining.joined(self.groups[a], self.groups[b])
        if joined is None or not self._before_turn(
            joined, (self.above[a] | self.above[b]) & ~(1 << a | 1 << b)
        ):
            return False
        self.groups[a] = joined
        for m in self.groups[b].members:
            self.at[m] = a
        self._connect(a, b)
        return True

    def _before_turn(self, joined: Group, above: int) -> bool:
        """Whether a group with members from both sides of `begin_reverse` needs nothing that stands after it."""
        if self.turn is None or not joined.members[0] < self.turn < joined.members[-1]:
            return True
        if above >> self.at[self.turn] & 1:
            return False
        firsts = (self.groups[g].members[0] for g in _bits(above))
        return all(m < self.turn or _is_silent(self.stmts[m]) for m in firsts)

    def _connect(self, a: int, b: int) -> None:
        """Group b is now part of group a."""
        own = 1 << a | 1 << b
        above = (self.above[a] | self.above[b]) & ~own
        below = (self.below[a] | self.below[b]) & ~own
        self.above[a], self.below[a] = above, below
        for x in _bits(above):
            self.below[x] = (self.below[x] | below | own) & ~(1 << b)
        for x in _bits(below):
            self.above[x] = (self.above[x] | above | own) & ~(1 << b)

    # ----------------------------------------------------------------------------------------------------- schedule

    def scheduled(self, kept: set[int]) -> Iterator[int | Group]:
        """The statements that stay, and the groups in `kept`, in an order that they allow; each as late as it was."""
        unit = [self.at[i] if self.at[i] in kept else len(self.stmts) + i for i in range(len(self.stmts))]
        waits: dict[int, set[int]] = {u: set() for u in unit}
        key: dict[int, int] = {}
        for i, u in enumerate(unit):
            key[u] = i
            waits[u].update(unit[j] for j in self.before[i] if unit[j] != u)
        self._turn_in(unit, waits)
        followers: dict[int, list[int]] = {u: [] for u in waits}
        for u, firsts in waits.items():
            for f in firsts:
                followers[f].append(u)
        ready: list[tuple[int, int]] = []
        for u, firsts in waits.items():
            if not firsts:
                heappush(ready, (key[u], u))
        while ready:
            _, u = heappop(ready)
            yield self.groups[u] if u < len(self.stmts) else u - len(self.stmts)
            for v in followers[u]:
                waits[v].discard(u)
                if not waits[v]:
                    heappush(ready, (key[v], v))

    def _turn_in(self, unit: Sequence[int], waits: dict[int, set[int]]) -> None:
        """What is in no group with forward members follows `begin_reverse`, but for what such a group needs."""
        if self.turn is None:
            return
        forward, reverse = set(unit[: self.turn]), set(unit[self.turn + 1 :])
        for u in reverse - forward - _closure(forward & reverse, waits):
            waits[u].add(unit[self.turn])

    def settled(self, kept: set[int]) -> set[int]:
        """The groups of `kept` that can stand where they must, when the others are statements again."""
        while self.turn is not None:
            unit = [self.at[i] if self.at[i] in kept else len(self.stmts) + i for i in range(len(self.stmts))]
            waits: dict[int, set[int]] = {u: set() for u in unit}
            for i, u in enumerate(unit):
                waits[u].update(unit[j] for j in self.before[i] if unit[j] != u)
            loud = {u for i, u in enumerate(unit) if i > self.turn and not _is_silent(self.stmts[i])}
            forward = set(unit[: self.turn])
            wrong = {u for u in forward & loud if _closure({u}, waits) & (loud - forward)}
            if not wrong:
                break
            kept = kept - wrong
        return kept


class _Near:
    """Who reads and who writes parts of one array."""

    def __init__(self) -> None:
        self.readers: dict[Var, list[int]] = {}
        self.writers: dict[Var, list[int]] = {}

    def add(self, i: int, read: set[Var], written: set[Var]) -> Iterator[int]:
        """The statements before that write where this one reads or writes, or read where it writes."""
        for var in read:
            yield from self.writers.get(var, ())
            self.readers.setdefault(var, []).append(i)
        for var in written:
            yield from self.readers.get(var, ())
            yield from self.writers.get(var, ())
            self.writers.setdefault(var, []).append(i)


def _closure(units: set[int], waits: Mapping[int, set[int]]) -> set[int]:
    """Units and all that they wait for."""
    found, pending = set(units), list(units)
    while pending:
        for u in waits[pending.pop()] - found:
            found.add(u)
            pending.append(u)
    return found


def _is_silent(stmt: Stmt) -> bool:
    """Whether a statement can neither warn nor be seen: it may stand on either side of `begin_reverse`."""
    if not isinstance(stmt, Call) or stmt.op.effect or stmt.op.writes:
        return False
    if stmt.op in (core.shape, core.dim) or all(isinstance(x, Const) for x in stmt.args):
        return True
    alias = stmt.op.alias(stmt) if callable(stmt.op.alias) else stmt.op.alias
    return alias.kind == "view" and not stmt.op.elementwise


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
