"""Regions of memory, and which of them a value may lie in.

A region is a number.  `Regions` knows whether this call owns it and how many live values may lie in it; both
follow unions, by which large sets are kept small.  `Shares` is what a value may lie in: `own` is the buffer
of an array or the list object itself, `content` what lists and tuples hold.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from pullback.ir.nodes import Var

FOREIGN = 0  # memory of the caller, or of nobody knows whom
READ_ONLY = 1  # views that NumPy does not let anyone write, or whose elements overlap
MAX_SET = 16


@dataclass(frozen=True, slots=True)
class Shares:
    """The regions of a value: its own buffer, and what it holds.

    `cuts` tells for a region which loads (`id` of their Calls), made copies, would keep the value out of it.
    """

    own: frozenset[int] = frozenset()
    content: frozenset[int] = frozenset()
    cuts: Mapping[int, frozenset[int]] = field(default_factory=dict)

    def all(self) -> frozenset[int]:
        """Every region that the value keeps in use."""
        return self.own | self.content

    def __bool__(self) -> bool:
        return bool(self.own or self.content)


NOTHING = Shares()


def common_cuts(regions: frozenset[int], sources: Iterable[Shares]) -> dict[int, frozenset[int]]:
    """The cuts of a value that lies where any of the sources lies: a region is cut where it is in each of them."""
    sources = [s for s in sources if s]
    found: dict[int, frozenset[int]] = {}
    if not any(s.cuts for s in sources):
        return found
    for region in regions:
        cuts = [s.cuts.get(region) for s in sources if region in s.all()]
        if cuts and None not in cuts:
            found[region] = frozenset().union(*(c for c in cuts if c is not None))
    return found


class Regions:
    """All regions of one function."""

    def __init__(self) -> None:
        self._parent = [FOREIGN, READ_ONLY]
        self._owned = [False, False]
        self._holders: list[dict[Var, None]] = [{}, {}]
        self._keys: dict[Hashable, int] = {}
        self._log: list[tuple[int, Var, bool]] = []

    def fresh(self, *key: Hashable, owned: bool = True) -> int:
        """The region of a key, made on first use: the same place in the program always gets the same
        region.
        """
        if key not in self._keys:
            self._keys[key] = len(self._parent)
            self._parent.append(len(self._parent))
            self._owned.append(owned)
            self._holders.append({})
        return self.find(self._keys[key])

    def find(self, region: int) -> int:
        """The representative of a region."""
        parent = self._parent
        while parent[region] != region:
            parent[region] = parent[parent[region]]
            region = parent[region]
        return region

    def owned(self, region: int) -> bool:
        """Whether this call allocated the region."""
        return self._owned[self.find(region)]

    def held(self, region: int) -> bool:
        """Whether a live value may lie in the region."""
        return bool(self._holders[self.find(region)])

    def holders(self, region: int) -> tuple[Var, ...]:
        """The live values that may lie in the region."""
        return tuple(self._holders[self.find(region)])

    def small(self, regions: Iterable[int]) -> frozenset[int]:
        """A set of regions; a large one is united into one region."""
        found = frozenset(self.find(r) for r in regions)
        if len(found) <= MAX_SET:
            return found
        first, *rest = sorted(found)
        for other in rest:
            self._unite(first, other)
        return frozenset((first,))

    def _unite(self, a: int, b: int) -> None:
        self._parent[b] = a
        self._owned[a] = self._owned[a] and self._owned[b]
        self._holders[a].update(self._holders[b])

    # ---------------------------------------------------------------------------------------- liveness

    def hold(self, var: Var, shares: Shares, lives: bool) -> None:
        """A value comes to life, or dies."""
        for region in shares.all():
            self._set(region, var, lives)
            self._log.append((region, var, lives))

    def _set(self, region: int, var: Var, lives: bool) -> None:
        holders = self._holders[self.find(region)]
        if lives:
            holders[var] = None
        else:
            holders.pop(var, None)

    def mark(self) -> int:
        """The present point of the log of lives and deaths."""
        return len(self._log)

    def rollback(self, mark: int) -> None:
        """Undo lives and deaths back to a point."""
        while len(self._log) > mark:
            region, var, lives = self._log.pop()
            self._set(region, var, not lives)
