"""Paths of loads and stores: which are the same, and which name each place once."""

from __future__ import annotations

from collections.abc import Sequence

from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Const, Operand, Pack
from pullback.styles.indexing import is_basic
from pullback.styles.style import Array, Scalar, kind, numeric


def same_path(a: Sequence[Operand], b: Sequence[Operand]) -> bool:
    """Whether two paths are the same for certain."""
    return len(a) == len(b) and all(_equal(x, y) for x, y in zip(a, b, strict=True))


def _equal(a: Operand, b: Operand) -> bool:
    if isinstance(a, Pack) and isinstance(b, Pack):
        return a.kind == b.kind and a.meta == b.meta and same_path(a.items, b.items)
    if isinstance(a, Const) and isinstance(b, Const):
        return type(a.value) is type(b.value) and bool(a.value is b.value or _plain_equal(a.value, b.value))
    return a is b


def _plain_equal(a: object, b: object) -> bool:
    return isinstance(a, int | str | slice | type(None)) and a == b


def repeats_nothing(step: Operand) -> bool:
    """Whether a step names each place at most once, as basic indices, views and lone boolean masks do."""
    assert isinstance(step, Pack)
    if step.kind != "index":
        return True
    styles = tuple(style_of(x) for x in step.items)
    styles = tuple(s for s in styles if not (isinstance(numeric(s), Scalar) and kind(s) == "b"))
    if is_basic(styles):
        return True
    return len(styles) == 1 and isinstance(styles[0], Array) and styles[0].kind == "b"
