"""Our headers written out in one text, so that it compiles without them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pullback.backend.native.build import header

_OURS = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"[^\n]*\n', re.MULTILINE)


def amalgam(names: Sequence[str]) -> str:
    """The texts of some headers and of those that they include, each once, in the order in which they are needed."""
    done: set[str] = set()

    def text_of(name: str) -> str:
        if name in done:
            return ""
        done.add(name)
        text = header(name)
        assert text is not None, name
        return _OURS.sub(lambda match: text_of(match[1]), text)

    parts = [text_of(name) for name in names]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(part for part in parts if part))
