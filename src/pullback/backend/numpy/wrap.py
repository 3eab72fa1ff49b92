"""Long lines, broken as formatters break them.

A statement that does not fit a line gets one item of its outermost bracket a line, each with a comma after it.  A
formatter leaves that as it is whatever width it is set to.  What has no bracket to open keeps its long line, marked
`# fmt: skip`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

WIDTH = 79
INDENT = 4
_ESCAPE = re.compile(r"(\\.)")
FORMATTED = 88  # what formatters take by default: a line up to there needs no mark


def quoted(value: str | bytes) -> str:
    """A text as a literal: in double quotes, unless that needs more escapes.

    >>> print(quoted("it's"), quoted('a "b"'), quoted(b"x"))
    "it's" 'a "b"' b"x"
    """
    plain = repr(value)
    if plain[-1] == '"':
        return plain
    mark = "b" if isinstance(value, bytes) else ""
    pieces = _ESCAPE.split(plain[len(mark) + 1 : -1])
    if sum(p.count('"') for p in pieces) > pieces.count("\\'"):
        return plain
    inner = "".join("'" if p == "\\'" else p.replace('"', '\\"') for p in pieces)
    return f'{mark}"{inner}"'


def wrapped(text: str) -> Iterator[str]:
    """The lines of a text, no statement of which spans two, with the long ones broken."""
    for line in text.split("\n"):
        if len(line) <= WIDTH or line.lstrip().startswith("#"):
            yield line.rstrip()
        else:
            yield from wrap(line.rstrip())


def wrap(line: str) -> list[str]:
    """A long line, broken."""
    text = line.lstrip()
    indent = len(line) - len(text)
    header = text.endswith(":")
    try:
        (stmt,) = ast.parse(f"{text} pass" if header else text).body
    except SyntaxError:  # a line of a docstring
        return [line]
    broken = _statement(text, stmt, indent)
    if broken is not None:
        return broken
    docstring = isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)
    return [line if len(line) <= FORMATTED or docstring else f"{line}  # fmt: skip"]


def _statement(text: str, stmt: ast.stmt, indent: int) -> list[str] | None:
    """The lines of a statement; None where there is no bracket to open."""
    pad = " " * indent
    if isinstance(stmt, ast.FunctionDef):
        return _def(text, stmt, indent)
    for node in _openable(stmt):
        start, end = _span(text, node)
        tail = text[end:]
        opened = _open(text[start:end], indent)
        if opened is None:
            continue
        lines = [pad + text[:start] + opened[0], *opened[1:-1], opened[-1] + tail]
        if len(lines[0]) <= FORMATTED and len(lines[-1]) <= FORMATTED:
            return lines
        return _both(text, stmt, indent)
    return None


def _openable(stmt: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement in which a bracket may be opened, best first."""
    match stmt:
        case ast.Assign():
            yield stmt.value
            yield stmt.targets[0]
        case ast.AugAssign() | ast.Expr():
            yield stmt.value
        case ast.AnnAssign(value=ast.expr() as value):
            yield value
        case ast.Return(value=ast.expr() as value):
            yield value
        case ast.Raise(exc=ast.expr() as value):
            yield value
        case ast.For():
            yield stmt.iter
            yield stmt.target
        case ast.With():
            yield stmt.items[0].context_expr
        case ast.If() | ast.While():
            test = stmt.test
            yield test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test


def _both(text: str, stmt: ast.stmt, indent: int) -> list[str] | None:
    """Both sides of an assignment or of a loop's header, opened."""
    match stmt:
        case ast.Assign():
            left, right = stmt.targets[0], stmt.value
        case ast.For():
            left, right = stmt.target, stmt.iter
        case _:
            return None
    (a, b), (c, d) = _span(text, left), _span(text, right)
    first, second = _open(text[a:b], indent), _open(text[c:d], indent)
    if first is None:
        return None
    if second is None:
        second = [text[c:d]]
    second[-1] += text[d:]
    pad = " " * indent
    middle = first[-1] + text[b:c] + second[0]
    lines = [pad + text[:a] + first[0], *first[1:-1], middle, *second[1:]]
    return lines if max(map(len, lines)) <= FORMATTED else None


def _open(text: str, indent: int) -> list[str] | None:
    """The lines of an expression with its outermost bracket open: the first and the last go on with what is beside.

    A bare tuple gets brackets.
    """
    node = ast.parse(text, mode="eval").body
    pad = " " * indent
    match node:
        case ast.Call(args=args, keywords=keywords) if args or keywords:
            head = text[: _span(text, node.func)[1]]
            items = [_source(text, x) for x in args]
            items += [
                f"{k.arg}={_source(text, k.value)}" if k.arg else f"**{_source(text, k.value)}"
                for k in keywords
            ]
            return [f"{head}(", *_items(items, indent), f"{pad})"]
        case ast.Tuple(elts=elts) if len(elts) > 1:
            return ["(", *_items([_source(text, x) for x in elts], indent), f"{pad})"]
        case ast.Tuple(elts=[only]):
            inner = _open(_source(text, only), indent + INDENT)
            if inner is None:
                return None
            return ["(", f"{pad}    {inner[0]}", *inner[1:-1], f"{inner[-1]},", f"{pad})"]
        case ast.List(elts=elts) if elts:
            return ["[", *_items([_source(text, x) for x in elts], indent), f"{pad}]"]
        case ast.Dict(keys=keys, values=values) if keys:
            pairs = zip(keys, values, strict=True)
            items = [f"{_source(text, k)}: {_source(text, v)}" for k, v in pairs if k is not None]
            return ["{", *_items(items, indent), f"{pad}}}"]
        case ast.Subscript(slice=ast.Tuple(elts=elts)) if len(elts) > 1:
            head = text[: _span(text, node.value)[1]]
            return [f"{head}[", *_items([_source(text, x) for x in elts], indent), f"{pad}]"]
    return None


def _items(items: list[str], indent: int) -> list[str]:
    """The items of an open bracket, one a line."""
    inner = indent + INDENT
    out = []
    for item in items:
        lines = [item]
        if inner + len(item) + 1 > WIDTH:
            lines = _item(item, inner)
        out += [" " * inner + lines[0], *lines[1:]]
        out[-1] += ","
    return out


def _item(item: str, indent: int) -> list[str]:
    """A long item: `key=value` and `key: value` too."""
    for separator in ("=", ": "):
        head, found, value = item.partition(separator)
        if found and (head.isidentifier() or head.startswith(('"', "'"))):
            opened = _try_open(value, indent)
            return [item] if opened is None else [head + separator + opened[0], *opened[1:]]
    return _try_open(item, indent) or [item]


def _try_open(text: str, indent: int) -> list[str] | None:
    try:
        return _open(text, indent)
    except SyntaxError:
        return None


def _def(text: str, stmt: ast.FunctionDef, indent: int) -> list[str]:
    """A function's header with one parameter a line."""
    pad = " " * indent
    arguments = stmt.args
    given = [*arguments.posonlyargs, *arguments.args]
    plain = [None] * (len(given) - len(arguments.defaults))
    items = [
        a.arg if d is None else f"{a.arg}={_source(text, d)}"
        for a, d in zip(given, [*plain, *arguments.defaults], strict=True)
    ]
    return [f"{pad}def {stmt.name}(", *_items(items, indent), f"{pad}):"]


def _span(text: str, node: Any) -> tuple[int, int]:
    """The columns of a node, in characters."""
    line = text.encode()
    return len(line[: node.col_offset].decode()), len(line[: node.end_col_offset].decode())


def _source(text: str, node: ast.expr) -> str:
    """The text of a node, with the brackets that stand around it."""
    start, end = _span(text, node)
    return text[start:end]
