"""Where buffers die: the last read of each value, in its block or in the branches and loops inside it.

What only asks for an array's shape or dtype does not read its buffer: a write changes neither.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from pullback.ir import core_ops as core
from pullback.ir.nodes import Block, Call, For, Function, If, Operand, Stmt, Var, While
from pullback.ir.walk import block_ends, iter_operands, own_operands, param_variables, targets, variables_in
from pullback.styles.style import Array

_ASK_SHAPE = (np.shape, np.size, np.ndim, np.zeros_like, np.ones_like, np.empty_like)


def asks_shape(stmt: Stmt) -> bool:
    """Whether a statement asks its first operand, an array, for no more than its shape and dtype."""
    if not isinstance(stmt, Call) or not stmt.args or not isinstance(core.style_of(stmt.args[0]), Array):
        return False
    return stmt.op in (core.shape, core.dim) or any(stmt.op.fn is fn for fn in _ASK_SHAPE)


def reads(stmt: Stmt) -> list[Operand]:
    """The operands whose buffers a statement reads itself."""
    if isinstance(stmt, Call) and stmt.op is core.check_length:
        return []
    operands = list(own_operands(stmt))
    return operands[1:] if asks_shape(stmt) else operands


@dataclass(slots=True)
class Deaths:
    """By statement (its `id`) the Vars that are dead after it; by branch or loop those dead where it is
    entered.

    `unused` are the Vars that are never read.  What a branch reads and nothing after it does dies inside the
    branch too.
    """

    after: dict[int, list[Var]] = field(default_factory=dict)
    entry: dict[tuple[int, int], list[Var]] = field(default_factory=dict)
    unused: set[Var] = field(default_factory=set)


def deaths(function: Function) -> Deaths:
    """The deaths of a function's values."""
    walk = _Walk()
    frame: list[Var] = []
    walk.read(function.results, frame)
    walk.block(function.body, frame)
    for var in param_variables(function.params):
        walk.bind(var)
    return walk.out


class _Walk:
    def __init__(self) -> None:
        self.live: set[Var] = set()
        self.out = Deaths()

    def read(self, operands: Iterable[Operand | None], frame: list[Var]) -> list[Var]:
        """Read operands; returns those that were not live before."""
        return self._revive(variables_in(operands), frame)

    def _revive(self, variables: Iterable[Var], frame: list[Var]) -> list[Var]:
        found = []
        for var in variables:
            if var not in self.live:
                self.live.add(var)
                found.append(var)
        frame += found
        return found

    def bind(self, var: Var) -> None:
        """A definition."""
        if var in self.live:
            self.live.remove(var)
        else:
            self.out.unused.add(var)

    def block(self, block: Block, frame: list[Var]) -> None:
        """Walk a block backwards; `frame` collects what comes to life."""
        for stmt in reversed(block.stmts):
            match stmt:
                case Call():
                    for var in stmt.targets:
                        self.bind(var)
                    self.out.after[id(stmt)] = self.read(reads(stmt), frame)
                case If():
                    self._if(stmt, frame)
                case For() | While():
                    self._loop(stmt, frame)

    def _if(self, stmt: If, frame: list[Var]) -> None:
        for var in stmt.results:
            self.bind(var)
        outside = [
            self._branch(stmt.then, stmt.then_yields),
            self._branch(stmt.orelse, stmt.else_yields),
        ]
        both = [set(x) for x in outside]
        self.out.entry[id(stmt), 0] = [v for v in outside[1] if v not in both[0]]
        self.out.entry[id(stmt), 1] = [v for v in outside[0] if v not in both[1]]
        dying = self._revive(outside[0] + outside[1], frame)
        self.out.after[id(stmt)] = dying + self.read((stmt.test,), frame)

    def _branch(self, block: Block, yields: Iterable[Operand]) -> list[Var]:
        inner: list[Var] = []
        self.read(yields, inner)
        self.block(block, inner)
        outside = [v for v in inner if v in self.live]
        self.live.difference_update(outside)
        return outside

    def _loop(self, stmt: For | While, frame: list[Var]) -> None:
        kept = [p for p, r in zip(stmt.params, stmt.results, strict=True) if r in self.live]
        for var in stmt.results:
            self.bind(var)
        self.out.after[id(stmt)] = self._revive(_outside(stmt), frame)
        inner: list[Var] = []
        self.read((*stmt.yields, stmt.go), inner)
        self.block(stmt.body, inner)
        if isinstance(stmt, While):
            self.read((stmt.test, *kept), inner)
            self.block(stmt.cond, inner)
        else:
            for var in stmt.index:
                self.bind(var)
        for var in stmt.params:
            self.bind(var)
        self.out.entry[id(stmt), 0] = self.read(stmt.inits, frame)


def _outside(stmt: For | While) -> list[Var]:
    """What a loop reads from outside in every iteration, the lists it runs over included."""
    found: dict[Var, None] = {}
    bound: set[Var] = set()
    for head, block, ends in block_ends(stmt):
        _free(head, block, ends, bound, found)
    if isinstance(stmt, For):
        found.update(dict.fromkeys(variables_in([x for it in stmt.iters for x in iter_operands(it)])))
    return list(found)


def _free(
    head: Iterable[Var], block: Block, ends: Iterable[Operand], bound: set[Var], found: dict[Var, None]
) -> None:
    bound.update(head)
    for stmt in block.stmts:
        found.update(dict.fromkeys(v for v in variables_in(reads(stmt)) if v not in bound))
        for inner_head, inner, inner_ends in block_ends(stmt):
            _free(inner_head, inner, inner_ends, bound, found)
        bound.update(targets(stmt))
    found.update(dict.fromkeys(v for v in variables_in(ends) if v not in bound))
