"""Check a function body against the refusal table and rewrite its rarer statements in terms of commoner ones.

In: the statements of the user's function.  Out: new statements (expressions are shared with the user's tree, which is
never changed) without `match`, without names bound in a `while` test, without statements that mean nothing at run time.
Names made here begin with a dot, which no user's name does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence

from pullback.errors import Loc
from pullback.frontend.refusals import refuse
from pullback.frontend.trees import children, walk

Place = Callable[[ast.AST], Loc]
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_SUSPENDING = {ast.Await, ast.comprehension, ast.Yield, ast.YieldFrom}
_IGNORED = ("Pass", "Global", "Nonlocal", "TypeAlias")


def at(node: ast.AST, new: ast.stmt) -> ast.stmt:
    """A new statement, and the new expressions in it, at the place of a user's node."""
    ast.copy_location(new, node)
    for inner in own_expressions(new):
        if not hasattr(inner, "lineno"):
            ast.copy_location(inner, node)
    return new


def assign(name: str, value: ast.expr | bool | None, place: ast.AST) -> ast.stmt:
    """`name = value`."""
    expr = value if isinstance(value, ast.expr) else ast.Constant(value)
    return at(place, ast.Assign([ast.Name(name, ast.Store())], expr))


def name_test(name: str) -> ast.expr:
    """The value of a flag."""
    return ast.Name(name, ast.Load())


class Expander:
    """Rewrites the statements of one function."""

    def __init__(self, place: Place, found: frozenset[type[ast.AST]]) -> None:
        self.place = place
        self.found = found  # the classes of the nodes there are
        self.count = 0

    def fresh(self, hint: str) -> str:
        """A name that no user can have written."""
        self.count += 1
        return f".{hint}{self.count}"

    def block(self, stmts: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Rewritten statements."""
        result: list[ast.stmt] = []
        for stmt in stmts:
            self.check(stmt)
            handler = getattr(self, f"expand_{type(stmt).__name__}", None)
            if handler is not None:
                result += handler(stmt)
            elif type(stmt).__name__ not in _IGNORED:
                result.append(stmt)
        return result

    # refusals

    def check(self, stmt: ast.stmt) -> None:
        """Refuse what the table lists of syntax."""
        kind = type(stmt).__name__
        if kind in ("AsyncFunctionDef", "AsyncFor", "AsyncWith"):
            refuse("async", self.place(stmt))
        if kind in ("Try", "TryStar"):
            refuse("try", self.place(stmt))
        if isinstance(stmt, ast.ClassDef):
            refuse("class", self.place(stmt), name=stmt.name)
        if isinstance(stmt, ast.Delete):
            for target in stmt.targets:
                if not isinstance(target, ast.Name | ast.Subscript):
                    refuse("del-attribute", self.place(target))
        for node in own_expressions(stmt) if self.found & _SUSPENDING else ():
            if isinstance(node, ast.Await) or (isinstance(node, ast.comprehension) and node.is_async):
                refuse("async", self.place(node if isinstance(node, ast.Await) else stmt))
            if isinstance(node, ast.Yield | ast.YieldFrom):
                refuse("yield", self.place(node))

    # statements with blocks

    def expand_If(self, stmt: ast.If) -> list[ast.stmt]:
        """The branches are rewritten."""
        return [at(stmt, ast.If(stmt.test, self.block(stmt.body), self.block(stmt.orelse)))]

    def expand_With(self, stmt: ast.With) -> list[ast.stmt]:
        """The body is rewritten."""
        return [at(stmt, ast.With(stmt.items, self.block(stmt.body)))]

    def expand_For(self, stmt: ast.For) -> list[ast.stmt]:
        """Body and `else` are rewritten."""
        body, orelse = self.block(stmt.body), self.block(stmt.orelse)
        return [at(stmt, ast.For(stmt.target, stmt.iter, body, orelse))]

    def expand_While(self, stmt: ast.While) -> list[ast.stmt]:
        """A test that binds names becomes the first statement of an endless loop."""
        body, orelse = self.block(stmt.body), self.block(stmt.orelse)
        if not any(isinstance(node, ast.NamedExpr) for node in walk(stmt.test)):
            return [at(stmt, ast.While(stmt.test, body, orelse))]
        leave: list[ast.stmt] = [at(stmt.test, ast.Break())]
        after: list[ast.stmt] = []
        before: list[ast.stmt] = []
        if orelse:
            ended = self.fresh("ended")
            before = [assign(ended, False, stmt)]
            leave = [assign(ended, True, stmt), *leave]
            after = [at(stmt, ast.If(name_test(ended), orelse, []))]
        test = at(stmt.test, ast.If(stmt.test, body, leave))
        return [*before, at(stmt, ast.While(ast.Constant(True), [test], [])), *after]

    # match

    def expand_Match(self, stmt: ast.Match) -> list[ast.stmt]:
        """A chain of `if`s on the subject.  A case with bindings and a guard is tried under a flag."""
        name = self.fresh("subject")
        subject = ast.copy_location(ast.Name(name, ast.Load()), stmt.subject)
        return [assign(name, stmt.subject, stmt), *self._cases(subject, stmt.cases)]

    def _cases(self, subject: ast.expr, cases: Sequence[ast.match_case]) -> list[ast.stmt]:
        chain: list[ast.stmt] = []
        for case in reversed(cases):
            chain = self._case(subject, case, chain)
        return chain

    def _case(self, subject: ast.expr, case: ast.match_case, rest: list[ast.stmt]) -> list[ast.stmt]:
        pattern = Pattern(self.place)
        pattern.match(case.pattern, subject)
        bindings = [assign(name, value, case.pattern) for name, value in pattern.bindings]
        body = self.block(case.body)
        tests = list(pattern.tests)
        if case.guard is not None and not bindings:
            tests.append(case.guard)
        elif case.guard is not None:
            return self._guarded(case.pattern, _all(tests), bindings, case.guard, body, rest)
        if not tests:
            return bindings + body
        return [at(case.pattern, ast.If(_all(tests), bindings + body, rest))]

    def _guarded(
        self,
        place: ast.AST,
        test: ast.expr,
        bindings: list[ast.stmt],
        guard: ast.expr,
        body: list[ast.stmt],
        rest: list[ast.stmt],
    ) -> list[ast.stmt]:
        open_ = self.fresh("open")
        inner = at(guard, ast.If(guard, [assign(open_, False, guard), *body], []))
        result = [assign(open_, True, place), at(place, ast.If(test, [*bindings, inner], []))]
        return [*result, at(place, ast.If(name_test(open_), rest, []))] if rest else result


def _all(tests: list[ast.expr]) -> ast.expr:
    if not tests:
        return ast.Constant(True)
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)


def _call(fn: object, *args: ast.expr) -> ast.expr:
    """A call of a function given as an object, which no name of the user's can shadow."""
    return ast.Call(ast.Constant(fn), list(args), [])  # type: ignore[arg-type]


class Pattern:
    """The tests and the bindings of a `match` pattern."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.tests: list[ast.expr] = []
        self.bindings: list[tuple[str, ast.expr]] = []

    def match(self, pattern: ast.pattern, subject: ast.expr) -> None:
        """Add what the pattern asks of the subject."""
        handler = getattr(self, f"match_{type(pattern).__name__}", None)
        if handler is None:
            refuse("match-pattern", self.place(pattern))
        handler(pattern, subject)

    def match_MatchValue(self, pattern: ast.MatchValue, subject: ast.expr) -> None:
        """`case 1:`"""
        self.tests.append(ast.Compare(subject, [ast.Eq()], [pattern.value]))

    def match_MatchSingleton(self, pattern: ast.MatchSingleton, subject: ast.expr) -> None:
        """`case None:`"""
        self.tests.append(ast.Compare(subject, [ast.Is()], [ast.Constant(pattern.value)]))

    def match_MatchAs(self, pattern: ast.MatchAs, subject: ast.expr) -> None:
        """`case _:`, `case x:`, `case pattern as x:`"""
        if pattern.pattern is not None:
            self.match(pattern.pattern, subject)
        if pattern.name is not None:
            self.bindings.append((pattern.name, subject))

    def match_MatchOr(self, pattern: ast.MatchOr, subject: ast.expr) -> None:
        """`case 1 | 2:`"""
        options = []
        for option in pattern.patterns:
            inner = Pattern(self.place)
            inner.match(option, subject)
            if inner.bindings:
                refuse("match-pattern", self.place(option))
            options.append(_all(inner.tests))
        self.tests.append(ast.BoolOp(ast.Or(), options))

    def match_MatchSequence(self, pattern: ast.MatchSequence, subject: ast.expr) -> None:
        """`case [a, b]:` on a tuple or a list."""
        if any(isinstance(item, ast.MatchStar) for item in pattern.patterns):
            refuse("match-pattern", self.place(pattern))
        kinds = ast.Tuple([ast.Constant(tuple), ast.Constant(list)], ast.Load())  # type: ignore[arg-type]
        self.tests.append(_call(isinstance, subject, kinds))
        length = ast.Constant(len(pattern.patterns))
        self.tests.append(ast.Compare(_call(len, subject), [ast.Eq()], [length]))
        for number, item in enumerate(pattern.patterns):
            self.match(item, ast.Subscript(subject, ast.Constant(number), ast.Load()))

    def match_MatchMapping(self, pattern: ast.MatchMapping, subject: ast.expr) -> None:
        """`case {"key": value}:` on a dict."""
        if pattern.rest is not None:
            refuse("match-pattern", self.place(pattern))
        self.tests.append(_call(isinstance, subject, ast.Constant(dict)))  # type: ignore[arg-type]
        for key, item in zip(pattern.keys, pattern.patterns, strict=True):
            self.tests.append(ast.Compare(key, [ast.In()], [subject]))
            self.match(item, ast.Subscript(subject, key, ast.Load()))

    def match_MatchClass(self, pattern: ast.MatchClass, subject: ast.expr) -> None:
        """`case Point(x=0, y=y):`, `case Point(0, y):`"""
        self.tests.append(_call(isinstance, subject, pattern.cls))
        for number, item in enumerate(pattern.patterns):
            names = ast.Attribute(pattern.cls, "__match_args__", ast.Load())
            name = ast.Subscript(names, ast.Constant(number), ast.Load())
            self.match(item, _call(getattr, subject, name))
        for attribute, item in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
            self.match(item, ast.Attribute(subject, attribute, ast.Load()))


def own_expressions(stmt: ast.stmt) -> Iterable[ast.AST]:
    """The expression nodes of a statement itself: not of its inner statements, nor of functions defined in it."""
    pending: list[ast.AST] = [n for n in children(stmt) if not _is_block(n)]
    if isinstance(stmt, _SCOPES):
        pending = [*getattr(stmt, "decorator_list", [])]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, _SCOPES):
            continue
        pending += [child for child in children(node) if not _is_block(child)]


def _is_block(node: ast.AST) -> bool:
    return isinstance(node, ast.stmt | ast.match_case | ast.ExceptHandler)
