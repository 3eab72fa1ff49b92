"""Cotangents of lists: items that nothing has reached yet are zeros without a shape, held as arrays without data."""

from __future__ import annotations

from pullback.backend.native.emit.access import nested
from pullback.backend.native.emit.dtypes import MaybeZero
from pullback.backend.native.emit.emitter import VALUE_ERROR, ArrayRef, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import ArrayLeaf, Leaf, ListLeaf, Number, leaves_of
from pullback.backend.native.emit.lists import bounds, list_leaf, sliced
from pullback.backend.native.emit.values import Held, append_item, each, parts, style_of_source
from pullback.ir.nodes import Call, Operand, Var
from pullback.styles.style import Array, ListOf, Scalar, Style


def add(e: Emitter, call: Call) -> None:
    """The sum of two arrays of which one at least may be zero."""
    (target,) = call.targets
    a, b = call.args
    if not isinstance(style_of_source(a), Array) or not isinstance(style_of_source(b), Array):
        raise Untaken("an array that may be zero beside a number")
    (text,) = _sum(e, _held(e, a), _held(e, b), target.style)
    e.set_array(e.leaves(target)[0], text)


def _held(e: Emitter, operand: Operand) -> Held:
    style = style_of_source(operand)
    return Held(style, tuple(parts(e, operand, style)))


def _sum(e: Emitter, a: Held, b: Held, style: Style) -> list[str]:
    """A new value in scratch: the sum, zero where both are."""
    (leaf,) = leaves_of(style)
    if not isinstance(leaf, ArrayLeaf):
        raise Untaken("a sum that is no array")
    if not isinstance(a.style, MaybeZero):
        a, b = b, a
    (x,), (y,) = a.texts, b.texts  # x may be zero
    made = e.declare_array("sum", leaf.dtype, leaf.rank)
    e.scratch.append((made.name, leaf))
    e.line(f"PB_RELEASE({made.name}); {made.name}.owner = NULL; {made.name}.data = NULL;")
    if isinstance(b.style, MaybeZero):
        with e.block(f"if (!{y}.data)", "} else {"):
            e.set_array(made.name, x)
        e.depth += 1
    e.fresh_array(made, [f"{y}.n[{k}]" for k in range(leaf.rank)])
    e.line(
        f"pb_copy_items({leaf.rank}, {made.name}.n, {made.size}, {made.name}.data, {made.name}.s, {y}.data, {y}.s);"
    )
    with e.block(f"if ({x}.data)"):
        e.check(
            f"pb_same_shape({leaf.rank}, {x}.n, {made.name}.n)", VALUE_ERROR, "cotangents of different shapes"
        )
        _add_in_place(e, made, x)
    if isinstance(b.style, MaybeZero):
        e.depth -= 1
        e.line("}")
    return [made.name]


def _add_in_place(e: Emitter, made: ArrayRef, other: str) -> None:
    at = f"{other}.data" + "".join(f" + pb_i{k} * {other}.s[{k}]" for k in range(made.rank))
    nested(e, made, f"+= *({made.ctype} *)({at})")


def zeros(e: Emitter, call: Call) -> None:
    """A zero for each item of a list, of the lists in it too."""
    (source,) = call.args
    (target,) = call.targets
    mark = len(e.scratch)
    made = _zeros(e, _held(e, source), target.style)
    e.line(f"PB_SET_LIST({e.leaves(target)[0]}, {made});")
    e.settle(mark)


def _zeros(e: Emitter, source: Held, style: Style) -> str:
    leaf = _leaf(style)
    made = e.declare_list(leaf)
    (name,) = source.texts
    elem = style.elem if isinstance(style, ListOf) else style
    if isinstance(elem, ListOf):
        with each(e, source) as item:
            append_item(e, made, leaf, elem, Held(elem, (_zeros(e, item, elem),)))
    elif isinstance(elem, MaybeZero | Scalar):
        _append_zeros(e, made, leaf, f"pb_list_length({name})")
    else:
        raise Untaken("cotangents of such a list")
    return made


def _leaf(style: Style) -> ListLeaf:
    leaf: Leaf | None = leaves_of(style)[0] if isinstance(style, ListOf) else None
    if not isinstance(leaf, ListLeaf):
        raise Untaken("a list is needed here")
    return leaf


def _append_zeros(e: Emitter, name: str, leaf: ListLeaf, count: str) -> None:
    size, drop = f"sizeof({e.module.item_type(leaf)})", e.module.dropper(leaf)
    e.attempt(f"pb_append_zeros(host, &{name}, {count}, {size}, {drop}, {e.module.place(e.loc)})")


def spread(e: Emitter, call: Call) -> None:
    """A list of zeros with some items where a slice of it is."""
    items, count, window = call.args
    (target,) = call.targets
    mark = len(e.scratch)
    (text,) = parts(e, items, target.style)
    leaf = _leaf(target.style)
    made = e.declare_list(leaf)
    kind, keep = e.module.item_type(leaf), e.module.keeper(leaf)
    if any(isinstance(x, ListLeaf) for x in leaf.items):
        raise Untaken("zeros for lists in a list")
    with e.block(""):
        n = e.temporary("n")
        e.line(f"const int64_t {n} = {e.integer(count)};")
        _append_zeros(e, made, leaf, n)
        start, step, found = sliced(e, n, bounds(window))
        e.check(f"{found} == pb_list_length({text})", VALUE_ERROR, "lists of different lengths")
        k = e.temporary("k")
        with e.block(f"for (int64_t {k} = 0; {k} < {found}; {k}++)"):
            e.line(f"{kind} *pb_to = pb_list_item({made}, {start} + {k} * {step});")
            e.line(f"*pb_to = *({kind} *)pb_list_item({text}, {k});")
            if keep != "NULL":
                e.line(f"{keep}(pb_to);")
    e.line(f"PB_SET_LIST({e.leaves(target)[0]}, {made});")
    e.settle(mark)


def add_lists(e: Emitter, call: Call) -> None:
    """The sum of two lists of cotangents, item by item."""
    a, b = call.args
    (target,) = call.targets
    mark = len(e.scratch)
    list_leaf(e, a)
    list_leaf(e, b)
    made = _added(e, _held(e, a), _held(e, b), target)
    e.line(f"PB_SET_LIST({e.leaves(target)[0]}, {made});")
    e.settle(mark)


def _added(e: Emitter, a: Held, b: Held, target: Var) -> str:
    style = target.style
    leaf = _leaf(style)
    assert isinstance(style, ListOf) and isinstance(a.style, ListOf) and isinstance(b.style, ListOf)
    elem = style.elem
    (x,), (y,) = a.texts, b.texts
    e.check(f"pb_list_length({x}) == pb_list_length({y})", VALUE_ERROR, "lists of different lengths")
    made = e.declare_list(leaf)
    inner = _leaf(b.style)
    k = e.temporary("at")
    e.line(f"int64_t {k} = 0;")
    with each(e, a) as item:
        other = f"(({e.module.item_type(inner)} *)pb_list_item({y}, {k}))"
        second = Held(b.style.elem, tuple(f"{other}->f{j}" for j in range(len(inner.items))))
        mark = len(e.scratch)
        total = _item_sum(e, item, second, elem)
        append_item(e, made, leaf, elem, Held(elem, (total,)))
        e.settle(mark)
        e.line(f"{k}++;")
    return made


def _item_sum(e: Emitter, a: Held, b: Held, style: Style) -> str:
    if not isinstance(style, Scalar | Array):
        raise Untaken("a sum of lists of such items")
    leaf = leaves_of(style)[0]
    if isinstance(leaf, Number):
        number = Scalar(leaf.dtype, None)
        (x,), (y,) = parts(e, a, number), parts(e, b, number)
        return f"({x} + {y})"
    if not isinstance(a.style, Array) or not isinstance(b.style, Array):
        raise Untaken("a sum of lists of such items")
    if not isinstance(a.style, MaybeZero) and not isinstance(b.style, MaybeZero):
        a = Held(MaybeZero(a.style.dtype, a.style.axes), a.texts)
    return _sum(e, a, b, style)[0]
