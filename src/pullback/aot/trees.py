"""Structures of operands as the expressions of generated text that reach their parts."""

from __future__ import annotations

from pullback.backend.numpy.wrap import quoted
from pullback.ir.nodes import Operand, Pack, Var
from pullback.styles.style import Array


def is_object(operand: Pack) -> bool:
    """Whether a structure is an object with attributes."""
    return operand.kind == "new" and operand.meta[1] is not None


def packs(operand: Operand) -> list[Pack]:
    """A structure and all in it."""
    if not isinstance(operand, Pack):
        return []
    return [operand, *[p for x in operand.items for p in packs(x)]]


def below(pack: Pack, i: int, at: str) -> str:
    """The expression of an item."""
    if pack.kind == "dict":
        return f"{at}[{quoted(pack.meta[i]) if isinstance(pack.meta[i], str) else repr(pack.meta[i])}]"
    if is_object(pack):
        return f"{at}.{pack.meta[1][i]}"
    return f"{at}[{i}]"


def arrays(tree: Operand, at: str) -> list[str]:
    """The expressions of the arrays in a parameter."""
    if isinstance(tree, Var):
        return [at] if isinstance(tree.style, Array) else []
    if isinstance(tree, Pack):
        return [x for i, item in enumerate(tree.items) for x in arrays(item, below(tree, i, at))]
    return []
