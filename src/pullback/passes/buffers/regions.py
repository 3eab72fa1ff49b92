"""Regions of memory, and which of them a value may lie in.

A region is a number.  `Regions` knows whether this call owns it and how many live values may lie in it; both
follow unions, by which large sets are kept small.  `Shares` is what a value may lie in: `own` is the buffer
of an array or the list object itself, `content` what lists and tuples hold.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

FOREIGN = 0  # memory of the caller, or of nobody knows whom
READ_ONLY = 1  # views that NumPy does not let anyone write, or whose elements overlap
MAX_SET = 16


@dataclass(frozen=True, slots=True)
class Shares:
    """The regions of a value: its own buffer, and what it holds."""

    own: frozenset[int] = frozenset()
    content: frozenset[int] = frozenset()

    def all(self) -> frozenset[int]:
        """Every region that the value keeps in use."""
        return self.own | self.content

    def __bool__(self) -> bool:
        return bool(self.own or self.content)


NOTHING = Shares()


class Regions:
    """All regions of one function."""

    def __init__(self) -> None:
        self._parent = [FOREIGN, READ_ONLY]
        self._owned = [False, False]
        self._held = [0, 0]
        self._keys: dict[Hashable, int] = {}
        self._log: list[tuple[int, int]] = []

    def fresh(self, *key: Hashable, owned: bool = True) -> int:
        """The region of a key, made on first use: the same place in the program always gets the same
        region.
        """
        if key not in self._keys:
            self._keys[key] = len(self._parent)
            self._parent.append(len(self._parent))
            self._owned.append(owned)
            self._held.append(0)
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
        return self._held[self.find(region)] > 0

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
        self._held[a] += self._held[b]

    # ---------------------------------------------------------------------------------------- liveness

    def hold(self, shares: Shares, by: int) -> None:
        """A value comes to life (1) or dies (-1)."""
        for region in shares.all():
            self._held[self.find(region)] += by
            self._log.append((region, by))

    def mark(self) -> int:
        """The present point of the log of lives and deaths."""
        return len(self._log)

    def rollback(self, mark: int) -> None:
        """Undo lives and deaths back to a point."""
        while len(self._log) > mark:
            region, by = self._log.pop()
            self._held[self.find(region)] -= by
