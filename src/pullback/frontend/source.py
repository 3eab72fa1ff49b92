"""From a function object to the syntax tree of its source, believed only if it is still the source of its code.

In: a Python function.  Out: `FunctionSource`, whose node has the line numbers of the file.  Invariant: the whole file
(or notebook cell, or other `linecache` entry) compiles to a code object equal to the function's, so what is read is
what runs.  An import hook that rewrites code (pytest's assertions) breaks that equality; then the file must be older
than this process and hold, at the same line, a definition of the same name, arguments and variables.
"""

from __future__ import annotations
import __future__

import ast
import linecache
import os
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from types import CodeType, FunctionType
from typing import Any, TypeAlias

from pullback.errors import Loc, SourceError
from pullback.frontend.trees import children

_STARTED = time.time() - time.process_time()  # not earlier than the start of this process
_FUTURE_FLAGS = 0
for _name in __future__.all_feature_names:
    _FUTURE_FLAGS |= getattr(__future__, _name).compiler_flag
_APART = 1_000_000  # lines, more than any file has: sets one lambda apart from others on its line

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, eq=False, slots=True)
class FunctionSource:
    """The definition of a function: its node (with the file's line numbers), the file and all its lines."""

    node: Definition
    file: str
    lines: Sequence[str]
    first_line: int
    name: str

    def loc(self, node: ast.AST) -> Loc:
        """The place of a node of this function."""
        line = getattr(node, "lineno", self.first_line)
        text = self.lines[line - 1].rstrip("\r\n") if 0 < line <= len(self.lines) else ""
        col = _characters(text, getattr(node, "col_offset", 0))
        if getattr(node, "end_lineno", line) == line:
            end = _characters(text, getattr(node, "end_col_offset", None) or 0)
        else:
            end = len(text)
        return Loc(self.file, line, col, max(end, col + 1), text, self.name)


def source_of(fn: FunctionType) -> FunctionSource:
    """The verified source of a function; SourceError where there is none, or where the file has changed since."""
    code = getattr(fn, "__code__", None)
    if not isinstance(code, CodeType):
        raise SourceError(
            f"`{getattr(fn, '__name__', fn)}` has no Python source: it is not a Python function",
            hint="wrap it in a Python function, or give a rule for it with pullback.rule",
        )
    with _lock:  # `definition` may number the nodes of the shared tree anew for a moment
        module = _read(code.co_filename, fn.__globals__)
        if module is None:
            raise SourceError(
                f"no source for `{fn.__name__}`: {code.co_filename} cannot be read",
                hint="define the function in a file or a notebook cell, not at the prompt or through exec",
            )
        node = module.definition(code) or _rewritten(module, code, fn)
    if node is None:
        raise SourceError(
            f"the file changed since it was imported: {code.co_filename} no longer holds the source of "
            f"`{fn.__name__}` at line {code.co_firstlineno}",
            hint="import or reload the module again, or restart the process",
        )
    return FunctionSource(node, code.co_filename, module.lines, code.co_firstlineno, fn.__name__)


@dataclass(eq=False, slots=True)
class _Module:
    """One parsed file, its definitions and its code objects, both by first line and name."""

    file: str
    lines: list[str]
    tree: ast.Module
    nodes: dict[tuple[int, str], list[Definition]]
    codes: dict[int, dict[tuple[int, str], list[CodeType]]] = field(default_factory=dict)

    def compiled(self, flags: int) -> dict[tuple[int, str], list[CodeType]]:
        """The code objects of the file, compiled under the given `__future__` flags."""
        if flags not in self.codes:
            self.codes[flags] = _by_place(_compile(self.tree, self.file, flags))
        return self.codes[flags]

    def definition(self, code: CodeType) -> Definition | None:
        """The definition whose code equals the given one."""
        key = (code.co_firstlineno, code.co_name)
        flags = code.co_flags & _FUTURE_FLAGS
        if not any(_equal(code, other) for other in self.compiled(flags).get(key, ())):
            return None
        nodes = self.nodes.get(key, [])
        return nodes[0] if len(nodes) == 1 else self._among(nodes, code, flags)

    def _among(self, nodes: list[Definition], code: CodeType, flags: int) -> Definition | None:
        """Of several definitions on one line, the one that compiles to the code.

        Each is moved, whole, to lines of its own for one compilation, which tells their code objects apart.
        """
        line = code.co_firstlineno
        moved = list(_moves(nodes))
        try:
            for node, distance in moved:
                _shift(node, distance)
            found = _by_place(_compile(self.tree, self.file, flags))
        finally:
            for node, distance in moved:
                _shift(node, -distance)
        for number, node in enumerate(nodes, 1):
            if any(_equal(code, other) for other in found.get((line + number * _APART, code.co_name), ())):
                return node
        return None


def _moves(definitions: list[Definition]) -> Iterator[tuple[ast.AST, int]]:
    """The nodes with a place inside some definitions, and how far each goes: as far as the innermost definition."""
    numbers = {id(node): number for number, node in enumerate(definitions, 1)}
    pending: list[tuple[ast.AST, int]] = [(node, 0) for node in definitions]
    seen: set[int] = set()
    while pending:
        node, number = pending.pop()
        number = numbers.get(id(node), number)
        if id(node) in seen:
            continue
        seen.add(id(node))
        if hasattr(node, "lineno"):
            yield node, number * _APART
        pending += [(child, number) for child in children(node)]


def _shift(node: Any, distance: int) -> None:
    node.lineno += distance
    node.end_lineno += distance


_cache: dict[str, _Module] = {}
_lock = threading.Lock()


def _read(file: str, module_globals: dict[str, Any]) -> _Module | None:
    """The file as it is now, parsed; None where it cannot be read; empty where it is no longer Python."""
    linecache.checkcache(file)
    lines = linecache.getlines(file, module_globals)
    if not lines:
        return None
    known = _cache.get(file)
    if known is not None and (known.lines is lines or known.lines == lines):
        return known
    try:
        tree = ast.parse("".join(lines), file)
    except SyntaxError:
        return _Module(file, lines, ast.Module([], []), {})
    if any(".__" in line for line in lines):
        _spell_private(tree)
    module = _Module(file, lines, tree, _definitions(tree, any("lambda" in line for line in lines)))
    _cache[file] = module
    return module


def _spell_private(tree: ast.Module) -> None:
    """Spell private attributes (`self.__x` in a class C) as Python stores them (`_C__x`)."""
    pending: list[tuple[ast.AST, str]] = [(tree, "")]
    while pending:
        node, cls = pending.pop()
        if isinstance(node, ast.ClassDef):
            cls = node.name.lstrip("_")
        elif (
            isinstance(node, ast.Attribute)
            and node.attr.startswith("__")
            and not node.attr.endswith("__")
            and cls
        ):
            node.attr = f"_{cls}{node.attr}"
        pending += [(child, cls) for child in children(node)]


def _definitions(tree: ast.Module, lambdas: bool) -> dict[tuple[int, str], list[Definition]]:
    """The definitions by first line and name; expressions hold some only where there are lambdas."""
    found: dict[tuple[int, str], list[Definition]] = {}
    nodes: list[ast.AST] = [tree]
    for node in nodes:  # which grows meanwhile
        nodes += [child for child in children(node) if lambdas or not isinstance(child, ast.expr)]
        if isinstance(node, ast.Lambda):
            found.setdefault((node.lineno, "<lambda>"), []).append(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found.setdefault((first, node.name), []).append(node)
    return found


def _compile(tree: ast.Module, file: str, flags: int) -> CodeType:
    flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # as notebooks do; changes no code that lacks it
    code: CodeType = compile(tree, file, "exec", flags=flags, dont_inherit=True)
    return code


def _by_place(code: CodeType) -> dict[tuple[int, str], list[CodeType]]:
    found: dict[tuple[int, str], list[CodeType]] = {}
    for inner in _all_codes(code):
        found.setdefault((inner.co_firstlineno, inner.co_name), []).append(inner)
    return found


def _all_codes(code: CodeType) -> Iterator[CodeType]:
    pending = [code]
    while pending:
        current = pending.pop()
        yield current
        pending += [c for c in current.co_consts if isinstance(c, CodeType)]


def _equal(a: CodeType, b: CodeType) -> bool:
    """Equal but for line numbers: instructions, constants (with their types), names, arguments."""
    return (
        a.co_code == b.co_code
        and _signature(a) == _signature(b)
        and a.co_names == b.co_names
        and a.co_varnames == b.co_varnames
        and a.co_cellvars == b.co_cellvars
        and len(a.co_consts) == len(b.co_consts)
        and all(_equal_constants(x, y) for x, y in zip(a.co_consts, b.co_consts, strict=True))
    )


def _signature(code: CodeType) -> tuple[Any, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    return (
        code.co_name,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags & 0x0F,
        code.co_varnames[:count],
        code.co_freevars,
    )


def _equal_constants(a: object, b: object) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, CodeType) and isinstance(b, CodeType):
        return _equal(a, b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(_equal_constants(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, frozenset) and isinstance(b, frozenset):
        return sorted(map(repr, a)) == sorted(map(repr, b))
    return repr(a) == repr(b)  # tells -0.0 from 0.0, and takes nan as equal to itself


def _rewritten(module: _Module, code: CodeType, fn: FunctionType) -> Definition | None:
    """The definition at the function's line, where an import hook has rewritten the module's code."""
    spec = fn.__globals__.get("__spec__")
    loader = getattr(spec, "loader", None)
    if loader is None or isinstance(loader, SourceFileLoader):
        return None
    try:
        if os.stat(module.file).st_mtime >= _STARTED:
            return None
    except OSError:
        return None
    key = (code.co_firstlineno, code.co_name)
    nodes = module.nodes.get(key, [])
    plain = module.compiled(code.co_flags & _FUTURE_FLAGS).get(key, [])
    if len(nodes) != 1 or len(plain) != 1:
        return None
    same = _signature(code) == _signature(plain[0]) and _users(code) == _users(plain[0])
    return nodes[0] if same else None


def _users(code: CodeType) -> tuple[set[str], tuple[str, ...]]:
    """The user's variables: a rewriter's own have names that no source can spell."""
    return {name for name in code.co_varnames if name.isidentifier()}, code.co_cellvars


def _characters(text: str, offset: int) -> int:
    """A column in characters, of one in bytes."""
    return offset if text.isascii() else len(text.encode()[:offset].decode(errors="replace"))
