"""A value as another style holds it: the C expressions of its leaves.

Where control flow meets, and where an item goes into a list, a value may have another style than its place: the items
of a display become a run-time list, a number an array of no axes.  `parts` gives one expression for each leaf of the
place's style; what it has to make lives in a local that the emitter gives back (`Emitter.settle`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pullback.backend.native.emit.dtypes import Loose
from pullback.backend.native.emit.element import Term
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import (
    ArrayLeaf,
    Leaf,
    ListLeaf,
    Number,
    c_type,
    leaves_of,
    operand_style,
    plain,
)
from pullback.ir.nodes import ABSENT, UNDEF, Const, Operand, Pack, Var
from pullback.styles.style import Array, ListOf, Scalar, Static, Style, Tup, Undef, numeric

if TYPE_CHECKING:
    from pullback.backend.native.emit.emitter import Emitter

_KINDS = "values of different kinds meet here"
OVERFLOW = 4
_FLOAT = Number(np.dtype(np.float64), None)
_SEQUENCES = ("tuple", "list")


@dataclass(frozen=True, slots=True)
class Held:
    """A part of a value: its style, and the C expressions of its leaves."""

    style: Style
    texts: tuple[str, ...]


Source: TypeAlias = Operand | Held


def parts(e: Emitter, source: Source, style: Style) -> list[str]:
    """The leaves of a value as a style holds them."""
    leaves = leaves_of(style)
    if isinstance(source, Const) and source.value is ABSENT:
        return [nothing(leaf) for leaf in leaves]
    if isinstance(source, Const) and source.value is UNDEF:
        raise Untaken("a name that may not be bound")
    source = held(e, source)
    if isinstance(source, Held) and _same(leaves_of(source.style), leaves):
        return list(source.texts)
    return _converted(e, source, style, leaves) if leaves else []


def _converted(e: Emitter, source: Source, style: Style, leaves: Sequence[Leaf]) -> list[str]:
    match style, leaves:
        case Loose(), _:
            return list(_loose(e, source))
        case Scalar(), (Number() as number_leaf,):
            return [number(e, source, number_leaf)]
        case Array(), (ArrayLeaf() as array_leaf,):
            return [_array(e, source, array_leaf)]
        case ListOf(elem), _:
            return [_list(e, source, style, elem)]
        case Tup(items), _:
            found = items_of(e, source)
            if found is not None and len(found) == len(items):
                return [text for x, s in zip(found, items, strict=True) for text in parts(e, x, s)]
    raise Untaken(_KINDS)


def held(e: Emitter, source: Source) -> Source:
    """A Var by the names of its leaves; what is known when compiling as a constant."""
    if isinstance(source, Var):
        source = Held(source.style, () if isinstance(source.style, Static) else e.leaves(source))
    if isinstance(source, Held) and isinstance(source.style, Static):
        return Const(source.style.value)
    return source


def style_of_source(source: Source) -> Style:
    """The style of a part, or of an operand."""
    return source.style if isinstance(source, Held) else operand_style(source)


def _same(own: Sequence[Leaf], leaves: Sequence[Leaf]) -> bool:
    return tuple(map(plain, own)) == tuple(map(plain, leaves))


def nothing(leaf: Leaf) -> str:
    """What stands for a value that nothing reads."""
    match leaf:
        case Number():
            return "0"
        case ArrayLeaf(_, rank):
            return f"(pb_array{rank}){{0}}"
    return "NULL"


def items_of(e: Emitter, source: Source) -> list[Source] | None:
    """The items of a structure whose length is known; None where it is none."""
    source = held(e, source)
    if isinstance(source, Pack):
        return list(source.items) if source.kind in (*_SEQUENCES, "dict", "new") else None
    if isinstance(source, Const):
        return [Const(v) for v in source.value] if isinstance(source.value, tuple | list) else None
    assert isinstance(source, Held)
    if not isinstance(source.style, Tup):
        return None
    out: list[Source] = []
    at = 0
    for item in source.style.items:
        count = len(leaves_of(item))
        out.append(Held(item, source.texts[at : at + count]))
        at += count
    return out


def number(e: Emitter, source: Source, leaf: Number) -> str:
    """A number as an expression of a leaf's dtype."""
    if not isinstance(source, Held):
        return e.number(source, leaf.dtype)
    own = leaves_of(source.style)[0] if isinstance(source.style, Scalar | Array) else None
    if isinstance(own, Number):
        return Term(source.texts[0], own.dtype).to(leaf.dtype)
    if isinstance(own, ArrayLeaf) and own.rank == 0:
        return Term(f"(*({c_type(own.dtype)} *){source.texts[0]}.data)", own.dtype).to(leaf.dtype)
    raise Untaken(_KINDS)


def _loose(e: Emitter, source: Source) -> tuple[str, str]:
    """A number as a double, and whether it is an int; an int that no double holds is left."""
    style = numeric(style_of_source(source))
    if not isinstance(style, Scalar) or style.dtype is None or style.kind not in "if":
        raise Untaken(_KINDS)
    if style.kind == "f":
        return number(e, source, _FLOAT), "0"
    if not isinstance(source, Const):
        text = number(e, source, Number(np.dtype(np.int64), True))
        e.check(f"{text} <= (INT64_C(1) << 53) && {text} >= -(INT64_C(1) << 53)", OVERFLOW)
    elif abs(source.value) > 2**53:
        raise Untaken("a large integer beside floats")
    return number(e, source, _FLOAT), "1"


def _array(e: Emitter, source: Source, leaf: ArrayLeaf) -> str:
    """A number where an array of no axes is held: an array of one item."""
    if leaf.loose:
        return _loose_array(e, source, leaf)
    if (
        leaf.rank
        or not isinstance(source, Held | Const)
        or isinstance(style_of_source(source), Array | ListOf | Tup)
    ):
        raise Untaken(_KINDS)
    made = e.declare_array("item", leaf.dtype, 0)
    text = number(e, source, Number(leaf.dtype, None))
    e.fresh_array(made, [])
    e.line(f"*({made.ctype} *){made.name}.data = {text};")
    e.scratch.append((made.name, leaf))
    e.module.mixes_ranks = True
    return made.name


def _loose_array(e: Emitter, source: Source, leaf: ArrayLeaf) -> str:
    """An array where a zero without a shape may be, or that zero."""
    if isinstance(source, Const) and type(source.value) is float and source.value == 0.0:
        return nothing(leaf)
    if isinstance(source, Held) and leaves_of(source.style) == (replace(leaf, loose=False),):
        return source.texts[0]
    raise Untaken(_KINDS)


def _list(e: Emitter, source: Source, style: Style, elem: Style) -> str:
    """The items of a display, or of a list with items of another style, in a new list."""
    (leaf,) = leaves_of(style)
    assert isinstance(leaf, ListLeaf)
    found = items_of(e, source)
    if found is not None:
        kind = source.kind if isinstance(source, Pack) else style_of_source(source)
        if isinstance(kind, Tup) and kind.kind not in _SEQUENCES:
            raise Untaken(_KINDS)
        if not found:
            return "NULL"
        made = e.declare_list(leaf)
        for item in found:
            append_item(e, made, leaf, elem, item)
        return made
    if not isinstance(source, Held) or not isinstance(source.style, ListOf):
        raise Untaken(_KINDS)
    if isinstance(source.style.elem, Undef):
        return "NULL"
    made = e.declare_list(leaf)
    with each(e, source) as item:
        append_item(e, made, leaf, elem, item)
    return made


@contextmanager
def each(e: Emitter, source: Held) -> Iterator[Held]:
    """A loop over a list: the lines emitted inside see one item."""
    (name,), leaf = source.texts, leaves_of(source.style)[0]
    assert isinstance(leaf, ListLeaf) and isinstance(source.style, ListOf)
    k, item = e.temporary("k"), e.temporary("item")
    with e.block(f"for (int64_t {k} = 0; {k} < pb_list_length({name}); {k}++)"):
        e.line(f"const {e.module.item_type(leaf)} *{item} = pb_list_item({name}, {k});")
        e.line(f"(void){item};")
        yield Held(source.style.elem, tuple(f"{item}->f{j}" for j in range(len(leaf.items))))


def item_struct(e: Emitter, leaf: ListLeaf, texts: Sequence[str]) -> str:
    """A local struct of an item of a list, that holds its own references."""
    item = e.temporary("item")
    e.line(f"{e.module.item_type(leaf)} {item} = {{0}};")
    for k, text in enumerate(texts):
        e.line(f"{item}.f{k} = {text};")
    for k, inner in enumerate(leaf.items):
        if not isinstance(inner, Number):
            e.line(f"{retain(inner)}({item}.f{k});")
    return item


def append_item(e: Emitter, name: str, leaf: ListLeaf, elem: Style, source: Source) -> None:
    """Append a value to a list in place."""
    mark = len(e.scratch)
    texts = parts(e, source, elem)
    drop = e.module.dropper(leaf)
    with e.block(""):
        item = item_struct(e, leaf, texts)
        slow = f"pb_append(host, &{name}, sizeof({item}), &{item}, {drop}, {e.module.place(e.loc)})"
        with e.block(f"if (PB_OFTEN({name} && {name}->length < {name}->room))", "} else"):
            e.line(f"(({e.module.item_type(leaf)} *){name}->items)[{name}->length++] = {item};")
        e.attempt(slow)
    e.settle(mark)


def retain(leaf: Leaf) -> str:
    """The macro that makes another name of what a leaf holds."""
    return "PB_RETAIN_LIST" if isinstance(leaf, ListLeaf) else "PB_RETAIN"


def release(leaf: Leaf) -> str:
    """The macro that gives a name of what a leaf holds back."""
    return "PB_RELEASE_LIST" if isinstance(leaf, ListLeaf) else "PB_RELEASE"
