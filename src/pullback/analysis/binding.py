"""Which values may be unbound at run time: results that some path leaves undefined.

The reverse sweep may not read such a value (not even its shape) outside the path that bound it.
"""

from __future__ import annotations

from pullback.ir.nodes import ABSENT, UNDEF, Block, Const, For, Function, If, Operand, Var, While


def maybe_unbound(function: Function, absent: bool = False) -> set[Var]:
    """The Vars that may have no value at run time; with `absent` also those that stand for none on some path."""
    walk = _Walk((UNDEF, ABSENT) if absent else (UNDEF,))
    walk.block(function.body)
    return walk.found


class _Walk:
    def __init__(self, nothing: tuple[object, ...]) -> None:
        self.nothing = nothing
        self.found: set[Var] = set()

    def unbound(self, operand: Operand) -> bool:
        """Whether an operand may have no value."""
        if isinstance(operand, Const):
            return any(operand.value is x for x in self.nothing)
        return operand in self.found

    def block(self, block: Block) -> None:
        """The statements of a block."""
        for stmt in block.stmts:
            match stmt:
                case If():
                    self.block(stmt.then)
                    self.block(stmt.orelse)
                    for result, a, b in zip(stmt.results, stmt.then_yields, stmt.else_yields, strict=True):
                        if self.unbound(a) or self.unbound(b):
                            self.found.add(result)
                case For() | While():
                    self.loop(stmt)

    def loop(self, stmt: For | While) -> None:
        """A loop: until nothing more is found."""
        slots = list(zip(stmt.params, stmt.inits, stmt.yields, stmt.results, strict=True))
        self.found.update(p for p, init, _, _ in slots if self.unbound(init))
        while True:
            self.block(stmt.body)
            more = {p for p, _, end, _ in slots if p not in self.found and self.unbound(end)}
            if not more:
                break
            self.found |= more
        self.found.update(r for _, init, end, r in slots if self.unbound(init) or self.unbound(end))
