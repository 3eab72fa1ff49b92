"""Walking the IR: the leaves of operands, the definitions and uses of statements, substitution.

Iterative in the number of statements; recursive only in the nesting of blocks and packs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from pullback.ir.nodes import (
    Block,
    Call,
    For,
    Function,
    If,
    Iter,
    Operand,
    Pack,
    Param,
    Range,
    Seq,
    Stmt,
    Var,
    While,
)


def variables(operand: Operand) -> Iterator[Var]:
    """The Vars in an operand, left to right."""
    if isinstance(operand, Var):
        yield operand
    elif isinstance(operand, Pack):
        for item in operand.items:
            yield from variables(item)


def variables_in(operands: Iterable[Operand | None]) -> Iterator[Var]:
    """The Vars in several operands."""
    for operand in operands:
        if isinstance(operand, Var):
            yield operand
        elif isinstance(operand, Pack):
            yield from variables(operand)


def iter_operands(it: Iter) -> tuple[Operand, ...]:
    """The operands of a loop's iterator."""
    if isinstance(it, Seq):
        return (it.value,)
    return (it.start, it.stop, it.step) if it.count is None else (it.start, it.stop, it.step, it.count)


def targets(stmt: Stmt) -> tuple[Var, ...]:
    """The Vars a statement defines for the statements after it."""
    return stmt.targets if isinstance(stmt, Call) else stmt.results


def own_operands(stmt: Stmt) -> tuple[Operand, ...]:
    """The operands a statement reads itself, before any of its blocks runs."""
    match stmt:
        case Call():
            return (*stmt.args, *[x for _, x in stmt.kwargs]) if stmt.kwargs else stmt.args
        case If():
            return (stmt.test,)
        case For():
            return (*[x for it in stmt.iters for x in iter_operands(it)], *stmt.inits)
        case While():
            return stmt.inits


End: TypeAlias = tuple[tuple[Var, ...], Block, tuple[Operand, ...]]


def block_ends(stmt: Stmt) -> tuple[End, ...]:
    """Each block of a statement: the Vars bound at its head, the block, the operands read at its end."""
    match stmt:
        case Call():
            return ()
        case If():
            return ((), stmt.then, stmt.then_yields), ((), stmt.orelse, stmt.else_yields)
        case For():
            go = () if stmt.go is None else (stmt.go,)
            return ((stmt.index + stmt.params, stmt.body, stmt.yields + go),)
        case While():
            go = () if stmt.go is None else (stmt.go,)
            body = (stmt.params, stmt.body, stmt.yields + go)
            return (stmt.params, stmt.cond, (stmt.test,)), body


def uses(stmt: Stmt) -> Iterator[Var]:
    """Every Var that a statement or anything inside it reads, inner definitions included."""
    yield from variables_in(own_operands(stmt))
    for _, block, ends in block_ends(stmt):
        for inner in block.stmts:
            yield from uses(inner)
        yield from variables_in(ends)


def free_variables(
    block: Block, ends: Iterable[Operand | None] = (), bound: Iterable[Var] = ()
) -> dict[Var, None]:
    """The Vars that a block and its end read from outside, in order of first use."""
    free: dict[Var, None] = {}
    _free(block, ends, set(bound), free)
    return free


def _free(block: Block, ends: Iterable[Operand | None], bound: set[Var], free: dict[Var, None]) -> None:
    for stmt in block.stmts:
        for var in variables_in(own_operands(stmt)):
            if var not in bound:
                free[var] = None
        for head, inner, inner_ends in block_ends(stmt):
            bound.update(head)  # single assignment: a name bound inside is never one from outside
            _free(inner, inner_ends, bound, free)
        bound.update(targets(stmt))
    for var in variables_in(ends):
        if var not in bound:
            free[var] = None


def free_in_statement(stmt: Stmt) -> dict[Var, None]:
    """The Vars that a statement reads from outside itself, in order of first use."""
    return free_variables(Block((stmt,)))


def definitions(block: Block) -> Iterator[Var]:
    """Every Var bound in a block, inner blocks included."""
    for stmt in block.stmts:
        for head, inner, _ in block_ends(stmt):
            yield from head
            yield from definitions(inner)
        yield from targets(stmt)


def statements(block: Block) -> Iterator[Stmt]:
    """Every statement of a block, inner blocks included, outer statements first."""
    for stmt in block.stmts:
        yield stmt
        if not isinstance(stmt, Call):
            for _, inner, _ in block_ends(stmt):
                yield from statements(inner)


def substitute(operand: Operand, mapping: Mapping[Var, Operand]) -> Operand:
    """The operand with Vars replaced; identity is kept where nothing changes."""
    if isinstance(operand, Var):
        return mapping.get(operand, operand)
    if isinstance(operand, Pack):
        items = tuple([substitute(item, mapping) for item in operand.items])
        return operand if items == operand.items else replace(operand, items=items)
    return operand


def map_each(operands: tuple[Operand, ...], fn: Callable[[Operand], Operand]) -> tuple[Operand, ...]:
    """The operands mapped; the same tuple where nothing changes."""
    mapped = tuple([fn(x) for x in operands])
    return operands if same_items(mapped, operands) else mapped


def same_items(a: Sequence[object], b: Sequence[object]) -> bool:
    """Whether two sequences hold the very same objects."""
    return len(a) == len(b) and all(map(operator.is_, a, b))


def _map_iter(it: Iter, fn: Callable[[Operand], Operand]) -> Iter:
    old = iter_operands(it)
    new = map_each(old, fn)
    if new is old:
        return it
    if isinstance(it, Seq):
        return replace(it, value=new[0])
    return Range(new[0], new[1], new[2], new[3] if len(new) > 3 else None, it.reverse)


def map_operands(stmt: Stmt, fn: Callable[[Operand], Operand], block_fn: Callable[[Block], Block]) -> Stmt:
    """The statement with `fn` applied to each operand and `block_fn` to each block; definitions stay.

    In program order: what the statement reads itself, then each block and the operands at its end.  The same object
    where nothing changes.
    """
    match stmt:
        case Call():
            args, kwargs = map_each(stmt.args, fn), _map_kwargs(stmt.kwargs, fn)
            if args is stmt.args and kwargs is stmt.kwargs:
                return stmt
            return Call(stmt.targets, stmt.op, args, kwargs, stmt.loc)
        case If():
            return _changed(
                stmt,
                test=fn(stmt.test),
                then=block_fn(stmt.then),
                then_yields=map_each(stmt.then_yields, fn),
                orelse=block_fn(stmt.orelse),
                else_yields=map_each(stmt.else_yields, fn),
            )
        case For():
            iters = tuple(_map_iter(it, fn) for it in stmt.iters)
            return _changed(
                stmt,
                iters=stmt.iters if same_items(iters, stmt.iters) else iters,
                inits=map_each(stmt.inits, fn),
                body=block_fn(stmt.body),
                yields=map_each(stmt.yields, fn),
                go=None if stmt.go is None else fn(stmt.go),
            )
        case While():
            return _changed(
                stmt,
                inits=map_each(stmt.inits, fn),
                cond=block_fn(stmt.cond),
                test=fn(stmt.test),
                body=block_fn(stmt.body),
                yields=map_each(stmt.yields, fn),
                go=None if stmt.go is None else fn(stmt.go),
            )


S = TypeVar("S", bound=Stmt)


def _changed(stmt: S, **parts: Any) -> S:
    """The statement with new parts; the same object where they are the old ones."""
    same = all(getattr(stmt, name) is part for name, part in parts.items())
    return stmt if same else replace(stmt, **parts)


def _map_kwargs(
    kwargs: tuple[tuple[str, Operand], ...], fn: Callable[[Operand], Operand]
) -> tuple[tuple[str, Operand], ...]:
    if not kwargs:
        return kwargs
    old = tuple(x for _, x in kwargs)
    new = map_each(old, fn)
    return kwargs if new is old else tuple((name, x) for (name, _), x in zip(kwargs, new, strict=True))


def map_block(block: Block, fn: Callable[[Stmt], Stmt]) -> Block:
    """The block with each of its statements mapped; the same object where nothing changes."""
    stmts = tuple([fn(stmt) for stmt in block.stmts])
    return block if same_items(stmts, block.stmts) else Block(stmts)


def substitute_block(block: Block, mapping: Mapping[Var, Operand]) -> Block:
    """The block with free Vars replaced (definitions are not renamed)."""
    return map_block(block, lambda stmt: substitute_stmt(stmt, mapping)) if mapping else block


def substitute_stmt(stmt: Stmt, mapping: Mapping[Var, Operand]) -> Stmt:
    """The statement with free Vars replaced."""
    return map_operands(stmt, lambda x: substitute(x, mapping), lambda b: substitute_block(b, mapping))


def copy_block(block: Block, mapping: dict[Var, Operand]) -> Block:
    """A copy in which every definition is a new Var; `mapping` (updated) sends old Vars to new operands."""
    return Block(tuple(copy_stmt(stmt, mapping) for stmt in block.stmts))


def copy_stmt(stmt: Stmt, mapping: dict[Var, Operand]) -> Stmt:
    """A copy of a statement with new definitions; `mapping` is updated."""

    def fresh(variables: tuple[Var, ...]) -> tuple[Var, ...]:
        new = tuple(Var(v.hint, v.style) for v in variables)
        mapping.update(zip(variables, new, strict=True))
        return new

    # A statement never reads what is bound at its own blocks' heads, so these may be renamed first.
    heads: dict[str, tuple[Var, ...]] = {}
    if isinstance(stmt, For):
        heads["index"] = fresh(stmt.index)
    if isinstance(stmt, For | While):
        heads["params"] = fresh(stmt.params)
    new = map_operands(stmt, lambda x: substitute(x, mapping), lambda b: copy_block(b, mapping))
    if isinstance(new, Call):
        return replace(new, targets=fresh(new.targets))
    return _changed(new, results=fresh(new.results), **heads)


def param_variables(params: Iterable[Param]) -> Iterator[Var]:
    """The Vars bound by a function's parameters."""
    for param in params:
        yield from variables(param.tree)


def count_statements(function: Function) -> int:
    """The number of statements, inner ones included."""
    return sum(1 for _ in statements(function.body))
