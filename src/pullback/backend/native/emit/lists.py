"""Lists of run-time length: what loops save for their reverse sweep, and those of the user."""

from __future__ import annotations

from collections.abc import Sequence

from pullback.backend.native.emit.element import Term
from pullback.backend.native.emit.emitter import INDEX_ERROR, INT64, VALUE_ERROR, ArrayRef, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import (
    ArrayLeaf,
    Leaf,
    ListLeaf,
    Number,
    declared,
    leaves_of,
    operand_style,
)
from pullback.backend.native.emit.values import (
    Held,
    Source,
    append_item,
    each,
    held,
    item_struct,
    items_of,
    parts,
)
from pullback.ir.nodes import Call, Const, Operand, Pack, Var
from pullback.styles.style import Array, ListOf, Static, Style, Undef


def list_leaf(e: Emitter, operand: Operand) -> tuple[str, ListLeaf]:
    """The C name of a list and what its items are."""
    if isinstance(operand, Var) and isinstance(operand.style, ListOf):
        (leaf,) = leaves_of(operand.style)
        assert isinstance(leaf, ListLeaf)
        return e.leaves(operand)[0], leaf
    raise Untaken("a list is needed here")


def length_of(e: Emitter, source: Source) -> str:
    """The number of items of a list or tuple, or of rows of an array."""
    array = array_of(e, source)
    if array is not None:
        if not array.rank:
            raise Untaken("iteration over an array of rank 0")
        return f"{array.name}.n[0]"
    fixed = items_of(e, source)
    if fixed is not None:
        return str(len(fixed))
    return f"pb_list_length({_list_of(e, source).texts[0]})"


def array_of(e: Emitter, source: Source) -> ArrayRef | None:
    """An array by name; None for anything else."""
    if not isinstance(source, Held):
        return e.array(source) if e.is_array(source) else None
    if not isinstance(source.style, Array):
        return None
    (leaf,) = leaves_of(source.style)
    assert isinstance(leaf, ArrayLeaf)
    return ArrayRef(source.texts[0], leaf.dtype, leaf.rank)


def _list_of(e: Emitter, source: Source) -> Held:
    found = held(e, source)
    if not isinstance(found, Held) or not isinstance(found.style, ListOf):
        raise Untaken("a list is needed here")
    return found


def hold(e: Emitter, operand: Operand) -> Source:
    """What a loop runs over, under names that its body does not bind anew; given back by `settle`."""
    style = operand_style(operand)
    if isinstance(operand, Const) or isinstance(style, Static):
        return operand
    texts = []
    for text, leaf in zip(parts(e, operand, style), leaves_of(style), strict=True):
        name = e.declare("held", leaf)
        _assign(e, name, text, leaf)
        if not isinstance(leaf, Number):
            e.scratch.append((name, leaf))
        texts.append(name)
    return Held(style, tuple(texts))


def load_item(e: Emitter, var: Var, source: Source, place: str) -> None:
    """Bind an item at a place that is known to be inside."""
    array = array_of(e, source)
    if array is not None:
        _row(e, var, array, place)
        return
    fixed = items_of(e, source)
    if fixed is not None:
        _choose(e, var, fixed, place)
        return
    items = _list_of(e, source)
    (leaf,) = leaves_of(items.style)
    assert isinstance(leaf, ListLeaf) and isinstance(items.style, ListOf)
    item = f"(({e.module.item_type(leaf)} *)pb_list_item({items.texts[0]}, {place}))"
    if var in e.borrowed and leaves_of(var.style) == leaf.items and isinstance(leaf.items[0], ArrayLeaf):
        view = ArrayRef(e.temporary("item"), leaf.items[0].dtype, leaf.items[0].rank)
        e.line(f"const pb_array{view.rank} {view.name} = {item}->f0;")
        e.name_view(var, view)
        return
    _bind(e, var, Held(items.style.elem, tuple(f"{item}->f{k}" for k in range(len(leaf.items)))))


def _choose(e: Emitter, var: Var, items: Sequence[Source], place: str) -> None:
    """One of a few items, by its number."""
    if place.isdigit():
        _bind(e, var, items[int(place)])
        return
    with e.block(f"switch ({place})"):
        for k, item in enumerate(items):
            e.line(f"case {k}:")
            with e.block(""):
                _bind(e, var, item)
            e.line("break;")


def _bind(e: Emitter, var: Var, source: Source) -> None:
    """Give a value that is assigned nowhere else its leaves."""
    mark = len(e.scratch)
    texts = parts(e, source, var.style)
    for target, text, leaf in zip(e.leaves(var), texts, leaves_of(var.style), strict=True):
        _assign(e, target, text, leaf)
    e.settle(mark)


def _row(e: Emitter, var: Var, array: ArrayRef, place: str) -> None:
    _assign(e, e.leaves(var)[0], _row_text(array, place), leaves_of(var.style)[0])


def _row_text(array: ArrayRef, place: str) -> str:
    """A row of an array, or an item of one of one axis, as an expression."""
    at = f"{array.name}.data + {place} * {array.name}.s[0]"
    if array.rank == 1:
        return f"*({array.ctype} *)({at})"
    lengths = ", ".join(f"{array.name}.n[{k}]" for k in range(1, array.rank))
    strides = ", ".join(f"{array.name}.s[{k}]" for k in range(1, array.rank))
    return f"((pb_array{array.rank - 1}){{{at}, {array.name}.owner, {{{lengths}}}, {{{strides}}}}})"


def _assign(e: Emitter, target: str, source: str, leaf: Leaf) -> None:
    if isinstance(leaf, Number):
        e.line(f"{target} = {source};")
    elif isinstance(leaf, ArrayLeaf):
        e.line(f"PB_SET({target}, {source});")
    else:
        e.line(f"PB_SET_LIST({target}, {source});")


def append(e: Emitter, call: Call) -> None:
    """`list.append` in place."""
    base, value = call.args
    _in_place(e, call, base)
    (target,) = call.targets
    name, leaf = list_leaf(e, target)
    append_item(e, name, leaf, _elem(target), value)


def _elem(var: Var) -> Style:
    assert isinstance(var.style, ListOf)
    return var.style.elem


def _in_place(e: Emitter, call: Call, base: Operand) -> None:
    """Make the result of a write another name of what is written."""
    e.moves(call.targets, [base])


def put(e: Emitter, call: Call) -> None:
    """`items[i] = value` in place, checked."""
    base, value, index = call.args
    (target,) = call.targets
    mark = len(e.scratch)
    texts = parts(e, value, _elem(target))
    name, leaf = list_leaf(e, target)
    with e.block(""):
        new = item_struct(e, leaf, texts)
        _in_place(e, call, base)
        at = e.temporary("at")
        e.line(f"const int64_t {at} = pb_position({e.integer(index)}, pb_list_length({name}));")
        drop = e.module.dropper(leaf)
        with e.block(f"if (PB_RARE({at} < 0))"):
            if drop != "NULL":
                e.line(f"{drop}(host, &{new});")
            e.line(e.fail(INDEX_ERROR, "list assignment index out of range"))
        old = e.temporary("old")
        kind = e.module.item_type(leaf)
        e.line(f"{kind} {old} = *({kind} *)pb_list_item({name}, {at});")
        e.line(f"*({kind} *)pb_list_item({name}, {at}) = {new};")
        e.line(f"{drop}(host, &{old});" if drop != "NULL" else f"(void){old};")
    e.settle(mark)


def drop(e: Emitter, call: Call) -> None:
    """A list without its last item, in place."""
    _in_place(e, call, call.args[0])
    name, _ = list_leaf(e, call.targets[0])
    e.line(f"pb_list_drop(host, {name});")


def join(e: Emitter, call: Call) -> None:
    """A list with the items of another after its own, in place."""
    base, more = call.args
    (target,) = call.targets
    mark = len(e.scratch)
    (text,) = parts(e, more, target.style)
    leaf = leaves_of(target.style)[0]
    other = e.declare_list(leaf) if isinstance(leaf, ListLeaf) else ""
    e.line(f"PB_SET_LIST({other}, {text});")  # the target may take its name
    _in_place(e, call, base)
    name, leaf = list_leaf(e, target)
    _extend(e, name, other, leaf, "0", f"pb_list_length({other})", "1")
    e.settle(mark)


def _extend(e: Emitter, to: str, source: str, leaf: ListLeaf, start: str, count: str, step: str) -> None:
    """Append items of a list of the same kind to another."""
    kind = e.module.item_type(leaf)
    keep = e.module.keeper(leaf)
    drop_ = e.module.dropper(leaf)
    e.attempt(
        f"pb_extend(host, &{to}, {source}, {start}, {count}, {step}, sizeof({kind}), {keep}, {drop_}, "
        f"{e.module.place(e.loc)})"
    )


def cut(e: Emitter, call: Call) -> None:
    """`items[start:stop:step]` as a new list."""
    source, window = call.args
    (target,) = call.targets
    mark = len(e.scratch)
    (text,) = parts(e, source, target.style)
    leaf = leaves_of(target.style)[0]
    assert isinstance(leaf, ListLeaf)
    made = e.declare_list(leaf)
    with e.block(""):
        start, step, count = sliced(e, f"pb_list_length({text})", bounds(window))
        _extend(e, made, text, leaf, start, count, step)
    e.line(f"PB_SET_LIST({e.leaves(target)[0]}, {made});")
    e.settle(mark)


def bounds(window: Operand) -> Sequence[Operand]:
    """The start, stop and step of a slice."""
    if isinstance(window, Pack) and window.kind == "slice":
        return window.items
    if isinstance(window, Const) and isinstance(window.value, slice):
        return (Const(window.value.start), Const(window.value.stop), Const(window.value.step))
    raise Untaken("a slice that is a value")


def sliced(e: Emitter, length: str, window: Sequence[Operand]) -> tuple[str, str, str]:
    """The start, step and count of a slice of so many items, as names."""
    n, start, step, count = (e.temporary(x) for x in ("n", "start", "step", "count"))
    none = [isinstance(x, Const) and x.value is None for x in window]
    e.line(f"const int64_t {n} = {length};")
    e.line(f"const int64_t {step} = {'1' if none[2] else e.integer(window[2])};")
    e.check(f"{step} != 0", VALUE_ERROR, "slice step cannot be zero")
    first = f"({step} < 0 ? INT64_MAX : 0)" if none[0] else e.integer(window[0])
    last = f"({step} < 0 ? INT64_MIN / 2 : {n})" if none[1] else e.integer(window[1])
    e.line(f"int64_t {start} = {first};")
    e.line(f"const int64_t {count} = pb_slice({n}, &{start}, {last}, {step});")
    return start, step, count


def get(e: Emitter, call: Call) -> None:
    """`items[i]`, checked."""
    items, index = call.args
    (target,) = call.targets
    count = length_of(e, items)
    at = e.temporary("at")
    e.line(f"const int64_t {at} = pb_position({e.integer(index)}, {count});")
    e.check(f"{at} >= 0", INDEX_ERROR, "list index out of range")
    load_item(e, target, items, at)


def length(e: Emitter, call: Call) -> None:
    """`len(items)`."""
    e.set_number(call.targets[0], Term(length_of(e, call.args[0]), INT64))


def make(e: Emitter, call: Call) -> None:
    """A run-time list of the items of a display, or a copy of a list."""
    (source,) = call.args
    (target,) = call.targets
    if items_of(e, source) is not None:
        e.moves([target], [source])
        return
    mark = len(e.scratch)
    (text,) = parts(e, source, target.style)
    leaf = leaves_of(target.style)[0]
    assert isinstance(leaf, ListLeaf)
    made = e.declare_list(leaf)
    _extend(e, made, text, leaf, "0", f"pb_list_length({text})", "1")
    e.line(f"PB_SET_LIST({e.leaves(target)[0]}, {made});")
    e.settle(mark)


def copy_list(e: Emitter, call: Call) -> None:
    """A list with a copy of every array in it, of the lists in it too."""
    (source,) = call.args
    (target,) = call.targets
    mark = len(e.scratch)
    texts = parts(e, source, target.style)
    made = _copied(e, Held(target.style, tuple(texts)))
    for name, text, leaf in zip(e.leaves(target), made, leaves_of(target.style), strict=True):
        _assign(e, name, text, leaf)
    e.settle(mark)


def _copied(e: Emitter, source: Source) -> list[str]:
    """The leaves of a deep copy."""
    source = held(e, source)
    assert isinstance(source, Held)
    style = source.style
    if isinstance(style, ListOf) and not isinstance(style.elem, Undef):
        leaf = leaves_of(style)[0]
        assert isinstance(leaf, ListLeaf)
        made = e.declare_list(leaf)
        with each(e, source) as item:
            append_item(e, made, leaf, style.elem, Held(style.elem, tuple(_copied(e, item))))
        return [made]
    items = items_of(e, source)
    if items is not None:
        return [text for x in items for text in (_copied(e, x) if isinstance(x, Held) else [])]
    return [_copied_leaf(e, x, leaf) for x, leaf in zip(source.texts, leaves_of(style), strict=True)]


def _copied_leaf(e: Emitter, text: str, leaf: Leaf) -> str:
    if not isinstance(leaf, ArrayLeaf):
        return text
    made = e.declare_array("copy", leaf.dtype, leaf.rank)
    e.scratch.append((made.name, leaf))
    if leaf.loose:
        raise Untaken("a copy of an array that may be zero")
    e.fresh_array(made, [f"{text}.n[{k}]" for k in range(leaf.rank)])
    e.line(
        f"pb_copy_items({leaf.rank}, {made.name}.n, {made.size}, {made.name}.data, {made.name}.s, "
        f"{text}.data, {text}.s);"
    )
    return made.name


def rows(e: Emitter, call: Call) -> None:
    """The rows of an array, or its numbers, in a list."""
    (source,) = call.args
    (target,) = call.targets
    array = e.array(source)
    leaf = leaves_of(target.style)[0]
    if not isinstance(leaf, ListLeaf) or len(leaf.items) != 1 or not array.rank:
        raise Untaken("a list of the rows of an array")
    made = e.declare_list(leaf)
    at = e.temporary("k")
    with e.block(f"for (int64_t {at} = 0; {at} < {array.name}.n[0]; {at}++)"):
        append_item(e, made, leaf, _elem(target), Held(_elem(target), (_row_text(array, at),)))
    e.line(f"PB_SET_LIST({e.leaves(target)[0]}, {made});")
    e.settle(len(e.scratch) - 1)


def nested(e: Emitter, call: Call) -> None:
    """The rows of an array in lists in lists."""
    (target,) = call.targets
    mark = len(e.scratch)
    made = _nested(e, e.array(call.args[0]), target.style)
    e.line(f"PB_SET_LIST({e.leaves(target)[0]}, {made});")
    e.settle(mark)


def _nested(e: Emitter, array: ArrayRef, style: Style) -> str:
    """A list of the rows of an array, or of lists of their rows."""
    (leaf,) = leaves_of(style)
    if not isinstance(style, ListOf) or not isinstance(leaf, ListLeaf) or not array.rank:
        raise Untaken("a list of the rows of an array")
    made = e.declare_list(leaf)
    at = e.temporary("k")
    with e.block(f"for (int64_t {at} = 0; {at} < {array.name}.n[0]; {at}++)"):
        text = _row_text(array, at)
        if isinstance(style.elem, ListOf):
            row = ArrayRef(e.temporary("row"), array.dtype, array.rank - 1)
            e.line(f"const pb_array{row.rank} {row.name} = {text};")
            text = _nested(e, row, style.elem)
        append_item(e, made, leaf, style.elem, Held(style.elem, (text,)))
    return made


def declared_items(leaf: ListLeaf) -> list[str]:
    """The fields of the struct of an item."""
    return [f"{declared(inner)} f{k};" for k, inner in enumerate(leaf.items)]
