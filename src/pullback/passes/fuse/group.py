"""One group: what it reads, makes and writes, and which other it may be put together with."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

from pullback.ir import core_ops as core
from pullback.ir.nodes import Call, Stmt, Var
from pullback.ir.walk import variables_in
from pullback.passes.fuse.facts import Facts
from pullback.passes.fuse.members import Role, Space, is_whole_store, space_of
from pullback.passes.fuse.memory import Place


@dataclass(frozen=True, slots=True)
class Write:
    """A write to a buffer: of which value, at which place, in which regions of memory; does it only add there?"""

    base: Var
    place: Place
    regions: frozenset[int]
    adds: bool = False


@dataclass(slots=True)
class Group:
    """Members of one kernel, by their position in the run.

    reads    values whose elements members read, those made by other members included
    barred   what no member may read: results of the group's reductions and of stores of a part
    virtual  what its maps and stores of the whole make: members read it element by element
    bases    what its stores of a part change: parameters of the kernel
    changed  what these stores make: further ones may follow
    ends     it has a reduction or a store: its space is its own
    """

    members: list[int]
    space: Space | None = None
    reads: dict[Var, None] = field(default_factory=dict)
    barred: set[Var] = field(default_factory=set)
    virtual: set[Var] = field(default_factory=set)
    bases: set[Var] = field(default_factory=set)
    changed: set[Var] = field(default_factory=set)
    writes: list[Write] = field(default_factory=list)
    ends: bool = False


class Joining:
    """Which groups may be one.

    in_turn  stores to one buffer may be done one after the other in a kernel: additions, whose order does not matter,
             and stores of places that are apart
    """

    def __init__(self, facts: Facts, in_turn: bool) -> None:
        self.facts = facts
        self.in_turn = in_turn

    def alone(self, i: int, stmt: Stmt) -> Group:
        """The group of one statement; without a space where no kernel can run it."""
        group = Group([i])
        role = self.facts.role.get(id(stmt))
        if role is None or role is Role.FREE or not isinstance(stmt, Call):
            return group
        group.space = space_of(stmt, role, self.facts.slices)
        group.reads = {v: None for v, elements in self.facts.needs(stmt).inputs.items() if elements}
        whole = role is Role.STORE and is_whole_store(stmt)
        (group.virtual if role is Role.MAP or whole else group.barred).update(stmt.targets)
        group.ends = role is not Role.MAP
        if role is Role.STORE and not whole:
            group.bases.update(variables_in(stmt.args[:1]))
            group.changed.update(stmt.targets)
        base = stmt.args[0]
        if stmt.op.writes and isinstance(base, Var) and base not in self.facts.free:
            place = self.facts.memory.place(base, *stmt.args[2:])
            adds = stmt.op is core.add_at
            group.writes.append(Write(base, place, self.facts.memory.own(base), adds))
        if self._overlaps(group):
            group.space = None
        return group

    def joined(self, a: Group, b: Group) -> Group | None:
        """Two groups as one, if they may be; over the space of the first."""
        barred, virtual = a.barred | b.barred, a.virtual | b.virtual
        if not barred.isdisjoint(a.reads) or not barred.isdisjoint(b.reads):
            return None
        bases, changed = a.bases | b.bases, a.changed | b.changed
        if not bases.isdisjoint(virtual | (barred - changed if self.in_turn else barred)):
            return None
        out = Group(
            sorted(a.members + b.members),
            a.space,
            a.reads | b.reads,
            barred,
            virtual,
            bases,
            changed,
            a.writes + b.writes,
            a.ends or b.ends,
        )
        return None if self._overlaps(out) else out

    def _overlaps(self, group: Group) -> bool:
        """Whether a place that a group writes may overlap another that it reads or writes."""
        memory = self.facts.memory
        writes = [w for w in group.writes if w.base not in group.virtual]
        for k, write in enumerate(writes):
            for var in group.reads:
                if var in group.virtual or not memory.of(var) & write.regions:
                    continue
                place = memory.place(var)
                if not (memory.same_place(place, write.place) or memory.apart(place, write.place)):
                    return True
            for other in writes[k + 1 :]:
                if write.regions & other.regions and not self._commute(write, other):
                    return True
        return False

    def apart(self, group: Group) -> bool:
        """Whether the places of one buffer that a group writes are proved to share nothing."""
        pairs = combinations(group.writes, 2)
        return all(self.facts.memory.apart(a.place, b.place) for a, b in pairs if a.regions & b.regions)

    def _commute(self, a: Write, b: Write) -> bool:
        return (self.in_turn and a.adds and b.adds) or self.facts.memory.apart(a.place, b.place)
