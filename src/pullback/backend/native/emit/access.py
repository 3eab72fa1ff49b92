"""Loads and stores: items, views, writes into views.

A path of basic steps is a view, made as a struct with another pointer, lengths and strides.  Every index is checked.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.backend.native.emit.element import Term
from pullback.backend.native.emit.emitter import INDEX_ERROR, VALUE_ERROR, ArrayRef, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import operand_style
from pullback.backend.native.emit.views import view_step
from pullback.ir.nodes import Call, Const, Operand, Pack
from pullback.styles.indexing import is_basic
from pullback.styles.style import Scalar, kind, numeric


def load(e: Emitter, call: Call) -> None:
    """`target = array[path]`: an item, or a view."""
    base, *steps = call.args
    (target,) = call.targets
    item = _item(e, e.array(base), steps)
    if item is not None:
        e.set_number(target, item)
        return
    view = view_of(e, e.array(base), steps)
    e.set_array(e.array(target).name, view.name)


def store(e: Emitter, call: Call) -> None:
    """`base[path] = value` in place."""
    _write(e, call, "=")


def add_at(e: Emitter, call: Call) -> None:
    """`base[path] += value` in place."""
    _write(e, call, "+=")


def _write(e: Emitter, call: Call, sign: str) -> None:
    base, value, *steps = call.args
    array = e.array(base)
    item = _item(e, array, steps)
    if item is not None and not (e.is_array(value) and e.array(value).rank):
        e.line(f"{item.text} {sign} {e.term(value).to(array.dtype)};")
    elif not e.is_array(value):
        _fill(e, view_of(e, array, steps), e.term(value).to(array.dtype), sign)
    else:
        raise Untaken("an array stored by itself")  # fusion makes a kernel of it
    e.set_array(e.array(call.targets[0]).name, array.name)


def _fill(e: Emitter, view: ArrayRef, value: str, sign: str) -> None:
    """One number into every item of a view."""
    held = e.temporary("value")
    with e.block(""):
        e.line(f"const {view.ctype} {held} = {value};")
        if view.rank:
            flat = f"pb_is_contiguous({view.rank}, {view.size}, {view.name}.n, {view.name}.s)"
            with e.block(f"if ({flat})", "} else {"):
                e.line(f"{view.ctype} *pb_p = ({view.ctype} *){view.name}.data;")
                e.line(f"const int64_t pb_n = pb_count({view.rank}, {view.name}.n);")
                e.line(f"for (int64_t pb_k = 0; pb_k < pb_n; pb_k++) pb_p[pb_k] {sign} {held};")
            e.depth += 1
        nested(e, view, f"{sign} {held}")
        if view.rank:
            e.depth -= 1
            e.line("}")


def nested(e: Emitter, view: ArrayRef, action: str) -> None:
    """An action on every item of a view, by loops over its axes."""
    at = view.name + ".data"
    for k in range(view.rank):
        e.line(f"for (int64_t pb_i{k} = 0; pb_i{k} < {view.name}.n[{k}]; pb_i{k}++)")
        at += f" + pb_i{k} * {view.name}.s[{k}]"
    e.line(f"    *({view.ctype} *)({at}) {action};")


def _item(e: Emitter, array: ArrayRef, steps: Sequence[Operand]) -> Term | None:
    """The item that a path of integers leads to, checked; None where a path is something else."""
    if len(steps) != 1 or not isinstance(steps[0], Pack) or steps[0].kind != "index":
        return None
    entries = steps[0].items
    if len(entries) != array.rank or not all(_is_integer(x) for x in entries):
        return None
    offsets = [
        f"{position(e, x, f'{array.name}.n[{k}]')} * {array.name}.s[{k}]" for k, x in enumerate(entries)
    ]
    return Term(f"*({array.ctype} *)({' + '.join([f'{array.name}.data', *offsets])})", array.dtype)


def _is_integer(entry: Operand) -> bool:
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


def view_of(e: Emitter, array: ArrayRef, steps: Sequence[Operand]) -> ArrayRef:
    """The view that a path leads to: a local of its own, not released."""
    for step in steps:
        assert isinstance(step, Pack)
        array = (
            _indexed(e, array, step.items)
            if step.kind == "index"
            else view_step(e, array, step.meta, step.items)
        )
    return array


def _indexed(e: Emitter, array: ArrayRef, entries: Sequence[Operand]) -> ArrayRef:
    if is_basic(tuple(operand_style(x) for x in entries)) is not True:
        raise Untaken("an index that is no integer or slice")
    entries = _filled(array.rank, entries)
    view, data = e.temporary("view"), [f"{array.name}.data"]
    kept: list[tuple[str, str]] = []
    axis = 0
    for entry in entries:
        if isinstance(entry, Const) and entry.value is None:
            kept.append(("1", "0"))
            continue
        length, stride = f"{array.name}.n[{axis}]", f"{array.name}.s[{axis}]"
        axis += 1
        if _is_integer(entry):
            data.append(f"{position(e, entry, length)} * {stride}")
        else:
            start, count, step = _slice(e, entry, length)
            data += [f"{start} * {stride}"] * (start != "0")
            kept.append((count, stride if step == "1" else f"{stride} * {step}"))
    rank = len(kept)
    lengths = ", ".join(n for n, _ in kept) or "1"
    strides = ", ".join(s for _, s in kept) or "0"
    e.line(
        f"const pb_array{rank} {view} = {{{' + '.join(data)}, {array.name}.owner, {{{lengths}}}, {{{strides}}}}};"
    )
    return ArrayRef(view, array.dtype, rank)


def _filled(rank: int, entries: Sequence[Operand]) -> list[Operand]:
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


def _slice(e: Emitter, entry: Operand, length: str) -> tuple[str, str, str]:
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
