"""Passes: optional, each from Function to Function, none changes what the interpreter gives.

`PASSES` is the order; `optimize` runs them until nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable

from pullback.ir.nodes import Function
from pullback.passes.cse import cse
from pullback.passes.dce import dce
from pullback.passes.simplify import simplify
from pullback.passes.slots import simplify_slots

PASSES: tuple[Callable[[Function], Function], ...] = (simplify_slots, dce, cse, simplify)
MAX_ROUNDS = 10


def optimize(function: Function) -> Function:
    """The function after all passes, repeated until none changes it."""
    for _ in range(MAX_ROUNDS):
        before = function
        for one in PASSES:
            function = one(function)
        if function is before:
            break
    return function
