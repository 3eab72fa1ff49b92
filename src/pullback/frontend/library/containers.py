"""Methods of lists, dicts, tuples, strings and other compile-time objects.

A list of known length is a bundle of values and is changed at compile time; one that grew in a loop is a run-time list
of the IR.  Dicts have keys known at compile time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from pullback.frontend.context import Context
from pullback.frontend.library import facts, iteration, lists, prelude
from pullback.frontend.library.calls import NONE, Args, Handler, Kwargs, given, inline, invoke
from pullback.frontend.values import (
    CellRef,
    DictCell,
    GrowingCell,
    IterValue,
    Known,
    ListCell,
    Num,
    TupleValue,
    Value,
)
from pullback.ir import core_ops as core
from pullback.ir.nodes import Const

MISSING = Known(prelude.MISSING)


def _list(ctx: Context, value: Value) -> ListCell | GrowingCell:
    cell = ctx.cell(value)
    if not isinstance(cell, ListCell | GrowingCell):
        ctx.refuse("this list method of something that is not a list", "pass a list")
    return cell


def _set_items(ctx: Context, value: Value, items: Sequence[Value]) -> None:
    ctx.set_cell(value, ListCell(tuple(items), ctx.cell(value).param))


def _unknown_length(ctx: Context, name: str) -> NoReturn:
    ctx.refuse(
        f"`list.{name}` of a list whose length is known at run time only",
        "use append, pop() and indexing, or an array",
    )


def _known_items(ctx: Context, value: Value, name: str) -> tuple[Value, ...]:
    cell = _list(ctx, value)
    if isinstance(cell, GrowingCell):
        _unknown_length(ctx, name)
    return cell.items


# ---------------------------------------------------------------------------------------------------------- lists


def append(ctx: Context, owner: Value, item: Value) -> Value:
    """`items.append(item)`."""
    cell = _list(ctx, owner)
    if isinstance(cell, ListCell):
        _set_items(ctx, owner, (*cell.items, item))
        return NONE
    grown = ctx.builder.call(core.list_append, cell.operand, ctx.operand(item), hint="items")
    ctx.set_cell(owner, GrowingCell(grown, cell.shares | lists.storages_of([item]), cell.param))
    return NONE


def extend(ctx: Context, owner: Value, more: Value) -> Value:
    """`items.extend(more)`."""
    cell, added = _list(ctx, owner), iteration.items_of(ctx, more)
    if added is not None:
        for item in added:
            append(ctx, owner, item)
        return NONE
    other = ctx.cell(more) if isinstance(more, CellRef) else None
    if isinstance(cell, GrowingCell) and isinstance(other, GrowingCell):
        joined = ctx.builder.call(core.list_join, cell.operand, other.operand, hint="items")
        ctx.set_cell(owner, GrowingCell(joined, cell.shares | other.shares, cell.param))
        return NONE
    return inline(ctx, prelude.extend, owner, iteration.needed(ctx, more, "extend"))


def pop(ctx: Context, owner: Value, index: Value = Known(-1)) -> Value:
    """`items.pop()`, `items.pop(i)`; `table.pop(key, default)` is `dict_pop`."""
    cell = _list(ctx, owner)
    if lists.grown(ctx, owner, index):
        return lists.pop(ctx, owner, index)
    assert isinstance(cell, ListCell)
    place = ctx.known(index)
    items = list(cell.items)
    if not -len(items) <= place < len(items):
        ctx.refuse("`pop` from a list that is too short", "Python raises IndexError here")
    out = items.pop(place)
    _set_items(ctx, owner, items)
    return out


def insert(ctx: Context, owner: Value, index: Value, item: Value) -> Value:
    """`items.insert(i, item)`."""
    cell = _list(ctx, owner)
    if lists.grown(ctx, owner, index):
        lists.insert(ctx, owner, index, item, lists.storages_of([item]))
        return NONE
    assert isinstance(cell, ListCell)
    items = list(cell.items)
    items.insert(ctx.known(index), item)
    _set_items(ctx, owner, items)
    return NONE


def clear(ctx: Context, owner: Value) -> Value:
    """`items.clear()`."""
    _set_items(ctx, owner, ())
    return NONE


def copy_list(ctx: Context, owner: Value) -> Value:
    """`items.copy()`."""
    cell = _list(ctx, owner)
    if isinstance(cell, GrowingCell):
        return ctx.new_cell(GrowingCell(cell.operand, cell.shares))
    return ctx.new_cell(ListCell(cell.items))


def reverse(ctx: Context, owner: Value) -> Value:
    """`items.reverse()`."""
    if isinstance(_list(ctx, owner), GrowingCell):
        return _replace_by(ctx, owner, inline(ctx, prelude.collect, iteration.reversed_(ctx, owner)))
    _set_items(ctx, owner, _known_items(ctx, owner, "reverse")[::-1])
    return NONE


def _replace_by(ctx: Context, owner: Value, other: Value) -> Value:
    """The list gets the items of another."""
    cell = ctx.cell(other)
    ctx.set_cell(owner, dataclasses.replace(cell, param=ctx.cell(owner).param))
    return NONE


def sort(ctx: Context, owner: Value, *, key: Value = NONE, reverse: Value = Known(False)) -> Value:
    """`items.sort()`."""
    ordered = ctx.call_value(Known(sorted), [owner], {"key": key, "reverse": reverse})
    return _replace_by(ctx, owner, ordered)


def remove(ctx: Context, owner: Value, item: Value) -> Value:
    """`items.remove(item)` of compile-time items."""
    items = list(_known_items(ctx, owner, "remove"))
    del items[_position(ctx, items, item, "remove")]
    _set_items(ctx, owner, items)
    return NONE


def _position(ctx: Context, items: Sequence[Value], item: Value, name: str) -> int:
    plain = [v.obj for v in items if isinstance(v, Known)]
    if not isinstance(item, Known) or len(plain) != len(items):
        ctx.refuse(
            f"`{name}` compares run-time values", "find the position by a loop, or np.argmax(values == item)"
        )
    if item.obj not in plain:
        ctx.refuse(f"`{name}` of something that is not in the list", "Python raises ValueError here")
    return plain.index(item.obj)


def index(ctx: Context, owner: Value, item: Value) -> Value:
    """`items.index(item)` of compile-time items."""
    return Known(_position(ctx, _sequence(ctx, owner, "index"), item, "index"))


def count(ctx: Context, owner: Value, item: Value) -> Value:
    """`items.count(item)` of compile-time items."""
    items = _sequence(ctx, owner, "count")
    if not isinstance(item, Known) or not all(isinstance(v, Known) for v in items):
        ctx.refuse("`count` compares run-time values", "count by a loop, or np.sum(values == item)")
    return Known([v.obj for v in items if isinstance(v, Known)].count(item.obj))


def _sequence(ctx: Context, owner: Value, name: str) -> Sequence[Value]:
    return owner.items if isinstance(owner, TupleValue) else _known_items(ctx, owner, name)


LIST: dict[str, Handler] = {
    "append": append,
    "extend": extend,
    "pop": pop,
    "insert": insert,
    "clear": clear,
    "copy": copy_list,
    "reverse": reverse,
    "sort": sort,
    "remove": remove,
    "index": index,
    "count": count,
}

# ---------------------------------------------------------------------------------------------------------- dicts


def _dict(ctx: Context, owner: Value) -> Mapping[Any, Value]:
    cell = ctx.cell(owner)
    if not isinstance(cell, DictCell):
        ctx.refuse("this dict method of something that is not a dict", "pass a dict")
    return cell.items


def _set_dict(ctx: Context, owner: Value, items: Mapping[Any, Value]) -> None:
    ctx.set_cell(owner, DictCell(items, ctx.cell(owner).param))


def get(ctx: Context, owner: Value, key: Value, default: Value = NONE) -> Value:
    """`table.get(key, default)`."""
    return _dict(ctx, owner).get(key_of(ctx, key), default)


def key_of(ctx: Context, key: Value) -> Any:
    """A key, known at compile time."""
    if isinstance(key, TupleValue) and key.cls is None:
        return tuple(key_of(ctx, k) for k in key.items)
    return ctx.known(key)


def _value_of_key(key: Any) -> Value:
    return TupleValue(tuple(_value_of_key(k) for k in key)) if type(key) is tuple else Known(key)


def keys(ctx: Context, owner: Value) -> Value:
    """`table.keys()`."""
    return _view(ctx, owner, lambda key, value: _value_of_key(key))


def values(ctx: Context, owner: Value) -> Value:
    """`table.values()`."""
    return _view(ctx, owner, lambda key, value: value)


def items(ctx: Context, owner: Value) -> Value:
    """`table.items()`."""
    return _view(ctx, owner, lambda key, value: TupleValue((_value_of_key(key), value)))


def _view(ctx: Context, owner: Value, part: Callable[[Any, Value], Value]) -> Value:
    """A view of a dict: what it shows is read when it is asked for, from the dict as it is then."""
    known = list(_dict(ctx, owner))

    def item(index: Value) -> Value:
        place = ctx.known(index)
        table = _dict(ctx, owner)
        if list(table) != known:
            ctx.refuse(
                "a dict gains or loses keys while a view of it is in use", "copy the view: list(d.items())"
            )
        return part(known[place], table[known[place]])

    return IterValue(len(known), item, reusable=True, over=(owner,))


def update(ctx: Context, owner: Value, other: Value = NONE, /, **named: Value) -> Value:
    """`table.update(other, **named)`."""
    table = dict(_dict(ctx, owner))
    if given(other):
        fresh = ctx.call_value(Known(dict), [other], {})
        table.update(_dict(ctx, fresh))
    table.update(named)
    _set_dict(ctx, owner, table)
    return NONE


def dict_pop(ctx: Context, owner: Value, key: Value, default: Value = MISSING) -> Value:
    """`table.pop(key, default)`."""
    table, name = dict(_dict(ctx, owner)), key_of(ctx, key)
    if name not in table:
        if default is MISSING:
            ctx.refuse(f"`pop({name!r})`: no such key", "Python raises KeyError here; give a default")
        return default
    out: Value = table.pop(name)
    _set_dict(ctx, owner, table)
    return out


def popitem(ctx: Context, owner: Value) -> Value:
    """`table.popitem()`."""
    table = dict(_dict(ctx, owner))
    if not table:
        ctx.refuse("`popitem` of an empty dict", "Python raises KeyError here")
    key, out = table.popitem()
    _set_dict(ctx, owner, table)
    return TupleValue((_value_of_key(key), out))


def setdefault(ctx: Context, owner: Value, key: Value, default: Value = NONE) -> Value:
    """`table.setdefault(key, default)`."""
    table, name = dict(_dict(ctx, owner)), key_of(ctx, key)
    if name not in table:
        table[name] = default
        _set_dict(ctx, owner, table)
    found: Value = table[name]
    return found


def clear_dict(ctx: Context, owner: Value) -> Value:
    """`table.clear()`."""
    _set_dict(ctx, owner, {})
    return NONE


def copy_dict(ctx: Context, owner: Value) -> Value:
    """`table.copy()`."""
    return ctx.new_cell(DictCell(dict(_dict(ctx, owner))))


DICT: dict[str, Handler] = {
    "get": get,
    "keys": keys,
    "values": values,
    "items": items,
    "update": update,
    "pop": dict_pop,
    "popitem": popitem,
    "setdefault": setdefault,
    "clear": clear_dict,
    "copy": copy_dict,
}

# --------------------------------------------------------------------------------------------------------- tuples


def replace(ctx: Context, owner: Value, **changes: Value) -> Value:
    """`point._replace(x=...)` of a named tuple."""
    assert isinstance(owner, TupleValue)
    names = getattr(owner.cls, "_fields", ())
    unknown = [n for n in changes if n not in names]
    if unknown:
        ctx.refuse(f"`_replace`: no field `{unknown[0]}`", f"the fields are {', '.join(names)}")
    return TupleValue(tuple(changes.get(n, v) for n, v in zip(names, owner.items, strict=True)), owner.cls)


def asdict(ctx: Context, owner: Value) -> Value:
    """`point._asdict()` of a named tuple."""
    assert isinstance(owner, TupleValue)
    names = getattr(owner.cls, "_fields", ())
    return ctx.new_cell(DictCell(dict(zip(names, owner.items, strict=True))))


TUPLE: dict[str, Handler] = {"index": index, "count": count, "_replace": replace, "_asdict": asdict}

# ----------------------------------------------------------------------------------- strings and other known objects

_PURE_OWNERS = (str, bytes, int, float, complex, bool, tuple, frozenset, range, type(None))


def plain_argument(ctx: Context, value: Value) -> Any:
    """The compile-time object of an argument, tuples and lists of them included; MISSING where it is not known."""
    if isinstance(value, Known):
        return value.obj
    inner = ctx.iterate(value) if isinstance(value, TupleValue | CellRef) else None
    if inner is None or (isinstance(value, CellRef) and isinstance(ctx.cell(value), DictCell)):
        return prelude.MISSING
    found = [plain_argument(ctx, v) for v in inner]
    if any(v is prelude.MISSING for v in found):
        return prelude.MISSING
    return tuple(found) if isinstance(value, TupleValue) else found


def known_method(ctx: Context, owner: Any, name: str, args: Args, kwargs: Kwargs) -> Value:
    """A method of a compile-time object: text and numbers are computed at compile time."""
    if not isinstance(owner, _PURE_OWNERS):
        ctx.refuse(
            f"method `{name}` of a {type(owner).__name__} known at compile time",
            "call it outside the function",
        )
    plain = [plain_argument(ctx, v) for v in args]
    named = {k: plain_argument(ctx, v) for k, v in kwargs.items()}
    if not any(v is prelude.MISSING for v in [*plain, *named.values()]):
        return _folded(ctx, owner, name, plain, named)
    if isinstance(owner, str) and name == "format" and not kwargs:
        return Num(ctx.builder.call(core.format_, Const(owner), *[ctx.operand(v) for v in args], hint="text"))
    if isinstance(owner, str) and name == "join":
        return _joined(ctx, owner, args[0])
    ctx.refuse(
        f"method `{name}` of a {type(owner).__name__} with run-time arguments",
        "compute it outside the function",
    )


def _folded(ctx: Context, owner: Any, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Value:
    try:
        out = getattr(owner, name)(*args, **kwargs)
    except Exception as error:  # whatever Python raises here, it raises at every run
        ctx.refuse(f"`{name}`: {type(error).__name__}: {error}", "the call always raises this")
    return constant(ctx, out)


def constant(ctx: Context, obj: Any) -> Value:
    """A compile-time object as a Value: lists are new lists."""
    if type(obj) is list:
        return ctx.new_cell(ListCell(tuple(constant(ctx, v) for v in obj)))
    if type(obj) is tuple:
        return TupleValue(tuple(constant(ctx, v) for v in obj))
    return Known(obj)


def _joined(ctx: Context, owner: str, items_: Value) -> Value:
    found = iteration.items_of(ctx, items_)
    if found is None:
        ctx.refuse(
            "`join` of a sequence whose length is known at run time only", "make text outside the function"
        )
    escaped = owner.replace("{", "{{").replace("}", "}}")
    template = Const(escaped.join(["{}"] * len(found)))
    return Num(ctx.builder.call(core.format_, template, *[ctx.operand(v) for v in found], hint="text"))


# ------------------------------------------------------------------------------------------------------- dispatch


def table_of(ctx: Context, owner: Value) -> dict[str, Handler]:
    """The methods of a container."""
    if isinstance(owner, TupleValue):
        return TUPLE
    cell = ctx.cell(owner)
    return LIST if isinstance(cell, ListCell | GrowingCell) else DICT if isinstance(cell, DictCell) else {}


def method(ctx: Context, owner: Value, name: str, args: Args, kwargs: Kwargs) -> Value:
    """Call a method of a list, dict or tuple."""
    handler = table_of(ctx, owner).get(name)
    if handler is None:
        found = facts.types_of(ctx, owner) or (object,)
        ctx.refuse(f"method `{name}` of a {found[0].__name__}", "use indexing and the common methods")
    return invoke(ctx, f".{name}", handler, [owner, *args], kwargs)
