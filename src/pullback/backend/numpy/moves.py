"""Parallel assignments in an order that Python can run one by one; only a cycle is one tuple assignment.

>>> from pullback.ir.nodes import Const
>>> x = Const(0)
>>> [[m.target for m in g] for g in in_order([Move("a", x, frozenset("b")), Move("b", x, frozenset("c"))])]
[['a'], ['b']]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pullback.ir.nodes import Operand


@dataclass(frozen=True, eq=False, slots=True)
class Move:
    """`target = source`, where the source's expression reads some names."""

    target: str
    source: Operand
    reads: frozenset[str]


def in_order(moves: Sequence[Move]) -> list[list[Move]]:
    """Groups to be assigned in this order: no group overwrites a name that a later one reads."""
    readers: dict[str, list[int]] = {}
    for i, move in enumerate(moves):
        for name in move.reads:
            readers.setdefault(name, []).append(i)
    # move i must come after every other move that reads its target
    waiting = [sum(1 for j in readers.get(m.target, ()) if j != i) for i, m in enumerate(moves)]
    ready = [i for i, n in enumerate(waiting) if n == 0]
    owner = {m.target: i for i, m in enumerate(moves)}
    out: list[list[Move]] = []
    done: set[int] = set()
    while ready:
        ready.sort(reverse=True)
        i = ready.pop()
        done.add(i)
        out.append([moves[i]])
        for name in moves[i].reads:
            j = owner.get(name)
            if j is not None and j != i and j not in done:
                waiting[j] -= 1
                if waiting[j] == 0:
                    ready.append(j)
    cycle = [m for i, m in enumerate(moves) if i not in done]
    return [*out, cycle] if cycle else out
