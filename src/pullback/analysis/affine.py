"""Integers as sums of loop indices and other integers, and what their bounds prove.

A `Form` is `constant + sum(coefficient * symbol)`.  A symbol is a Var at a time: two of one Var at different iterations
of a loop are two symbols.  `Bounds` knows the range of each loop index, and that lengths are not negative; a form is
proved non-negative by putting for each symbol, the last bound first, the end of its range that makes the form least.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pullback.ir import core_ops as core
from pullback.ir.core_ops import OPERATORS, style_of
from pullback.ir.nodes import Block, Call, Const, For, Function, If, Operand, Range, Var, While
from pullback.ir.walk import block_ends, param_variables, targets
from pullback.styles.style import Scalar, numeric

Loop = For | While


@dataclass(frozen=True, slots=True)
class Symbol:
    """An integer; `later` tells the one of a later iteration from the one of the present iteration."""

    var: Var
    later: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """`constant + sum(coefficient * symbol)`."""

    constant: int = 0
    terms: dict[Symbol, int] = field(default_factory=dict)

    def plus(self, other: Form, times: int = 1) -> Form:
        """`self + times * other`."""
        terms = dict(self.terms)
        for symbol, n in other.terms.items():
            terms[symbol] = terms.get(symbol, 0) + times * n
        return Form(self.constant + times * other.constant, {s: n for s, n in terms.items() if n})

    def shifted(self, by: int) -> Form:
        """`self + by`."""
        return Form(self.constant + by, self.terms)


@dataclass(frozen=True, slots=True)
class Index:
    """The index of a `range` loop: least and greatest value, and how far it moves from one iteration to the next."""

    least: Form
    greatest: Form
    move: int


class Integers:
    """The integers of a function: how they are made, in which loop, in which order."""

    def __init__(self, function: Function) -> None:
        self._made: dict[Var, Call] = {}
        self._loop: dict[Var, Loop | None] = {}
        self._around: dict[Loop, Loop | None] = {}
        self._order: dict[Var, int] = {}
        self._index: dict[Var, Range] = {}
        self._forms: dict[Var, Form] = {}
        for var in param_variables(function.params):
            self._bind(var, None)
        self._block(function.body, None)

    def _bind(self, var: Var, loop: Loop | None) -> None:
        self._loop[var] = loop
        self._order[var] = len(self._order)

    def _block(self, block: Block, loop: Loop | None) -> None:
        for stmt in block.stmts:
            if isinstance(stmt, Call) and len(stmt.targets) == 1:
                self._made[stmt.targets[0]] = stmt
            inside = loop if isinstance(stmt, Call | If) else stmt
            if isinstance(stmt, For | While):
                self._around[stmt] = loop
            if isinstance(stmt, For):
                pairs = zip(stmt.index, stmt.iters, strict=True)
                self._index.update((v, it) for v, it in pairs if isinstance(it, Range))
            for heads, inner, _ in block_ends(stmt):
                for var in heads:
                    self._bind(var, inside)
                self._block(inner, inside)
            for var in targets(stmt):
                self._bind(var, loop)

    def loop_of(self, var: Var) -> Loop | None:
        """The innermost loop that a value is bound in."""
        return self._loop[var]

    def inside(self, var: Var, loop: Loop) -> bool:
        """Whether a value is bound in a loop."""
        found = self._loop[var]
        while found is not None and found is not loop:
            found = self._around[found]
        return found is loop

    def made_in(self, var: Var, loop: Loop) -> bool:
        """Whether a value is made anew by a call in a loop's body, in no loop inside it."""
        call = self._made.get(var)
        if call is None or self._loop[var] is not loop:
            return False
        alias = call.op.alias(call) if callable(call.op.alias) else call.op.alias
        return alias.kind == "fresh"

    def order(self, symbol: Symbol) -> tuple[bool, int]:
        """When a symbol is bound: later iterations after the present one."""
        return symbol.later, self._order[symbol.var]

    # ------------------------------------------------------------------------------------------------------- forms

    def form(self, operand: Operand, changing: Loop | None = None) -> Form | None:
        """An integer as a form, None for what is no plain integer.

        `changing`: at a later iteration of that loop.
        """
        if isinstance(operand, Const):
            return Form(operand.value) if type(operand.value) is int else None
        if not isinstance(operand, Var) or not _is_integer(operand):
            return None
        form = self._form(operand)
        if changing is None:
            return form
        return Form(form.constant, {self._at_later(s, changing): n for s, n in form.terms.items()})

    def _at_later(self, symbol: Symbol, loop: Loop) -> Symbol:
        return Symbol(symbol.var, self.inside(symbol.var, loop))

    def _form(self, var: Var) -> Form:
        """Sums of Python integers are taken apart (those of NumPy's may overflow); all else is a symbol."""
        if var not in self._forms:
            self._forms[var] = self._sum(var) or Form(0, {Symbol(var): 1})
        return self._forms[var]

    def _sum(self, var: Var) -> Form | None:
        call = self._made.get(var)
        if call is None or call.op not in _SUMS or len(call.args) != 2:
            return None
        a, b = (self.form(x) for x in call.args)
        if a is None or b is None or not all(_is_python(x) for x in (var, *call.args)):
            return None
        return a.plus(b, _SUMS[call.op])

    # ------------------------------------------------------------------------------------------------------ bounds

    def index(self, var: Var) -> Index | None:
        """The range of a loop index with a constant step."""
        it = self._index.get(var)
        if (
            it is None
            or not isinstance(it.step, Const)
            or type(it.step.value) is not int
            or not it.step.value
        ):
            return None
        start, stop, step = self.form(it.start), self.form(it.stop), it.step.value
        if start is None or stop is None:
            return None
        least, greatest = (start, stop.shifted(-1)) if step > 0 else (stop.shifted(1), start)
        return Index(least, greatest, -step if it.reverse else step)

    def _bound(self, symbol: Symbol, upper: bool, loop: Loop | None) -> Form | None:
        """What a symbol is at most, or at least; in terms of symbols bound before it."""
        index = self.index(symbol.var)
        if index is None:
            return None if upper or not self._is_length(symbol.var) else Form()
        if symbol.later and loop is not None and self._loop[symbol.var] is loop:
            before = Form(index.move, {Symbol(symbol.var): 1})
            if upper == (index.move < 0):
                return before
        bound = index.greatest if upper else index.least
        if symbol.later and loop is not None:
            return Form(bound.constant, {self._at_later(s, loop): n for s, n in bound.terms.items()})
        return bound

    def _is_length(self, var: Var) -> bool:
        call = self._made.get(var)
        if call is None:
            return False
        if call.op in (core.dim, core.list_len):
            return True
        at_least_zero = any(isinstance(x, Const) and type(x.value) is int and x.value >= 0 for x in call.args)
        return call.op.fn is max and at_least_zero

    def at_least(self, form: Form | None, least: int, loop: Loop | None = None) -> bool:
        """Whether a form is proved to be at least `least`; later symbols are of a later iteration of `loop`."""
        while form is not None and form.terms:
            last = max(form.terms, key=self.order)
            n = form.terms[last]
            bound = self._bound(last, n < 0, loop)
            rest = Form(form.constant, {s: k for s, k in form.terms.items() if s != last})
            form = None if bound is None else rest.plus(bound, n)
        return form is not None and form.constant >= least


_SUMS = {OPERATORS["+"]: 1, OPERATORS["-"]: -1}


def _is_integer(operand: Operand) -> bool:
    style = numeric(style_of(operand))
    return isinstance(style, Scalar) and style.kind == "i" and style.dtype is not None


def _is_python(operand: Operand) -> bool:
    style = numeric(style_of(operand))
    return isinstance(style, Scalar) and style.weak is True
