"""Control flow with few shapes: no `break`, `continue`, loop `else`, `match`, and one `return`, last.

In: the definition of a function.  Out: a new `FunctionDef` whose statements are simple ones, `if`, `with`, `for` and
`while`; it ends in the only `return`, of a plain name or constant.  Loops carry an attribute `go`: None, or the name of
a flag (true at the start of each iteration): the loop stops after an iteration at whose end the flag is false.

How: where a branch of an `if` certainly leaves, what follows the `if` moves into the other branch; where it may leave,
a flag guards what follows.  Each region (the function, each loop's body) has its flags:

    .on     true until something leaves this iteration         (only where `continue` occurs)
    .going  true until `break` or `return`
    .kept   true until `return`                                (only where both `break` and `return` occur)

so at most three assignments stand where the user left, and a flag that nobody reads is not assigned at all.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pullback.errors import NOWHERE, Loc
from pullback.frontend.expand import Expander, Place, assign, at, name_test
from pullback.frontend.refusals import refuse
from pullback.frontend.source import Definition, FunctionSource
from pullback.frontend.trees import children, kinds, walk

VALUE = ".value"
_LEAVING = frozenset({"break", "continue", "return"})


def desugar(
    node: Definition, source: FunctionSource | None = None, found: frozenset[type[ast.AST]] | None = None
) -> ast.FunctionDef:
    """The function with simple control flow.

    `source` gives the places for refusals, `found` the classes of the nodes in the definition, if they are known.
    """
    found = kinds(node) if found is None else found

    def place(where: ast.AST) -> Loc:
        return NOWHERE if source is None else source.loc(where)

    if isinstance(node, ast.AsyncFunctionDef):
        refuse("async", place(node))
    if isinstance(node, ast.Lambda):
        body: list[ast.stmt] = [at(node.body, ast.Return(node.body))]
        name = "<lambda>"
    else:
        if found & {ast.Global, ast.Nonlocal}:
            _refuse_outer_writes(node, place)
        expander = Expander(place, found)
        body = expander.block(node.body)
        name = node.name
    result = ast.FunctionDef(name, node.args, _Desugarer().function(body, node), [], None, None)
    ast.copy_location(result, node)
    if not hasattr(result, "type_params"):
        setattr(result, "type_params", [])  # noqa: B010 - a field of Python 3.12 and later
    return result


def _refuse_outer_writes(node: ast.FunctionDef, place: Place) -> None:
    """`global` and `nonlocal` are refused (a declaration has no other purpose than a write)."""
    pending: list[ast.AST] = list(node.body)
    while pending:
        stmt = pending.pop()
        if isinstance(stmt, ast.Global):
            refuse("global", place(stmt), name=", ".join(stmt.names))
        if isinstance(stmt, ast.Nonlocal):
            refuse("nonlocal", place(stmt), name=", ".join(stmt.names))
        if not isinstance(stmt, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            pending += children(stmt)


class _Returned(ast.stmt):
    """The value is set; leave this region as by `return`."""


class _Region:
    """The function or one loop: the names of its flags and what occurs in it."""

    def __init__(self, number: int, kinds: frozenset[str]) -> None:
        self.is_loop = number > 0
        self.going = f".going{number}"
        self.on = f".on{number}" if "continue" in kinds else self.going
        self.kept = f".kept{number}" if {"break", "return"} <= kinds else self.going
        self.stops = bool(kinds & {"break", "return"})

    @property
    def flags(self) -> list[str]:
        """The flags, each once."""
        return list(dict.fromkeys((self.on, self.going, self.kept)))

    def leave(self, kind: str, place: ast.AST) -> list[ast.stmt]:
        """The assignments that stand for `break`, `continue` or `return`."""
        cleared = {"continue": [self.on], "break": [self.on, self.going], "return": self.flags}[kind]
        return [assign(name, False, place) for name in dict.fromkeys(cleared)]


class _Desugarer:
    """Desugars one function."""

    def __init__(self) -> None:
        self.loops = 0
        self.exits_of: dict[int, frozenset[str]] = {}
        self.keep: list[ast.stmt] = []  # keeps ids in `exits_of` from being used again

    def function(self, body: list[ast.stmt], place: ast.AST) -> list[ast.stmt]:
        """The new body."""
        exits = self.exits(body)
        last = body[-1] if body else None
        if isinstance(last, ast.Return) and not any("return" in self.exits([s]) for s in body[:-1]):
            return self._straight(body, last)
        if "return" not in exits:
            region = _Region(0, frozenset())
            result = self.block(body, region)
            return [*_drop_unread(result, {""}), at(place, ast.Return(ast.Constant(None)))]
        if "fall" in exits:
            end = body[-1]
            body = [*body, at(end, ast.Return(ast.Constant(None)))]
        region = _Region(0, frozenset({"return"}))
        result = [assign(region.going, True, body[0]), *self.block(body, region)]
        return [*_drop_unread(result, {VALUE}), at(body[-1], ast.Return(name_test(VALUE)))]

    def _straight(self, body: list[ast.stmt], last: ast.Return) -> list[ast.stmt]:
        """A body whose only return stands at its end."""
        region = _Region(0, frozenset())
        result = self.block(body[:-1], region)
        value = last.value if last.value is not None else ast.Constant(None)
        if not isinstance(value, ast.Name | ast.Constant):
            result.append(assign(VALUE, value, last))
            value = name_test(VALUE)
        return [*_drop_unread(result, {VALUE}), at(last, ast.Return(value))]

    # statements

    def block(self, stmts: Sequence[ast.stmt], region: _Region) -> list[ast.stmt]:
        """The desugared statements of a block in a region."""
        result: list[ast.stmt] = []
        pending = list(reversed(stmts))
        while pending:
            stmt = pending.pop()
            exits = self.exits([stmt])
            rest = pending[::-1] if exits & _LEAVING or "fall" not in exits else []
            if isinstance(stmt, ast.If):
                made, taken = self._if(stmt, exits, rest, region)
                result += made
                if taken:
                    return result
            elif isinstance(stmt, ast.For | ast.While):
                made, follow = self._loop(stmt)
                result += made
                pending = [*(pending if "fall" in exits else []), *reversed(follow)]
                continue
            elif isinstance(stmt, ast.With):
                result.append(at(stmt, ast.With(stmt.items, self._filled(stmt.body, region, stmt))))
            else:
                result += self._simple(stmt, region)
            if "fall" not in exits:
                return result
            if exits & _LEAVING and rest:
                guarded = self._filled(rest, region, rest[0])
                result.append(at(rest[0], ast.If(name_test(region.on), guarded, [])))
                return result
        return result

    def _filled(self, stmts: Sequence[ast.stmt], region: _Region, place: ast.AST) -> list[ast.stmt]:
        return self.block(stmts, region) or [at(place, ast.Pass())]

    def _simple(self, stmt: ast.stmt, region: _Region) -> list[ast.stmt]:
        if isinstance(stmt, ast.Return):
            value = stmt.value if stmt.value is not None else ast.Constant(None)
            return [assign(VALUE, value, stmt), *region.leave("return", stmt)]
        if isinstance(stmt, _Returned):
            return region.leave("return", stmt)
        if isinstance(stmt, ast.Break):
            return region.leave("break", stmt)
        if isinstance(stmt, ast.Continue):
            return region.leave("continue", stmt)
        return [stmt]

    def _if(
        self, stmt: ast.If, exits: frozenset[str], rest: list[ast.stmt], region: _Region
    ) -> tuple[list[ast.stmt], bool]:
        """The statement, and whether it took the rest of the block into a branch."""
        then, orelse = list(stmt.body), list(stmt.orelse)
        ends, other_ends = self.leaves(then), self.leaves(orelse)
        only_raises = exits <= {"fall", "raise"} and not (then and orelse)
        taken = (ends != other_ends) and not only_raises
        if taken and not rest and "fall" in exits:
            taken = False  # nothing follows
        if taken:
            then, orelse = (then, orelse + rest) if ends else (then + rest, orelse)
        made = at(stmt, ast.If(stmt.test, self._filled(then, region, stmt), self.block(orelse, region)))
        return [made], taken

    def leaves(self, stmts: Sequence[ast.stmt]) -> bool:
        """Whether a block never reaches its end."""
        return "fall" not in self.exits(stmts)

    def _loop(self, stmt: ast.For | ast.While) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """The loop, and the statements that decide how to go on after it."""
        self.loops += 1
        inside = self.exits(stmt.body)
        region = _Region(self.loops, inside & _LEAVING)
        starts = [assign(name, True, stmt) for name in region.flags]
        body = [*starts, *self._filled(stmt.body, region, stmt)]
        loop: ast.For | ast.While
        if isinstance(stmt, ast.For):
            loop = ast.For(stmt.target, stmt.iter, body, [])
        else:
            loop = ast.While(stmt.test, body, [])
        at(stmt, loop)
        loop.go = region.going if region.stops else None  # type: ignore[union-attr]
        outside = dict.fromkeys((region.going, region.kept)) if region.stops else {}
        before = [assign(name, True, stmt) for name in outside]
        return [*before, loop], self._after(stmt, inside, region)

    def _after(self, stmt: ast.For | ast.While, inside: frozenset[str], region: _Region) -> list[ast.stmt]:
        returned: list[ast.stmt] = [at(stmt, _Returned())]
        orelse = list(stmt.orelse)
        endless = _is_endless(stmt)
        if endless:
            orelse = []
        if "return" not in inside:
            if "break" in inside and orelse:
                return [at(stmt, ast.If(name_test(region.going), orelse, []))]
            return orelse
        if "break" not in inside:
            return returned if endless else [at(stmt, ast.If(name_test(region.going), orelse, returned))]
        follow: list[ast.stmt] = [at(stmt, ast.If(name_test(region.kept), [], returned))]
        if orelse:
            follow.insert(0, at(stmt, ast.If(name_test(region.going), orelse, [])))
        return follow

    # how statements end

    def exits(self, stmts: Sequence[ast.stmt]) -> frozenset[str]:
        """How a block may end: "fall" (at its end), "break", "continue", "return", "raise"."""
        found: set[str] = set()
        for stmt in stmts:
            one = self.exits_of.get(id(stmt))
            if one is None:
                one = self._exits(stmt)
                self.exits_of[id(stmt)] = one
                self.keep.append(stmt)
            found |= one - {"fall"}
            if "fall" not in one:
                return frozenset(found)
        return frozenset(found | {"fall"})

    def _exits(self, stmt: ast.stmt) -> frozenset[str]:
        if isinstance(stmt, ast.If):
            return self.exits(stmt.body) | self.exits(stmt.orelse)
        if isinstance(stmt, ast.With):
            return self.exits(stmt.body)
        if isinstance(stmt, ast.For | ast.While):
            return self._loop_exits(stmt)
        if isinstance(stmt, ast.Return | _Returned):
            return frozenset({"return"})
        if isinstance(stmt, ast.Break | ast.Continue | ast.Raise):
            return frozenset({type(stmt).__name__.lower()})
        return frozenset({"fall"})

    def _loop_exits(self, stmt: ast.For | ast.While) -> frozenset[str]:
        inside = self.exits(stmt.body)
        found = inside & {"return", "raise"}
        if "break" in inside:
            found |= {"fall"}
        if not _is_endless(stmt):
            found |= self.exits(stmt.orelse)
        return found


def _is_endless(stmt: ast.For | ast.While) -> bool:
    return isinstance(stmt, ast.While) and isinstance(stmt.test, ast.Constant) and bool(stmt.test.value)


# flags that nobody reads


def _drop_unread(stmts: list[ast.stmt], kept: set[str]) -> list[ast.stmt]:
    """The statements without assignments to flags that are never tested, to a fixpoint."""
    read = _tested(stmts) | kept
    while True:
        stmts = _without(stmts, read)
        still = _tested(stmts) | kept
        if still == read:
            return stmts
        read = still


def _tested(stmts: list[ast.stmt]) -> set[str]:
    read: set[str] = set()
    pending: list[ast.stmt] = list(stmts)
    while pending:
        stmt = pending.pop()
        if isinstance(stmt, ast.If | ast.While):
            read |= {n.id for n in walk(stmt.test) if isinstance(n, ast.Name)}
        if isinstance(stmt, ast.For | ast.While):
            read.add(getattr(stmt, "go", None) or "")
        for name in ("body", "orelse"):
            if not isinstance(stmt, ast.FunctionDef):
                pending += getattr(stmt, name, [])
    return read


def _without(stmts: list[ast.stmt], read: set[str]) -> list[ast.stmt]:
    result: list[ast.stmt] = []
    for stmt in stmts:
        if isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Name):
            name = stmt.targets[0].id
            if name.startswith(_FLAGS) and name not in read:
                continue
        if isinstance(stmt, ast.If | ast.For | ast.While | ast.With):
            stmt.body = _without(stmt.body, read) or [at(stmt, ast.Pass())]
        if isinstance(stmt, ast.If):
            stmt.orelse = _without(stmt.orelse, read)
            if isinstance(stmt.test, ast.Name) and stmt.test.id.startswith(_FLAGS) and _is_empty(stmt):
                continue
        result.append(stmt)
    return result


_FLAGS = (".going", ".on", ".kept")


def _is_empty(stmt: ast.If) -> bool:
    return all(isinstance(inner, ast.Pass) for inner in [*stmt.body, *stmt.orelse])
