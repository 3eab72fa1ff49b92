"""Which integer index arrays hold no position twice, so that every write of a store through them survives."""

from __future__ import annotations

import numpy as np

from pullback.ir.nodes import Call, Function, Var
from pullback.ir.walk import statements
from pullback.styles.style import Array


def distinct_indices(function: Function) -> set[Var]:
    """The results of calls that never repeat a position (negative positions, which repeat others, included)."""
    found: set[Var] = set()
    for stmt in statements(function.body):
        if isinstance(stmt, Call) and len(stmt.targets) == 1 and _is_distinct(stmt):
            found.add(stmt.targets[0])
    return found


def _is_distinct(call: Call) -> bool:
    style = call.targets[0].style
    if not isinstance(style, Array) or style.rank != 1:
        return False
    if call.op.fn is np.arange:
        return len(call.args) == 1  # from 0: none is negative
    return call.op.fn in (np.argsort, np.flatnonzero)
