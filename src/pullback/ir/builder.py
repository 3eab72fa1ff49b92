"""Building IR: a `Builder` appends statements to the innermost open block and infers the style of each result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pullback.errors import NOWHERE, Loc
from pullback.ir import core_ops as core
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Block, Call, Const, Op, Operand, Pack, Stmt, Var
from pullback.ir.slices import SliceLengths
from pullback.styles.style import Style, distinct_axes


class Builder:
    """Collects statements.  `loc` is stamped on what is emitted; `block()` opens a nested block.

    slices  the lengths that slices are known to have, for what is built beside statements that are there already
    """

    def __init__(self, slices: SliceLengths | None = None) -> None:
        self._open: list[list[Stmt]] = [[]]
        self._slices = slices
        self.loc: Loc = NOWHERE

    def add(self, stmt: Stmt) -> None:
        """Append a finished statement."""
        self._open[-1].append(stmt)

    def call(self, op: Op, *args: Operand, hint: str = "t", **kwargs: Operand) -> Var:
        """Emit a call with one result."""
        (out,) = self.call_many(op, args, kwargs, hints=(hint,))
        return out

    def call_many(
        self, op: Op, args: tuple[Operand, ...], kwargs: dict[str, Operand], hints: tuple[str, ...]
    ) -> tuple[Var, ...]:
        """Emit a call; as many results as the operation's style function says."""
        styles = infer(op, args, kwargs)
        if op is core.load and self._slices is not None:
            styles = (self._slices.named(styles[0], args[0], args[1:]),)
        names = (
            hints
            if len(hints) == len(styles)
            else tuple(f"{(hints or ('t',))[0]}_{i}" for i in range(len(styles)))
        )
        targets = tuple(Var(h, s) for h, s in zip(names, styles, strict=True))
        self.add(Call(targets, op, args, tuple(kwargs.items()), self.loc))
        return targets

    @contextmanager
    def block(self) -> Iterator[list[Stmt]]:
        """Collect what is emitted inside into a list of its own (make a Block of it afterwards)."""
        stmts: list[Stmt] = []
        self._open.append(stmts)
        try:
            yield stmts
        finally:
            popped = self._open.pop()
            assert popped is stmts

    def finish(self) -> Block:
        """The outermost block."""
        assert len(self._open) == 1
        return Block(tuple(self._open[0]))


def infer(op: Op, args: tuple[Operand, ...], kwargs: dict[str, Operand]) -> tuple[Style, ...]:
    """The styles of the results of a call."""
    out = op.style(*[style_of(a) for a in args], **{k: style_of(v) for k, v in kwargs.items()})
    return tuple(map(distinct_axes, out)) if isinstance(out, tuple) else (distinct_axes(out),)


def const(value: Any) -> Const:
    """A compile-time operand."""
    return Const(value)


def index_step(*entries: Operand, as_tuple: bool | None = None) -> Pack:
    """One indexing step: `A[entries]`; a tuple index unless there is one entry."""
    is_tuple = len(entries) != 1 if as_tuple is None else as_tuple
    return Pack("index", tuple(entries), "tuple" if is_tuple else None)


def slice_(start: Operand | None = None, stop: Operand | None = None, step: Operand | None = None) -> Pack:
    """A slice operand."""
    return Pack("slice", tuple(Const(None) if x is None else x for x in (start, stop, step)))
