"""The user's line on an exception that generated code raised.

The traceback shows the generated line.  The user's own is found by running the function once more, in the IR's
interpreter, where every statement knows its place; that happens only when something has failed already, changes no
array, is not done where the function has effects that can be seen, and ends after a bounded number of statements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pullback.analysis.effects import has_visible_effects
from pullback.errors import Loc, PullbackError, add_place, has_place
from pullback.ir.interp import Machine
from pullback.ir.nodes import Function, Stmt

if TYPE_CHECKING:
    from pullback.dispatch.variants import Variant

MAX_STATEMENTS = 200_000


def note_place(error: Exception, variant: Variant, values: Sequence[Any]) -> None:
    """Add the user's file, line and text to an exception, if they can be found."""
    if not isinstance(error, PullbackError) and not has_place(error):
        place = _place(variant.compiled.lowered.function, values, type(error))
        add_place(error, place, variant.compiled.name)


class _Replay(Machine):
    """Runs statements and remembers the last one begun."""

    def __init__(self) -> None:
        super().__init__()
        self.loc: Loc | None = None
        self.count = 0

    def statement(self, stmt: Stmt) -> None:
        """Run a statement."""
        self.count += 1
        if self.count > MAX_STATEMENTS:
            raise _Enough
        self.loc = stmt.loc
        super().statement(stmt)

    def enter(self, function: Function, args: Sequence[object]) -> Any:
        """Call a function compiled apart: the last statement begun may be one of its own."""
        inner = _Replay()
        inner.count = self.count
        try:
            results = inner.results(function, args)
        finally:
            self.loc, self.count = inner.loc, inner.count
        return results[0] if len(results) == 1 else results


class _Enough(Exception):
    """The replay takes too long."""


def _place(function: Function, values: Sequence[Any], kind: type[Exception]) -> Loc | None:
    if has_visible_effects(function):
        return None
    replay = _Replay()
    try:
        for param, value in zip(function.params, values, strict=True):
            replay.bind(param.tree, value)
        wanted = issubclass(kind, Warning | FloatingPointError)  # then it is the warning that is looked for
        with np.errstate() if wanted else np.errstate(all="ignore"):
            replay.block(function.body)
    except kind:
        return replay.loc
    except Exception:
        return None
    return None
