"""Dead code: what no result and no effect depends on.

    %a: f64[n] = np.sin(%x)          dropped: nothing reads %a
    for ... carry %h = %x, %u = %x:  the slot %u is dropped, even where only itself reads it

In and out: a function.  Dropped are pure calls (with the error they might have raised), results of branches, slots of
loops (cyclic ones too), empty branches, and `for` loops without effect; never an effect, never a `while` (it might not
end).  Liveness is a worklist over definitions, so the pass is linear.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Block, Call, For, Function, If, Operand, Seq, Stmt, Var, While
from pullback.ir.walk import block_ends, iter_operands, map_operands, own_operands, variables_in
from pullback.styles.style import Anything

T = TypeVar("T")


def dce(function: Function) -> Function:
    """The function without its dead code.

    >>> from pullback.ir.builder import Builder
    >>> from pullback.ir.core_ops import OPERATORS
    >>> from pullback.ir.nodes import Const, Param
    >>> from pullback.ir.pretty import pretty
    >>> from pullback.styles.style import PY_FLOAT
    >>> build, x = Builder(), Var("x", PY_FLOAT)
    >>> unused = build.call(OPERATORS["*"], x, Const(2.0), hint="unused")
    >>> y = build.call(OPERATORS["+"], x, Const(1.0), hint="y")
    >>> f = Function("f", (Param("x", x),), build.finish(), (y,))
    >>> print(pretty(f) + "->\\n" + pretty(dce(f)), end="")
    primal f(%x: float) -> %y
      %unused: float = %x * 2.0
      %y: float = %x + 1.0
    ->
    primal f(%x: float) -> %y
      %y: float = %x + 1.0
    """
    body = prune(function.body, function.results)
    return function if body is function.body else replace(function, body=body)


def prune(block: Block, ends: Sequence[Operand]) -> Block:
    """The block without what neither its effects nor the operands at its end depend on.

    The same object where all is live.
    """
    graph = _Graph()
    graph.block(block, None)
    graph.live(ends)
    graph.propagate()
    return graph.rebuild(block)


@dataclass(slots=True)
class _Graph:
    """What each definition reads.  A statement is live if it has an effect or a target of it is live.

    A control statement (`If`, loop) is entered in the graph under its `id`; reading it keeps its test and its way of
    ending alive, and with it the control statement around it.
    """

    reads: dict[Var, list[Operand]] = field(default_factory=dict)
    owner: dict[Var, int] = field(
        default_factory=dict
    )  # the control statement that a definition lies in or is of
    control: dict[int, list[Operand]] = field(default_factory=dict)
    outer: dict[int, int | None] = field(default_factory=dict)
    found: set[Var] = field(default_factory=set)
    kept: set[int] = field(default_factory=set)
    work: list[Var] = field(default_factory=list)

    # -------------------------------------------------------------------------------------------------- building

    def block(self, block: Block, owner: int | None) -> None:
        """Enter a block's definitions."""
        for stmt in block.stmts:
            if isinstance(stmt, Call):
                self._call(stmt, owner)
            else:
                self._control(stmt, owner)

    def _define(self, var: Var, reads: Iterable[Operand], owner: int | None) -> None:
        self.reads[var] = list(reads)
        if owner is not None:
            self.owner[var] = owner

    def _call(self, stmt: Call, owner: int | None) -> None:
        operands = list(own_operands(stmt))
        for target in stmt.targets:
            self._define(target, operands, owner)
        if stmt.op.effect:
            self.kept.add(id(stmt))
            self.live(operands)
            self._keep(owner)

    def _control(self, stmt: If | For | While, owner: int | None) -> None:
        me = id(stmt)
        self.outer[me] = owner
        if isinstance(stmt, If):
            self.control[me] = [stmt.test]
            for result, a, b in zip(stmt.results, stmt.then_yields, stmt.else_yields, strict=True):
                self._define(result, (a, b), me)
        else:
            self._loop(stmt, me)
        for _, inner, _ in block_ends(stmt):
            self.block(inner, me)
        if isinstance(stmt, While) or _consumes(stmt):
            self._keep(me)

    def _loop(self, stmt: For | While, me: int) -> None:
        ends = [] if stmt.go is None else [stmt.go]
        if isinstance(stmt, For):
            ends += [x for it in stmt.iters for x in iter_operands(it)]
            for index in stmt.index:
                self._define(index, (), me)
        else:
            ends.append(stmt.test)
        self.control[me] = ends
        for param, result, init, end in zip(stmt.params, stmt.results, stmt.inits, stmt.yields, strict=True):
            self._define(param, (init, end), me)
            self._define(result, (init, end, param), me)

    # ------------------------------------------------------------------------------------------------ propagation

    def live(self, operands: Iterable[Operand]) -> None:
        """Mark what operands read."""
        for var in variables_in(operands):
            if var not in self.found:
                self.found.add(var)
                self.work.append(var)

    def _keep(self, owner: int | None) -> None:
        """Keep a control statement and those around it."""
        while owner is not None and owner not in self.kept:
            self.kept.add(owner)
            self.live(self.control[owner])
            owner = self.outer[owner]

    def propagate(self) -> None:
        """Mark all that the marked depend on."""
        while self.work:
            var = self.work.pop()
            self.live(self.reads.get(var, ()))
            self._keep(self.owner.get(var))

    # ------------------------------------------------------------------------------------------------- rebuilding

    def rebuild(self, block: Block) -> Block:
        """The block with only what is live."""
        stmts = [self._statement(stmt) for stmt in block.stmts]
        if all(a is b for a, b in zip(stmts, block.stmts, strict=True)):
            return block
        return Block(tuple(stmt for stmt in stmts if stmt is not None))

    def _statement(self, stmt: Stmt) -> Stmt | None:
        if isinstance(stmt, Call):
            alive = id(stmt) in self.kept or any(t in self.found for t in stmt.targets)
            return stmt if alive else None
        if id(stmt) not in self.kept:
            return None
        return self._if(stmt) if isinstance(stmt, If) else self._slots(stmt)

    def _if(self, stmt: If) -> If:
        keep = [r in self.found for r in stmt.results]
        then, orelse = self.rebuild(stmt.then), self.rebuild(stmt.orelse)
        if all(keep) and then is stmt.then and orelse is stmt.orelse:
            return stmt
        return replace(
            stmt,
            then=then,
            orelse=orelse,
            then_yields=_only(stmt.then_yields, keep),
            else_yields=_only(stmt.else_yields, keep),
            results=_only(stmt.results, keep),
        )

    def _slots(self, stmt: For | While) -> For | While:
        keep = [p in self.found or r in self.found for p, r in zip(stmt.params, stmt.results, strict=True)]
        if not all(keep):
            stmt = replace(
                stmt,
                params=_only(stmt.params, keep),
                inits=_only(stmt.inits, keep),
                yields=_only(stmt.yields, keep),
                results=_only(stmt.results, keep),
            )
        new = map_operands(stmt, lambda x: x, self.rebuild)
        assert isinstance(new, For | While)
        return new


def _consumes(stmt: Stmt) -> bool:
    """Whether a loop runs over an object that may change by that (an iterator)."""
    if not isinstance(stmt, For):
        return False
    return any(isinstance(it, Seq) and isinstance(style_of(it.value), Anything) for it in stmt.iters)


def _only(items: Sequence[T], keep: Sequence[bool]) -> tuple[T, ...]:
    return tuple(x for x, kept in zip(items, keep, strict=True) if kept)
