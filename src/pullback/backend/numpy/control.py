"""Branches and loops as Python statements.

In: structured IR.  Out: `if`, `for`, `while`, with the values that branches join and loops carry moved at the
edges.  A loop whose `go` is decided by the branches at the end of its body ends them with `break`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from pullback.backend.numpy.constants import name
from pullback.backend.numpy.loops import iterators
from pullback.backend.numpy.printer import Comment
from pullback.backend.numpy.statements import Lines, Statements, assign
from pullback.backend.numpy.width import width
from pullback.backend.numpy.wrap import INDENT, WIDTH
from pullback.ir.nodes import UNDEF, Block, Call, Const, For, If, Operand, Stmt, Var, While
from pullback.ir.walk import variables_in


@dataclass(frozen=True, slots=True)
class _Tail:
    """The end of a loop's body: a block, the moves after it, and the operand that tells whether the loop goes
    on.
    """

    block: Block
    targets: Sequence[Var]
    sources: Sequence[Operand]
    go: Operand

    @property
    def leaves(self) -> bool:
        """Whether the loop certainly ends here."""
        return isinstance(self.go, Const) and self.go.value is False

    def last(self) -> If | None:
        """The branch at the end of the block that decides `go`."""
        last = self.block.stmts[-1] if self.block.stmts else None
        if not isinstance(last, If) or self.go not in last.results:
            return None
        return None if self.go in set(variables_in(self.sources)) else last

    def sides(self, last: If) -> tuple[_Tail, _Tail]:
        """The two branches as tails."""
        k = last.results.index(self.go)
        kept = [i for i in range(len(last.results)) if i != k]
        results = [last.results[i] for i in kept]
        return (
            _Tail(last.then, results, [last.then_yields[i] for i in kept], last.then_yields[k]),
            _Tail(last.orelse, results, [last.else_yields[i] for i in kept], last.else_yields[k]),
        )


class Emitter(Lines):
    """Emits the statements of one function."""

    def statement(self, stmt: Stmt, indent: int) -> Statements:
        """One IR statement."""
        match stmt:
            case Call():
                return self.call(stmt, indent)
            case If():
                return self._if(stmt, indent)
            case For():
                return self._for(stmt, indent)
            case While():
                return self._while(stmt, indent)

    # ---------------------------------------------------------------------------------------------- branches

    def _if(self, stmt: If, indent: int) -> Statements:
        choice = self._conditional(stmt, indent)
        if choice is not None:
            return [choice]
        then = self._branch(stmt.then, stmt.results, stmt.then_yields, indent + INDENT)
        orelse = self._branch(stmt.orelse, stmt.results, stmt.else_yields, indent + INDENT)
        if not _real(then) and not _real(orelse):
            return []
        if not _real(then):
            return self._test(stmt.test, False, orelse, [], indent)
        return self._test(stmt.test, True, then, orelse if _real(orelse) else [], indent)

    def _branch(
        self, block: Block, results: Sequence[Var], yields: Sequence[Operand], indent: int
    ) -> Statements:
        last = self.last
        out = self.block(block.stmts, indent) + self.moves(results, yields, indent)
        self.last = last
        return out

    def _test(
        self, test: Operand, when: bool, body: Statements, orelse: Statements, indent: int
    ) -> Statements:
        """`if test:` or `if not test:`."""

        def build() -> ast.stmt:
            value = self.expr.operand(test)
            return ast.If(value if when else _not(value), body, orelse)

        return self.fit(build, (test,), indent)

    def _conditional(self, stmt: If, indent: int) -> ast.stmt | None:
        """`y = a if test else b`, where the user's line has it so."""
        used = [k for k, r in enumerate(stmt.results) if r in self.names.used]
        if len(used) != 1 or " else " not in stmt.loc.text or not self._empty(stmt.then, stmt.orelse):
            return None
        (k,) = used
        yields = (stmt.then_yields[k], stmt.else_yields[k])
        if any(isinstance(y, Const) and y.value is UNDEF for y in yields):
            return None
        if any(not self.wanted((stmt.results[k],), (y,)) for y in yields):
            return None
        then, orelse = (self.expr.operand(y) for y in yields)
        value = ast.IfExp(self.expr.operand(stmt.test), then, orelse)
        made = assign(name(self.names.of[stmt.results[k]]), value)
        return made if width(made) + indent <= WIDTH else None

    def _empty(self, *blocks: Block) -> bool:
        """Whether nothing of these blocks is printed on a line of its own."""
        stmts = [s for block in blocks for s in block.stmts]
        return all(isinstance(s, Call) and s.targets and s.targets[0] in self.expr.folded for s in stmts)

    # ------------------------------------------------------------------------------------------------- loops

    def _for(self, stmt: For, indent: int) -> Statements:
        out = self.moves(stmt.params, stmt.inits, indent)
        last = self.last
        body = self._body(stmt, indent + INDENT) or [ast.Pass()]
        self.last = last
        target, operands, build_iter = iterators(stmt, self.expr, self.names)
        out += self.fit(lambda: ast.For(target, build_iter(), body, []), operands, indent)
        return out + self.moves(stmt.results, stmt.params, indent)

    def _while(self, stmt: While, indent: int) -> Statements:
        out = self.moves(stmt.params, stmt.inits, indent)
        last = self.last
        inner = indent + INDENT
        cond = self.block(stmt.cond.stmts, inner)
        if _real(cond) or width(self.expr.operand(stmt.test)) + 7 + indent > WIDTH:
            leave = self._test(stmt.test, False, [ast.Break()], [], inner)
            body = [*cond, *leave, *self._body(stmt, inner)]
            out.append(ast.While(ast.Constant(True), body, []))
        else:
            body = self._body(stmt, inner) or [ast.Pass()]
            out.append(ast.While(self.expr.operand(stmt.test), body, []))
        self.last = last
        return out + self.moves(stmt.results, stmt.params, indent)

    def _body(self, stmt: For | While, indent: int) -> Statements:
        """A loop's body: its statements, the carried values at the back edge, and the way out."""
        if stmt.go is None:
            out = self._branch(stmt.body, stmt.params, stmt.yields, indent)
            return out if _real(out) else []
        tail = _Tail(stmt.body, stmt.params, stmt.yields, stmt.go)
        if self._breaks(tail):
            return self._tail(tail, indent) or [ast.Pass()]
        out = self.block(stmt.body.stmts, indent)
        leave = self._leave(stmt, stmt.go, indent, out)
        return out + self.moves(stmt.params, stmt.yields, indent) + leave

    def _leave(self, stmt: For | While, go: Operand, indent: int, out: Statements) -> Statements:
        """`if not go: break`, after the carried values have been moved; if need be the test is read before
        that.
        """
        moved = {self.names.of[p] for p in stmt.params if p in self.names.used}
        if not self.read(go) & moved:
            return self._test(go, False, [ast.Break()], [], indent)
        text = self.names.unique("going")
        out.append(assign(name(text), self.expr.operand(go)))
        return [ast.If(_not(name(text)), [ast.Break()], [])]

    def _breaks(self, tail: _Tail) -> bool:
        """Whether every way to the end of a body tells at compile time if the loop goes on."""
        if isinstance(tail.go, Const):
            return True
        last = tail.last()
        if last is None or self.wanted(tail.targets, tail.sources):
            return False
        return all(self._breaks(side) for side in tail.sides(last))

    def _tail(self, tail: _Tail, indent: int) -> Statements:
        """The end of a body, `break` where the loop ends."""
        last = None if isinstance(tail.go, Const) else tail.last()
        if last is None:
            out = self._branch(tail.block, tail.targets, tail.sources, indent)
            return [*out, ast.Break()] if tail.leaves else out if _real(out) else []
        out = self.block(tail.block.stmts[:-1], indent)
        if self.reverse:
            self.comment(last.loc, out)
        then, orelse = tail.sides(last)
        if then.leaves or orelse.leaves:  # what stays needs no `else`
            first, second = (then, orelse) if then.leaves else (orelse, then)
            test = self._test(last.test, first is then, self._tail(first, indent + INDENT), [], indent)
            return out + self.placed(test, last.loc) + self._tail(second, indent)
        body, other = (self._tail(side, indent + INDENT) for side in (then, orelse))
        return out + self.placed(self._test(last.test, True, body or [ast.Pass()], other, indent), last.loc)


_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn,
}  # fmt: skip


def _not(value: ast.expr) -> ast.expr:
    """A test the other way round, as one writes it: `a != b`, `a is not b`; but `not a < b`, which may be NaN."""
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
        return value.operand
    if isinstance(value, ast.Compare) and type(value.ops[0]) in _OPPOSITE:
        return ast.Compare(value.left, [_OPPOSITE[type(value.ops[0])]()], value.comparators)
    return ast.UnaryOp(ast.Not(), value)


def _real(stmts: Sequence[ast.stmt]) -> bool:
    """Whether a block has more than comments."""
    return any(not isinstance(s, Comment) for s in stmts)
