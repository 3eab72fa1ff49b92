"""The verifier: what every Function holds between stages.

Single assignment; each read is of a value bound before, in the same block or one around it (`cond` is not seen by the
body); as many yields, inits and results as slots; operands of the right kinds; path steps only where paths are taken;
the style of each result covers what the operation's style function infers from the operands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pullback.ir.builder import infer
from pullback.ir.core_ops import add_at, load, store, style_of
from pullback.ir.nodes import (
    UNDEF,
    Block,
    Call,
    Const,
    For,
    Function,
    If,
    Op,
    Operand,
    Pack,
    Seq,
    Stmt,
    Var,
    While,
)
from pullback.ir.pretty import pretty_statement
from pullback.ir.walk import iter_operands, param_variables
from pullback.styles.join import below
from pullback.styles.style import ListOf, Style, Tup

_KINDS = {"tuple", "list", "slice", "dict", "index", "view", "new"}
_STEPS_FROM = {load: 1, store: 2, add_at: 2}


class VerifyError(AssertionError):
    """A stage made IR that breaks a rule; names the function and the statement."""


def verify(function: Function) -> None:
    """Raise VerifyError unless the function is well formed."""
    check = _Verifier(function)
    check.bind(param_variables(function.params))
    check.block(function.body)
    check.operands(function.results)


class _Verifier:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.defined: set[Var] = set()  # anywhere so far: single assignment
        self.visible: set[Var] = set()
        self.stmt: Stmt | None = None

    def fail(self, what: str) -> VerifyError:
        """The error for the statement at hand."""
        where = "the results" if self.stmt is None else _shown(self.stmt)
        return VerifyError(f"{self.function.name}: {what} in {where}")

    # --------------------------------------------------------------------------------------- values and operands

    def bind(self, variables: Iterable[Var]) -> list[Var]:
        """Define Vars."""
        bound = list(variables)
        for var in bound:
            if var in self.defined:
                raise self.fail(f"{var} is assigned twice")
            self.defined.add(var)
            self.visible.add(var)
        return bound

    def operands(self, operands: Iterable[Operand | None], step: bool = False) -> None:
        """Check operands that are read here."""
        for operand in operands:
            if operand is not None:
                self.operand(operand, step)

    def operand(self, operand: Operand, step: bool = False) -> None:
        """Check one operand; `step` where a path step stands."""
        match operand:
            case Var():
                if operand not in self.visible:
                    found = "not in scope" if operand in self.defined else "not defined"
                    raise self.fail(f"{operand} is {found}")
            case Pack():
                self._pack(operand, step)
            case Const():
                pass
            case _:
                raise self.fail(f"{operand!r} is no operand")

    def _pack(self, pack: Pack, step: bool) -> None:
        if pack.kind not in _KINDS:
            raise self.fail(f"a pack of kind {pack.kind!r}")
        if (pack.kind in ("index", "view")) != step:
            raise self.fail(
                "a path step where none may stand" if not step else "no path step where one must stand"
            )
        if pack.kind == "slice" and len(pack.items) != 3:
            raise self.fail("a slice without three items")
        if pack.kind == "index" and pack.meta != "tuple" and len(pack.items) != 1:
            raise self.fail("a lone index of several items")
        if pack.kind == "view" and not isinstance(pack.meta, Op):
            raise self.fail("a view step without operation")
        if any(isinstance(x, Const) and x.value is UNDEF for x in pack.items):
            raise self.fail("undef inside a pack")
        self.operands(pack.items)

    # ------------------------------------------------------------------------------------------------ statements

    def block(self, block: Block, ends: Sequence[Operand | None] = (), heads: Sequence[Var] = ()) -> None:
        """Check a block and its end; what it binds is not visible after it."""
        before = len(self.defined)
        mine = self.bind(heads)
        for stmt in block.stmts:
            self.stmt = stmt
            mine += self.statement(stmt)
        self.operands(ends)
        assert before + len(mine) <= len(self.defined)
        if self.function.body is not block:
            self.visible.difference_update(mine)
        else:
            self.stmt = None

    def statement(self, stmt: Stmt) -> list[Var]:
        """Check a statement; returns what it binds."""
        match stmt:
            case Call():
                return self._call(stmt)
            case If():
                self._same(stmt, stmt.results, stmt.then_yields, stmt.else_yields)
                self.operands((stmt.test,))
                self.block(stmt.then, stmt.then_yields)
                self.block(stmt.orelse, stmt.else_yields)
                self.stmt = stmt
                for result, a, b in zip(stmt.results, stmt.then_yields, stmt.else_yields, strict=True):
                    self._flows(result, a, b)
            case For() | While():
                self._loop(stmt)
                self.stmt = stmt
                for k, (result, param) in enumerate(zip(stmt.results, stmt.params, strict=True)):
                    self._flows(param, stmt.inits[k], stmt.yields[k])
                    self._flows(result, stmt.inits[k], stmt.yields[k])
        return self.bind(stmt.results)

    def _call(self, stmt: Call) -> list[Var]:
        first = _STEPS_FROM.get(stmt.op, len(stmt.args))
        self.operands(stmt.args[:first])
        if not all(isinstance(x, Pack) for x in stmt.args[first:]):
            raise self.fail("no path step where one must stand")
        self.operands(stmt.args[first:], step=True)
        self.operands(x for _, x in stmt.kwargs)
        if any(isinstance(x, Const) and x.value is UNDEF for x in stmt.args):
            raise self.fail("undef is read")
        self._styles(stmt)
        return self.bind(stmt.targets)

    def _loop(self, stmt: For | While) -> None:
        self._same(stmt, stmt.params, stmt.inits, stmt.yields, stmt.results)
        self.operands(stmt.inits)
        ends = (*stmt.yields, stmt.go)
        if isinstance(stmt, While):
            self.bind(stmt.params)
            self.block(stmt.cond, (stmt.test,))
            self.block(stmt.body, ends)
            self.visible.difference_update(stmt.params)
            return
        self._same(stmt, stmt.index, stmt.iters)
        if not stmt.iters:
            raise self.fail("a loop over nothing")
        for it in stmt.iters:
            self.operands(iter_operands(it))
            if isinstance(it, Seq) and not isinstance(style_of(it.value), ListOf | Tup) and it.reverse:
                raise self.fail("a reversed iterator")
        self.block(stmt.body, ends, (*stmt.index, *stmt.params))

    # ---------------------------------------------------------------------------------------------------- styles

    def _same(self, stmt: Stmt, *parts: Sequence[object]) -> None:
        self.stmt = stmt
        if len({len(p) for p in parts}) != 1:
            raise self.fail(f"lengths {[len(p) for p in parts]} differ")

    def _styles(self, stmt: Call) -> None:
        if not stmt.targets:
            return
        found = infer(stmt.op, stmt.args, dict(stmt.kwargs))
        if len(found) != len(stmt.targets):
            raise self.fail(f"{len(found)} results are inferred")
        for style, target in zip(found, stmt.targets, strict=True):
            self._covers(target, style)

    def _flows(self, target: Var, *sources: Operand) -> None:
        for source in sources:
            self._covers(target, style_of(source))

    def _covers(self, target: Var, style: Style) -> None:
        if not below(style, target.style, free=lambda dim: True):
            raise self.fail(f"{target} has style {target.style}, which does not cover {style}")


def _shown(stmt: Stmt) -> str:
    """The statement in an error; one too broken to print by its kind."""
    try:
        return f"`{pretty_statement(stmt)}`"
    except (ValueError, AttributeError):
        return f"a {type(stmt).__name__}"
