"""Which values are printed inside the expression of their one user.

In: a bufferised function (every `Op.writes` call left happens in operand 0's buffer).  Out: the set of folded
calls by value.  A value is folded when it is pure, read once, in its own block, with no write, effect or
compound statement between; a value under a name that its own source line assigns keeps a line of its own, as
the user wrote it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

from pullback.errors import NOWHERE, Loc
from pullback.ir import core_ops as core
from pullback.ir.nodes import Block, Call, Const, Function, Operand, Pack, Stmt, Var
from pullback.ir.walk import block_ends, own_operands, statements, variables, variables_in
from pullback.styles.style import Scalar

MAX_WIDTH = 60  # of a folded expression; a rough count, the printer measures lines itself
MAX_DISTANCE = 40  # statements between a value and its user

_ASSIGNED = re.compile(r"\s*(?:for\s+(?P<loop>.*?)\s+in\b|(?P<names>[^=]*?)[-+*/@%&|^<>]*(?<![=!<>])=(?!=))")
_WALRUS = re.compile(r"(\w+)\s*:=")
_NAME = re.compile(r"(?<![.\w])[A-Za-z_]\w*")
_ATTRIBUTE = re.compile(r"(?<![.\w])([A-Za-z_]\w*)\.(\w+)(?=\s*(?:,|$|[-+*/@%&|^<>]))")


@lru_cache(maxsize=4096)
def assigned_names(text: str) -> frozenset[str]:
    """The names that a line of source assigns; those of attributes are `p_w` for `p.w`.

    >>> sorted(assigned_names("    u, v = v, u"))
    ['u', 'v']
    """
    match = _ASSIGNED.match(text)
    found = set(_WALRUS.findall(text))
    if match:
        targets = match["loop"] or match["names"] or ""
        found.update(_NAME.findall(targets))
        found.update(f"{owner}_{name}" for owner, name in _ATTRIBUTE.findall(targets))
    return frozenset(found)


def is_named(var: Var, call: Call) -> bool:
    """Whether a value's name is one that its line of the user's source assigns (`y` in `y[i] *= 2` is
    not).
    """
    base = call.args[0] if call.op is core.load else None
    if isinstance(base, Var) and base.hint == var.hint:
        return False
    return var.hint in assigned_names(call.loc.text)


def folds(function: Function) -> dict[Var, Call]:
    """The calls to be printed in place of the value they define."""
    counts = _count_uses(function)
    folding = _Folding(counts, function.kind == "pullback")
    ends = () if function.kind != "primal" else function.results
    folding.block(function.body, ends)
    return folding.folded


def _count_uses(function: Function) -> Counter[Var]:
    counts: Counter[Var] = Counter(variables_in(function.results))
    for stmt in statements(function.body):
        counts.update(variables_in(own_operands(stmt)))
        for _, _, ends in block_ends(stmt):
            counts.update(variables_in(ends))
    return counts


class _Folding:
    def __init__(self, counts: Counter[Var], reverse: bool) -> None:
        self.counts = counts
        self.reverse = reverse  # within a reverse sweep, whose lines stand under the user's
        self.folded: dict[Var, Call] = {}
        self.widths: dict[Var, int] = {}

    def block(self, block: Block, ends: Iterable[Operand]) -> None:
        pending: dict[Var, tuple[int, Call]] = {}
        barrier = -1  # the last statement that nothing is moved across
        writes = -1  # the last write, which only numbers are moved across
        for i, stmt in enumerate(block.stmts):
            for var in self._folding_uses(stmt):
                self._fold(var, pending, i, barrier, writes, stmt.loc)
            for _, inner, inner_ends in block_ends(stmt):
                self.block(inner, inner_ends)
            if not isinstance(stmt, Call) or stmt.op.effect:
                barrier = i
                self.reverse |= isinstance(stmt, Call) and stmt.op is core.begin_reverse
            elif stmt.op.writes:
                writes = i
            elif self._foldable(stmt):
                pending[stmt.targets[0]] = (i, stmt)
        for var in variables_in(ends):
            self._fold(var, pending, len(block.stmts), barrier, writes, NOWHERE)

    def _folding_uses(self, stmt: Stmt) -> Iterator[Var]:
        """The Vars a statement reads where an expression may stand."""
        if isinstance(stmt, Call) and stmt.op.writes and isinstance(stmt.args[0], Var):
            yield from variables_in(stmt.args[1:])
        else:
            yield from variables_in(own_operands(stmt))

    def _foldable(self, call: Call) -> bool:
        if len(call.targets) != 1 or self.counts[call.targets[0]] != 1:
            return False
        return not is_named(call.targets[0], call)

    def _fold(
        self, var: Var, pending: dict[Var, tuple[int, Call]], at: int, barrier: int, writes: int, loc: Loc
    ) -> None:
        found = pending.pop(var, None)
        if found is None:
            return
        where, call = found
        if where < barrier or at - where > MAX_DISTANCE:
            return
        if (
            self.reverse
            and loc.line
            and call.loc.line
            and (loc.file, loc.line) != (call.loc.file, call.loc.line)
        ):
            return
        if where < writes and not all(isinstance(v.style, Scalar) for v in self._leaves(call)):
            return
        width = self._width(call)
        if width <= MAX_WIDTH:
            self.folded[var] = call
            self.widths[var] = width

    def _leaves(self, call: Call) -> Iterator[Var]:
        """The values a call reads once what is folded into it is in place."""
        for operand in own_operands(call):
            for var in variables(operand):
                if var in self.folded:
                    yield from self._leaves(self.folded[var])
                else:
                    yield var

    def _width(self, call: Call) -> int:
        operands = list(own_operands(call))
        name = 1 if call.op.name in core.OPERATORS else len(call.op.numpy_path or call.op.name)
        return name + 2 + sum(self._operand_width(x) + 2 for x in operands)

    def _operand_width(self, operand: Operand) -> int:
        if isinstance(operand, Var):
            return self.widths.get(operand, len(operand.hint))
        if isinstance(operand, Const):
            value = operand.value
            return len(repr(value)) if isinstance(value, int | float | complex | str) else 4
        assert isinstance(operand, Pack)
        return sum(self._operand_width(x) + 2 for x in operand.items)
