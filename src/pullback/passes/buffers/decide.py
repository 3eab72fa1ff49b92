"""The decision, write by write, in one forward walk (B1-B4 of the design).

A write is in place iff this call owns every region that operand 0 may lie in and no value that is read later
may lie in one.  At the head of a loop each carried slot gets a region of its own, which stands for the buffer
it then holds; two slots share one only if their initial values or the values at the end of an iteration do.
So buffers that change roles (`u, v = v, u`) stay apart.  A slot whose initial value is what keeps its writes
from being in place is copied once before the loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pullback.ir import core_ops as core
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Block, Call, For, Function, If, Operand, Seq, Var, While
from pullback.ir.walk import param_variables, variables
from pullback.passes.buffers.deaths import Deaths, deaths
from pullback.passes.buffers.regions import FOREIGN, NOTHING, READ_ONLY, Regions, Shares
from pullback.passes.buffers.sharing import LIST_WRITES, Sharing, immutable
from pullback.styles.join import below
from pullback.styles.style import Array, ListOf, Tup

MAX_ROUNDS = 6
MAX_WALKS = 5

Edge = list[Shares]


@dataclass(slots=True)
class Decisions:
    """Why a write is not in place (by `id` of its Call), the slots to copy before a loop, the results to
    copy.
    """

    copied: dict[int, str] = field(default_factory=dict)
    before: dict[int, dict[int, str]] = field(default_factory=dict)
    replaced: set[int] = field(default_factory=set)  # stores of the whole whose value is the result as it is
    loads: set[int] = field(default_factory=set)  # views to copy, since a later write would change them
    results: list[bool] = field(default_factory=list)  # for each leaf of the owned result, in order


def decide(function: Function, *, in_place: bool, owned: int | None) -> Decisions:
    """Decide every write; `owned` is the position of the result whose leaves must own their memory."""
    dead = deaths(function)
    loads: set[int] = set()
    forced: dict[int, set[int]] = {}
    for _ in range(MAX_WALKS):  # each may find copies that make others needless; any outcome is sound
        walk = _Decide(dead, in_place, loads, forced)
        walk.params(function)
        walk.block(function.body)
        if owned is not None:
            walk.own_results(function, owned)
        more = loads.union(*walk.cuts)
        if more == loads and not walk.force():
            break
        loads = more
    return walk.out


def shares_of(function: Function) -> Mapping[Var, Shares]:
    """Where the values of a bufferised function lie: each write that is left is done in place."""
    walk = _AllInPlace(deaths(function), True, set(), {})
    walk.params(function)
    walk.block(function.body)
    return walk.shares


class _Decide:
    def __init__(self, dead: Deaths, in_place: bool, loads: set[int], forced: dict[int, set[int]]) -> None:
        self.forced = forced  # slots to be copied before their loop, so that lists filled there are ours
        self.entries: dict[int, list[frozenset[int]]] = {}  # what is not ours of a loop's initial values
        self.foreign: set[int] = set()  # what is not ours of the lists in the owned result
        self.dead = dead
        self.in_place = in_place
        self.regions = Regions()
        self.shares: dict[Var, Shares] = {}
        self.sharing = Sharing(self.regions, self.shares, loads)
        self.out = Decisions(loads=loads)
        self.wanted: list[frozenset[int]] = []  # what kept a write from being in place
        self.cuts: list[frozenset[int]] = []  # the loads that, made copies, would let a write be in place
        self.at_entry: frozenset[int] = (
            frozenset()
        )  # what a copy before one of the loops around rids a write of

    # ----------------------------------------------------------------------------------- lives, deaths

    def bind(self, var: Var, shares: Shares) -> None:
        """A value comes to life."""
        self.shares[var] = NOTHING if immutable(var.style) else shares
        if var not in self.dead.unused:
            self.regions.hold(var, self.shares[var], True)

    def release(self, variables: Sequence[Var]) -> None:
        """Values die."""
        for var in variables:
            self.regions.hold(var, self.shares.get(var, NOTHING), False)

    def params(self, function: Function) -> None:
        """Parameters are the caller's."""
        for var in param_variables(function.params):
            region = frozenset((self.regions.fresh(var, owned=False),))
            self.bind(var, Shares(region, frozenset() if isinstance(var.style, Array) else region))

    # ---------------------------------------------------------------------------------------- the walk

    def block(self, block: Block) -> None:
        """Walk a block's statements in order."""
        for stmt in block.stmts:
            match stmt:
                case Call():
                    self._call(stmt)
                case If():
                    self._if(stmt)
                case For() | While():
                    self._loop(stmt)

    def _call(self, stmt: Call) -> None:
        self.release(self.dead.after[id(stmt)])
        results = [self._write(stmt)] if stmt.op.writes and stmt.targets else self.sharing.results(stmt)
        for var, shares in zip(stmt.targets, results, strict=True):
            self.bind(var, shares)

    def _write(self, stmt: Call) -> Shares:
        base = stmt.args[0]
        self.out.copied.pop(id(stmt), None)
        self.out.replaced.discard(id(stmt))
        if immutable(style_of(base)):
            return NOTHING if immutable(stmt.targets[0].style) else self.sharing.written(stmt, False)
        bad = self._hindered(stmt)
        if not bad:
            return self.sharing.written(stmt, True)
        if self.in_place and _stores_all(stmt):
            self.out.replaced.add(id(stmt))
            return self.sharing.operand(stmt.args[1])
        self.out.copied[id(stmt)] = self._reason(bad)
        self.wanted.append(bad)
        self.cuts.append(self._cut(base, bad))
        return self.sharing.written(stmt, False)

    def _cut(self, base: Operand, bad: frozenset[int]) -> frozenset[int]:
        """The loads to be made copies, if that lets a write be in place: views are smaller than what they view."""
        found: set[int] = set()
        for region in bad - self.at_entry:  # of what is there at entry, a copy before the loop is made
            holders = self.regions.holders(region)
            if not self.regions.owned(region) or base in holders:
                return frozenset()
            for var in holders:
                cut = self.shares[var].cuts.get(region)
                if cut is None:
                    return frozenset()
                found |= cut
        return frozenset(found)

    def _hindered(self, stmt: Call) -> frozenset[int]:
        """The regions that keep a write from being in place."""
        base = stmt.args[0]
        if not self.in_place:
            return frozenset((READ_ONLY,))
        own = self.sharing.operand(base).own
        bad = {r for r in own if not self.regions.owned(r) or self.regions.held(r)}
        if stmt.op in LIST_WRITES:
            bad |= own if base in stmt.args[1:] else set()
        else:
            for step in stmt.args[2:]:  # an index array that is the array itself
                bad |= own & self.sharing.operand(step).all()
        return frozenset(bad)

    def _reason(self, bad: frozenset[int]) -> str:
        if not self.in_place:
            return "bufferization is off"
        if READ_ONLY in bad:
            return "it may be a view that cannot be written"
        if any(not self.regions.owned(r) for r in bad):
            return "it may be the caller's array"
        return "the value before the write is read later"

    # ---------------------------------------------------------------------------------------- branches

    def _if(self, stmt: If) -> None:
        edges = []
        for side, (block, yields) in enumerate(
            ((stmt.then, stmt.then_yields), (stmt.orelse, stmt.else_yields))
        ):
            mark = self.regions.mark()
            self.release(self.dead.entry[id(stmt), side])
            self.block(block)
            edges.append([self.sharing.operand(y) for y in yields])
            self.regions.rollback(mark)
        self.release(self.dead.after[id(stmt)])
        for var, shares in zip(stmt.results, self._join(id(stmt), edges), strict=True):
            self.bind(var, shares)

    def _join(self, key: int, edges: Sequence[Edge]) -> Edge:
        """The regions of slots that get their values on several edges.

        A slot gets a region of its own for the buffer it then holds, and keeps the regions that are not ours
        or that another live value lies in.  Slots that share on one edge share.
        """
        sets: list[set[int]] = [set() for _ in range(2 * len(edges[0]))]
        cuts: list[dict[int, frozenset[int] | None]] = [{} for _ in edges[0]]
        for edge in edges:
            for region, places in _places(edge, self.regions).items():
                for place in places:
                    sets[place].add(self.regions.fresh(key, place))
                kept = not self.regions.owned(region) or self.regions.held(region)
                if kept or len(places) > 1:
                    common = region if kept else self.regions.fresh(key, tuple(places))
                    for place in places:
                        sets[place].add(common)
                        _add_cut(cuts[place // 2], common, edge[place // 2].cuts.get(region))
        small = [self.regions.small(s) for s in sets]
        known = [{r: c for r, c in slot.items() if c is not None} for slot in cuts]
        return [Shares(small[2 * k], small[2 * k + 1], known[k]) for k in range(len(edges[0]))]

    # ------------------------------------------------------------------------------------------- loops

    def _loop(self, stmt: For | While) -> None:
        self.release(self.dead.entry[id(stmt), 0])
        forced = self.forced.get(id(stmt), set())
        before = dict.fromkeys(sorted(forced), "what is saved of it owns its memory")
        self.entries.setdefault(id(stmt), [])
        start, cut_start = len(self.wanted), len(self.cuts)
        inits = [self.sharing.operand(x) for x in stmt.inits]
        outside = self.at_entry
        self.at_entry = outside.union(*(self._problems(s.own) for s in inits))
        self.entries[id(stmt)] = [
            frozenset(r for r in s.own if not self.regions.owned(r)) if isinstance(x, Var) else frozenset()
            for x, s in zip(stmt.inits, inits, strict=True)
        ]
        inits = [self._fresh_init(stmt, k) if k in before else s for k, s in enumerate(inits)]
        edges = [inits]
        heads = self._join(id(stmt), edges)
        for n in range(MAX_ROUNDS * (len(stmt.params) + 1)):
            del self.wanted[start:], self.cuts[cut_start:]
            end = self._round(stmt, heads)
            if self._copy_before(stmt, inits, before):
                inits = [self._fresh_init(stmt, k) if k in before else s for k, s in enumerate(inits)]
                edges = [inits]
                heads = self._join(id(stmt), edges)
                continue
            edges = [inits, *edges[1:], end]
            grown = self._join(id(stmt), edges)
            if grown == heads:
                break
            heads = grown if n < MAX_ROUNDS else self._worst(grown)
        self.at_entry = outside
        self.out.before[id(stmt)] = before
        original = [self.sharing.operand(x) for x in stmt.inits]
        self.wanted += [self._problems(original[k].own) for k in before]
        self.release(self.dead.after[id(stmt)])
        for var, shares in zip(stmt.results, heads, strict=True):
            self.bind(var, shares)

    def _round(self, stmt: For | While, heads: Edge) -> Edge:
        """Walk the body under an assumption on the slots; returns what they hold at its end."""
        mark = self.regions.mark()
        for var, shares in zip(stmt.params, heads, strict=True):
            self.bind(var, shares)
        if isinstance(stmt, While):
            self.block(stmt.cond)
        else:
            for var, it in zip(stmt.index, stmt.iters, strict=True):
                everything = self.sharing.operand(it.value).all() if isinstance(it, Seq) else frozenset()
                self.bind(var, Shares(everything, everything))
        self.block(stmt.body)
        end = [self.sharing.operand(y) for y in stmt.yields]
        self.regions.rollback(mark)
        return end

    def _copy_before(self, stmt: For | While, inits: Edge, before: dict[int, str]) -> bool:
        """Whether writes in the body call for copies of more initial values (B3)."""
        problems = [self._problems(s.own) for s in inits]
        seen: set[int] = set()
        for k, shares in enumerate(inits):  # the first of several slots that begin in one buffer may keep it
            twice = {r for r in shares.own if r in seen}
            seen |= shares.own
            shared = {self.regions.fresh(id(stmt), places) for places in self._groups(inits, k) if twice}
            problems[k] = problems[k] | shared
        known = frozenset().union(*problems)
        found = False
        for bad in self.wanted:
            if not bad <= known:
                continue
            for k, problem in enumerate(problems):
                if k not in before and problem & bad and isinstance(stmt.inits[k], Var):
                    before[k] = self._reason(bad)
                    found = True
        return found

    def _groups(self, inits: Edge, k: int) -> list[tuple[int, ...]]:
        """The groups of slots that share a buffer with slot k at entry."""
        return [tuple(p) for p in _places(inits, self.regions).values() if 2 * k in p and len(p) > 1]

    def _problems(self, own: frozenset[int]) -> frozenset[int]:
        return frozenset(r for r in own if not self.regions.owned(r) or self.regions.held(r))

    def _fresh_init(self, stmt: For | While, k: int) -> Shares:
        content = self.sharing.operand(stmt.inits[k]).content
        return Shares(frozenset((self.regions.fresh(id(stmt), k, "before"),)), content)

    def _worst(self, heads: Edge) -> Edge:
        """The assumption that no slot is ours and all share."""
        everything = self.regions.small(frozenset((FOREIGN,)).union(*(s.all() for s in heads)))
        return [Shares(everything if s.own else s.own, everything if s.content else s.content) for s in heads]

    # ----------------------------------------------------------------------------------------- results

    def own_results(self, function: Function, owned: int) -> None:
        """Find the leaves of one result that share with anything, or are not ours."""
        seen: set[int] = set()
        for i, operand in enumerate(function.results):
            if i != owned:
                seen |= self.sharing.operand(operand).all()
        for var in variables(function.results[owned]):
            regions = self.shares.get(var, NOTHING).all()
            shared = any(not self.regions.owned(r) for r in regions) or bool(regions & seen)
            self.out.results.append(shared and isinstance(var.style, Array | ListOf | Tup))
            if isinstance(var.style, ListOf | Tup):
                self.foreign |= {r for r in regions if not self.regions.owned(r)}
            seen |= regions

    def force(self) -> bool:
        """Whether lists of the owned result hold what came into them through a loop's initial value.

        Copying that once, before the outermost such loop, is less than copying all that the list holds.
        """
        for loop, slots in self.entries.items():
            wanted = {k for k, regions in enumerate(slots) if regions & self.foreign}
            more = wanted - self.forced.get(loop, set())
            if more:
                self.forced.setdefault(loop, set()).update(more)
                return True
        return False


class _AllInPlace(_Decide):
    """The walk over a function in which all is decided."""

    def _write(self, stmt: Call) -> Shares:
        return self.sharing.written(stmt, True)

    def _copy_before(self, stmt: For | While, inits: Edge, before: dict[int, str]) -> bool:
        return False


def _stores_all(stmt: Call) -> bool:
    """Whether a store writes every element, from an array of the same dtype and shape."""
    if stmt.op is not core.store or len(stmt.args) != 2 or not isinstance(stmt.args[1], Var):
        return False
    style, base = stmt.args[1].style, stmt.targets[0].style
    return isinstance(style, Array) and bool(style.axes) and style.dtype is not None and below(style, base)


def _add_cut(cuts: dict[int, frozenset[int] | None], region: int, cut: frozenset[int] | None) -> None:
    """A region that reaches a slot in several ways is cut where all of them are."""
    before = cuts.get(region, frozenset())
    cuts[region] = None if cut is None or before is None else before | cut


def _places(edge: Edge, regions: Regions) -> dict[int, list[int]]:
    """Where each region lies: 2k in slot k's own buffer, 2k + 1 in what it holds."""
    found: dict[int, list[int]] = {}
    for k, shares in enumerate(edge):
        for place, ids in ((2 * k, shares.own), (2 * k + 1, shares.content)):
            for region in sorted(ids):
                places = found.setdefault(regions.find(region), [])
                if place not in places:
                    places.append(place)
    return found
