"""The style of `x[index]`: NumPy's rules for basic and advanced indexing, on axes of perhaps unknown length."""

from __future__ import annotations

from dataclasses import dataclass

from pullback.styles.broadcast import as_array, broadcast_axes
from pullback.styles.style import (
    Array,
    Axis,
    Dim,
    ListOf,
    Scalar,
    Static,
    Style,
    Tup,
    fresh_dim,
    numeric,
    shorten,
)


@dataclass(frozen=True, slots=True)
class Indexing:
    """What an index does: is it a view (basic), and the axes of the result (None: unknown rank)."""

    basic: bool
    axes: tuple[Axis, ...] | None
    full: bool  # consumes every axis with plain integers: a NumPy scalar results


def is_basic(entries: tuple[Style, ...]) -> bool | None:
    """Whether an index is basic (result is a view or a scalar); None where it cannot be told."""
    answers = [_entry_is_basic(e) for e in entries]
    if any(a is False for a in answers):
        return False
    return None if any(a is None for a in answers) else True


def _entry_is_basic(entry: Style) -> bool | None:
    entry = numeric(entry)
    match entry:
        case Static(value):
            return value is None or value is Ellipsis or isinstance(value, slice)
        case Scalar():
            return entry.kind == "i"
        case Tup(kind="slice"):
            return True
        case Array() | Tup() | ListOf():
            return False
    return None


def index_array(array: Array, entries: tuple[Style, ...]) -> Style:
    """The style of indexing an array with the entries of one index."""
    result = index_axes(array.axes, entries)
    if result.axes is not None and result.full and not result.axes:
        return Scalar(array.dtype, False, array.kind)
    contiguous = (
        _keeps_contiguity(array, entries)
        if result.basic
        else _copy_is_contiguous(array, entries, result.axes)
    )
    return Array(array.dtype, result.axes, contiguous, array.kind)


def _keeps_contiguity(array: Array, entries: tuple[Style, ...]) -> bool:
    """Leading integers, then at most one forward slice, of a contiguous array."""
    if not array.contiguous:
        return False
    sliced = False
    for e in entries:
        e = numeric(e)
        if isinstance(e, Scalar) and not sliced:
            continue
        if isinstance(e, Tup) and e.kind == "slice" and not sliced and _is(e.items[2], None):
            sliced = True
            continue
        return e == Static(Ellipsis) and e is numeric(entries[-1])
    return True


def _copy_is_contiguous(array: Array, entries: tuple[Style, ...], axes: tuple[Axis, ...] | None) -> bool:
    """Advanced entries first, whole axes after them: else NumPy lays the copy out in another order."""
    if axes is not None and len(axes) <= 1:
        return True
    if not array.contiguous:
        return False
    whole_only = False
    for e in entries:
        if e in (Static(Ellipsis), Tup((Static(None),) * 3, "slice"), Static(slice(None))):
            whole_only = True
        elif whole_only or e == Static(None) or _is_slice(e) or not getattr(as_array(e), "contiguous", True):
            return False
    return True


def index_axes(axes: tuple[Axis, ...] | None, entries: tuple[Style, ...]) -> Indexing:
    """The axes that result; advanced entries are broadcast together and put where NumPy puts them."""
    basic = is_basic(entries)
    if axes is None or basic is None:
        return Indexing(bool(basic), None, False)
    filled = _expand_ellipsis(len(axes), entries)
    if filled is None:
        return Indexing(bool(basic), None, False)
    out, advanced = _entry_axes(axes, filled, basic)
    if basic:
        result = tuple(a for a in out if a is not None)
        return Indexing(True, result, not any(_is(e, Ellipsis) for e in entries))
    if any(a is None for a in advanced):
        return Indexing(False, None, False)
    merged: tuple[Axis, ...] = ()
    for a in advanced:
        assert a is not None
        merged = broadcast_axes(merged, a)
    return Indexing(False, _place(out, merged), False)


def _entry_axes(
    axes: tuple[Axis, ...], entries: tuple[Style, ...], basic: bool
) -> tuple[list[Axis | None], list[tuple[Axis, ...] | None]]:
    """The axes entry by entry (None where an advanced entry stands), and the shapes of the advanced entries."""
    out: list[Axis | None] = []
    advanced: list[tuple[Axis, ...] | None] = []
    rest = list(axes)
    for e in map(numeric, entries):
        if _is(e, None):
            out.append(1)
        elif _is_slice(e):
            out.append(_slice_axis(rest.pop(0), e))
        elif isinstance(e, Scalar) and e.kind == "i" and basic:
            rest.pop(0)
        else:
            used, shape = (1, ()) if isinstance(e, Scalar) and e.kind == "i" else _advanced(e)
            del rest[:used]
            advanced.append(shape)
            out.append(None)
    return out, advanced


def _place(out: list[Axis | None], merged: tuple[Axis, ...]) -> tuple[Axis, ...]:
    """Adjacent advanced entries: the merged axes stand in their place; separated: in front."""
    marks = [i for i, a in enumerate(out) if a is None]
    kept = [a for a in out if a is not None]
    if marks != list(range(marks[0], marks[0] + len(marks))):
        return merged + tuple(kept)
    before = [a for a in out[: marks[0]] if a is not None]
    return tuple(before) + merged + tuple(kept[len(before) :])


def _expand_ellipsis(rank: int, entries: tuple[Style, ...]) -> tuple[Style, ...] | None:
    used = sum(_axes_used(e) for e in entries)
    if used > rank:
        return None
    everything = Tup((Static(None),) * 3, "slice")
    fill = (everything,) * (rank - used)
    for i, e in enumerate(entries):
        if _is(e, Ellipsis):
            return entries[:i] + fill + entries[i + 1 :]
    return entries + fill


def _axes_used(entry: Style) -> int:
    if _is(entry, None) or _is(entry, Ellipsis):
        return 0
    array = as_array(entry) if not _is_slice(entry) else None
    if isinstance(array, Scalar) and array.kind == "b":
        return 0
    if isinstance(array, Array) and array.kind == "b" and array.axes is not None:
        return len(array.axes)
    return 1


def _advanced(entry: Style) -> tuple[int, tuple[Axis, ...] | None]:
    """How many axes an advanced entry consumes, and the shape it contributes."""
    array = as_array(entry)
    if isinstance(array, Scalar):
        return (0, (fresh_dim(),)) if array.kind == "b" else (1, ())
    if array.kind == "b":
        return (1 if array.axes is None else len(array.axes)), (fresh_dim(),)
    return 1, array.axes


def _is(entry: Style, obj: object) -> bool:
    """Whether an entry is this very compile-time object (an array compares element by element)."""
    return isinstance(entry, Static) and entry.value is obj


def _is_slice(entry: Style) -> bool:
    return (isinstance(entry, Tup) and entry.kind == "slice") or (
        isinstance(entry, Static) and isinstance(entry.value, slice)
    )


def _slice_axis(axis: Axis, entry: Style) -> Axis:
    if isinstance(entry, Static):
        start, stop, step = (Static(v) for v in (entry.value.start, entry.value.stop, entry.value.step))
    else:
        assert isinstance(entry, Tup)
        start, stop, step = entry.items  # type: ignore[assignment]
    plain = [s.value if isinstance(s, Static) else _Unknown for s in (start, stop, step)]
    if isinstance(axis, int) and _Unknown not in plain:
        return len(range(*slice(*plain).indices(axis)))
    if plain[2] == -1 and plain[:2] == [None, None]:
        return axis
    if plain[2] not in (None, 1):
        return fresh_dim()
    begin = 0 if plain[0] is None else plain[0]
    if not isinstance(begin, int) or begin < 0:
        return fresh_dim()
    end = numeric(stop)
    if plain[1] is None:
        return shorten(axis, begin)
    if isinstance(plain[1], int) and plain[1] < 0:
        return shorten(axis, begin - plain[1])
    length = end.length if isinstance(end, Scalar) else None
    if (
        isinstance(length, Dim)
        and isinstance(axis, Dim)
        and length.sym == axis.sym
        and length.minus >= axis.minus
    ):
        return shorten(axis, length.minus - axis.minus + begin)
    return fresh_dim()


class _Unknown:
    """A slice part that is not known at compile time."""
