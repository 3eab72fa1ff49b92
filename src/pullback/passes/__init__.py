"""Passes: each takes a Function and gives one of the same meaning, the same object where nothing changes.

They are optional: with none of them run, the results are the same.  `optimize` runs them in order until none changes
anything; the change flag is identity.
"""

from __future__ import annotations

from collections.abc import Callable

from pullback.ir.nodes import Function
from pullback.passes.cse import cse
from pullback.passes.dce import dce
from pullback.passes.fold import fold
from pullback.passes.forward import forward
from pullback.passes.simplify import simplify
from pullback.passes.slots import simplify_slots
from pullback.passes.updates import updates

Pass = Callable[[Function], Function]

PASSES: tuple[Pass, ...] = (fold, simplify_slots, dce, cse, updates, forward, simplify)
MAX_ROUNDS = 10


def optimize(function: Function, told: Callable[[str, Function], None] = lambda name, made: None) -> Function:
    """Run the passes to a fixed point (at most `MAX_ROUNDS` times).

    told  called after each pass that changed something, with its name ("1.fold": of the first round) and what it made
    """
    for number in range(1, MAX_ROUNDS + 1):
        before = function
        for step in PASSES:
            made = step(function)
            if made is not function:
                told(f"{number}.{step.__name__}", made)
            function = made
        if function is before:
            break
    return function
