"""What a primal saves as bytes, and its pullback reads: see `c/saved.h`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pullback.backend.native.emit.emitter import Emitter
from pullback.backend.native.emit.leaves import ArrayLeaf, Leaf, ListLeaf, Number, c_type, leaves_of, plain
from pullback.backend.native.emit.values import item_struct, parts
from pullback.backend.native.saved import Saved
from pullback.ir.nodes import Call

if TYPE_CHECKING:
    from pullback.backend.native.emit.module import ModuleEmitter

HEADER = '#include "saved.h"'


def pack(e: Emitter, call: Call) -> None:
    """The values of a record as bytes."""
    what: Saved = call.op.fn
    (target,) = call.targets
    leaf, layout = _record(e.module, what)
    mark = len(e.scratch)
    texts = [t for x, style in zip(call.args, what.packed_styles(), strict=True) for t in parts(e, x, style)]
    made = e.declare_list(leaf)
    drop = e.module.dropper(leaf)
    with e.block(""):
        item = item_struct(e, leaf, texts)
        e.attempt(f"pb_append(host, &{made}, sizeof({item}), &{item}, {drop}, {e.module.place(e.loc)})")
    array = e.fresh(target, [f"pb_saved_bytes(&{layout}, {made})"])
    e.line(f"pb_write_saved(&{layout}, {made}, {array.name}.data);")
    e.settle(mark)


def unpack(e: Emitter, call: Call) -> None:
    """The values of a record from bytes."""
    what: Saved = call.op.fn
    leaf, layout = _record(e.module, what)
    array = e.array(call.args[0])
    mark = len(e.scratch)
    made = e.declare_list(leaf)
    reader = e.temporary("reader")
    e.check(f"{array.name}.s[0] == 1", _DAMAGED, "what was saved is damaged")
    with e.block(""):
        e.line(f"pb_reader {reader} = {{{array.name}.data, {array.name}.data + {array.name}.n[0]}};")
        e.attempt(f"pb_read_saved(host, &{layout}, &{reader}, &{made}, {e.module.place(e.loc)})")
    e.check(f"pb_list_length({made}) == 1", _DAMAGED, "what was saved is damaged")
    with e.block(""):
        item = e.temporary("item")
        e.line(f"const {e.module.item_type(leaf)} *{item} = pb_list_item({made}, 0);")
        e.line(f"(void){item};")
        at = 0
        for var in call.targets:
            leaves = leaves_of(var.style)
            if e.used(var):
                for k, (name, inner) in enumerate(zip(e.leaves(var), leaves, strict=True)):
                    e.assign(name, f"{item}->f{at + k}", inner)
            at += len(leaves)
    e.settle(mark)


_DAMAGED = 2


def _record(module: ModuleEmitter, what: Saved) -> tuple[ListLeaf, str]:
    """The leaf of a record as the item of a list, and the C name of its layout."""
    if HEADER not in module.definitions:
        module.definitions.insert(0, HEADER)
    leaf = plain(what.record)
    assert isinstance(leaf, ListLeaf)
    return leaf, _layout(module, leaf)


def _layout(module: ModuleEmitter, leaf: ListLeaf) -> str:
    """The C table that says how an item of a list is made."""
    kind = module.item_type(leaf)
    name = f"{kind}_layout"
    if name in module.helpers:
        return name
    module.helpers.add(name)
    rows = [
        f"{{{_field(module, x)[0]}, offsetof({kind}, f{k}), {_field(module, x)[1]}}}"
        for k, x in enumerate(leaf.items)
    ]
    module.definitions += [
        f"static const pb_field {kind}_fields[] = {{{', '.join(rows) or '{0}'}}};",
        f"static const pb_layout {name} = {{sizeof({kind}), {len(leaf.items)}, {kind}_fields, {module.dropper(leaf)}}};",
    ]
    return name


def _field(module: ModuleEmitter, leaf: Leaf) -> tuple[str, str]:
    """The kind, size and rank of a leaf, and the layout of its items."""
    match leaf:
        case Number(dtype):
            return f"PB_SAVED_NUMBER, sizeof({c_type(dtype)}), 0", "NULL"
        case ArrayLeaf(dtype, rank):
            return f"PB_SAVED_ARRAY, sizeof({c_type(dtype)}), {rank}", "NULL"
        case ListLeaf():
            return "PB_SAVED_LIST, 0, 0", f"&{_layout(module, leaf)}"
