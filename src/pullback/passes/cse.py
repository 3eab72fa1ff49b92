"""Common subexpressions: a pure call that an enclosing or earlier part of the block has made is not made again.

Calls are equal when operation and operands are; operands are equal by identity of values, and constants by type and
representation (so that 0.0 and -0.0, 1 and True differ).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pullback.ir.nodes import Block, Call, Const, Function, Operand, Pack, Stmt, Var
from pullback.ir.walk import map_operands, substitute


def cse(function: Function) -> Function:
    """The function with each pure call made once where one serves for all."""
    walk = _Walk()
    body = walk.block(function.body)
    if not walk.mapping:
        return function
    results = tuple(substitute(r, walk.mapping) for r in function.results)
    return replace(function, body=body, results=results)


class _Walk:
    def __init__(self) -> None:
        self.mapping: dict[Var, Operand] = {}
        self.scopes: list[dict[Any, tuple[Var, ...]]] = []

    def block(self, block: Block) -> Block:
        self.scopes.append({})
        stmts = []
        for stmt in block.stmts:
            new = self.statement(stmt)
            if new is not None:
                stmts.append(new)
        self.scopes.pop()
        same = len(stmts) == len(block.stmts) and all(a is b for a, b in zip(stmts, block.stmts, strict=True))
        return block if same else Block(tuple(stmts))

    def statement(self, stmt: Stmt) -> Stmt | None:
        if not isinstance(stmt, Call):
            return map_operands(stmt, self._new, self.block)
        new = stmt
        if self.mapping:
            args = tuple(self._new(a) for a in stmt.args)
            kwargs = tuple((k, self._new(v)) for k, v in stmt.kwargs)
            if args != stmt.args or any(a[1] is not b[1] for a, b in zip(kwargs, stmt.kwargs, strict=True)):
                new = replace(stmt, args=args, kwargs=kwargs)
        if new.op.effect or not new.targets:
            return new
        key = (new.op, tuple(map(operand_key, new.args)), tuple((k, operand_key(v)) for k, v in new.kwargs))
        for scope in reversed(self.scopes):
            if key in scope and all(a.style == b.style for a, b in zip(scope[key], new.targets, strict=True)):
                self.mapping.update(zip(new.targets, scope[key], strict=True))
                return None
        self.scopes[-1][key] = new.targets
        return new


    def _new(self, operand: Operand) -> Operand:
        return substitute(operand, self.mapping)


def operand_key(operand: Operand) -> Any:
    """A key under which equal operands are equal."""
    if isinstance(operand, Const):
        value = operand.value
        plain = isinstance(value, int | float | complex | str | bytes | type(None))
        return ("const", type(value), repr(value)) if plain else ("object", id(value))
    if isinstance(operand, Pack):
        meta = operand.meta if operand.kind != "dict" else tuple(map(repr, operand.meta))
        return (operand.kind, _hashable(meta), tuple(map(operand_key, operand.items)))
    return operand


def _hashable(meta: Any) -> Any:
    try:
        hash(meta)
    except TypeError:
        return id(meta)
    return meta
