"""Dead code elimination on structured code.

In and out: IR.  Pure calls, carried slots, branch results and whole loops whose values nobody reads are dropped;
effects stay, in order.  Loops under a test stay too (they may not end), unless nothing in them matters and they are
counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pullback.ir.nodes import Block, Call, For, Function, If, Operand, Stmt, Var, While
from pullback.ir.walk import block_ends, free_in_statement, own_operands, variables_in


def dce(function: Function) -> Function:
    """The function without dead code."""
    body = prune(function.body, function.results)
    return function if body is function.body else replace(function, body=body)


def prune(block: Block, ends: Sequence[Operand]) -> Block:
    """The block without what neither its ends nor its effects need."""
    live = set(variables_in(ends))
    return _block(block, live)


def _block(block: Block, live: set[Var]) -> Block:
    """Prune a block backwards; `live` is updated to what it reads."""
    kept: list[Stmt] = []
    changed = False
    for stmt in reversed(block.stmts):
        new = _statement(stmt, live)
        changed |= new is not stmt
        if new is not None:
            kept.append(new)
            live.update(free_in_statement(new) if not isinstance(new, Call) else variables_in(own_operands(new)))
    return Block(tuple(reversed(kept))) if changed else block


def _statement(stmt: Stmt, live: set[Var]) -> Stmt | None:
    match stmt:
        case Call():
            return stmt if stmt.op.effect or any(t in live for t in stmt.targets) else None
        case If():
            return _if(stmt, live)
        case For() | While():
            return _loop(stmt, live)


def _if(stmt: If, live: set[Var]) -> If | None:
    keep = [i for i, r in enumerate(stmt.results) if r in live]
    then_yields = tuple(stmt.then_yields[i] for i in keep)
    else_yields = tuple(stmt.else_yields[i] for i in keep)
    then, orelse = prune(stmt.then, then_yields), prune(stmt.orelse, else_yields)
    if not keep and not then.stmts and not orelse.stmts:
        return None
    if len(keep) == len(stmt.results) and then is stmt.then and orelse is stmt.orelse:
        return stmt
    results = tuple(stmt.results[i] for i in keep)
    return replace(
        stmt, then=then, orelse=orelse, then_yields=then_yields, else_yields=else_yields, results=results
    )


def _loop(stmt: For | While, live: set[Var]) -> For | While | None:
    keep = _live_slots(stmt, live)
    go = () if stmt.go is None else (stmt.go,)
    yields = tuple(stmt.yields[i] for i in keep)
    body = prune(stmt.body, (*yields, *go))
    if isinstance(stmt, For) and not keep and not has_effect(body):
        return None
    cond = prune(stmt.cond, (stmt.test,)) if isinstance(stmt, While) else None
    if len(keep) == len(stmt.params) and body is stmt.body and (cond is None or cond is stmt.cond):  # type: ignore[union-attr]
        return stmt
    new = replace(
        stmt,
        params=tuple(stmt.params[i] for i in keep),
        inits=tuple(stmt.inits[i] for i in keep),
        body=body,
        yields=yields,
        results=tuple(stmt.results[i] for i in keep),
    )
    return replace(new, cond=cond) if cond is not None else new  # type: ignore[call-arg]


def _live_slots(stmt: For | While, live: set[Var]) -> list[int]:
    """The carried slots that a result, a test or an effect needs, through any number of iterations."""
    keep = {i for i, r in enumerate(stmt.results) if r in live}
    go = () if stmt.go is None else (stmt.go,)
    base = set(variables_in(go))
    if isinstance(stmt, While):
        cond_live = set(variables_in((stmt.test,)))
        _block(stmt.cond, cond_live)
        base |= cond_live
    while True:
        needed = base | set(variables_in(stmt.yields[i] for i in keep))
        _block(stmt.body, needed)
        more = {i for i, p in enumerate(stmt.params) if p in needed and i not in keep}
        if not more:
            return sorted(keep)
        keep |= more


def has_effect(block: Block) -> bool:
    """Whether a block does more than compute values (a loop under a test may not end)."""
    for stmt in block.stmts:
        if isinstance(stmt, While) or (isinstance(stmt, Call) and stmt.op.effect):
            return True
        if any(has_effect(inner) for _, inner, _ in block_ends(stmt)):
            return True
    return False
