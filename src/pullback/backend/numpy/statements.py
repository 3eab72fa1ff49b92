"""Blocks of IR as lists of Python statements.

In: a bufferised function (every write left is in place), its names and folded values.  Out: `ast` statements;
a line is at most 79 columns wide unless it has no operand left to move out.  Statements of a reverse sweep
stand in groups under a comment with the user's line.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from pullback.backend.numpy.constants import call, name
from pullback.backend.numpy.expressions import BINARY, Expressions, signed
from pullback.backend.numpy.moves import Move, in_order
from pullback.backend.numpy.naming import Names
from pullback.backend.numpy.printer import Comment, Places
from pullback.backend.numpy.updates import update_of
from pullback.backend.numpy.width import width
from pullback.backend.numpy.wrap import INDENT, WIDTH
from pullback.errors import Loc
from pullback.ir import core_ops as core
from pullback.ir.nodes import UNDEF, Call, Const, Operand, Pack, Stmt, Var
from pullback.ir.paths import repeats_nothing
from pullback.ir.walk import own_operands, variables, variables_in
from pullback.styles.style import Scalar

Statements = list[ast.stmt]


class Lines:
    """Emits statements; what a compound one looks like, a subclass says."""

    def __init__(
        self, expressions: Expressions, names: Names, reverse: bool, places: Places | None = None
    ) -> None:
        self.places: Places = {} if places is None else places
        self.expr = expressions
        self.names = names
        self.reverse = reverse  # within a reverse sweep
        self.last = ""  # the comment above the current group

    # ----------------------------------------------------------------------------------------------- blocks

    def block(self, stmts: Sequence[Stmt], indent: int) -> Statements:
        """The statements of a block, `indent` columns in."""
        out: Statements = []
        at = 0
        while at < len(stmts):
            stmt = stmts[at]
            at += 1
            if isinstance(stmt, Call) and stmt.op is core.enter:
                end = _end_of_scope(stmts, at, stmt)
                out += self._scope(stmt, stmts[at:end], indent)
                at = end
                continue
            printed = self.statement(stmt, indent)
            if printed and self.reverse:
                self.comment(stmt.loc, out)
            out += self.placed(printed, stmt.loc)
        return out

    def placed(self, printed: Statements, loc: Loc) -> Statements:
        """Statements, with the place in the user's source that they are made from."""
        if loc.line:
            for made in printed:
                self.places.setdefault(made, loc)
        return printed

    def _scope(self, enter: Call, body: Sequence[Stmt], indent: int) -> Statements:
        """`with np.errstate(...):`.  Where `scale` is guarded the function runs anew, with all warnings off."""
        if self.expr.guarded:
            return self.block(body, indent)
        inner = self.block(body, indent + INDENT)
        if not inner:
            return []

        def build() -> ast.stmt:
            return ast.With([ast.withitem(self.expr.call(enter), None)], inner)

        return self.fit(build, own_operands(enter), indent)

    def comment(self, loc: Loc, out: Statements) -> None:
        """Put the user's line above the statements that reverse it."""
        if not loc.line:
            return
        text = f"{loc}  {loc.text.strip()}".rstrip()
        if text != self.last:
            out.append(Comment(text))
            self.last = text

    def statement(self, stmt: Stmt, indent: int) -> Statements:
        """One IR statement."""
        raise NotImplementedError

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
                yield from self._folded(own_operands(self.expr.folded[var]))

    def _hoist(self, var: Var, indent: int) -> Statements:
        """Give a folded value a line and a name of its own."""
        value = self.expr.folded[var]
        text = self.names.unique(var.hint)
        out = self.fit(lambda: assign(name(text), self.expr.call(value)), own_operands(value), indent)
        self.expr.hoisted[var] = text
        return out

    # ------------------------------------------------------------------------------------------------- calls

    def call(self, stmt: Call, indent: int) -> Statements:
        if stmt.op is core.leave:  # the end of a scope, which was printed with its beginning
            return []
        if stmt.op is core.begin_reverse:
            self.reverse = True
            return []
        if len(stmt.targets) == 1 and stmt.targets[0] in self.expr.folded:
            return []
        operands = own_operands(stmt)
        if stmt.op.writes and isinstance(stmt.args[0], Var):
            return [*self.fit(lambda: self._write(stmt), operands, indent), *self._renamed(stmt)]
        return self.fit(lambda: self._plain(stmt), operands, indent)

    def _plain(self, stmt: Call) -> ast.stmt:
        if stmt.op is core.raise_:
            return ast.Raise(self.expr.operand(stmt.args[0]), None)
        if stmt.op is core.assert_:
            test, *message = (self.expr.operand(x) for x in stmt.args)
            return ast.Assert(test, message[0] if message else None)
        if len(stmt.targets) == 1 and stmt.targets[0] in self.names.used:
            step = self._step(stmt, self.names.of[stmt.targets[0]])
            if step is not None:
                return step
        value = self.expr.call(stmt)
        used = [t for t in stmt.targets if t in self.names.used]
        if not stmt.targets or (stmt.op.effect and not used):
            return ast.Expr(value)
        targets = [name(self.names.of[t] if t in self.names.used else "_") for t in stmt.targets]
        return assign(targets[0] if len(targets) == 1 else ast.Tuple(list(targets), ast.Load()), value)

    def _step(self, stmt: Call, target: str) -> ast.stmt | None:
        """A number under one name before and after, as the user wrote it or in a reverse sweep: `s += x`."""
        symbol, left = stmt.op.name, stmt.args[0] if stmt.args else None
        if symbol not in BINARY or not isinstance(left, Var) or left in self.expr.folded:
            return None
        if self.names.of[left] != target or not isinstance(left.style, Scalar):
            return None
        if not self.reverse and f" {symbol}= " not in stmt.loc.text:
            return None
        return ast.AugAssign(name(target), BINARY[symbol](), self.expr.operand(stmt.args[1]))

    def _write(self, stmt: Call) -> ast.stmt:
        """A write, in operand 0's buffer."""
        base, value = stmt.args[0], stmt.args[1] if len(stmt.args) > 1 else None
        made = _LIST_WRITES.get(stmt.op)
        if made is not None:
            return made(self, stmt)
        assert value is not None
        steps = stmt.args[2:]
        if stmt.op is core.accumulate:
            return self._added(base, value, ())
        if stmt.op is core.add_at:
            return self._add_at(base, value, steps)
        update = update_of(stmt, self.expr.folded, self.expr.hoisted)
        if update is not None:
            place = self._place(base, steps)
            return ast.AugAssign(place, update.operator(), self.expr.operand(update.more))
        return assign(self.expr.target(base, steps), self.expr.operand(value))

    def _place(self, base: Operand, steps: tuple[Operand, ...]) -> ast.Name | ast.Subscript:
        """What stands left of `+=`: the array itself, or the subscript at the end of a path."""
        place = self.expr.target(base, steps) if steps else self.expr.operand(base)
        assert isinstance(place, ast.Name | ast.Subscript)
        return place

    def _added(self, base: Operand, value: Operand, steps: tuple[Operand, ...]) -> ast.stmt:
        """`place += value`, and `place -= value` for what is negated."""
        sign, more = signed(self.expr.operand(value))
        return ast.AugAssign(self._place(base, steps), sign, more)

    def _add_at(self, base: Operand, value: Operand, steps: tuple[Operand, ...]) -> ast.stmt:
        if not steps or repeats_nothing(steps[-1]):
            return self._added(base, value, steps)
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
        return assign(ast.Subscript(items, index, ast.Load()), value)

    def _drop(self, stmt: Call) -> ast.stmt:
        last = ast.UnaryOp(ast.USub(), ast.Constant(1))
        return ast.Delete([ast.Subscript(self.expr.operand(stmt.args[0]), last, ast.Load())])

    def _renamed(self, stmt: Call) -> Statements:
        """The result of a write under its own name, where that is not the name of operand 0."""
        base = stmt.args[0]
        assert isinstance(base, Var)
        (target,) = stmt.targets
        old, new = self.names.of[base], self.names.of[target]
        return [] if old == new or target not in self.names.used else [assign(name(new), name(old))]

    # ------------------------------------------------------------------------------------------------- moves

    def moves(self, targets: Sequence[Var], sources: Sequence[Operand], indent: int) -> Statements:
        """Parallel assignment at an edge: `targets = sources`, what stays where it is left out."""
        out: Statements = []
        for group in in_order(self.wanted(targets, sources)):
            out += self._move(group, indent)
        return out

    def wanted(self, targets: Sequence[Var], sources: Sequence[Operand]) -> list[Move]:
        wanted = []
        for target, source in zip(targets, sources, strict=True):
            if target not in self.names.used or (isinstance(source, Const) and source.value is UNDEF):
                continue
            text = self.names.of[target]
            if not (
                isinstance(source, Var) and source not in self.expr.folded and self.names.of[source] == text
            ):
                wanted.append(Move(text, source, self.read(source)))
        return wanted

    def read(self, operand: Operand) -> frozenset[str]:
        """The names that an operand's expression reads."""
        found: set[str] = set()
        for var in variables(operand):
            if var in self.expr.folded and var not in self.expr.hoisted:
                for inner in own_operands(self.expr.folded[var]):
                    found |= self.read(inner)
            else:
                found.add(self.expr.hoisted.get(var) or self.names.of[var])
        return frozenset(found)

    def _move(self, group: Sequence[Move], indent: int) -> Statements:
        sources = tuple(m.source for m in group)

        def build() -> ast.stmt:
            first = sources[0]
            if len(group) == 1 and isinstance(first, Var) and first in self.expr.folded:
                step = self._step(self.expr.folded[first], group[0].target)
                if step is not None and first not in self.expr.hoisted:
                    return step
            values = [self.expr.operand(s) for s in sources]
            if len(group) == 1:
                return assign(name(group[0].target), values[0])
            return assign(
                ast.Tuple([name(m.target) for m in group], ast.Load()), ast.Tuple(values, ast.Load())
            )

        return self.fit(build, sources, indent)


_LIST_WRITES: dict[object, Callable[[Lines, Call], ast.stmt]] = {
    core.list_append: Lines._append,
    core.list_join: Lines._extend,
    core.list_set: Lines._set_item,
    core.list_drop: Lines._drop,
}


def assign(target: ast.expr, value: ast.expr) -> ast.stmt:
    return ast.Assign([target], value)


def _end_of_scope(stmts: Sequence[Stmt], at: int, enter: Call) -> int:
    """The position of the statement that leaves a scope; the end of the block where it is never reached."""
    (manager,) = enter.targets
    for i in range(at, len(stmts)):
        stmt = stmts[i]
        if isinstance(stmt, Call) and stmt.op is core.leave and stmt.args[0] is manager:
            return i
    return len(stmts)


def _header_width(stmt: ast.stmt) -> int:
    """The width of a statement's first line."""
    match stmt:
        case ast.If():
            return width(stmt.test) + 4
        case ast.While():
            return width(stmt.test) + 7
        case ast.For():
            return width(stmt.target) + width(stmt.iter) + 9
        case ast.With():
            return width(stmt.items[0].context_expr) + 6
    return width(stmt)
