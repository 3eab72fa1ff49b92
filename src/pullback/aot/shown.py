"""A standalone module as a notebook shows it: the user's functions beside it, lines linked by colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FunctionType

from pullback.errors import Loc, SourceError
from pullback.frontend.source import source_of
from pullback.notebook import message, view


def places_in(
    text: str, generated: str, functions: Sequence[str], places: Mapping[int, Loc]
) -> dict[int, Loc]:
    """The user's place by line of a module's text, into which these generated functions went as they are."""
    found: dict[int, Loc] = {}
    for function in functions:
        here, there = _line(generated, function), _line(text, function)
        for number in range(function.count("\n") + 1):
            if here + number in places:
                found[there + number] = places[here + number]
    return dict(sorted(found.items()))


def _line(text: str, part: str) -> int:
    """The number of the line at which a part begins."""
    return text.count("\n", 0, text.index(part)) + 1


def html_of(fns: Sequence[FunctionType], text: str, places: Mapping[int, Loc]) -> str:
    """The page for a module that was made from functions."""
    try:
        sources = [source_of(fn) for fn in dict.fromkeys(fns)]
    except SourceError as error:
        return message(f"{error}\n\n{text}")
    return view(sources, text, places, "standalone module")
