"""Numbers whose dtype the front end did not fix: the styles that they can have.

    %s: f? = 0 ... %s + %x[i]         an int before the first iteration, a float64 after it

In: a function.  Out: the same function, in which a value that can have one style only has it, and a number that is
an int or a float of 64 bits has the style `Loose`: C holds it as a double, and whether it is an int.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np

from pullback.backend.native.emit.errors import Untaken
from pullback.ir import core_ops as core
from pullback.ir.callee import callee_of
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import (
    ABSENT,
    UNDEF,
    Block,
    Call,
    Const,
    For,
    Function,
    If,
    Op,
    Operand,
    Seq,
    Stmt,
    Var,
    While,
)
from pullback.ir.walk import map_operands, statements, substitute, targets
from pullback.styles.join import join_items
from pullback.styles.style import (
    PY_FLOAT,
    PY_INT,
    Anything,
    Array,
    ListOf,
    Scalar,
    Static,
    Style,
    Tup,
    Undef,
    distinct_axes,
    fresh_dim,
    numeric,
    varying,
)

ROUNDS = 24  # of a loop, until nothing changes
MANY = 8  # more styles are not looked at
FLOAT64 = np.dtype(np.float64)
BOOL = np.dtype(np.bool_)


@dataclass(frozen=True, slots=True)
class Loose(Scalar):
    """A Python int, a Python float, or a float64 of NumPy's."""


@dataclass(frozen=True, slots=True)
class MaybeZero(Array):
    """An array, or a zero without a shape: an item of a list of cotangents."""


# their sum; of two arrays, fresh
loose_add = Op("loose_add", operator.add, lambda a, b: _sum_style(a, b))


def _loose(style: Array) -> Style:
    assert style.axes is not None
    return MaybeZero(style.dtype, tuple(varying() for _ in style.axes))


def _sum_style(a: Style, b: Style) -> Style:
    """The style of a sum with an array that may be zero."""
    if not isinstance(a, Array) or not isinstance(b, Array) or a.dtype != b.dtype or a.rank != b.rank:
        return Anything()
    if isinstance(a, MaybeZero):
        a, b = b, a
    return _loose(a) if isinstance(a, MaybeZero) else a


def is_open(style: Style) -> bool:
    """Whether a style leaves a dtype open."""
    match style:
        case Scalar(dtype):
            return dtype is None
        case Array(dtype, axes):
            return dtype is None or axes is None
        case Tup(items):
            return any(map(is_open, items))
        case ListOf(elem):
            return is_open(elem)
    return False


def settle_dtypes(function: Function) -> Function:
    """The function with the styles that its values have."""
    if not any(is_open(v.style) for s in statements(function.body) for v in _defined(s)):
        return function
    found = _Options()
    found.run(function.body)
    styles = {v: made for v, options in found.of.items() if (made := _settled(options)) is not None}
    return _restyled(function, styles) if styles else function


def _defined(stmt: Stmt) -> Iterator[Var]:
    yield from targets(stmt)
    if isinstance(stmt, For | While):
        yield from stmt.params
    if isinstance(stmt, For):
        yield from stmt.index


def _settled(options: Options) -> Style | None:
    """One style for some; None where there is none."""
    known = [s for s in options if not isinstance(s, Undef)]
    filled = [s for s in known if s != ListOf(Undef()) and s != Tup((), "list")]
    known = filled or known
    if len(known) == 1:
        return None if is_open(known[0]) else _distinct(known[0])
    lists = [s for s in known if isinstance(s, ListOf)]
    if lists and len(lists) == len(known):
        merged = ListOf(reduce(_merged, [s.elem for s in lists]))
        return None if is_open(merged) else merged
    if known and all(isinstance(s, Array) for s in known):
        return _of_all([s for s in known if isinstance(s, Array)])
    numbers = [s for s in known if isinstance(s, Scalar)]
    if not numbers or len(numbers) != len(known):
        return None
    return _of_truths(numbers) or _of_numbers(numbers)


def _of_truths(numbers: Sequence[Scalar]) -> Scalar | None:
    """The style of truth values of Python's and NumPy's.  What both have the same result for reads them."""
    return Scalar(BOOL, None) if all(s.dtype == BOOL for s in numbers) else None


def _of_numbers(numbers: Sequence[Scalar]) -> Scalar | None:
    """The style of numbers of 64 bits."""
    if not all(isinstance(s, Loose) or s in _LOOSE for s in numbers):
        return None
    if all(s == numbers[0] for s in numbers):
        return numbers[0]
    whole = any(isinstance(s, Loose) or s == PY_INT for s in numbers)
    return Loose(FLOAT64, None) if whole else Scalar(FLOAT64, None)


def _distinct(style: Style) -> Style:
    return style if isinstance(style, MaybeZero) else distinct_axes(style)


def _of_all(arrays: Sequence[Array]) -> Style | None:
    """The style of arrays of one dtype and rank."""
    first = arrays[0]
    if any(
        s.dtype is None or s.axes is None or (s.dtype, s.rank) != (first.dtype, first.rank) for s in arrays
    ):
        return None
    if any(isinstance(s, MaybeZero) for s in arrays):
        return _loose(first)
    return Array(first.dtype, tuple(fresh_dim() for _ in first.axes or ()))


_LOOSE = (PY_INT, PY_FLOAT, Scalar(FLOAT64, False), Scalar(FLOAT64, None))
Options = frozenset[Style]


def _plain(style: Style) -> Style:
    style = numeric(style)
    return replace(style, length=None) if isinstance(style, Scalar) else style


def _each(style: Style) -> Sequence[Style]:
    """What a number that is an int or a float is."""
    return (PY_INT, Scalar(FLOAT64, None)) if isinstance(style, Loose) else (style,)


def _of_rank(style: Style, own: Style) -> Style:
    """An array with the axes that the value is known to have: those of a result computed anew are new lengths."""
    if isinstance(style, MaybeZero):
        return style
    if isinstance(style, Array) and isinstance(own, Array) and own.axes is None:
        return _nameless(style)
    if isinstance(style, ListOf | Tup):
        return _nameless(style)
    if isinstance(style, Array) and isinstance(own, Array):
        same = style.axes is not None and own.axes is not None and len(style.axes) == len(own.axes)
        return replace(own, dtype=style.dtype) if same else own
    return style


def _nameless(style: Style) -> Style:
    """A style whose lengths have no names: results computed anew have new ones each time."""
    match style:
        case Array(_, axes) if axes is not None:
            return replace(style, axes=tuple(a if isinstance(a, int) else varying() for a in axes))
        case ListOf(elem):
            return ListOf(_nameless(elem))
        case Tup(items):
            return replace(style, items=tuple(map(_nameless, items)))
        case Scalar():
            return replace(style, length=None)
    return style


@dataclass(slots=True)
class _Options:
    """The styles that values can have, by fixpoint over loops; a value that is not here has the style it says."""

    of: dict[Var, Options] = field(default_factory=dict)

    def run(self, block: Block) -> None:
        """All statements of a block, in order."""
        for stmt in block.stmts:
            match stmt:
                case Call():
                    self._call(stmt)
                case If():
                    self.run(stmt.then)
                    self.run(stmt.orelse)
                    self._meet(stmt.results, stmt.then_yields, stmt.else_yields)
                case For() | While():
                    self._loop(stmt)

    def _loop(self, stmt: For | While) -> None:
        self._meet(stmt.params, stmt.inits)
        for _ in range(ROUNDS):
            before = [self.of.get(p) for p in stmt.params]
            if isinstance(stmt, While):
                self.run(stmt.cond)
            else:
                self._indices(stmt)
            self.run(stmt.body)
            self._meet(stmt.params, stmt.inits, stmt.yields)
            if [self.of.get(p) for p in stmt.params] == before:
                break
        else:
            raise Untaken("values whose styles do not settle")
        self._meet(stmt.results, stmt.params)

    def _indices(self, stmt: For) -> None:
        for var, it in zip(stmt.index, stmt.iters, strict=True):
            if is_open(var.style) and isinstance(it, Seq):
                found = [s.elem for s in self.options(it.value) if isinstance(s, ListOf)]
                self._put(var, frozenset(found) or frozenset((var.style,)))

    def options(self, operand: Operand) -> Options:
        """The styles that an operand can have."""
        if isinstance(operand, Var):
            return self.of.get(operand, frozenset((_plain(operand.style),)))
        if isinstance(operand, Const):
            gone = operand.value is UNDEF or operand.value is ABSENT
            return frozenset((Undef() if gone else Static(operand.value),))
        parts = [sorted(self.options(x), key=repr) for x in operand.items]
        combined = itertools.islice(itertools.product(*parts), MANY + 1)
        view = [Static(operand.meta)] if operand.kind == "view" else []
        return frozenset(Tup((*view, *items), operand.kind) for items in combined)

    def _put(self, var: Var, options: Options) -> None:
        options = frozenset(_of_rank(s, var.style) for o in options for s in _each(o))
        self.of[var] = options if len(options) <= MANY else frozenset((var.style,))

    def _meet(self, results: Sequence[Var], *edges: Sequence[Operand]) -> None:
        for var, sources in zip(results, zip(*edges, strict=True), strict=True):
            if is_open(var.style):
                found = frozenset(
                    _plain(s) for x in sources for s in self.options(x) if not isinstance(s, Undef)
                )
                self._put(var, found or frozenset((Undef(),)))

    def _call(self, call: Call) -> None:
        if not any(is_open(t.style) for t in call.targets):
            return
        made = self._results(call)
        for k, target in enumerate(call.targets):
            if is_open(target.style):
                self._put(
                    target, frozenset(_plain(styles[k]) for styles in made) or frozenset((target.style,))
                )

    def _results(self, call: Call) -> list[tuple[Style, ...]]:
        """The styles of the results for each combination of styles of the operands."""
        if callee_of(call) is not None or call.op.effect or call.kwargs:
            return []
        operands = [sorted(self.options(x), key=repr) for x in call.args]
        combined = list(itertools.islice(itertools.product(*operands), MANY * MANY + 1))
        if len(combined) > MANY * MANY:
            return []
        out: list[tuple[Style, ...]] = []
        for styles in combined:
            if any(isinstance(s, Undef) for s in styles):
                continue
            if (made := _of_cotangents(call.op, styles)) is not None:
                out.append((made,))
                continue
            if call.op is _POWER and (powers := _power(*styles)):
                out += [(s,) for s in powers]
                continue
            result: Any = call.op.style(*styles)
            out.append(result if isinstance(result, tuple) else (result,))
        return out


_SUMS = frozenset((core.OPERATORS["+"], core.accumulate, loose_add))
_FIRST = frozenset((core.list_drop, core.list_slice, core.spread_list))
_MERGED = frozenset((core.list_set, core.list_append, core.list_join, core.add_lists))


def _of_cotangents(op: Op, styles: Sequence[Style]) -> Style | None:
    """The style of the result of what lists of cotangents go through; None for everything else."""
    if op is core.zeros_list:
        return _zeros(styles[0])
    if op in _MERGED and isinstance(styles[0], ListOf):
        inner = op in (core.list_join, core.add_lists)
        other = styles[1].elem if inner and isinstance(styles[1], ListOf) else styles[1]
        return ListOf(_merged(styles[0].elem, other))
    if not any(map(_has_loose, styles)):
        return None
    if op in _SUMS:
        return _sum_style(*styles)
    return styles[0] if op in _FIRST else None


def _has_loose(style: Style) -> bool:
    return isinstance(style, MaybeZero) or (isinstance(style, ListOf) and _has_loose(style.elem))


def _zeros(style: Style) -> Style | None:
    if not isinstance(style, ListOf):
        return None
    elem = style.elem
    if isinstance(elem, ListOf):
        inner = _zeros(elem)
        return None if inner is None else ListOf(inner)
    if isinstance(elem, Array) and not is_open(elem):
        return ListOf(_loose(elem))
    return None


def _merged(a: Style, b: Style) -> Style:
    """An item of a list that has both."""
    if isinstance(a, ListOf) and isinstance(b, ListOf):
        return ListOf(_merged(a.elem, b.elem))
    if isinstance(a, MaybeZero) and isinstance(b, Static) and type(b.value) is float and b.value == 0.0:
        return a
    if isinstance(a, MaybeZero) or isinstance(b, MaybeZero):
        made = _sum_style(a, b)
        return _loose(made) if isinstance(made, Array) else Anything()
    a, b = _plain(a), _plain(b)
    numbers = _of_numbers([a, b]) if isinstance(a, Scalar) and isinstance(b, Scalar) else None
    return numbers or join_items(a, b)


_POWER = core.OPERATORS["**"]


def _power(base: Style, exponent: Style) -> tuple[Style, ...]:
    """What a Python integer to the power of another can be; nothing for other operands."""
    if any(_plain(s) != PY_INT for s in (base, exponent)):
        return ()
    if isinstance(exponent, Static):
        return (PY_INT if exponent.value >= 0 else PY_FLOAT,)
    return PY_INT, PY_FLOAT


def _restyled(function: Function, styles: dict[Var, Style]) -> Function:
    """The function with new Vars of these styles."""
    mapping: dict[Var, Operand] = {v: Var(v.hint, s) for v, s in styles.items()}

    def use(operand: Operand) -> Operand:
        return substitute(operand, mapping)

    def bound(found: Iterable[Var]) -> tuple[Var, ...]:
        return tuple(v for x in found if isinstance(v := mapping.get(x, x), Var))

    def block(old: Block) -> Block:
        return Block(tuple(map(statement, old.stmts)))

    def statement(stmt: Stmt) -> Stmt:
        made = map_operands(stmt, use, block)
        match made:
            case Call():
                loose = made.op in _SUMS and any(isinstance(style_of(x), MaybeZero) for x in made.args)
                return replace(made, targets=bound(made.targets), op=loose_add if loose else made.op)
            case If():
                return replace(made, results=bound(made.results))
            case For():
                return replace(
                    made, index=bound(made.index), params=bound(made.params), results=bound(made.results)
                )
            case While():
                return replace(made, params=bound(made.params), results=bound(made.results))

    body = block(function.body)
    return replace(function, body=body, results=tuple(map(use, function.results)))
