"""Which line of generated text is made from which line of the user's."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pullback.backend.numpy.printer import Comment, Places
from pullback.errors import Loc


def lines_of(module: ast.Module, printed: ast.Module, text: str, places: Places) -> dict[int, Loc]:
    """The user's place by line of the text.

    `printed` is the tree that the text reads back as: the same statements as in `module`, with their lines.  What has
    no place of its own has that of the statement around it; a comment has that of the line below.
    """
    found: dict[int, Loc] = {}
    pending: list[tuple[Sequence[ast.stmt], Sequence[ast.stmt], Loc | None]] = [
        (module.body, printed.body, None)
    ]
    while pending:
        meant, read, around = pending.pop()
        kept = [s for s in meant if not isinstance(s, Comment)]
        for statement, at in zip(kept, read, strict=True):
            loc = places.get(statement, around)
            blocks = [(getattr(statement, b, None), getattr(at, b, None)) for b in ("body", "orelse")]
            inner = [(mine, theirs) for mine, theirs in blocks if isinstance(mine, list) and theirs]
            _mark(found, at, loc)
            pending += [(mine, theirs, loc) for mine, theirs in inner]
    return _with_comments(found, text)


def _mark(found: dict[int, Loc], statement: ast.stmt, loc: Loc | None) -> None:
    """Mark the lines of a statement; those of the statements inside it are marked after."""
    if loc is not None:
        for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1):
            found[line] = loc


def _with_comments(found: dict[int, Loc], text: str) -> dict[int, Loc]:
    below: Loc | None = None
    lines = text.split("\n")
    for number in range(len(lines), 0, -1):
        if lines[number - 1].lstrip().startswith("#"):
            found.pop(number, None)
            if below is not None:
                found[number] = below
        else:
            below = found.get(number)
    return dict(sorted(found.items()))
