"""The pieces of a signature's text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pullback.errors import SignatureError


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text: its kind ("name", "number", "text", "mark" or "end") and place."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.text)


_TOKENS = re.compile(
    r"""(?P<space>\s+)
      | (?P<text>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")
      | (?P<number>-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?j?(?!\w))
      | (?P<name>[<>]?[^\W\d]\w*(?:\.[^\W\d]\w*)*)
      | (?P<mark>::|\*\*|[\[\](){}:,*])""",
    re.VERBOSE,
)


def tokens_of(text: str) -> Iterator[Token]:
    """The pieces of a text, the last one its end.  Raises SignatureError where there is none."""
    at = 0
    while at < len(text):
        match = _TOKENS.match(text, at)
        if match is None:
            raise SignatureError(
                f"{text[at]!r} is not understood in a signature",
                text=text,
                start=at,
                end=at + 1,
                hint="write name: type, ... with types as in f8[n, k], float, 'fast'",
            )
        kind = str(match.lastgroup)
        if kind != "space":
            yield Token(kind, match.group(), at)
        at = match.end()
    yield Token("end", "", at)
