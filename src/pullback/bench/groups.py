"""Means over kinds of kernels, beside the best library at each one."""

from __future__ import annotations

from dataclasses import dataclass

from pullback.bench.peers import PEERS
from pullback.bench.record import CaseRecord, Record
from pullback.bench.timing import geometric_mean


@dataclass(frozen=True)
class Versus:
    """One of our contenders beside the best library at a case."""

    case: CaseRecord
    peer: str
    ratio: float  # how many times as fast as the library we are


def libraries(record: Record) -> list[str]:
    """The contenders that are other libraries: neither ours nor a reference."""
    return [
        name
        for name in record.contenders[1:]
        if name in PEERS and not (PEERS[name].ours or PEERS[name].reference)
    ]


def versus(case: CaseRecord, ours: str, peers: list[str]) -> Versus | None:
    """Ours beside the fastest of some contenders; None where either has no time."""
    found = [(ratio, peer) for peer in peers if (ratio := case.ratio(peer, ours)) is not None]
    if not found:
        return None
    ratio, peer = min(found)
    return Versus(case, peer, ratio)


def beside_best(record: Record, ours: str, peers: list[str] | None = None) -> list[Versus]:
    """Ours beside the best library, for all cases that have both."""
    peers = libraries(record) if peers is None else peers
    cases = [case for case in record.cases if not case.reused]
    return [found for case in cases if (found := versus(case, ours, peers)) is not None]


def group_of(case: CaseRecord) -> str:
    """The suite and the kind of a case."""
    return f"{case.suite}: {case.group}" if case.group else case.suite


@dataclass(frozen=True)
class Summary:
    """A group of cases of ours beside the best library at each."""

    group: str
    ours: str
    mean: float
    found: list[Versus]

    @property
    def worst(self) -> Versus:
        """Where we are slowest beside it."""
        return min(self.found, key=lambda v: v.ratio)


def summaries(record: Record) -> list[Summary]:
    """A summary of each group, and of all groups of a suite that has several."""
    rows = []
    for ours in record.ours:
        found = beside_best(record, ours)
        for suite in record.suites:
            of_suite = [v for v in found if v.case.suite == suite]
            groups: dict[str, list[Versus]] = {}
            for v in of_suite:
                groups.setdefault(group_of(v.case), []).append(v)
            if len(groups) > 1:
                groups[f"{suite}: all"] = of_suite
            for name, members in groups.items():
                mean = geometric_mean([v.ratio for v in members])
                if mean is not None:
                    rows.append(Summary(name, ours, mean, members))
    return rows


def slower(record: Record) -> list[tuple[str, Versus]]:
    """What is slower than the best library, for each of our contenders: the slowest first."""
    return [
        (ours, v)
        for ours in record.ours
        for v in sorted(beside_best(record, ours), key=lambda v: v.ratio)
        if v.ratio < 1.0
    ]
