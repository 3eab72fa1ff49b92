"""Python names for IR values: out of single assignment.

In: a function, its folded values, the names that are taken.  Out: a name for every Var that is printed.
Values that a loop carries, a branch joins or a write changes share one name where their lifetimes are
disjoint; different variables share a name only where both carry it as hint and are never live at once.  The
user's names are given first, so that no temporary takes one; lists of saved values come last and are named
after what they hold.  A clash gets `_2`, `_3`.  The same function always gets the same names.
"""

from __future__ import annotations

import heapq
import keyword
from bisect import bisect_left, insort
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pullback.analysis.binding import maybe_unbound
from pullback.backend.numpy.constants import SYNTAX_BUILTINS
from pullback.backend.numpy.folding import assigned_names, is_named
from pullback.backend.numpy.lifetimes import Interval, Lifetimes, lifetimes
from pullback.ir import core_ops as core
from pullback.ir.nodes import (
    UNDEF,
    Call,
    Const,
    For,
    Function,
    If,
    Operand,
    Seq,
    Stmt,
    Var,
    While,
    list_hint,
)
from pullback.ir.walk import statements

ALWAYS_TAKEN = frozenset(keyword.kwlist) | frozenset(SYNTAX_BUILTINS) | {"np", "math", "_"}
MADE = frozenset({"t", "i", "k", "n"})  # hints of temporaries that a variable of the user's may well have too
CLOSE_LOOK = 4  # of the names made from one hint, how many are compared interval by interval


@dataclass(slots=True)
class _Class:
    """Values under one name."""

    intervals: list[Interval]
    members: list[Var]
    fixed: str = ""
    hint: str = ""  # of its first named member
    alone: bool = False  # its name may mean nothing else, so that Python finds it unbound where it is


@dataclass(slots=True)
class Names:
    """The outcome: names by value, all names in use, and the values that are read."""

    of: dict[Var, str]
    taken: set[str]
    used: set[Var]
    _counts: dict[str, int] = field(default_factory=dict)

    def unique(self, hint: str) -> str:
        """A name that nothing else in the function has."""
        base = identifier(hint)
        name, n = base, self._counts.get(base, 1)
        while name in self.taken:
            n += 1
            name = f"{base}_{n}"
        self._counts[base] = n
        self.taken.add(name)
        return name


def identifier(hint: str) -> str:
    """A hint as a Python name: never a keyword, nor a builtin that is called by name."""
    text = "".join(c if c.isalnum() or c == "_" else "_" for c in hint.lstrip(".")) or "t"
    if text[0].isdigit():
        text = f"t_{text}"
    return text


def assign_names(
    function: Function, folded: Mapping[Var, Call], taken: Iterable[str], reread: bool = False
) -> Names:
    """Names for a function's values; `taken` are those it must not use; `reread`: see `lifetimes`."""
    live = lifetimes(function, folded, reread)
    groups = _Groups(function, live)
    groups.coalesce()
    reserved = set(taken) | ALWAYS_TAKEN
    return _spell(groups, reserved, live)


# ------------------------------------------------------------------------------------------ coalescing


class _Groups:
    """Union-find over values, each class with its intervals."""

    def __init__(self, function: Function, live: Lifetimes) -> None:
        self.function = function
        self.parent: dict[Var, Var] = {}
        self.classes: dict[Var, _Class] = {}
        self.named: set[Var] = set()
        for var, intervals in live.intervals.items():
            self.parent[var] = var
            self.classes[var] = _Class(list(intervals), [var], hint="")
        for param in function.params:
            if isinstance(param.tree, Var):
                self.classes[param.tree].fixed = param.name
        temporaries = {
            t
            for s in statements(function.body)
            if isinstance(s, Call)
            for t in s.targets
            if not is_named(t, s)
        }
        for var, group in self.classes.items():
            if var not in temporaries:
                self.named.add(var)
                group.hint = var.hint

    def find(self, var: Var) -> Var:
        """The representative of a value's class."""
        root = var
        while self.parent[root] is not root:
            root = self.parent[root]
        while self.parent[var] is not root:
            self.parent[var], var = root, self.parent[var]
        return root

    def coalesce(self) -> None:
        """Give one name to what a loop carries, a branch joins and a write changes, in that order of
        importance.
        """
        stmts = list(statements(self.function.body))
        self._unbound(stmts)
        for stmt in stmts:
            if isinstance(stmt, For | While):
                self._pairs(stmt.params, stmt.results, True)
                self._alone(stmt.inits, stmt.params)
            elif isinstance(stmt, If):
                self._alone((*stmt.then_yields, *stmt.else_yields), stmt.results + stmt.results)
        for stmt in stmts:
            if isinstance(stmt, Call) and stmt.op.writes and stmt.targets:
                self._pairs(stmt.targets, stmt.args[:1], True)
        for exact in (True, False):  # values of one hint first
            for stmt in stmts:
                if isinstance(stmt, For | While):
                    self._pairs(stmt.params, stmt.yields, False, exact)
                    self._pairs(stmt.params, stmt.inits, False, exact)
                elif isinstance(stmt, If):
                    self._pairs(stmt.results, stmt.then_yields, False, exact)
                    self._pairs(stmt.results, stmt.else_yields, False, exact)

        self._restored(stmts)

    def held(self) -> dict[Var, Var]:
        """What lists of saved values hold: by the representative of a list, one value that it gets."""
        found: dict[Var, Var] = {}
        for stmt in statements(self.function.body):
            if isinstance(stmt, Call) and stmt.op is core.list_append:
                items, item = stmt.args[:2]
                if not (isinstance(items, Var) and isinstance(item, Var)):
                    continue
                known = items in self.parent and item in self.parent
                if known and items.hint == list_hint(item.hint):
                    found.setdefault(self.find(items), item)
        return found

    def of(self, var: Var) -> _Class:
        """The class of a value."""
        return self.classes[self.find(var)]

    def _restored(self, stmts: Sequence[Stmt]) -> None:
        """A reverse loop gives its saved values the names under which they were saved."""
        held = self.held()
        for stmt in stmts:
            if not isinstance(stmt, For):
                continue
            for index, it in zip(stmt.index, stmt.iters, strict=True):
                if isinstance(it, Seq) and isinstance(it.value, Var) and it.value in self.parent:
                    item = held.get(self.find(it.value))
                    if item is not None:
                        self._pairs((index,), (item,), False, True)

    def _unbound(self, stmts: Sequence[Stmt]) -> None:
        """One name for a value that may be unbound wherever it goes: assigning it to another would read it."""
        unbound = maybe_unbound(self.function)
        if not unbound:
            return
        for stmt in stmts:
            edges: list[tuple[Sequence[Var], Sequence[Operand]]]
            if isinstance(stmt, For | While):
                edges = [(stmt.params, stmt.inits), (stmt.params, stmt.yields), (stmt.results, stmt.params)]
            elif isinstance(stmt, If):
                edges = [(stmt.results, stmt.then_yields), (stmt.results, stmt.else_yields)]
            else:
                continue
            for targets, sources in edges:
                pairs = [(t, x) for t, x in zip(targets, sources, strict=True) if x in unbound]
                self._pairs([t for t, _ in pairs], [x for _, x in pairs], True)

    def _alone(self, sources: Sequence[Operand], targets: Sequence[Var]) -> None:
        for source, target in zip(sources, targets, strict=True):
            if isinstance(source, Const) and source.value is UNDEF and target in self.classes:
                self.classes[self.find(target)].alone = True

    def _pairs(
        self, targets: Sequence[Var], sources: Sequence[Operand], always: bool, exact: bool = False
    ) -> None:
        for target, source in zip(targets, sources, strict=False):
            if isinstance(source, Var) and target in self.parent and source in self.parent:
                same = target.hint == source.hint
                if always or (same if exact else self._loosely(target, source)):
                    self._union(target, source)

    def _loosely(self, target: Var, source: Var) -> bool:
        """Whether values of different hints may share a name: one of the classes has no name of the
        user's.
        """
        a, b = self.classes[self.find(target)], self.classes[self.find(source)]
        return (
            not (a.fixed or a.hint) or not (b.fixed or b.hint) or (a.fixed or a.hint) == (b.fixed or b.hint)
        )

    def _union(self, first: Var, second: Var) -> None:
        x, y = self.find(first), self.find(second)
        if x is y:
            return
        a, b = self.classes[x], self.classes[y]
        if (a.fixed and b.fixed) or overlap(a.intervals, b.intervals):
            return
        if len(a.members) < len(b.members):
            x, y, a, b = y, x, b, a
        a.fixed = a.fixed or b.fixed
        a.alone = a.alone or b.alone
        a.hint = _first_hint(a, b)
        for interval in b.intervals:
            insort(a.intervals, interval)
        a.members += b.members
        self.parent[y] = x
        del self.classes[y]


def _first_hint(a: _Class, b: _Class) -> str:
    first, second = (a, b) if a.intervals[0] <= b.intervals[0] else (b, a)
    return first.hint or second.hint


def overlap(a: Sequence[Interval], b: Sequence[Interval]) -> bool:
    """Whether two sorted lists of disjoint closed intervals meet."""
    if len(a) < len(b):
        a, b = b, a
    for start, end in b:
        i = bisect_left(a, (start, start))
        if i < len(a) and a[i][0] <= end:
            return True
        if i > 0 and a[i - 1][1] >= start:
            return True
    return False


# -------------------------------------------------------------------------------------------- spelling


class _Hint:
    """The names made from one hint: `h`, `h_2`, ..., each with the intervals in which it is in use."""

    def __init__(self) -> None:
        self.count = 0  # the last suffix made
        self.close: list[tuple[str, list[Interval]]] = []  # the first few, compared in full
        self.busy: list[tuple[int, int]] = []  # (end, number) of the others
        self.free: list[int] = []


class _Speller:
    def __init__(self, taken: set[str]) -> None:
        self.taken = taken  # names nobody may get
        self.shared: dict[tuple[int, str], _Hint] = {}
        self.out: set[str] = set()

    def fix(self, name: str, intervals: list[Interval]) -> None:
        """A parameter's name."""
        self.taken.discard(name)
        hint = self.shared.setdefault((_USER, name), _Hint())
        hint.count = 1
        hint.close.append((name, list(intervals)))
        self.out.add(name)

    def pick(
        self, turn: int, base: str, intervals: list[Interval], alone: bool, avoid: Container[str] = ()
    ) -> str:
        """A name made from a hint for values live in these intervals; the classes of a turn come in order of
        their start, and share no name with those of another.
        """
        hint = self.shared.setdefault((turn, base), _Hint())
        if not alone:
            for name, occupied in hint.close:
                if name not in avoid and not overlap(occupied, intervals):
                    for interval in intervals:
                        insort(occupied, interval)
                    return name
            while hint.busy and hint.busy[0][0] < intervals[0][0]:
                heapq.heappush(hint.free, heapq.heappop(hint.busy)[1])
            if hint.free:
                number = heapq.heappop(hint.free)
                heapq.heappush(hint.busy, (intervals[-1][1], number))
                return _numbered(base, number)
        name = self._new(base, hint)
        if alone:
            return name
        if len(hint.close) < CLOSE_LOOK:
            hint.close.append((name, list(intervals)))
        else:
            heapq.heappush(hint.busy, (intervals[-1][1], hint.count))
        return name

    def _new(self, base: str, hint: _Hint) -> str:
        while True:
            hint.count += 1
            name = _numbered(base, hint.count)
            if name not in self.taken and name not in self.out:
                self.out.add(name)
                return name


def _numbered(base: str, number: int) -> str:
    return base if number == 1 else f"{base}_{number}"


def _spell(groups: _Groups, taken: set[str], live: Lifetimes) -> Names:
    speller = _Speller(taken)
    of: dict[Var, str] = {}
    for param in groups.function.params:
        if isinstance(param.tree, Var):
            group = groups.classes[groups.find(param.tree)]
            speller.fix(param.name, group.intervals)
            of.update(dict.fromkeys(group.members, param.name))
        else:
            speller.fix(param.name, [(0, 1)])
    stmts = list(statements(groups.function.body))
    indices = {v for s in stmts if isinstance(s, For) for v in s.index}
    params = {p.name for p in groups.function.params}  # `for x in ...` would hide the parameter
    turns = _Turns(groups, stmts, live.used)
    order = sorted(
        (g for g in groups.classes.values() if not g.fixed),
        key=lambda g: (turns.of(g), g.intervals[0][0], g.intervals[-1]),
    )
    for group in order:
        avoid = params if indices.intersection(group.members) else ()
        name = speller.pick(turns.of(group), turns.base(group, of), group.intervals, group.alone, avoid)
        of.update(dict.fromkeys(group.members, name))
    return Names(of, speller.out | taken, live.used)


_USER, _MADE, _UNUSED, _LISTS = range(4)  # turns; lists of lists, and so on, come after


class _Turns:
    """Who is named first: the user's variables, then what the compiler made, then the lists of saved values."""

    def __init__(self, groups: _Groups, stmts: Sequence[Stmt], used: set[Var]) -> None:
        self.groups = groups
        self.used = used
        iterated = [p for s in stmts if isinstance(s, For) for p in zip(s.index, s.iters, strict=True)]
        self.restored = {v for v, it in iterated if isinstance(it, Seq)}
        self.users = {p.name for p in groups.function.params}
        for text in {s.loc.text for s in stmts}:
            self.users |= assigned_names(text)
        self.held = groups.held()
        self._turn: dict[int, int] = {}

    def of(self, group: _Class) -> int:
        """The turn of a class."""
        found = self._turn.get(id(group))
        if found is None:
            found = self._turn[id(group)] = self._found(group)
        return found

    def _found(self, group: _Class) -> int:
        if self.used.isdisjoint(group.members):
            return _UNUSED
        base = group.hint or group.members[0].hint
        if base in self.users and (base not in MADE or self._has_users_own(group, base)):
            return _USER
        item = self._item(group)
        return _MADE if item is None else max(self.of(self.groups.of(item)) + 1, _LISTS)

    def _has_users_own(self, group: _Class, base: str) -> bool:
        return any(
            v.hint == base and v in self.groups.named and v not in self.restored for v in group.members
        )

    def _item(self, group: _Class) -> Var | None:
        return self.held.get(self.groups.find(group.members[0]))

    def base(self, group: _Class, of: Mapping[Var, str]) -> str:
        """What its name is made from."""
        item = self._item(group)
        if item is None or self.of(group) < _LISTS:
            return identifier(group.hint or group.members[0].hint)
        return list_hint(of[item])
