"""A forward walk that replaces values: the frame of the passes that go statement by statement.

A subclass says what becomes of a call and of a control statement; operands are replaced by what their definitions
became.  What does not change stays the same object.
"""

from __future__ import annotations

from dataclasses import replace

from pullback.ir.nodes import Block, Call, For, Function, If, Operand, Stmt, Var, While
from pullback.ir.walk import map_each, map_operands, same_items, substitute


class Rewriter:
    """`mapping` sends a Var that is gone to the operand that stands for it."""

    def __init__(self) -> None:
        self.mapping: dict[Var, Operand] = {}
        self.emitted: list[Stmt] = []  # of the block being rewritten

    def function(self, function: Function) -> Function:
        """The function rewritten; the same object where nothing changes."""
        body = self.block(function.body)
        results = map_each(function.results, self.new)
        if body is function.body and results is function.results:
            return function
        return replace(function, body=body, results=results)

    def new(self, operand: Operand) -> Operand:
        """The operand after what was replaced so far."""
        return substitute(operand, self.mapping) if self.mapping else operand

    def block(self, block: Block) -> Block:
        """A block rewritten."""
        outer, self.emitted = self.emitted, []
        for stmt in block.stmts:
            if isinstance(stmt, Call):
                found: Stmt | None = self.call(self.operands(stmt))
            else:
                found = self.control(stmt)
            if found is not None:
                self.emitted.append(found)
        mine, self.emitted = self.emitted, outer
        return block if same_items(mine, block.stmts) else Block(tuple(mine))

    def operands(self, call: Call) -> Call:
        """A call with its operands replaced."""
        if not self.mapping:
            return call
        out = map_operands(call, self.new, self.block)
        assert isinstance(out, Call)
        return out

    def call(self, call: Call) -> Call | None:
        """What becomes of a call whose operands are replaced; None where `mapping` says what stands for it."""
        return call

    def control(self, stmt: If | For | While) -> Stmt | None:
        """What becomes of a control statement (its operands not yet replaced)."""
        return map_operands(stmt, self.new, self.block)
