"""Walking the IR: the leaves of operands, the definitions and uses of statements, substitution.

Iterative in the number of statements; recursive only in the nesting of blocks and packs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from pullback.ir.nodes import Block, Call, For, Function, If, Iter, Operand, Pack, Param, Range, Seq, Stmt, Var, While


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
        if operand is not None:
            yield from variables(operand)


def iter_operands(it: Iter) -> tuple[Operand, ...]:
    """The operands of a loop's iterator."""
    if isinstance(it, Seq):
        return (it.value,)
    return (it.start, it.stop, it.step) if it.count is None else (it.start, it.stop, it.step, it.count)


def targets(stmt: Stmt) -> tuple[Var, ...]:
    """The Vars a statement defines for the statements after it."""
    return stmt.targets if isinstance(stmt, Call) else stmt.results


def own_operands(stmt: Stmt) -> Iterator[Operand]:
    """The operands a statement reads itself, before any of its blocks runs."""
    match stmt:
        case Call():
            yield from stmt.args
            for _, operand in stmt.kwargs:
                yield operand
        case If():
            yield stmt.test
        case For():
            for it in stmt.iters:
                yield from iter_operands(it)
            yield from stmt.inits
        case While():
            yield from stmt.inits


def block_ends(stmt: Stmt) -> Iterator[tuple[tuple[Var, ...], Block, tuple[Operand, ...]]]:
    """Each block of a statement: the Vars bound at its head, the block, the operands read at its end."""
    match stmt:
        case If():
            yield (), stmt.then, stmt.then_yields
            yield (), stmt.orelse, stmt.else_yields
        case For():
            go = () if stmt.go is None else (stmt.go,)
            yield stmt.index + stmt.params, stmt.body, stmt.yields + go
        case While():
            go = () if stmt.go is None else (stmt.go,)
            yield stmt.params, stmt.cond, (stmt.test,)
            yield stmt.params, stmt.body, stmt.yields + go


def uses(stmt: Stmt) -> Iterator[Var]:
    """Every Var that a statement or anything inside it reads, inner definitions included."""
    yield from variables_in(own_operands(stmt))
    for _, block, ends in block_ends(stmt):
        for inner in block.stmts:
            yield from uses(inner)
        yield from variables_in(ends)


def free_variables(block: Block, ends: Iterable[Operand | None] = (), bound: Iterable[Var] = ()) -> dict[Var, None]:
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
        for _, inner, _ in block_ends(stmt):
            yield from statements(inner)


def substitute(operand: Operand, mapping: Mapping[Var, Operand]) -> Operand:
    """The operand with Vars replaced; identity is kept where nothing changes."""
    if isinstance(operand, Var):
        return mapping.get(operand, operand)
    if isinstance(operand, Pack):
        items = tuple(substitute(item, mapping) for item in operand.items)
        return operand if items == operand.items else replace(operand, items=items)
    return operand


def map_operands(stmt: Stmt, fn: Callable[[Operand], Operand], block_fn: Callable[[Block], Block]) -> Stmt:
    """The statement with `fn` applied to each operand and `block_fn` to each block; definitions stay."""

    def several(operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
        return tuple(fn(x) for x in operands)

    def one(it: Iter) -> Iter:
        if isinstance(it, Seq):
            return replace(it, value=fn(it.value))
        count = None if it.count is None else fn(it.count)
        return Range(fn(it.start), fn(it.stop), fn(it.step), count, it.reverse)

    match stmt:
        case Call():
            return replace(stmt, args=several(stmt.args), kwargs=tuple((k, fn(v)) for k, v in stmt.kwargs))
        case If():
            return replace(
                stmt,
                test=fn(stmt.test),
                then=block_fn(stmt.then),
                then_yields=several(stmt.then_yields),
                orelse=block_fn(stmt.orelse),
                else_yields=several(stmt.else_yields),
            )
        case For():
            return replace(
                stmt,
                iters=tuple(one(it) for it in stmt.iters),
                inits=several(stmt.inits),
                body=block_fn(stmt.body),
                yields=several(stmt.yields),
                go=None if stmt.go is None else fn(stmt.go),
            )
        case While():
            return replace(
                stmt,
                inits=several(stmt.inits),
                cond=block_fn(stmt.cond),
                test=fn(stmt.test),
                body=block_fn(stmt.body),
                yields=several(stmt.yields),
                go=None if stmt.go is None else fn(stmt.go),
            )


def substitute_block(block: Block, mapping: Mapping[Var, Operand]) -> Block:
    """The block with free Vars replaced (definitions are not renamed)."""
    return Block(tuple(substitute_stmt(stmt, mapping) for stmt in block.stmts))


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

    if isinstance(stmt, For):
        stmt = replace(stmt, iters=map_operands(replace(stmt, body=Block()), lambda x: substitute(x, mapping),
                                                lambda b: b).iters,  # type: ignore[union-attr]
                       inits=tuple(substitute(x, mapping) for x in stmt.inits))
        stmt = replace(stmt, index=fresh(stmt.index), params=fresh(stmt.params))
    elif isinstance(stmt, While):
        stmt = replace(stmt, inits=tuple(substitute(x, mapping) for x in stmt.inits))
        stmt = replace(stmt, params=fresh(stmt.params))
    if isinstance(stmt, For | While | If):
        # Blocks in order, then the operands at their ends, so that inner definitions are mapped when they are read.
        blocks: dict[int, Block] = {}
        for _, block, _ in block_ends(stmt):
            blocks[id(block)] = copy_block(block, mapping)
        stmt = map_operands(stmt, lambda x: substitute(x, mapping), lambda b: blocks[id(b)])
        return replace(stmt, results=fresh(stmt.results))  # type: ignore[call-arg, arg-type]
    stmt = map_operands(stmt, lambda x: substitute(x, mapping), lambda b: b)
    assert isinstance(stmt, Call)
    return replace(stmt, targets=fresh(stmt.targets))


def param_variables(params: Iterable[Param]) -> Iterator[Var]:
    """The Vars bound by a function's parameters."""
    for param in params:
        yield from variables(param.tree)


def count_statements(function: Function) -> int:
    """The number of statements, inner ones included."""
    return sum(1 for _ in statements(function.body))
