"""What fusion asks about a function: what a member needs, and who reads a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from pullback.ir import core_ops as core
from pullback.ir.nodes import Block, Call, Function, Operand, Var
from pullback.ir.slices import slice_lengths
from pullback.ir.walk import block_ends, own_operands, statements, variables_in
from pullback.passes.buffers.deaths import asks_shape
from pullback.passes.fuse.members import Role, read_by, role_of
from pullback.passes.fuse.memory import Memory

END = -1  # what is read at the end of a block is read by no statement


@dataclass(slots=True)
class Needs:
    """What a member reads: `inputs` with whether it reads their elements, and the free calls that it takes along."""

    inputs: dict[Var, bool] = field(default_factory=dict)
    copies: dict[int, Call] = field(default_factory=dict)


class Facts:
    """Facts of one function.

    takes   which calls a target takes into its kernels
    blocks  kernels see parts of arrays: the shape of what is free has to be one that they ask for
    """

    def __init__(self, function: Function, takes: Callable[[Call], bool], blocks: bool = False) -> None:
        self.memory = Memory(function)
        self.slices = slice_lengths(function)
        self.role: dict[int, Role] = {}
        self.free: dict[Var, Call] = {}
        self._readers: dict[Var, list[int]] = {}
        self._needs: dict[int, Needs] = {}
        for stmt in statements(function.body):
            role = role_of(stmt) if isinstance(stmt, Call) else None
            if isinstance(stmt, Call) and role is not None and takes(stmt):
                self.role[id(stmt)] = role
                if role is Role.FREE:
                    self.free[stmt.targets[0]] = stmt
        away = {var for var, call in self.free.items() if blocks and not self._asks(call)}
        for base in _bases(function) | away:  # a buffer that is filled has to be there
            self.role.pop(id(self.free.pop(base, None)), None)
        self._freed = {id(call): var for var, call in self.free.items()}
        self._note(function.results, END)
        self._block(function.body)

    def _asks(self, call: Call) -> bool:
        """Whether a free call takes its shape from an array."""
        shape = call.args[1 if call.op.fn is np.broadcast_to else 0]
        made = self.free.get(shape) if isinstance(shape, Var) else None
        return asks_shape(call) or (made is not None and made.op is core.shape)

    def _block(self, block: Block) -> None:
        for stmt in block.stmts:
            self._note(own_operands(stmt), id(stmt))
            for _, inner, ends in block_ends(stmt):
                self._block(inner)
                self._note(ends, END)

    def _note(self, operands: Iterable[Operand | None], reader: int) -> None:
        for var in variables_in(operands):
            self._readers.setdefault(var, []).append(reader)

    def readers(self, var: Var) -> set[int]:
        """The statements (by `id`) that read a value; for what is free, those that read that."""
        out: set[int] = set()
        for reader in self._readers.get(var, ()):
            made = self._freed.get(reader)
            if made is None:
                out.add(reader)
            else:
                out |= self.readers(made)
        return out

    def needs(self, call: Call) -> Needs:
        """What a member needs."""
        found = self._needs.get(id(call))
        if found is None:
            found = self._needs[id(call)] = Needs()
            elements = set(map(id, read_by(call, self.role[id(call)])))
            for operand in own_operands(call):
                self._resolve((operand,), id(operand) in elements, found)
        return found

    def _resolve(self, operands: Iterable[Operand], elements: bool, found: Needs) -> None:
        for var in variables_in(operands):
            made = self.free.get(var)
            if made is None or not (elements or made.op is core.shape):
                found.inputs[var] = found.inputs.get(var, False) or elements
            elif id(made) not in found.copies:
                spread = _spread(made)
                shapes = [x for x in made.args if x not in spread]
                self._resolve(spread, True, found)
                self._resolve((*shapes, *(x for _, x in made.kwargs)), False, found)
                found.copies[id(made)] = made


def _spread(made: Call) -> tuple[Operand, ...]:
    """The operand that a free call gives a shape to."""
    if made.op.fn is np.broadcast_to:
        return made.args[:1]
    return made.args[1:2] if made.op.fn in (np.full, np.full_like) else ()


def _bases(function: Function) -> set[Var]:
    """What is stored into."""
    stores = (
        s for s in statements(function.body) if isinstance(s, Call) and s.op in (core.store, core.add_at)
    )
    return {base for call in stores for base in variables_in(call.args[:1])}
