"""Text as it stands in generated modules: docstrings, paragraphs, long lines."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pullback.backend.numpy.wrap import FORMATTED, wrap

INDENT = "    "


def docstring(lines: Iterable[str], indent: str = "") -> list[str]:
    """The lines of a docstring, which reads back as these lines whatever is in them."""
    plain = list(lines)
    raw = any("\\" in line for line in plain) and not any('"""' in line for line in plain)
    first, *rest = [line if raw else escaped(line) for line in plain]
    return [f'{indent}{"r" * raw}"""{first}', *[f"{indent}{line}".rstrip() for line in rest], f'{indent}"""']


def escaped(text: str) -> str:
    r"""A text as it stands in a docstring.

    >>> print(escaped('a \\ and three quotes: \"\"\"'))
    a \\ and three quotes: \"\"\"
    """
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def paragraph(text: str, indent: str = "", further: str = "", width: int = FORMATTED - 8) -> list[str]:
    """A text in lines that fit; words are not broken.  `further` is what the lines after the first begin with."""
    lines: list[str] = []
    line = indent
    for word in text.split(" "):
        if line.strip() and len(escaped(line)) + len(escaped(word)) + 1 > width:
            lines.append(line)
            line = indent + further
        line += f" {word}" if line.strip() else word
    return [*lines, line]


def command_lines(command: str, width: int = FORMATTED - 8) -> list[str]:
    """A command of a shell, or a call, in lines that fit: what is copied from there still runs."""
    if len(command) <= width:
        return [command]
    if command.startswith("pullback.compile("):
        return [piece for line in wrap(command) for piece in _literals(line, width)]
    words = [w for word in _WORD.findall(command) for w in _broken(word, width - 2 * len(INDENT))]
    lines = [""]
    for word in words:
        fits = len(lines[-1]) + len(word) + 1 <= width
        if word.startswith(" ") or (lines[-1] and not fits):
            lines[-1] += "" if word.startswith(" ") else " \\"
            lines.append(INDENT)
        lines[-1] += f" {word.strip()}" if lines[-1].strip() else word.strip()
    return lines


def _literals(line: str, width: int) -> list[str]:
    """A line of a call; one that is a long text, as several texts."""
    item = line.strip()
    if len(line) <= width or not item.startswith('"') or "\\" in item:
        return [line]
    pad = " " * (len(line) - len(item))
    pieces = paragraph(item.removesuffix(",")[1:-1], width=width - len(pad) - 4)
    texts = [f'{pad}"{piece} "' for piece in pieces[:-1]]
    return [*texts, f'{pad}"{pieces[-1]}"' + "," * item.endswith(",")]


_WORD = re.compile(r"""(?:[^\s"']|"[^"]*"|'[^']*')+""")


def _broken(word: str, width: int) -> list[str]:
    """A word, a long signature in pieces: those after the first begin with a blank."""
    if len(word) <= width or not word.startswith('"') or "'" in word:
        return [word]
    first, *rest = paragraph(word, width=width)
    return [first, *[f" {piece}" for piece in rest]]
