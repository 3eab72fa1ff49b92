"""Copies and whole objects: `copy`, `dataclasses`, `collections`."""

from __future__ import annotations

import collections
import copy
import dataclasses
from typing import Any

from pullback import markers
from pullback.frontend.context import Context
from pullback.frontend.library import builtins, effect_calls, facts, prelude_classes
from pullback.frontend.library.calls import Handler, is_array
from pullback.frontend.values import (
    CellRef,
    DictCell,
    GrowingCell,
    Known,
    ListCell,
    Num,
    ObjectCell,
    TupleValue,
    Value,
)
from pullback.ir import core_ops as core
from pullback.ir.nodes import Alias
from pullback.rules.registry import declare, nondifferentiable
from pullback.styles.style import numeric


def shallow(ctx: Context, x: Value) -> Value:
    """`copy.copy(x)`."""
    if is_array(x) and facts.array_style(ctx, x) is not None:
        return ctx.call(core.copy, [x])
    if not isinstance(x, CellRef):
        return x
    cell = ctx.cell(x)
    if isinstance(cell, ObjectCell) and (hasattr(cell.cls, "__copy__") or hasattr(cell.cls, "__deepcopy__")):
        ctx.refuse(f"`copy` of a {cell.cls.__name__}, which says itself how it is copied", "call its method")
    return ctx.new_cell(dataclasses.replace(cell, param=""))


def deep(ctx: Context, x: Value, memo: Value = Known(None)) -> Value:
    """`copy.deepcopy(x)` of arrays and containers that share nothing among themselves."""
    shared: set[int] = set()
    return _deep(ctx, x, shared)


def _deep(ctx: Context, x: Value, seen: set[int]) -> Value:
    if isinstance(x, TupleValue):
        return TupleValue(tuple(_deep(ctx, v, seen) for v in x.items), x.cls)
    number = getattr(x, "cell", None)
    if number is not None:
        if number in seen:
            ctx.refuse(
                "`deepcopy` of a container that holds one array or container twice", "copy the parts yourself"
            )
        seen.add(number)
    if not isinstance(x, CellRef):
        return shallow(ctx, x)
    cell = ctx.cell(x)
    match cell:
        case ListCell(items):
            return ctx.new_cell(ListCell(tuple(_deep(ctx, v, seen) for v in items)))
        case DictCell(entries):
            return ctx.new_cell(DictCell({k: _deep(ctx, v, seen) for k, v in entries.items()}))
        case ObjectCell(cls, fields):
            if hasattr(cls, "__deepcopy__"):
                ctx.refuse(
                    f"`deepcopy` of a {cls.__name__}, which says itself how it is copied", "call its method"
                )
            return ctx.new_cell(ObjectCell(cls, {k: _deep(ctx, v, seen) for k, v in fields.items()}))
        case GrowingCell(_, shares) if not shares:
            return shallow(ctx, x)
    ctx.refuse(
        "`deepcopy` of a list whose length is known at run time only", "copy its items in a comprehension"
    )


# ---------------------------------------------------------------------------------------------------- dataclasses


def _instance(ctx: Context, obj: Value, what: str) -> ObjectCell:
    cell = ctx.cell(obj) if isinstance(obj, CellRef) else None
    if not isinstance(cell, ObjectCell) or not dataclasses.is_dataclass(cell.cls):
        ctx.refuse(f"`dataclasses.{what}` of something that is not a dataclass instance", "pass an instance")
    return cell


def replace(ctx: Context, obj: Value, /, **changes: Value) -> Value:
    """`dataclasses.replace(obj, field=value)`."""
    cell = _instance(ctx, obj, "replace")
    made = [f.name for f in dataclasses.fields(cell.cls) if f.init]
    return ctx.call_value(Known(cell.cls), [], {**{n: cell.fields[n] for n in made}, **changes})


def as_dict(ctx: Context, obj: Value) -> Value:
    """`dataclasses.asdict(obj)`: deep copies of the fields."""
    cell = _instance(ctx, obj, "asdict")
    names = [f.name for f in dataclasses.fields(cell.cls)]
    return ctx.new_cell(DictCell({n: _plain(ctx, deep(ctx, cell.fields[n]), "asdict") for n in names}))


def as_tuple(ctx: Context, obj: Value) -> Value:
    """`dataclasses.astuple(obj)`: deep copies of the fields."""
    cell = _instance(ctx, obj, "astuple")
    return TupleValue(tuple(
        _plain(ctx, deep(ctx, cell.fields[f.name]), "astuple") for f in dataclasses.fields(cell.cls)
    ))  # fmt: skip


def _plain(ctx: Context, value: Value, what: str) -> Value:
    if isinstance(value, CellRef) and isinstance(ctx.cell(value), ObjectCell):
        ctx.refuse(f"`dataclasses.{what}` of nested instances", "take the fields of each")
    return value


def is_dataclass(ctx: Context, obj: Value) -> Value:
    """`dataclasses.is_dataclass(obj)`."""
    if isinstance(obj, Known):
        return Known(dataclasses.is_dataclass(obj.obj))
    found = facts.types_of(ctx, obj) or ()
    return Known(any(dataclasses.is_dataclass(t) for t in found))


# ------------------------------------------------------------------------------------------------- stop_gradient

_stop = declare(
    markers.stop_gradient, style=lambda x: numeric(x), alias=Alias("same", (0,)), cheap=True, path=""
)
nondifferentiable(markers.stop_gradient)


def stop_gradient(ctx: Context, x: Value) -> Value:
    """`pullback.stop_gradient(x)`: the value, of which no derivative is taken."""
    if isinstance(x, TupleValue):
        return TupleValue(tuple(stop_gradient(ctx, v) for v in x.items), x.cls)
    if isinstance(x, Known):
        return x
    if isinstance(x, Num) or (is_array(x) and facts.array_style(ctx, x) is not None):
        return ctx.call(_stop, [x], hint="constant")
    ctx.refuse("`stop_gradient` of a list, dict or object", "apply it to the arrays and numbers in it")


# ---------------------------------------------------------------------------------------------------- collections


def _made_of(cls: type) -> Handler:
    """A container made as an instance of its plain Python class."""

    def handler(ctx: Context, *args: Value, **kwargs: Value) -> Value:
        return ctx.call_value(Known(cls), args, kwargs)

    return handler


def plain(ctx: Context, value: Value) -> Value:
    """The list or dict that a container of `collections` holds; any other value as it is."""
    cell = ctx.cell(value) if isinstance(value, CellRef) else None
    if isinstance(cell, ObjectCell) and cell.cls in (prelude_classes.Deque, prelude_classes.DefaultDict):
        return cell.fields.get(cell.cls.stands_for, value)
    return value


FUNCTIONS: dict[Any, Handler] = {
    markers.stop_gradient: stop_gradient,
    copy.copy: shallow,
    copy.deepcopy: deep,
    dataclasses.replace: replace,
    dataclasses.asdict: as_dict,
    dataclasses.astuple: as_tuple,
    dataclasses.is_dataclass: is_dataclass,
    collections.deque: _made_of(prelude_classes.Deque),
    collections.defaultdict: _made_of(prelude_classes.DefaultDict),
    collections.OrderedDict: builtins.dict_,
    collections.Counter: effect_calls.refused("`Counter`", "use a dict, or np.bincount"),
    collections.ChainMap: effect_calls.refused("`ChainMap`", "merge the dicts: {**a, **b}"),
}
