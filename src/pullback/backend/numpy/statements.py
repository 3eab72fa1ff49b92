"""Blocks of IR as lists of Python statements.

In: a bufferised function (every write left is in place), its names and folded values.  Out: `ast` statements;
a line is at most 79 columns wide unless it has no operand left to move out.  Statements of a reverse sweep
stand in groups under a comment with the user's line."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from pullback.backend.numpy.constants import call, name
from pullback.backend.numpy.expressions import Expressions
from pullback.backend.numpy.loops import break_side, iterators
from pullback.backend.numpy.moves import Move, in_order
from pullback.backend.numpy.naming import Names
from pullback.backend.numpy.printer import INDENT, WIDTH, Comment
from pullback.backend.numpy.updates import repeats_nothing, update_of
from pullback.backend.numpy.width import width
from pullback.errors import Loc
from pullback.ir import core_ops as core
from pullback.ir.nodes import UNDEF, Block, Call, Const, For, If, Operand, Pack, Stmt, Var, While
from pullback.ir.walk import own_operands, variables, variables_in

Statements = list[ast.stmt]


class Emitter:
    """Emits the statements of one function."""

    def __init__(self, expressions: Expressions, names: Names, reverse: bool) -> None:
        self.expr = expressions
        self.names = names
        self.reverse = reverse  # within a reverse sweep
        self._last = ""  # the comment above the current group

    # ----------------------------------------------------------------------------------------------- blocks

    def block(self, stmts: Sequence[Stmt], indent: int) -> Statements:
        """The statements of a block, `indent` columns in."""
        out: Statements = []
        for stmt in stmts:
            printed = self.statement(stmt, indent)
            if printed and self.reverse:
                self._comment(stmt.loc, out)
            out += printed
        return out

    def _comment(self, loc: Loc, out: Statements) -> None:
        """Put the user's line above the statements that reverse it."""
        if not loc.line:
            return
        text = f"{loc}  {loc.text.strip()}".rstrip()
        if text != self._last:
            out.append(Comment(text))
            self._last = text

    def statement(self, stmt: Stmt, indent: int) -> Statements:
        """One IR statement."""
        match stmt:
            case Call():
                return self._call(stmt, indent)
            case If():
                return self._if(stmt, indent)
            case For():
                return self._for(stmt, indent)
            case While():
                return self._while(stmt, indent)

    # --------------------------------------------------------------------------------------------- long lines

    def fit(self, build: Callable[[], ast.stmt], operands: Sequence[Operand], indent: int) -> Statements:
        """A statement that fits a line; folded values are moved out, the widest first, until it does."""
        before: Statements = []
        while True:
            made = build()
            if _header_width(made) + indent <= WIDTH:
                break
            widest = self._widest(operands)
            if widest is None:
                break
            before += self._hoist(widest, indent)
        return [*before, made]

    def _widest(self, operands: Sequence[Operand]) -> Var | None:
        found = list(self._folded(operands))
        if not found:
            return None
        sizes = [width(self.expr.variable(v)) for v in found]
        limit = WIDTH - INDENT - 24
        fitting = [(s, v) for s, v in zip(sizes, found, strict=True) if s <= limit] or list(
            zip(sizes, found, strict=True)
        )
        return max(fitting, key=lambda pair: pair[0])[1]

    def _folded(self, operands: Sequence[Operand]) -> Iterator[Var]:
        for var in variables_in(operands):
            if var in self.expr.folded and var not in self.expr.hoisted:
                yield var
                yield from self._folded(tuple(own_operands(self.expr.folded[var])))

    def _hoist(self, var: Var, indent: int) -> Statements:
        """Give a folded value a line and a name of its own."""
        value = self.expr.folded[var]
        text = self.names.unique(var.hint)
        out = self.fit(lambda: _assign(name(text), self.expr.call(value)), tuple(own_operands(value)), indent)
        self.expr.hoisted[var] = text
        return out

    # ------------------------------------------------------------------------------------------------- calls

    def _call(self, stmt: Call, indent: int) -> Statements:
        if stmt.op is core.begin_reverse:
            self.reverse = True
            return []
        if len(stmt.targets) == 1 and stmt.targets[0] in self.expr.folded:
            return []
        operands = tuple(own_operands(stmt))
        if stmt.op.writes and isinstance(stmt.args[0], Var):
            return [*self.fit(lambda: self._write(stmt), operands, indent), *self._renamed(stmt)]
        return self.fit(lambda: self._plain(stmt), operands, indent)

    def _plain(self, stmt: Call) -> ast.stmt:
        if stmt.op is core.raise_:
            return ast.Raise(self.expr.operand(stmt.args[0]), None)
        if stmt.op is core.assert_:
            test, *message = (self.expr.operand(x) for x in stmt.args)
            return ast.Assert(test, message[0] if message else None)
        value = self.expr.call(stmt)
        used = [t for t in stmt.targets if t in self.names.used]
        if not stmt.targets or (stmt.op.effect and not used):
            return ast.Expr(value)
        targets = [name(self.names.of[t] if t in self.names.used else "_") for t in stmt.targets]
        return _assign(targets[0] if len(targets) == 1 else ast.Tuple(list(targets), ast.Load()), value)

    def _write(self, stmt: Call) -> ast.stmt:
        """A write, in operand 0's buffer."""
        base, value = stmt.args[0], stmt.args[1] if len(stmt.args) > 1 else None
        made = _LIST_WRITES.get(stmt.op)
        if made is not None:
            return made(self, stmt)
        assert value is not None
        steps = stmt.args[2:]
        if stmt.op is core.accumulate:
            return ast.AugAssign(self._place(base, ()), ast.Add(), self.expr.operand(value))
        if stmt.op is core.add_at:
            return self._add_at(base, value, steps)
        update = update_of(stmt, self.expr.folded, self.expr.hoisted)
        if update is not None:
            place = self._place(base, steps)
            return ast.AugAssign(place, update.operator(), self.expr.operand(update.more))
        return _assign(self.expr.target(base, steps), self.expr.operand(value))

    def _place(self, base: Operand, steps: tuple[Operand, ...]) -> ast.Name | ast.Subscript:
        """What stands left of `+=`: the array itself, or the subscript at the end of a path."""
        place = self.expr.target(base, steps) if steps else self.expr.operand(base)
        assert isinstance(place, ast.Name | ast.Subscript)
        return place

    def _add_at(self, base: Operand, value: Operand, steps: tuple[Operand, ...]) -> ast.stmt:
        if not steps or repeats_nothing(steps[-1]):
            return ast.AugAssign(self._place(base, steps), ast.Add(), self.expr.operand(value))
        last = steps[-1]
        assert isinstance(last, Pack)
        entries = [self.expr.operand(x) for x in last.items]
        index = ast.Tuple(entries, ast.Load()) if last.meta == "tuple" else entries[0]
        at = ast.Attribute(self.expr.module.numpy("add"), "at", ast.Load())
        return ast.Expr(call(at, self.expr.path(base, steps[:-1]), index, self.expr.operand(value)))

    def _append(self, stmt: Call) -> ast.stmt:
        return self._method(stmt, "append")

    def _extend(self, stmt: Call) -> ast.stmt:
        return self._method(stmt, "extend")

    def _method(self, stmt: Call, method: str) -> ast.stmt:
        fn = ast.Attribute(self.expr.operand(stmt.args[0]), method, ast.Load())
        return ast.Expr(call(fn, *(self.expr.operand(x) for x in stmt.args[1:])))

    def _set_item(self, stmt: Call) -> ast.stmt:
        items, value, index = (self.expr.operand(x) for x in stmt.args)
        return _assign(ast.Subscript(items, index, ast.Load()), value)

    def _drop(self, stmt: Call) -> ast.stmt:
        last = ast.UnaryOp(ast.USub(), ast.Constant(1))
        return ast.Delete([ast.Subscript(self.expr.operand(stmt.args[0]), last, ast.Load())])

    def _renamed(self, stmt: Call) -> Statements:
        """The result of a write under its own name, where that is not the name of operand 0."""
        base = stmt.args[0]
        assert isinstance(base, Var)
        (target,) = stmt.targets
        old, new = self.names.of[base], self.names.of[target]
        return [] if old == new or target not in self.names.used else [_assign(name(new), name(old))]

    # ------------------------------------------------------------------------------------------------- moves

    def moves(self, targets: Sequence[Var], sources: Sequence[Operand], indent: int) -> Statements:
        """Parallel assignment at an edge: `targets = sources`, what stays where it is left out."""
        out: Statements = []
        for group in in_order(self._wanted(targets, sources)):
            out += self._move(group, indent)
        return out

    def _wanted(self, targets: Sequence[Var], sources: Sequence[Operand]) -> list[Move]:
        wanted = []
        for target, source in zip(targets, sources, strict=True):
            if target not in self.names.used or (isinstance(source, Const) and source.value is UNDEF):
                continue
            text = self.names.of[target]
            if not (
                isinstance(source, Var) and source not in self.expr.folded and self.names.of[source] == text
            ):
                wanted.append(Move(text, source, self._read(source)))
        return wanted

    def _read(self, operand: Operand) -> frozenset[str]:
        """The names that an operand's expression reads."""
        found: set[str] = set()
        for var in variables(operand):
            if var in self.expr.folded and var not in self.expr.hoisted:
                for inner in own_operands(self.expr.folded[var]):
                    found |= self._read(inner)
            else:
                found.add(self.expr.hoisted.get(var) or self.names.of[var])
        return frozenset(found)

    def _move(self, group: Sequence[Move], indent: int) -> Statements:
        sources = tuple(m.source for m in group)

        def build() -> ast.stmt:
            values = [self.expr.operand(s) for s in sources]
            if len(group) == 1:
                return _assign(name(group[0].target), values[0])
            return _assign(
                ast.Tuple([name(m.target) for m in group], ast.Load()), ast.Tuple(values, ast.Load())
            )

        return self.fit(build, sources, indent)

    # ---------------------------------------------------------------------------------------- branches

    def _if(self, stmt: If, indent: int) -> Statements:
        then = self._branch(stmt.then, stmt.results, stmt.then_yields, indent)
        orelse = self._branch(stmt.orelse, stmt.results, stmt.else_yields, indent)
        return self._choice(stmt.test, then, orelse, indent)

    def _branch(
        self, block: Block, results: Sequence[Var], yields: Sequence[Operand], indent: int
    ) -> Statements:
        last = self._last
        out = self.block(block.stmts, indent + INDENT) + self.moves(results, yields, indent + INDENT)
        self._last = last
        return out

    def _choice(self, test: Operand, then: Statements, orelse: Statements, indent: int) -> Statements:
        if not _real(then) and not _real(orelse):
            return []
        negate = not _real(then)
        body, other = (orelse, []) if negate else (then, orelse if _real(orelse) else [])

        def build() -> ast.stmt:
            value = self.expr.operand(test)
            return ast.If(_not(value) if negate else value, body, other)

        return self.fit(build, (test,), indent)

    # ------------------------------------------------------------------------------------------- loops

    def _for(self, stmt: For, indent: int) -> Statements:
        out = self.moves(stmt.params, stmt.inits, indent)
        last = self._last
        body = self._body(stmt, indent + INDENT)
        self._last = last
        target, operands, build_iter = iterators(stmt, self.expr, self.names)
        out += self.fit(lambda: ast.For(target, build_iter(), body, []), operands, indent)
        return out + self.moves(stmt.results, stmt.params, indent)

    def _while(self, stmt: While, indent: int) -> Statements:
        out = self.moves(stmt.params, stmt.inits, indent)
        last = self._last
        inner = indent + INDENT
        cond = self.block(stmt.cond.stmts, inner)
        if _real(cond) or width(self.expr.operand(stmt.test)) + 7 + indent > WIDTH:
            leave = self.fit(
                lambda: ast.If(_not(self.expr.operand(stmt.test)), [ast.Break()], []), (stmt.test,), inner
            )
            body = [*cond, *leave, *self._body(stmt, inner, empty=False)]
            out.append(ast.While(ast.Constant(True), body, []))
        else:
            body = self._body(stmt, inner)
            out.append(ast.While(self.expr.operand(stmt.test), body, []))
        self._last = last
        return out + self.moves(stmt.results, stmt.params, indent)

    def _body(self, stmt: For | While, indent: int, empty: bool = True) -> Statements:
        """A loop's body: its statements, the carried values at the back edge, and the way out."""
        out = self._breaking(stmt, indent)
        if out is None:
            out = self.block(stmt.body.stmts, indent)
            leave = self._leave(stmt, indent, out)
            out += self.moves(stmt.params, stmt.yields, indent) + leave
        return out if _real(out) or not empty else [*out, ast.Pass()]

    def _leave(self, stmt: For | While, indent: int, out: Statements) -> Statements:
        """`if not go: break`, after the carried values have been moved; the test is read before that if need
        be."""
        if stmt.go is None or (isinstance(stmt.go, Const) and stmt.go.value is True):
            return []
        go = stmt.go
        moved = {self.names.of[p] for p in stmt.params if p in self.names.used}
        value = self.expr.operand(go)
        if isinstance(go, Const) or not (self._read(go) & moved):
            return self.fit(lambda: ast.If(_not(self.expr.operand(go)), [ast.Break()], []), (go,), indent)
        text = self.names.unique("going")
        out.append(_assign(name(text), value))
        return [ast.If(_not(name(text)), [ast.Break()], [])]

    def _breaking(self, stmt: For | While, indent: int) -> Statements | None:
        """The body of a loop whose last statement is a branch with a side that leaves: that side ends in
        `break`."""
        side = break_side(stmt)
        if side is None or not self._settled(stmt.params, stmt.yields):
            return None
        branch = stmt.body.stmts[-1]
        assert isinstance(branch, If)
        out = self.block(stmt.body.stmts[:-1], indent)
        if self.reverse:
            self._comment(branch.loc, out)
        kept = [k for k, r in enumerate(branch.results) if r is not stmt.go]
        results = [branch.results[k] for k in kept]
        then, orelse = ([ys[k] for k in kept] for ys in (branch.then_yields, branch.else_yields))
        if side == "then":
            leaving = self._branch(branch.then, results, then, indent)
        else:
            leaving = self._branch(branch.orelse, results, orelse, indent)
        leaving.append(ast.Break())
        test = branch.test

        def build() -> ast.stmt:
            value = self.expr.operand(test)
            return ast.If(value if side == "then" else _not(value), leaving, [])

        out += self.fit(build, (test,), indent)
        if side == "then":
            return out + self._branch(branch.orelse, results, orelse, indent - INDENT)
        return out + self._branch(branch.then, results, then, indent - INDENT)

    def _settled(self, targets: Sequence[Var], sources: Sequence[Operand]) -> bool:
        """Whether nothing has to be moved at an edge."""
        return not self._wanted(targets, sources)


_LIST_WRITES: dict[object, Callable[[Emitter, Call], ast.stmt]] = {
    core.list_append: Emitter._append,
    core.list_join: Emitter._extend,
    core.list_set: Emitter._set_item,
    core.list_drop: Emitter._drop,
}


def _assign(target: ast.expr, value: ast.expr) -> ast.stmt:
    return ast.Assign([target], value)


def _not(value: ast.expr) -> ast.expr:
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
        return value.operand
    return ast.UnaryOp(ast.Not(), value)


def _real(stmts: Sequence[ast.stmt]) -> bool:
    """Whether a block has more than comments."""
    return any(not isinstance(s, Comment) for s in stmts)


def _header_width(stmt: ast.stmt) -> int:
    """The width of a statement's first line."""
    match stmt:
        case ast.If():
            return width(stmt.test) + 4
        case ast.While():
            return width(stmt.test) + 7
        case ast.For():
            return width(stmt.target) + width(stmt.iter) + 9
    return width(stmt)
