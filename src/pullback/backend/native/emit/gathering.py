"""Arrays made of lists of run-time length: `np.array` of numbers, rows or lists of these, `np.stack`, `np.concatenate`.

The first items tell the lengths; all others are checked against them.  What NumPy makes of an empty list has another
dtype or rank than that of one with items, so where it matters an empty one is left to NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from pullback.backend.native.emit import writes
from pullback.backend.native.emit.emitter import VALUE_ERROR, ArrayRef, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import ArrayLeaf, ListLeaf, Number, leaves_of
from pullback.backend.native.emit.lists import array_of
from pullback.backend.native.emit.values import Held, Source, held, items_of, number, style_of_source
from pullback.styles.style import ListOf, Style, Tup

UNEQUAL = "the items of a list have different shapes"


def has_list(style: Style) -> bool:
    """Whether a value is a list of run-time length, or holds one."""
    return isinstance(style, ListOf) or (isinstance(style, Tup) and any(map(has_list, style.items)))


def gather(e: Emitter, out: ArrayRef, source: Source, axis: int = 0) -> None:
    """Make a local the array of nested lists; the items of the outermost lie along an axis."""
    rest = _lengths(e, source, out)
    if len(rest) != out.rank:
        raise Untaken("a list of another depth than expected")
    first, *inner = rest
    axis %= out.rank
    e.fresh_array(out, [*inner[:axis], first, *inner[axis:]])
    order = [axis, *(k for k in range(out.rank) if k != axis)]
    _pour(e, out, source, order, f"{out.name}.data")


def concatenate(e: Emitter, out: ArrayRef, source: Source, axis: int) -> None:
    """Make a local the arrays of a list one after the other, along an axis."""
    items = held(e, source)
    if not isinstance(items, Held) or not isinstance(items.style, ListOf):
        raise Untaken("a list is needed here")
    first = array_of(e, _item(e, items, "0"))
    if first is None or first.rank != out.rank or not out.rank:
        raise Untaken("arrays of several ranks")
    axis %= out.rank
    e.check(f"pb_list_length({items.texts[0]}) > 0", VALUE_ERROR, "need at least one array to concatenate")
    total = e.temporary("total")
    e.line(f"int64_t {total} = 0;")
    with _each(e, items) as (item, _):
        part = array_of(e, item)
        assert part is not None
        for k in range(out.rank):
            if k != axis:
                e.check(f"{part.name}.n[{k}] == {first.name}.n[{k}]", VALUE_ERROR, UNEQUAL)
        e.line(f"{total} += {part.name}.n[{axis}];")
    e.fresh_array(out, [total if k == axis else f"{first.name}.n[{k}]" for k in range(out.rank)])
    at = e.temporary("at")
    e.line(f"char *{at} = {out.name}.data;")
    with _each(e, items) as (item, _):
        part = array_of(e, item)
        assert part is not None
        _put(e, out, part, range(out.rank), at)
        e.line(f"{at} += {part.name}.n[{axis}] * {out.name}.s[{axis}];")


def _lengths(e: Emitter, source: Source, out: ArrayRef) -> list[str]:
    """The lengths of the axes that a source makes, from its first items."""
    array = array_of(e, source)
    if array is not None:
        return [f"{array.name}.n[{k}]" for k in range(array.rank)]
    fixed = items_of(e, source)
    if fixed is not None:
        if not fixed:
            raise Untaken("an empty list")
        return [str(len(fixed)), *_lengths(e, fixed[0], out)]
    source = held(e, source)
    if not isinstance(source, Held) or not isinstance(source.style, ListOf):
        return []
    count = e.temporary("count")
    e.line(f"const int64_t {count} = pb_list_length({source.texts[0]});")
    if out.rank > 1 or out.dtype != np.dtype(np.float64):
        e.check(f"{count} > 0", VALUE_ERROR, "an empty list")
    return [count, *_lengths(e, _item(e, source, "0"), out)]


def _item(e: Emitter, items: Held, place: str) -> Held:
    """An item of a list at a place."""
    leaf = leaves_of(items.style)[0]
    assert isinstance(leaf, ListLeaf) and isinstance(items.style, ListOf)
    item = f"((const {e.module.item_type(leaf)} *)pb_list_item({items.texts[0]}, {place}))"
    return Held(items.style.elem, tuple(f"{item}->f{j}" for j in range(len(leaf.items))))


@contextmanager
def _each(e: Emitter, items: Held) -> Iterator[tuple[Held, str]]:
    """A loop over a list: the lines emitted inside see an item, and its number."""
    k = e.temporary("k")
    with e.block(f"for (int64_t {k} = 0; {k} < pb_list_length({items.texts[0]}); {k}++)"):
        yield _item(e, items, k), k


def _pour(e: Emitter, out: ArrayRef, source: Source, order: Sequence[int], at: str) -> None:
    """Write a source where its items belong; `order` are the axes that are left."""
    array = array_of(e, source)
    if array is not None:
        if array.rank != len(order):
            raise Untaken("arrays of several ranks")
        for own, axis in enumerate(order):
            e.check(f"{array.name}.n[{own}] == {out.name}.n[{axis}]", VALUE_ERROR, UNEQUAL)
        _put(e, out, array, order, at)
        return
    fixed = items_of(e, source)
    if fixed is not None:
        _fixed(e, out, fixed, order, at)
        return
    source = held(e, source)
    if isinstance(source, Held) and isinstance(source.style, ListOf):
        if not order:
            raise Untaken("a list of another depth than expected")
        e.check(f"pb_list_length({source.texts[0]}) == {out.name}.n[{order[0]}]", VALUE_ERROR, UNEQUAL)
        with _each(e, source) as (item, k):
            _pour(e, out, item, order[1:], f"{at} + {k} * {out.name}.s[{order[0]}]")
        return
    if order:
        raise Untaken("lists of several depths")
    e.line(f"*({out.ctype} *)({at}) = {number(e, source, Number(out.dtype, None))};")


def _fixed(e: Emitter, out: ArrayRef, items: Sequence[Source], order: Sequence[int], at: str) -> None:
    if not order:
        raise Untaken("a list of another depth than expected")
    e.check(f"{out.name}.n[{order[0]}] == {len(items)}", VALUE_ERROR, UNEQUAL)
    for place, item in enumerate(items):
        _pour(e, out, item, order[1:], f"{at} + {place} * {out.name}.s[{order[0]}]")


def _put(e: Emitter, out: ArrayRef, part: ArrayRef, order: Sequence[int], at: str) -> None:
    """Copy an array to a place in a new one."""
    with e.block(""):
        strides = ", ".join(f"{out.name}.s[{k}]" for k in order) or "0"
        e.line(f"const int64_t pb_t[] = {{{strides}}};")
        writer = writes.writer(e, out.dtype, part.dtype, adds=False)
        e.line(f"{writer}({part.rank}, {part.name}.n, {at}, pb_t, {part.name}.data, {part.name}.s);")


def kinds(e: Emitter, source: Source) -> set[int]:
    """The ranks of the arrays that a list of run-time length holds; 0 for numbers."""
    items = held(e, source)
    style = style_of_source(items)
    if not isinstance(style, ListOf):
        raise Untaken("a list is needed here")
    leaf = leaves_of(style.elem)
    return {x.rank if isinstance(x, ArrayLeaf) else 0 for x in leaf}
