"""Indexing by arrays of integers and by masks: what is selected is a list of offsets, each of an item or a view.

NumPy's rules: index arrays are broadcast together, a mask stands for the indices of its true items, an integer beside
them is an array of rank 0.  The selected axes stand where the entries stand if these are neighbours, else in front.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pullback.backend.native.emit import writes
from pullback.backend.native.emit.element import literal
from pullback.backend.native.emit.emitter import INDEX_ERROR, INT64, VALUE_ERROR, ArrayRef, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.indices import is_integer, position, slice_of
from pullback.backend.native.emit.leaves import code_of
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Const, Operand, Pack
from pullback.styles.indexing import is_basic


@dataclass(frozen=True, slots=True)
class Selected:
    """What an index leads to.

    base     a view: the axes that are not selected from; the first `before` of them come before the selected ones
    space    the C name of the lengths of the selected axes, `rank` of them
    offsets  an array of one offset for each selected position, in C order
    """

    base: ArrayRef
    before: int
    space: str
    rank: int
    offsets: ArrayRef

    def shape(self) -> list[str]:
        """The lengths of the result."""
        kept = self.base.shape()
        return kept[: self.before] + [f"{self.space}[{k}]" for k in range(self.rank)] + kept[self.before :]

    @property
    def count(self) -> str:
        """How many positions are selected."""
        return f"{self.offsets.name}.n[0]"


@dataclass(slots=True)
class _Entries:
    """The entries of an index taken apart."""

    data: list[str]
    kept: list[tuple[str, str]] = field(default_factory=list)
    arrays: list[tuple[ArrayRef, str, str]] = field(
        default_factory=list
    )  # with length and stride of their axis
    marks: list[int] = field(default_factory=list)  # how many axes are kept before each advanced entry
    places: list[int] = field(default_factory=list)


def is_selection(step: Operand) -> bool:
    """Whether a step of a path is an index with arrays."""
    return (
        isinstance(step, Pack)
        and step.kind == "index"
        and is_basic(tuple(map(style_of, step.items))) is False
    )


def select(e: Emitter, array: ArrayRef, entries: Sequence[Operand]) -> Selected:
    """Compute the offsets that an index leads to; every index is checked."""
    found = _Entries([f"{array.name}.data"])
    axis = 0
    for place, entry in enumerate(_filled(e, array.rank, entries)):
        axis += _entry(e, array, axis, place, entry, found)
    together = found.places == list(range(found.places[0], found.places[0] + len(found.places)))
    before = found.marks[0] if together else 0
    base = _view(e, array, found)
    if len(found.arrays) == 1 and found.arrays[0][0].rank == 1:
        return _of_one(e, base, before, *found.arrays[0])
    rank = max(ref.rank for ref, _, _ in found.arrays) if found.arrays else 0
    space = e.temporary("space")
    e.line(f"int64_t {space}[] = {{{', '.join(['1'] * rank) or '1'}}};")
    for ref, _, _ in found.arrays:
        e.check(
            f"pb_broadcast({rank}, {space}, {ref.rank}, {ref.name}.n)",
            INDEX_ERROR,
            "shape mismatch of indices",
        )
    offsets = e.declare_array("offsets", INT64, 1)
    e.fresh_array(offsets, [f"pb_count({rank}, {space})"])
    e.line(f"memset({offsets.name}.data, 0, (size_t)({offsets.name}.n[0] * 8));")
    for ref, length, stride in found.arrays:
        with e.block(""):
            e.line(f"int64_t pb_w[{max(rank, 1)}];")
            e.line(f"pb_walk({rank}, {space}, {ref.rank}, {ref.name}.n, {ref.name}.s, pb_w);")
            added = (
                f"pb_add_offsets({rank}, {space}, (int64_t *){offsets.name}.data, {code_of(ref.dtype)}, "
                f"{ref.name}.data, pb_w, {length}, {stride})"
            )
            e.check(f"{added} >= 0", INDEX_ERROR, "index out of bounds")
    return Selected(base, before, space, rank, offsets)


def _of_one(e: Emitter, base: ArrayRef, before: int, ref: ArrayRef, length: str, stride: str) -> Selected:
    """What one array of one axis leads to: its offsets at once."""
    space = e.temporary("space")
    e.line(f"const int64_t {space}[] = {{{ref.name}.n[0]}};")
    if length == "-1":  # of a mask, which are offsets already
        return Selected(base, before, space, 1, ref)
    offsets = e.declare_array("offsets", INT64, 1)
    e.fresh_array(offsets, [f"{space}[0]"])
    fine = (
        f"pb_set_offsets({space}[0], (int64_t *){offsets.name}.data, {code_of(ref.dtype)}, {ref.name}.data, "
        f"{ref.name}.s[0], {length}, {stride})"
    )
    e.check(fine, INDEX_ERROR, "index out of bounds")
    return Selected(base, before, space, 1, offsets)


def _entry(e: Emitter, array: ArrayRef, axis: int, place: int, entry: Operand, found: _Entries) -> int:
    """Take one entry; how many axes it consumes."""
    if isinstance(entry, Const) and entry.value is None:
        found.kept.append(("1", "0"))
        return 0
    if axis >= array.rank:
        raise Untaken("more indices than axes")
    length, stride = f"{array.name}.n[{axis}]", f"{array.name}.s[{axis}]"
    if _is_slice(entry):
        start, count, step = slice_of(e, entry, length)
        found.data += [f"{start} * {stride}"] * (start != "0")
        found.kept.append((count, stride if step == "1" else f"{stride} * {step}"))
        return 1
    found.marks.append(len(found.kept))
    found.places.append(place)
    if is_integer(entry):
        found.data.append(f"{position(e, entry, length)} * {stride}")
        return 1
    index = _index_array(e, entry)
    if index.dtype.kind == "b":
        found.arrays.append((_mask(e, array, axis, index), "-1", "1"))
        return index.rank
    if index.dtype.kind not in "iu":
        raise Untaken("an index that is no integer")
    found.arrays.append((index, length, stride))
    return 1


def _mask(e: Emitter, array: ArrayRef, axis: int, mask: ArrayRef) -> ArrayRef:
    """The offsets of the true items of a mask."""
    if not mask.rank or axis + mask.rank > array.rank:
        raise Untaken("a mask that does not fit")
    for k in range(mask.rank):
        e.check(f"{mask.name}.n[{k}] == {array.name}.n[{axis + k}]", INDEX_ERROR, "a mask of another shape")
    strides = ", ".join(f"{array.name}.s[{axis + k}]" for k in range(mask.rank))
    walk, count = e.temporary("walk"), e.temporary("count")
    e.line(f"const int64_t {walk}[] = {{{strides}}};")
    call = f"pb_mask_offsets({mask.rank}, {mask.name}.n, {mask.name}.data, {mask.name}.s, {walk}, 0, "
    e.line(f"const int64_t {count} = {call}NULL);")
    out = e.declare_array("where", INT64, 1)
    e.fresh_array(out, [count])
    e.line(f"{call}(int64_t *){out.name}.data);")
    return out


def _index_array(e: Emitter, entry: Operand) -> ArrayRef:
    """An index that is an array, or a list of integers."""
    if e.is_array(entry):
        return e.array(entry)
    values: Sequence[Operand] = ()
    if isinstance(entry, Const) and isinstance(entry.value, list | tuple):
        values = [Const(v) for v in entry.value]
    elif isinstance(entry, Pack) and entry.kind in ("list", "tuple"):
        values = entry.items
    if not values or not all(map(is_integer, values)):
        raise Untaken("an index that is no array of integers")
    items, ref = e.temporary("items"), e.temporary("index")
    texts = [literal(v.value, INT64) if isinstance(v, Const) else e.integer(v) for v in values]
    e.line(f"const int64_t {items}[] = {{{', '.join(texts)}}};")
    e.line(f"const pb_array1 {ref} = {{(char *){items}, NULL, {{{len(values)}}}, {{8}}}};")
    return ArrayRef(ref, INT64, 1)


def _view(e: Emitter, array: ArrayRef, found: _Entries) -> ArrayRef:
    name = e.temporary("view")
    lengths = ", ".join(n for n, _ in found.kept) or "1"
    strides = ", ".join(s for _, s in found.kept) or "0"
    data = " + ".join(found.data)
    e.line(
        f"const pb_array{len(found.kept)} {name} = {{{data}, {array.name}.owner, {{{lengths}}}, {{{strides}}}}};"
    )
    return ArrayRef(name, array.dtype, len(found.kept))


def _is_slice(entry: Operand) -> bool:
    return (isinstance(entry, Pack) and entry.kind == "slice") or (
        isinstance(entry, Const) and isinstance(entry.value, slice)
    )


def _filled(e: Emitter, rank: int, entries: Sequence[Operand]) -> list[Operand]:
    """The entries with the ellipsis, or what is missing at the end, spelled out."""
    whole = Const(slice(None))
    used = sum(_consumed(e, x) for x in entries)
    if used > rank:
        raise Untaken("more indices than axes")
    at = next((k for k, x in enumerate(entries) if isinstance(x, Const) and x.value is Ellipsis), None)
    if at is None:
        return [*entries, *[whole] * (rank - used)]
    if used == rank:  # it keeps what stands on its sides apart, as NumPy sees it
        raise Untaken("an ellipsis for no axis")
    return [*entries[:at], *[whole] * (rank - used), *entries[at + 1 :]]


def _consumed(e: Emitter, entry: Operand) -> int:
    if isinstance(entry, Const) and (entry.value is None or entry.value is Ellipsis):
        return 0
    if e.is_array(entry) and e.array(entry).dtype.kind == "b":
        return e.array(entry).rank
    return 1


def gathered(e: Emitter, array: ArrayRef, entries: Sequence[Operand]) -> ArrayRef:
    """A new array of what an index selects."""
    s = select(e, array, entries)
    out = e.declare_array("picked", array.dtype, s.base.rank + s.rank)
    e.fresh_array(out, s.shape())
    kept = [*range(s.before), *range(s.before + s.rank, out.rank)]
    strides = ", ".join(f"{out.name}.s[{k}]" for k in kept) or "0"
    step = f"{out.name}.s[{s.before + s.rank - 1}]" if s.rank else "0"
    with e.block(""):
        e.line(f"const int64_t pb_t[] = {{{strides}}};")
        e.line(
            f"pb_gather({s.count}, (const int64_t *){s.offsets.name}.data, {out.name}.data, {step}, {s.base.name}.data, "
            f"{s.base.rank}, {s.base.name}.n, {array.size}, pb_t, {s.base.name}.s);"
        )
    e.drop(s.offsets)
    return out


def scatter(e: Emitter, array: ArrayRef, entries: Sequence[Operand], value: Operand, adds: bool) -> None:
    """Store a value where an index leads to, or add it: position after position, so that the last one stays."""
    source = writes.source_of(e, array, value)
    s = select(e, array, entries)
    rank = s.base.rank + s.rank
    walk, place = e.temporary("walk"), e.temporary("place")
    e.line(f"const int64_t {place}[] = {{{', '.join(s.shape()) or '1'}}};")
    e.line(f"int64_t {walk}[{max(rank, 1)}];")
    fits = f"pb_fits({rank}, {place}, {source.rank}, {source.name}.n, {source.name}.s, {walk})"
    e.check(fits, VALUE_ERROR, writes.MISFIT)
    from_ = f"{source.name}.data"
    offsets = None
    if source.rank and s.rank == 1:
        from_ += f" + pb_i * {walk}[{s.before}]"
    elif source.rank:
        offsets = e.declare_array("from", INT64, 1)
        e.fresh_array(offsets, [s.count])
        e.line(
            f"pb_walk_offsets({s.rank}, {s.space}, {walk} + {s.before}, 0, (int64_t *){offsets.name}.data);"
        )
        from_ += f" + ((const int64_t *){offsets.name}.data)[pb_i]"
    to = f"{s.base.name}.data + ((const int64_t *){s.offsets.name}.data)[pb_i]"
    if s.base.rank == 0:
        old, new = f"(*({array.ctype} *)({to}))", f"(*(const {source.ctype} *)({from_}))"
        written = writes.written(old, new, array.dtype, source.dtype, adds)
        e.line(f"for (int64_t pb_i = 0; pb_i < {s.count}; pb_i++) *({array.ctype} *)({to}) = {written};")
    else:
        _scatter_views(e, s, writes.writer(e, array.dtype, source.dtype, adds), walk, to, from_)
    for held in (s.offsets, offsets, source if source.rank else None):
        if held is not None:
            e.drop(held)


def _scatter_views(e: Emitter, s: Selected, writer: str, walk: str, to: str, from_: str) -> None:
    """Write to the view at each position."""
    rank = s.base.rank + s.rank
    with e.block(""):
        kept = [*range(s.before), *range(s.before + s.rank, rank)]
        e.line(f"const int64_t pb_w[] = {{{', '.join(f'{walk}[{k}]' for k in kept) or '0'}}};")
        e.line(f"for (int64_t pb_i = 0; pb_i < {s.count}; pb_i++)")
        e.line(f"    {writer}({s.base.rank}, {s.base.name}.n, {to}, {s.base.name}.s, {from_}, pb_w);")
