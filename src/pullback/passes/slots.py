"""Slots of loops and branches that carry nothing new.

A carried value that every iteration yields unchanged is its init; a branch result that is the same operand on both
sides is that operand; two slots with equal inits and equal yields are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pullback.ir.nodes import UNDEF, Block, Call, Const, For, Function, If, Operand, Stmt, Var, While
from pullback.ir.walk import map_operands, substitute
from pullback.passes.cse import operand_key


def simplify_slots(function: Function) -> Function:
    """The function without slots that carry nothing new."""
    walk = _Walk()
    body = walk.block(function.body)
    if not walk.mapping:
        return function
    results = tuple(substitute(r, walk.mapping) for r in function.results)
    return replace(function, body=body, results=results)


class _Walk:
    def __init__(self) -> None:
        self.mapping: dict[Var, Operand] = {}

    def block(self, block: Block) -> Block:
        return Block(tuple(self.statement(stmt) for stmt in block.stmts))

    def statement(self, stmt: Stmt) -> Stmt:
        match stmt:
            case Call():
                return map_operands(stmt, self._new, self.block)
            case If():
                return self._if(map_operands(stmt, self._new, self.block))
            case For() | While():
                return self._loop(stmt)

    def _new(self, operand: Operand) -> Operand:
        while True:
            new = substitute(operand, self.mapping)
            if new is operand:
                return new
            operand = new

    def _if(self, stmt: Stmt) -> Stmt:
        assert isinstance(stmt, If)
        keep: list[int] = []
        seen: dict[object, Var] = {}
        for i, (a, b) in enumerate(zip(stmt.then_yields, stmt.else_yields, strict=True)):
            key = (operand_key(a), operand_key(b))
            if key[0] == key[1]:
                self.mapping[stmt.results[i]] = a
            elif key in seen:
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

    def _loop(self, stmt: For | While) -> Stmt:
        """Find slots that stay as they are before going in, so that the body is walked once."""
        keep: list[int] = []
        for i, (param, end) in enumerate(zip(stmt.params, stmt.yields, strict=True)):
            init = self._new(stmt.inits[i])
            if end is param and not (isinstance(init, Const) and init.value is UNDEF):
                self.mapping[param] = init
                self.mapping[stmt.results[i]] = init
            else:
                keep.append(i)
        if len(keep) != len(stmt.params):
            stmt = replace(
                stmt,
                params=tuple(stmt.params[i] for i in keep),
                inits=_pick(stmt.inits, keep),
                yields=_pick(stmt.yields, keep),
                results=tuple(stmt.results[i] for i in keep),
            )
        return map_operands(stmt, self._new, self.block)


def _pick(operands: Sequence[Operand], keep: Sequence[int]) -> tuple[Operand, ...]:
    return tuple(operands[i] for i in keep)
