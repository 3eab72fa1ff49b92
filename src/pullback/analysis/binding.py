"""Which values may be unbound at run time: results that some path leaves undefined.

The reverse sweep may not read such a value (not even its shape) outside the path that bound it.
"""

from __future__ import annotations

from pullback.ir.nodes import UNDEF, Block, Const, For, Function, If, Operand, Var, While


def maybe_unbound(function: Function) -> set[Var]:
    """The Vars that may have no value at run time."""
    found: set[Var] = set()
    _block(function.body, found)
    return found


def _unbound(operand: Operand, found: set[Var]) -> bool:
    return (isinstance(operand, Const) and operand.value is UNDEF) or operand in found


def _block(block: Block, found: set[Var]) -> None:
    for stmt in block.stmts:
        match stmt:
            case If():
                _block(stmt.then, found)
                _block(stmt.orelse, found)
                for result, a, b in zip(stmt.results, stmt.then_yields, stmt.else_yields, strict=True):
                    if _unbound(a, found) or _unbound(b, found):
                        found.add(result)
            case For() | While():
                _loop(stmt, found)


def _loop(stmt: For | While, found: set[Var]) -> None:
    slots = list(zip(stmt.params, stmt.inits, stmt.yields, stmt.results, strict=True))
    found.update(p for p, init, _, _ in slots if _unbound(init, found))
    while True:
        _block(stmt.body, found)
        more = {p for p, _, end, _ in slots if p not in found and _unbound(end, found)}
        if not more:
            break
        found |= more
    found.update(r for _, init, end, r in slots if _unbound(init, found) or _unbound(end, found))
