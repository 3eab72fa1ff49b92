"""Loads and stores: items, views, writes into views.

A path of basic steps is a view, made as a struct with another pointer, lengths and strides.  Every index is checked.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.backend.native.emit import creation, selection, writes
from pullback.backend.native.emit.element import Term
from pullback.backend.native.emit.emitter import ArrayRef, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.indices import filled, is_integer, position, slice_of
from pullback.backend.native.emit.leaves import ArrayLeaf, leaves_of, operand_style
from pullback.backend.native.emit.views import view_step, written_step
from pullback.ir.nodes import Call, Const, Operand, Pack, Var
from pullback.styles.indexing import is_basic


def load(e: Emitter, call: Call) -> None:
    """`target = array[path]`: an item, a view, or a new array of what index arrays select."""
    base, *steps = call.args
    (target,) = call.targets
    if not e.is_array(base):
        spread(e, target, base, steps)
        return
    array = e.array(base)
    item = _item(e, array, steps)
    if item is not None:
        e.set_number(target, item)
        return
    made: list[ArrayRef] = []
    for step in steps:
        assert isinstance(step, Pack)
        if selection.is_selection(step):
            array = selection.gathered(e, array, step.items)
            made.append(array)
        else:
            array = view_of(e, array, [step])
    if made or not e.name_view(target, array):
        e.put_array(target, array)
    for held in made:
        e.drop(held)


def spread(e: Emitter, target: Var, number: Operand, steps: Sequence[Operand]) -> None:
    """A view of a number: all its axes have length one."""
    (leaf,) = leaves_of(target.style)
    if not isinstance(leaf, ArrayLeaf) or not all(map(_only_adds_axes, steps)):
        raise Untaken("a view of a number")
    creation.fill(e, target, ["1"] * leaf.rank, number)


def _only_adds_axes(step: Operand) -> bool:
    assert isinstance(step, Pack)
    if step.kind == "index":
        return all(isinstance(x, Const) and (x.value is None or x.value is Ellipsis) for x in step.items)
    return bool(step.meta.name == "np.expand_dims")


def store(e: Emitter, call: Call) -> None:
    """`base[path] = value` in place."""
    _write(e, call, "=")


def add_at(e: Emitter, call: Call) -> None:
    """`base[path] += value` in place."""
    _write(e, call, "+=")


def _write(e: Emitter, call: Call, sign: str) -> None:
    base, value, *steps = call.args
    if isinstance(base, Const):
        raise Untaken("a store into a constant")
    array = e.array(base)
    if any(map(selection.is_selection, steps)):
        _scatter(e, array, value, steps, sign)
    else:
        _write_view(e, array, value, steps, sign)
    e.set_array(e.array(call.targets[0]).name, array.name)


def _scatter(e: Emitter, array: ArrayRef, value: Operand, steps: Sequence[Operand], sign: str) -> None:
    *first, last = steps
    if any(map(selection.is_selection, first)) or not selection.is_selection(last):
        raise Untaken("a store into a copy")
    assert isinstance(last, Pack)
    with e.block(""):
        view = view_of(e, array, first, writes=True)
        selection.scatter(e, view, last.items, value, sign == "+=")


def _write_view(e: Emitter, array: ArrayRef, value: Operand, steps: Sequence[Operand], sign: str) -> None:
    whole = e.is_array(value) and e.array(value).rank > 0
    item = None if whole else _item(e, array, steps)
    if item is not None:
        source = e.term(value)
        e.line(
            f"{item.text} = {writes.written(f'({item.text})', source.text, array.dtype, source.dtype, sign == '+=')};"
        )
        return
    view = view_of(e, array, steps, writes=True)
    if whole or view.dtype != array.dtype:
        writes.write(e, view, value, sign == "+=")
    elif sign == "=":
        _fill(e, view, e.number(value, view.dtype), sign)
    else:
        writes.write(e, view, value, True)


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
    if len(entries) != array.rank or not all(is_integer(x) for x in entries):
        return None
    offsets = [
        f"{position(e, x, f'{array.name}.n[{k}]')} * {array.name}.s[{k}]" for k, x in enumerate(entries)
    ]
    return Term(f"*({array.ctype} *)({' + '.join([f'{array.name}.data', *offsets])})", array.dtype)


def view_of(e: Emitter, array: ArrayRef, steps: Sequence[Operand], *, writes: bool = False) -> ArrayRef:
    """The view that a path leads to: a local of its own, not released.  `writes`: it must be no copy."""
    for step in steps:
        assert isinstance(step, Pack)
        if step.kind == "index":
            array = _indexed(e, array, step.items)
        elif writes:
            array = written_step(e, array, step.meta, step.items)
        else:
            array = view_step(e, array, step.meta, step.items)
    return array


def _indexed(e: Emitter, array: ArrayRef, entries: Sequence[Operand]) -> ArrayRef:
    if is_basic(tuple(operand_style(x) for x in entries)) is not True:
        raise Untaken("an index that is no integer or slice")
    entries = filled(array.rank, entries)
    view, data = e.temporary("view"), [f"{array.name}.data"]
    kept: list[tuple[str, str]] = []
    axis = 0
    for entry in entries:
        if isinstance(entry, Const) and entry.value is None:
            kept.append(("1", "0"))
            continue
        length, stride = f"{array.name}.n[{axis}]", f"{array.name}.s[{axis}]"
        axis += 1
        if is_integer(entry):
            data.append(f"{position(e, entry, length)} * {stride}")
        else:
            start, count, step = slice_of(e, entry, length)
            data += [f"{start} * {stride}"] * (start != "0")
            kept.append((count, stride if step == "1" else f"{stride} * {step}"))
    rank = len(kept)
    lengths = ", ".join(n for n, _ in kept) or "1"
    strides = ", ".join(s for _, s in kept) or "0"
    e.line(
        f"const pb_array{rank} {view} = {{{' + '.join(data)}, {array.name}.owner, {{{lengths}}}, {{{strides}}}}};"
    )
    return ArrayRef(view, array.dtype, rank)
