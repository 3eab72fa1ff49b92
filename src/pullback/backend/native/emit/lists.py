"""Lists of run-time length: what loops save for their reverse sweep."""

from __future__ import annotations

from pullback.backend.native.emit.element import Term
from pullback.backend.native.emit.emitter import INDEX_ERROR, INT64, ArrayRef, Emitter, flat
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
from pullback.ir.nodes import Call, Operand, Pack, Var
from pullback.styles.style import Array


def list_leaf(e: Emitter, operand: Operand) -> tuple[str, ListLeaf]:
    """The C name of a list and what its items are."""
    if isinstance(operand, Var):
        (leaf,) = leaves_of(operand.style)
        if isinstance(leaf, ListLeaf):
            return e.leaves(operand)[0], leaf
    raise Untaken("a list is needed here")


def item_type(e: Emitter, leaf: ListLeaf) -> str:
    """The C struct of an item of a list."""
    return e.module.item_type(leaf)


def length_of(e: Emitter, operand: Operand) -> str:
    """The number of items of a list, or of rows of an array."""
    if e.is_array(operand):
        array = e.array(operand)
        if not array.rank:
            raise Untaken("iteration over an array of rank 0")
        return f"{array.name}.n[0]"
    name, _ = list_leaf(e, operand)
    return f"pb_list_length({name})"


def load_item(e: Emitter, var: Var, operand: Operand, place: str) -> None:
    """Bind an item at a place that is known to be inside."""
    if e.is_array(operand):
        _row(e, var, e.array(operand), place)
        return
    name, leaf = list_leaf(e, operand)
    kind = item_type(e, leaf)
    for k, (target, inner) in enumerate(zip(e.leaves(var), leaf.items, strict=True)):
        source = f"(({kind} *)pb_list_item({name}, {place}))->f{k}"
        _assign(e, target, source, inner)


def _row(e: Emitter, var: Var, array: ArrayRef, place: str) -> None:
    at = f"{array.name}.data + {place} * {array.name}.s[0]"
    if not isinstance(var.style, Array):
        (name,) = e.leaves(var)
        e.line(f"{name} = *({array.ctype} *)({at});")
        return
    view = e.temporary("view")
    lengths = ", ".join(f"{array.name}.n[{k}]" for k in range(1, array.rank)) or "1"
    strides = ", ".join(f"{array.name}.s[{k}]" for k in range(1, array.rank)) or "0"
    e.line(
        f"const pb_array{array.rank - 1} {view} = {{{at}, {array.name}.owner, {{{lengths}}}, {{{strides}}}}};"
    )
    e.set_array(e.array(var).name, view)


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
    (target,) = call.targets
    name, leaf = list_leaf(e, target)
    old = e.leaf_text((base, 0), leaf)
    kind = item_type(e, leaf)
    with e.block(""):
        e.line(f"{kind} pb_item = {{0}};")
        for k, (inner, part) in enumerate(zip(leaf.items, _parts(e, value, leaf), strict=True)):
            e.line(f"pb_item.f{k} = {e.leaf_text(part, inner)};")
        e.line(f"pb_list *pb_to = {old};")
        e.line("if (pb_to) pb_to->refs++;")
        drop = e.module.dropper(leaf)
        e.attempt(f"pb_append(host, &pb_to, sizeof(pb_item), &pb_item, {drop}, {e.module.place(e.loc)})")
        for k, inner in enumerate(leaf.items):
            if isinstance(inner, ArrayLeaf):
                e.line(f"PB_RETAIN(pb_item.f{k});")
            elif isinstance(inner, ListLeaf):
                e.line(f"PB_RETAIN_LIST(pb_item.f{k});")
        e.line(f"PB_RELEASE_LIST({name}); {name} = pb_to;")


def _parts(e: Emitter, value: Operand, leaf: ListLeaf) -> list[tuple[Operand, int]]:
    return flat(value, len(leaf.items))


def get(e: Emitter, call: Call) -> None:
    """`items[i]`, checked."""
    items, index = call.args
    (target,) = call.targets
    if isinstance(operand_style(items), Array) or isinstance(items, Pack):
        raise Untaken("an item of a fixed list at a run-time index")
    name, _ = list_leaf(e, items)
    at = e.temporary("at")
    e.line(f"const int64_t {at} = pb_position({e.integer(index)}, pb_list_length({name}));")
    e.check(f"{at} >= 0", INDEX_ERROR, "list index out of range")
    load_item(e, target, items, at)


def length(e: Emitter, call: Call) -> None:
    """`len(items)`."""
    e.set_number(call.targets[0], Term(length_of(e, call.args[0]), INT64))


def make(e: Emitter, call: Call) -> None:
    """A run-time list of the items of a display, or a copy of a list."""
    (source,) = call.args
    (target,) = call.targets
    name, _ = list_leaf(e, target)
    if isinstance(source, Pack) and not source.items:
        e.line(f"PB_RELEASE_LIST({name}); {name} = NULL;")
        return
    raise Untaken("a list of items")


def declared_items(leaf: ListLeaf) -> list[str]:
    """The fields of the struct of an item."""
    return [f"{declared(inner)} f{k};" for k, inner in enumerate(leaf.items)]
