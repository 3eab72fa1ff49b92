"""What C cannot take, and why."""

from __future__ import annotations

from pullback.errors import NOWHERE, Loc


class Untaken(Exception):
    """A statement stays in Python: the reason, and its place in the user's source."""

    def __init__(self, reason: str, loc: Loc = NOWHERE) -> None:
        super().__init__(reason)
        self.reason = reason
        self.loc = loc

    def at(self, loc: Loc) -> Untaken:
        """The same at a place, unless it has one."""
        if not self.loc.line:
            self.loc = loc
        return self
