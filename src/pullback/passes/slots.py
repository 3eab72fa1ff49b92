"""Slots of loops and branches that carry nothing new.

for ... carry %h = %x: ... yield %h       the slot is %x, inside the loop and after it
if ... yield %x else yield %x -> %r       %r is %x
for ... carry %a = %x, %b = %x: yield %y, %y    one slot serves both
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pullback.ir.nodes import UNDEF, Const, For, Function, If, Operand, Pack, Stmt, Var, While
from pullback.ir.walk import map_operands
from pullback.passes.cse import operand_key
from pullback.passes.rewrite import Rewriter


def simplify_slots(function: Function) -> Function:
    """The function without slots that carry nothing new.

    >>> from pullback.ir.builder import Builder
    >>> from pullback.ir.core_ops import OPERATORS
    >>> from pullback.ir.nodes import Block, Param, Range
    >>> from pullback.ir.pretty import pretty
    >>> from pullback.styles.style import PY_FLOAT, PY_INT
    >>> build, x, i = Builder(), Var("x", PY_FLOAT), Var("i", PY_INT)
    >>> s, a, s_out, a_out = (Var(name, PY_FLOAT) for name in ("s", "a", "s", "a"))
    >>> with build.block() as body:
    ...     s_next = build.call(OPERATORS["+"], s, a, hint="s")
    >>> numbers = Range(Const(0), Const(3), Const(1))
    >>> build.add(For((i,), (numbers,), (s, a), (x, x), Block(tuple(body)), (s_next, a), (s_out, a_out)))
    >>> print(pretty(simplify_slots(Function("f", (Param("x", x),), build.finish(), (s_out, a_out)))), end="")
    primal f(%x: float) -> %s.2, %x
      for %i in range(0, 3, 1) carry %s: float = %x:
        %s.1: float = %s + %x
        yield %s.1
      -> %s.2: float
    """
    return _Slots().function(function)


class _Slots(Rewriter):
    def control(self, stmt: If | For | While) -> Stmt:
        """A control statement with only the slots that count."""
        if not isinstance(stmt, If):
            return map_operands(self._loop(stmt), self.new, self.block)
        out = map_operands(stmt, self.new, self.block)
        assert isinstance(out, If)
        return self._if(out)

    def _if(self, stmt: If) -> If:
        keep: list[int] = []
        seen: dict[object, Var] = {}
        for i, (a, b) in enumerate(zip(stmt.then_yields, stmt.else_yields, strict=True)):
            key = (operand_key(a), operand_key(b))
            if key[0] == key[1] and not _is_undef(a) and not _is_list(a):
                self.mapping[stmt.results[i]] = a
            elif key in seen and seen[key].style == stmt.results[i].style:
                self.mapping[stmt.results[i]] = seen[key]
            else:
                seen[key] = stmt.results[i]
                keep.append(i)
        if len(keep) == len(stmt.results):
            return stmt
        return replace(
            stmt,
            then_yields=_pick(stmt.then_yields, keep),
            else_yields=_pick(stmt.else_yields, keep),
            results=tuple(stmt.results[i] for i in keep),
        )

    def _loop(self, stmt: For | While) -> For | While:
        """Find slots that stay as they are before going in, so that the body is walked once."""
        keep: list[int] = []
        seen: dict[object, int] = {}
        for i, (param, end) in enumerate(zip(stmt.params, stmt.yields, strict=True)):
            init = self.new(stmt.inits[i])
            key = (operand_key(init), end)
            if end is param and not _is_undef(init) and not _is_list(init):
                self.mapping[param] = init
                self.mapping[stmt.results[i]] = init
            elif key in seen and stmt.params[seen[key]].style == param.style:
                self.mapping[param] = stmt.params[seen[key]]
                self.mapping[stmt.results[i]] = stmt.results[seen[key]]
            else:
                seen[key] = i
                keep.append(i)
        if len(keep) == len(stmt.params):
            return stmt
        return replace(
            stmt,
            params=tuple(stmt.params[i] for i in keep),
            inits=_pick(stmt.inits, keep),
            yields=_pick(stmt.yields, keep),
            results=tuple(stmt.results[i] for i in keep),
        )


def _is_undef(operand: Operand) -> bool:
    return isinstance(operand, Const) and operand.value is UNDEF


def _is_list(operand: Operand) -> bool:
    """A display: each read of it would make a list anew."""
    return isinstance(operand, Pack)


def _pick(operands: Sequence[Operand], keep: Sequence[int]) -> tuple[Operand, ...]:
    return tuple(operands[i] for i in keep)
