"""Syntax trees as text, through `astor` behind one function.

`source` prints and wraps what is longer than a line; the text is parsed back and must give the same tree, so
that a fault of the printer is an error here and never another program.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import Any

from pullback.errors import PullbackError

with warnings.catch_warnings():
    warnings.simplefilter(
        "ignore", DeprecationWarning
    )  # astor asks for node classes that Python is about to drop
    import astor

WIDTH = 79
_IGNORED = frozenset({"ctx", "kind", "type_comment", "type_params", "type_ignores", "returns", "annotation"})
INDENT = 4


class Comment(ast.stmt):
    """A comment on a line of its own; it stands in a block like a statement."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class _Generator(astor.SourceGenerator):  # type: ignore[misc]
    """astor's generator, which also knows comments."""

    def visit_Comment(self, node: Comment) -> None:  # noqa: N802 - astor's name
        self.statement(node, f"# {node.text}")


def source(module: ast.Module) -> str:
    """The text of a module."""
    text = astor.to_source(
        module,
        source_generator_class=_Generator,
        pretty_string=_string,
        pretty_source="".join,
    )
    text = "\n".join(_wrapped(text)).strip() + "\n"
    _check(module, text)
    return text


def _string(text: str, embedded: int, current_line: str, unicode_literals: bool = False) -> str:
    """A string literal: a docstring in three quotes, else in double quotes where that needs no escape."""
    if not current_line.strip() and '"' not in text and "\\" not in text and text.isprintable():
        return f'"""{text}"""'
    plain = repr(text)
    return f'"{plain[1:-1]}"' if plain[0] == "'" and '"' not in text and "\\" not in plain else plain


# ------------------------------------------------------------------------------------------ long lines


def _wrapped(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if len(line) <= WIDTH or line.lstrip().startswith("#"):
            yield line.rstrip()
        else:
            yield from _wrap(line)


_TUPLE_LINES = (
    re.compile(r"(\s*for )(\w+, [\w, ]+)( in .*)"),
    re.compile(r"(\s*)(\w+, [\w, ]+)( = .*)"),
    re.compile(r"(\s*return )(.*)()"),
)


def _wrap(line: str) -> Iterator[str]:
    """Break a line after commas inside brackets, as late as fits; operators are split before printing."""
    indent = len(line) - len(line.lstrip()) + INDENT
    if not any(place <= WIDTH for place in _places(line)):
        line = _bracketed(line)
    breaks = _places(line)
    start, lead = 0, ""
    while len(lead) + len(line) - start > WIDTH:
        later = [b for b in breaks if b > start]
        if not later:
            break
        room = start + WIDTH - len(lead)
        end = max((b for b in later if b <= room), default=later[0])
        yield lead + line[start:end].rstrip()
        start, lead = end, " " * indent
    yield (lead + line[start:]).rstrip()


def _bracketed(line: str) -> str:
    """A line with its bare tuple in parentheses, so that it can be broken."""
    for pattern in _TUPLE_LINES:
        match = pattern.fullmatch(line)
        if match:
            return f"{match[1]}({match[2]}){match[3]}"
    return line


def _places(line: str) -> list[int]:
    """The positions after a comma and blank inside brackets, outside strings."""
    places, depth, quote, i = [], 0, "", 0
    while i < len(line):
        c = line[i]
        if quote:
            if c == "\\":
                i += 1
            elif c == quote:
                quote = ""
        elif c in "'\"":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and depth and line[i + 1 : i + 2] == " ":
            places.append(i + 2)
        i += 1
    return places


# ------------------------------------------------------------------------------------------- the check


def _check(module: ast.Module, text: str) -> None:
    try:
        again = ast.parse(text)
    except SyntaxError as error:
        raise PullbackError(f"generated source does not parse: {error}\n{text}") from error
    if not _same(module, again):
        raise PullbackError(f"generated source does not read back as it was meant\n{text}")


def _same(a: Any, b: Any) -> bool:
    """Whether two trees are equal but for comments, places and contexts."""
    if type(a) is not type(b):
        return False
    if isinstance(a, ast.AST):
        return all(_same(getattr(a, f, None), getattr(b, f, None)) for f in a._fields if f not in _IGNORED)
    if isinstance(a, list):
        kept = [x for x in a if not isinstance(x, Comment)]
        return len(kept) == len(b) and all(map(_same, kept, b))
    return a is b or repr(a) == repr(b)
