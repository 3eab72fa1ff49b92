"""The decisions carried out: explicit copies before the writes that need them, before loops, and of
results.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

from pullback.errors import Loc
from pullback.ir import core_ops as core
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import (
    ABSENT,
    Block,
    Call,
    Const,
    For,
    Function,
    If,
    Op,
    Operand,
    Pack,
    Stmt,
    Var,
    While,
)
from pullback.ir.walk import statements
from pullback.passes.buffers.deaths import asks_shape
from pullback.passes.buffers.decide import Decisions
from pullback.runtime import copy_list
from pullback.styles.style import Array, ListOf, Style, Tup, numeric

L = TypeVar("L", For, While)

COPY_LIST = Op("copy_list", copy_list, lambda items: items, numpy_path="copy_list")


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy that was inserted: where, of what, and why."""

    loc: Loc
    name: str
    reason: str


@dataclass(slots=True)
class Rewriter:
    """Rewrites one function; `copies` are the array copies it inserts."""

    decisions: Decisions
    copies: list[Copy] = field(default_factory=list)
    arrays: set[Var] = field(default_factory=set)  # certainly arrays, whatever their rank
    newest: dict[Var, Var] = field(
        default_factory=dict
    )  # an array, and what it is now after a write in place
    absent: set[Var] = field(default_factory=set)  # None where the branch that saves them did not run

    def function(self, function: Function, owned: int | None) -> Function:
        """The function with its copies."""
        body = self.block(function.body)
        if owned is None:
            return replace(function, body=body)
        more: list[Stmt] = []
        flags = iter(self.decisions.results)
        results = list(function.results)
        self.absent = _maybe_absent(function)
        kind = "residual" if function.kind == "primal" else "returned cotangent"
        because = Copy(function.loc, "", f"a {kind} owns its memory")
        results[owned] = self._owned(results[owned], flags, because, more)
        return replace(function, body=Block((*body.stmts, *more)), results=tuple(results))

    def block(self, block: Block) -> Block:
        """A block with its copies."""
        out: list[Stmt] = []
        outer, self.newest = self.newest, dict(self.newest)
        for stmt in block.stmts:
            match stmt:
                case Call():
                    self._call(stmt, out)
                case If():
                    out.append(replace(stmt, then=self.block(stmt.then), orelse=self.block(stmt.orelse)))
                case For():
                    stmt = self._before(stmt, out)
                    out.append(replace(stmt, body=self.block(stmt.body)))
                case While():
                    stmt = self._before(stmt, out)
                    out.append(replace(stmt, cond=self.block(stmt.cond), body=self.block(stmt.body)))
        self.newest = outer
        return Block(tuple(out))

    def _call(self, stmt: Call, out: list[Stmt]) -> None:
        reason = self.decisions.copied.get(id(stmt))
        base = stmt.args[0] if stmt.args else None
        if id(stmt) in self.decisions.loads:
            self._load(stmt, out)
            return
        if id(stmt) in self.decisions.replaced:
            out.append(replace(stmt, op=core.known, args=(stmt.args[1], Const(stmt.targets[0].style))))
            return
        if asks_shape(stmt) and base in self.newest:
            stmt = replace(stmt, args=(self._now(base), *stmt.args[1:]))
        if stmt.op is core.check_length:
            stmt = replace(stmt, args=tuple(self._now(x) if x in self.newest else x for x in stmt.args))
        in_place = reason is None and isinstance(base, Var)
        if stmt.op is core.accumulate and not (in_place and isinstance(style_of(base), Array)):
            out.append(replace(stmt, op=core.OPERATORS["+"]))  # a number, or a fresh array either way
        elif not stmt.op.writes:
            out.append(stmt)
        elif in_place:
            out.append(self._on_array(stmt, out))
        else:
            assert base is not None
            copied = self._copy(base, stmt.targets[0], stmt.loc, reason or "", out)
            out.append(replace(stmt, args=(copied, *stmt.args[1:])))
        if stmt.op in (core.store, core.add_at) and isinstance(stmt.targets[0].style, Array):
            self.arrays.update(stmt.targets)
        if stmt.op.writes and in_place and isinstance(base, Var):
            self.newest[base] = stmt.targets[0]

    def _on_array(self, stmt: Call, out: list[Stmt]) -> Call:
        """A write whose operand is an array: NumPy gives a number for what is computed of arrays of rank 0."""
        base = stmt.args[0]
        assert isinstance(base, Var)
        style = base.style
        if (
            stmt.op not in (core.store, core.add_at)
            or base in self.arrays
            or (isinstance(style, Array) and style.axes)
        ):
            return stmt
        array = Var(base.hint, style)
        made = (
            core.same if isinstance(style, Array) else core.copy
        )  # a number shares nothing, an array of it might
        out.append(Call((array,), made, (base,), loc=stmt.loc))
        return replace(stmt, args=(array, *stmt.args[1:]))

    def _now(self, var: Operand) -> Var:
        """The last version of an array, which has its shape; reading that keeps no other name of it alive."""
        assert isinstance(var, Var)
        while var in self.newest:
            var = self.newest[var]
        return var

    def _load(self, stmt: Call, out: list[Stmt]) -> None:
        """A view that is read after a write to what it views: a copy of it."""
        (target,) = stmt.targets
        view = Var("t", target.style)
        out.append(replace(stmt, targets=(view,)))
        out.append(Call((target,), core.copy, (view,), loc=stmt.loc))
        self.copies.append(Copy(stmt.loc, target.hint, "a later write would change it"))

    def _before(self, stmt: L, out: list[Stmt]) -> L:
        slots = self.decisions.before.get(id(stmt))
        if not slots:
            return stmt
        inits = list(stmt.inits)
        for k, reason in slots.items():
            inits[k] = self._copy(inits[k], stmt.params[k], stmt.loc, f"{reason}; once, before the loop", out)
        return replace(stmt, inits=tuple(inits))

    def _copy(self, base: Operand, like: Var, loc: Loc, reason: str, out: list[Stmt]) -> Var:
        """Emit a copy of what is about to be written."""
        style = style_of(base) if isinstance(base, Var) else like.style
        copied = Var(like.hint, style)
        out.append(Call((copied,), _copier(base, style), (base,), loc=loc))
        if isinstance(base, Var):
            self.copies.append(Copy(loc, base.hint, reason))
        return copied

    def _owned(self, operand: Operand, flags: Iterator[bool], because: Copy, more: list[Stmt]) -> Operand:
        if isinstance(operand, Pack):
            return replace(operand, items=tuple(self._owned(x, flags, because, more) for x in operand.items))
        if not isinstance(operand, Var) or not next(flags):
            return operand
        copied = Var(operand.hint, operand.style)
        op = COPY_LIST if isinstance(operand.style, ListOf | Tup) or operand in self.absent else core.copy
        more.append(Call((copied,), op, (operand,)))
        self.copies.append(replace(because, name=operand.hint))
        return copied


def _maybe_absent(function: Function) -> set[Var]:
    """The values that are None on some path: what a branch saves for its reverse."""
    found: set[Var] = set()
    branches = [stmt for stmt in statements(function.body) if isinstance(stmt, If)]
    before = -1
    while len(found) != before:
        before = len(found)
        for stmt in reversed(branches):
            for result, *yields in zip(stmt.results, stmt.then_yields, stmt.else_yields, strict=True):
                if any(y in found or (isinstance(y, Const) and y.value is ABSENT) for y in yields):
                    found.add(result)
    return found


def _copier(base: Operand, style: Style) -> Op:
    is_array = isinstance(numeric(style), Array) and not (isinstance(base, Pack) and base.kind == "list")
    return core.copy if is_array else core.make_list
