"""Timing, and the lines of the report.

Times are processor time of the calling thread: what else the machine does counts little.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Line:
    """One measured figure.  `target` is an upper bound (a lower one where `at_least`), or None."""

    name: str
    value: float
    unit: str
    target: float | None = None
    at_least: bool = False
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target holds."""
        if self.target is None:
            return None
        return self.value >= self.target if self.at_least else self.value <= self.target

    def __str__(self) -> str:
        bound = (
            "" if self.target is None else f"{'>=' if self.at_least else '<='} {self.target:g} {self.unit}"
        )
        verdict = {None: "", True: "ok", False: "MISSED"}[self.met]
        return f"{self.name:<58} {self.value:>10.3g} {self.unit:<6} {bound:<16} {verdict:<7} {self.note}".rstrip()


def side_by_side(
    first: Callable[[], Any], second: Callable[[], Any], *, budget: float = 0.4, rounds: int = 8
) -> float:
    """Seconds of `first` over seconds of `second`, in turns, so that a busy machine slows both."""
    pairs = [
        (best(first, budget=budget / rounds, rounds=1), best(second, budget=budget / rounds, rounds=1))
        for _ in range(rounds)
    ]
    return min(a for a, _ in pairs) / min(b for _, b in pairs)


def best(call: Callable[[], Any], *, budget: float = 0.3, rounds: int = 5) -> float:
    """Seconds of one call: the least of some rounds, each long enough for the clock."""
    start = time.thread_time()
    call()
    once = max(time.thread_time() - start, 1e-7)
    repeat = max(1, int(budget / rounds / once))
    found = once
    for _ in range(rounds):
        start = time.thread_time()
        for _ in range(repeat):
            call()
        found = min(found, (time.thread_time() - start) / repeat)
    return found
