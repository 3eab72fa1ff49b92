"""Kernels as data."""

from __future__ import annotations

from dataclasses import dataclass

from pullback.errors import Loc
from pullback.ir.kernel import Kernel, kernel_of
from pullback.ir.nodes import Call, Function
from pullback.ir.pretty import StylePrinter
from pullback.ir.walk import statements


@dataclass(frozen=True, slots=True)
class Fused:
    """A kernel of a function: its name, the user's place, what it does (in order), the axes that it runs over."""

    name: str
    loc: Loc
    operations: tuple[str, ...]
    space: tuple[str, ...]
    kernel: Kernel


def kernels_of(function: Function) -> tuple[Fused, ...]:
    """The kernels that a fused function runs, in its order."""
    lengths = StylePrinter()
    found = []
    for stmt in statements(function.body):
        kernel = kernel_of(stmt) if isinstance(stmt, Call) else None
        if kernel is not None:
            names = tuple(
                s.op.numpy_path or s.op.name
                for s in kernel.function.body.stmts
                if isinstance(s, Call) and not s.op.effect
            )
            space = tuple(lengths.axis(a) for a in kernel.space)
            found.append(Fused(kernel.name, stmt.loc, names, space, kernel))
    return tuple(found)
