"""Indices and slices: checked positions, counts, and the entries of an index spelled out."""

from __future__ import annotations

from collections.abc import Sequence

from pullback.backend.native.emit.emitter import INDEX_ERROR, VALUE_ERROR, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import operand_style
from pullback.ir.nodes import Const, Operand, Pack
from pullback.styles.style import Scalar, kind, numeric


def is_integer(entry: Operand) -> bool:
    """Whether an entry of an index is an integer."""
    style = numeric(operand_style(entry))
    return isinstance(style, Scalar) and kind(style) == "i"


def position(e: Emitter, entry: Operand, length: str) -> str:
    """An index as a checked position from the front."""
    if isinstance(entry, Const) and int(entry.value) >= 0:
        e.check(f"{int(entry.value)} < {length}", INDEX_ERROR, "index out of bounds")
        return str(int(entry.value))
    if isinstance(entry, Const):
        e.check(f"{-int(entry.value)} <= {length}", INDEX_ERROR, "index out of bounds")
        return f"({length} - {-int(entry.value)})"
    at = e.temporary("at")
    e.line(f"const int64_t {at} = pb_position({e.integer(entry)}, {length});")
    e.check(f"{at} >= 0", INDEX_ERROR, "index out of bounds")
    return at


def filled(rank: int, entries: Sequence[Operand]) -> list[Operand]:
    """The entries with the ellipsis, or what is missing at the end, spelled out."""
    whole = Const(slice(None))
    consumed = sum(
        1 for x in entries if not (isinstance(x, Const) and (x.value is None or x.value is Ellipsis))
    )
    if consumed > rank:
        raise Untaken("more indices than axes")
    out: list[Operand] = []
    filled = False
    for entry in entries:
        if isinstance(entry, Const) and entry.value is Ellipsis:
            out += [whole] * (rank - consumed)
            filled = True
        else:
            out.append(entry)
    return out if filled else out + [whole] * (rank - consumed)


def slice_of(e: Emitter, entry: Operand, length: str) -> tuple[str, str, str]:
    """The start, count and step of a slice, as expressions."""
    if isinstance(entry, Const):
        value = entry.value
        parts: Sequence[Operand] = (Const(value.start), Const(value.stop), Const(value.step))
    else:
        assert isinstance(entry, Pack)
        parts = entry.items
    none = [isinstance(x, Const) and x.value is None for x in parts]
    step = "1" if none[2] else e.integer(parts[2])
    if not none[2] and not isinstance(parts[2], Const):
        e.check(f"{step} != 0", VALUE_ERROR, "slice step cannot be zero")
    backwards = isinstance(parts[2], Const) and not none[2] and parts[2].value < 0
    if all(none[:2]) and step == "1":
        return "0", length, "1"
    if (none[0] or none[1]) and not none[2] and not isinstance(parts[2], Const):
        raise Untaken("an open slice whose step is a variable")
    start, count = e.temporary("start"), e.temporary("count")
    first = ("INT64_MAX" if backwards else "0") if none[0] else e.integer(parts[0])
    last = ("INT64_MIN / 2" if backwards else length) if none[1] else e.integer(parts[1])
    e.line(f"int64_t {start} = {first};")
    e.line(f"const int64_t {count} = pb_slice({length}, &{start}, {last}, {step});")
    return start, count, step
