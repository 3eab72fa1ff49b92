"""What is saved for the pullback, and what is computed again instead: read off the optimised pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pullback.backend.numpy.folding import is_named
from pullback.errors import NOWHERE, Loc
from pullback.frontend.signature import leaves, step_name, steps_of
from pullback.ir import core_ops as core
from pullback.ir.callee import callee_of
from pullback.ir.nodes import Block, Call, For, Function, If, Operand, Pack, Stmt, Var, While
from pullback.ir.pretty import StylePrinter
from pullback.ir.walk import param_variables, statements, targets
from pullback.pipeline import Compiled
from pullback.styles.style import Anything, Array, Dim, ListOf, Scalar, Style, Tup, numeric
from pullback.transform.gradient import recomputed


@dataclass(frozen=True, slots=True)
class SavedReport:
    """A value that is saved for the pullback.

    name     the user's name of it; "" for an intermediate value
    kind     "argument", "outside" (a global or captured one), "value", "shape", "list" (one entry an iteration) or
             "call" (what a function compiled apart saves for its own pullback)
    text     the expression it comes from: its name, where it has one
    line     the user's line, in `file`
    style    dtype and shape, as in "f64[n, k]"; of a list that of one entry
    formula  its size in bytes, as in "8·n·k"; of a list the size of one entry
    size     its size in bytes in the call that was asked about; None where that is not known
    entries  the length of a list in that call
    """

    name: str
    kind: str
    text: str
    line: int
    file: str
    style: str
    formula: str
    size: int | None = None
    entries: int | None = None

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        what = self.text if self.kind == "shape" else self.name or self.text
        if self.kind in ("argument", "outside"):
            what += f" ({self.kind})"
        if self.kind == "list":
            return f"{where}{what}, each iteration: {self.style}, {self._list_size()}"
        plain = self.size is None or self.formula == str(self.size)
        size = self.formula if plain else f"{self.formula} = {self.size:,}"
        style = "" if self.kind == "shape" else f"{self.style}, "
        return f"{where}{what}: {style}{size} bytes"

    def _list_size(self) -> str:
        if self.size is None:
            return f"{self.formula} bytes each"
        return f"{self.size:,} bytes ({self.formula} each, {self.entries} of them)"


@dataclass(frozen=True, slots=True)
class AgainReport:
    """A value that the pullback computes again, or reads again from an array that keeps it, instead of having it saved.

    how  "computed" or "read"
    """

    name: str
    text: str
    line: int
    file: str
    style: str
    how: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.name or self.text}: {self.how} again"


@dataclass(frozen=True, slots=True)
class Saved:
    """What a pullback needs of the forward sweep; `lengths` are the letters in the styles, where they are known."""

    saved: tuple[SavedReport, ...]
    again: tuple[AgainReport, ...]
    lengths: Mapping[str, int]


def saved_by(compiled: Compiled, values: Sequence[Any], measured: Sequence[Any] | None) -> Saved:
    """The report of a compilation.

    values    the arguments of a call, for the lengths; () for none
    measured  the residuals of that call; None where they are not known
    """
    primal, pullback = compiled.gradient_functions("pair")
    residuals = primal.results[1]
    assert isinstance(residuals, Pack)
    measured = [None] * len(residuals.items) if measured is None else measured
    reader = _Reader(primal, len(compiled.lowered.environment.implicits))
    found = zip(residuals.items, measured, strict=True)
    saved = tuple(reader.saved(x, value) for x, value in found if isinstance(x, Var))
    return Saved(saved, _again(compiled, pullback, reader.styles), reader.known(values))


def _again(compiled: Compiled, pullback: Function, styles: StylePrinter) -> tuple[AgainReport, ...]:
    """What the pullback still computes again after the passes, each once."""
    there = {_mark(s) for s in statements(pullback.body) if isinstance(s, Call) and s.targets}
    found = recomputed(compiled.lowered.function, compiled.request, compiled.chosen)
    kept = [(v, c) for v, c in found if _mark(c) in there]
    whole = [(v, c) for v, c in kept if not any(_is_part(c.loc, other.loc) for _, other in kept)]
    reader = _Reader(compiled.lowered.function, 0, styles)
    return tuple(dict.fromkeys(reader.again(whole)))


def _is_part(loc: Loc, of: Loc) -> bool:
    """Whether an expression is a part of another one."""
    same = (loc.file, loc.line) == (of.file, of.line)
    width, of_width = loc.end_col - loc.col, of.end_col - of.col
    return same and of.col <= loc.col and loc.end_col <= of.end_col and width < of_width


def _mark(call: Call) -> tuple[Any, ...]:
    """What a call and its copies have in common."""
    return call.op.name, call.loc, call.targets[0].hint


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where a value comes from."""

    name: str
    kind: str
    text: str
    loc: Loc


class _Reader:
    """Finds what the values of a function are to the user."""

    def __init__(self, function: Function, implicit: int, styles: StylePrinter | None = None) -> None:
        self.function = function
        self.styles = styles or StylePrinter()
        self.source: dict[Var, Stmt] = {v: s for s in statements(function.body) for v in targets(s)}
        self.inside: dict[Var, Stmt] = {}  # the loop of a parameter or an index
        for stmt in statements(function.body):
            if isinstance(stmt, For | While):
                index = stmt.index if isinstance(stmt, For) else ()
                self.inside.update(dict.fromkeys((*stmt.params, *index), stmt))
        first_implicit = len(function.params) - implicit
        self.params: dict[Var, tuple[str, str]] = {}
        for i, param in enumerate(function.params):
            for path, var in _leaves(param.tree, param.name):
                self.params[var] = (path, "argument" if i < first_implicit else "outside")
        for var in param_variables(function.params):
            self.styles.style(var.style)  # the letters of the lengths, in the order of the arguments

    # -------------------------------------------------------------------------------------------------- reports

    def saved(self, var: Var, value: Any) -> SavedReport:
        """The report of a saved value; `value` is what was saved in a call, None for no call."""
        origin = self.origin(var)
        entry = var.style.elem if origin.kind == "list" and isinstance(var.style, ListOf) else var.style
        return SavedReport(
            origin.name,
            origin.kind,
            origin.text,
            origin.loc.line,
            origin.loc.file,
            self.styles.style(entry),
            self.formula(entry),
            None if value is None else _bytes(value),
            len(value) if isinstance(value, list) else None,
        )

    def again(self, found: Sequence[tuple[Var, Call]]) -> Iterator[AgainReport]:
        """The reports of what is computed again; lengths and shapes cost nothing and are left out."""
        for var, call in found:
            style = numeric(var.style)
            if not isinstance(style, Array) and not (isinstance(style, Scalar) and style.kind in "fc"):
                continue
            origin = self.origin(var)
            how = "read" if call.op is core.load else "computed"
            yield AgainReport(
                origin.name, origin.text, origin.loc.line, origin.loc.file, self.styles.style(style), how
            )

    def known(self, values: Sequence[Any]) -> dict[str, int]:
        """The lengths in a call, by letter."""
        found: dict[str, int] = {}
        for param, value in zip(self.function.params, values, strict=False):
            for leaf, array in leaves(param.tree, value):
                if isinstance(leaf, Var) and isinstance(leaf.style, Array) and isinstance(array, np.ndarray):
                    for axis, length in zip(leaf.style.axes or (), array.shape, strict=False):
                        if isinstance(axis, Dim) and axis.minus == 0:
                            found.setdefault(self.styles.axis(axis), length)
        return found

    # -------------------------------------------------------------------------------------------------- origins

    def origin(self, var: Var) -> _Origin:
        """Where a value comes from, in the user's terms."""
        if var in self.params:
            path, kind = self.params[var]
            return _Origin(path, kind, path, self.function.loc)
        if var in self.inside:
            loop = self.inside[var]
            return _Origin(var.hint, "value", var.hint, loop.loc)
        stmt = self.source.get(var)
        if isinstance(stmt, Call):
            return self._called(var, stmt)
        if isinstance(stmt, If):
            return self._joined(var, stmt)
        if isinstance(stmt, For | While):
            return self._carried(var, stmt)
        return _Origin(var.hint, "value", var.hint, NOWHERE)

    def _called(self, var: Var, stmt: Call) -> _Origin:
        if stmt.op in (core.shape, core.dim) and isinstance(stmt.args[0], Var):
            of = self.origin(stmt.args[0])
            return _Origin(of.name, "shape", f"the shape of {of.text}", of.loc)
        if callee_of(stmt) is not None and isinstance(var.style, Anything | Tup):
            return _Origin("", "call", _expression(stmt.loc), stmt.loc)
        if stmt.op is core.load and isinstance(stmt.args[0], Var):
            of = self.origin(stmt.args[0])
            return _Origin("", "value", f"{of.name or of.text}[...]", stmt.loc)
        named = is_named(var, stmt) or (stmt.op.writes and var.hint in stmt.loc.text)
        text = var.hint if named else _expression(stmt.loc)
        return _Origin(var.hint if named else "", "value", text, stmt.loc)

    def _joined(self, var: Var, stmt: If) -> _Origin:
        """A value of one branch: what it is there."""
        k = stmt.results.index(var)
        sides = (stmt.then_yields[k], stmt.else_yields[k])
        inner = next((x for x in sides if isinstance(x, Var) and x is not var), None)
        return (
            self.origin(inner) if inner is not None else _Origin("", "value", _expression(stmt.loc), stmt.loc)
        )

    def _carried(self, var: Var, stmt: For | While) -> _Origin:
        k = stmt.results.index(var)
        end = stmt.yields[k]
        if isinstance(var.style, ListOf):
            item = _appended(stmt.body, end)
            if item is not None:
                of = self.origin(item)
                return _Origin("" if of.kind == "shape" else of.name, "list", of.text, of.loc)
        if isinstance(end, Var) and end in self.source:
            of = self.origin(end)
            return _Origin(of.name or var.hint, of.kind, of.text, of.loc)
        return _Origin(var.hint, "value", var.hint, stmt.loc)

    # -------------------------------------------------------------------------------------------------- sizes

    def formula(self, style: Style) -> str:
        """The size in bytes of a value of a style, in the letters of its lengths."""
        style = numeric(style)
        if isinstance(style, Tup):
            sizes = [self.formula(s) for s in style.items]
            plain = sum(int(s) for s in sizes if s.isdigit())
            return " + ".join([*(s for s in sizes if not s.isdigit()), *[str(plain)] * bool(plain)]) or "0"
        if isinstance(style, Scalar | Array) and style.dtype is not None:
            axes = style.axes if isinstance(style, Array) else ()
            if axes is not None:
                return self._product(style.dtype.itemsize, axes)
        return "?"

    def _product(self, size: int, axes: Sequence[Any]) -> str:
        letters = []
        for axis in axes:
            if isinstance(axis, int):
                size *= axis
            else:
                text = self.styles.axis(axis)
                letters.append(text if text.isidentifier() else f"({text})")
        return "·".join([str(size), *letters])


def _leaves(tree: Operand, path: str) -> Iterator[tuple[str, Var]]:
    """The values in a parameter, each under the path that leads to it."""
    if isinstance(tree, Var):
        yield path, tree
    elif isinstance(tree, Pack):
        steps = steps_of(tree) if tree.kind in ("tuple", "list", "dict", "new") else ()
        for step, item in zip(steps, tree.items, strict=False):
            yield from _leaves(item, step_name(path, step))


def _appended(body: Block, end: Operand) -> Var | None:
    """The value that a loop's body appends to the list it yields, if it does so in one place."""
    found = [
        s.args[1]
        for s in statements(body)
        if isinstance(s, Call) and s.op is core.list_append and s.targets[0] is end
    ]
    return found[0] if len(found) == 1 and isinstance(found[0], Var) else None


def _expression(loc: Loc) -> str:
    """The text at a place."""
    return loc.text[loc.col : loc.end_col].strip() or loc.text.strip()


def _bytes(value: Any) -> int:
    """The size of a saved value in bytes: the numbers that it holds."""
    if isinstance(value, np.ndarray | np.generic):
        return value.nbytes
    if isinstance(value, list | tuple):
        return sum(map(_bytes, value))
    return _SIZES.get(type(value), 0)


_SIZES = {bool: 1, int: 8, float: 8, complex: 16}
