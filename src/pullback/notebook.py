"""The user's source beside the generated source, as HTML: what a notebook shows of a compiled function.

A line of the user's and the generated lines made from it have one colour; the pointer over any of them lights up all.
Plain HTML and CSS: no script, nothing from outside; the colours are thin veils over whatever background there is, so
that the page may be light or dark.  Each generated line has the number of the user's line before it.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import PurePath

from pullback.errors import Loc
from pullback.frontend.source import FunctionSource

GOLDEN = 137.508  # degrees: hues in steps of it stay apart, however many there are

STYLE = """
.pullback-view { color: inherit; font-size: 13px; line-height: 1.45; }
.pullback-view .pb-panes { display: flex; flex-wrap: wrap; gap: 12px; align-items: flex-start; }
.pullback-view .pb-pane { flex: 1 1 24em; min-width: 0; max-height: 48em; overflow: auto;
  border: 1px solid rgba(128, 128, 128, 0.4); border-radius: 4px; }
.pullback-view .pb-title { padding: 3px 8px; opacity: 0.8; font-family: sans-serif;
  border-bottom: 1px solid rgba(128, 128, 128, 0.4); }
.pullback-view pre { margin: 0; padding: 4px 0; background: none; color: inherit; border: 0;
  font-family: monospace; font-size: inherit; line-height: inherit; white-space: pre; overflow: visible; }
.pullback-view .pb-line { display: inline-block; min-width: 100%; box-sizing: border-box;
  padding-right: 8px; border-left: 3px solid transparent; }
.pullback-view .pb-number { display: inline-block; width: 4ch; margin-right: 1ch; text-align: right;
  opacity: 0.55; user-select: none; }
""".strip()


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a file: the definition of a function.  `starts` is the first line of each line's statement."""

    file: str
    title: str
    first: int
    lines: tuple[str, ...]
    starts: Mapping[int, int]

    def holds(self, file: str, line: int) -> bool:
        """Whether a line is in it."""
        return file == self.file and self.first <= line < self.first + len(self.lines)


@dataclass(frozen=True, slots=True)
class Side:
    """One column: a title, the texts in it and under each number the group of a line."""

    title: str
    lines: tuple[tuple[str, str, int | None, str], ...]  # number, text, group, tip


def view(sources: Sequence[FunctionSource], generated: str, places: Mapping[int, Loc], title: str) -> str:
    """The page for functions and their generated source; `places` are the user's places by generated line."""
    passages = _passages(sources, places.values())
    groups = _groups(passages, places.values())
    users = [_user_side(p, groups) for p in passages]
    lines = []
    for number, text in enumerate(generated.rstrip("\n").split("\n"), 1):
        place = places.get(number)
        group = None if place is None else groups.get(_key(passages, place))
        shown = "" if place is None or group is None else str(place.line)
        lines.append((shown, text, group, "" if group is None else f"{place}"))
    return _page([users, [Side(title, tuple(lines))]], len(groups))


def view_before(source: FunctionSource, note: str) -> str:
    """The page for a function of which nothing is compiled yet."""
    passage = _of_source(source)
    return _page([[_user_side(passage, {})], [Side(note, ())]], 0)


def message(text: str) -> str:
    """The page for a function that has no source to show."""
    return _page([[Side("no source", tuple(("", line, None, "") for line in text.splitlines()))]], 0)


# ------------------------------------------------------------------------------------------------- the user's lines


def _of_source(source: FunctionSource) -> Passage:
    """The passage of a function."""
    return _passage(source.file, source.lines, source.node, source.first_line)


def _passage(file: str, lines: Sequence[str], node: ast.AST, first: int) -> Passage:
    last = getattr(node, "end_lineno", None) or first
    name = PurePath(file.replace("\\", "/")).name or file
    text = tuple(line.rstrip("\r\n") for line in lines[first - 1 : last])
    return Passage(file, f"{name}, line {first}", first, text, _starts(node))


def _starts(node: ast.AST) -> dict[int, int]:
    """The first line of the statement that each line is in; a compound statement's own lines end at its body."""
    found: dict[int, int] = {}
    for statement in ast.walk(node):
        if isinstance(statement, ast.stmt):
            body = getattr(statement, "body", None)
            end = statement.end_lineno or statement.lineno
            last = max(body[0].lineno - 1, statement.lineno) if body else end
            for line in range(statement.lineno, last + 1):
                found[line] = max(found.get(line, 0), statement.lineno)
    return found


def _passages(sources: Sequence[FunctionSource], places: Iterable[Loc]) -> list[Passage]:
    """The functions, then each helper whose lines went into the generated source."""
    own = [_of_source(source) for source in sources]
    helpers: list[Passage] = []
    for place in places:
        if not any(p.holds(place.file, place.line) for p in (*own, *helpers)):
            made = _helper(place)
            helpers = [*(p for p in helpers if not made.holds(p.file, p.first)), made]
    return [*own, *helpers]


def _helper(place: Loc) -> Passage:
    """The definition around a place; the line alone where its file does not show one any more."""
    lines = linecache.getlines(place.file)
    alone = Passage(place.file, f"{place}", place.line, (place.text,), {})
    if not 0 < place.line <= len(lines) or lines[place.line - 1].rstrip() != place.text.rstrip():
        return alone
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return alone
    around = [
        n
        for n in ast.walk(tree)
        if isinstance(n, ast.FunctionDef | ast.Lambda) and n.lineno <= place.line <= (n.end_lineno or 0)
    ]
    if not around:
        return alone
    node = max(around, key=lambda n: n.lineno)
    decorators = getattr(node, "decorator_list", [])
    return _passage(place.file, lines, node, min([node.lineno, *(d.lineno for d in decorators)]))


# ------------------------------------------------------------------------------------------------------- the links


def _key(passages: Sequence[Passage], place: Loc) -> tuple[str, int]:
    """The statement that a place is in."""
    for passage in passages:
        if passage.holds(place.file, place.line):
            return place.file, passage.starts.get(place.line, place.line)
    return place.file, place.line


def _groups(passages: Sequence[Passage], places: Iterable[Loc]) -> dict[tuple[str, int], int]:
    """A number for each statement of the user's that something was made from, in the order of the passages."""
    wanted = {_key(passages, place) for place in places}
    order = {p.file: i for i, p in reversed(list(enumerate(passages)))}
    return {key: n for n, key in enumerate(sorted(wanted, key=lambda k: (order.get(k[0], 0), k)))}


def _user_side(passage: Passage, groups: Mapping[tuple[str, int], int]) -> Side:
    lines = []
    for number, text in enumerate(passage.lines, passage.first):
        group = groups.get((passage.file, passage.starts.get(number, number)))
        lines.append((str(number), text, group, ""))
    return Side(passage.title, tuple(lines))


# ------------------------------------------------------------------------------------------------------- the page


def _page(columns: Sequence[Sequence[Side]], count: int) -> str:
    panes = "".join(
        '<div class="pb-pane">' + "".join(_side(side) for side in column) + "</div>" for column in columns
    )
    style = "\n".join([STYLE, *(_colour(n) for n in range(count))])
    return f'<div class="pullback-view"><style>\n{style}\n</style><div class="pb-panes">{panes}</div></div>'


def _side(side: Side) -> str:
    title = f'<div class="pb-title">{escape(side.title)}</div>'
    return title + (f"<pre>{''.join(_line(*line) for line in side.lines)}</pre>" if side.lines else "")


def _line(number: str, text: str, group: int | None, tip: str) -> str:
    classes = "pb-line" if group is None else f"pb-line pb-{group}"
    hint = f' title="{escape(tip)}"' if tip else ""
    return f'<span class="{classes}"{hint}><span class="pb-number">{number}</span>{escape(text)}</span>\n'


def _colour(group: int) -> str:
    """The rules for one group: its veil, and a stronger one while the pointer is over any line of it."""
    hue = round(group * GOLDEN) % 360
    mine = f".pullback-view .pb-line.pb-{group}"  # stronger than the rules of a view further down the page
    return (
        f"{mine} {{ background: hsla({hue}, 75%, 50%, 0.14); border-left-color: hsl({hue}, 65%, 50%); }}\n"
        f".pullback-view:has(.pb-{group}:hover) .pb-line.pb-{group} {{ background: hsla({hue}, 75%, 50%, 0.42); }}"
    )
