"""The reverse of element access: loads, stores, scatter-adds, and run-time lists.

The cotangent of a load is a scatter-add into the cotangent of the array; a store passes on what survived of it and
zeroes its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from pullback.errors import UnsupportedError
from pullback.ir import core_ops as core
from pullback.ir.builder import Builder
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Call, Const, Op, Operand, Pack, Var
from pullback.ir.walk import variables
from pullback.styles.broadcast import as_array
from pullback.styles.style import Array, Scalar, numeric
from pullback.transform.bars import Bars
from pullback.transform.cotangents import add, bar_hint, distribute, exact, fit, numpy_op
from pullback.transform.whole_views import undo_views


class Sweeping(Protocol):
    """The reverse sweep, as far as element access needs it."""

    builder: Builder
    bars: Bars

    def is_active(self, operand: Operand) -> bool: ...

    def is_distinct(self, index: Operand) -> bool: ...

    def zero(self, var: Var) -> Operand: ...

    def accumulate(self, operand: Operand, bar: Operand | None) -> None: ...


def _load(sweep: Sweeping, call: Call, bar: Operand) -> None:
    array, steps = call.args[0], call.args[1:]
    assert isinstance(array, Var), "a load is from an array value"
    if isinstance(array.style, Array):
        bar, steps = undo_views(sweep.builder, array, steps, bar)
    if not steps:
        sweep.accumulate(array, bar)
        return
    old = sweep.bars.get(array)
    whole = exact(sweep.builder, array, sweep.zero(array) if old is None else old)
    new = sweep.builder.call(core.add_at, whole, bar, *steps, hint=bar_hint(array))
    sweep.bars.set(array, new)


def _store(sweep: Sweeping, call: Call, bar: Operand) -> None:
    array, value, steps = call.args[0], call.args[1], call.args[2:]
    if _live(sweep, value):
        part = _surviving(sweep, array, bar, steps) if steps else bar
        _contribute(sweep, value, part)
    if sweep.is_active(array) and steps:
        sweep.accumulate(
            array, sweep.builder.call(core.store, bar, Const(0.0), *steps, hint=bar_hint_of(array))
        )


def bar_hint_of(operand: Operand) -> str:
    """The name of an operand's cotangent."""
    return bar_hint(operand) if isinstance(operand, Var) else "t_bar"


def _surviving(sweep: Sweeping, array: Operand, bar: Operand, steps: tuple[Operand, ...]) -> Operand:
    """The cotangent at the places stored to, zero where a later write of the same store hit the same place."""
    build = sweep.builder
    part = build.call(core.load, bar, *steps, hint="stored_bar")
    if _writes_each_place_once(sweep, steps):
        return part
    shape = build.call(core.shape, part, hint="stored_shape")
    size = build.call(numpy_op(np.size), part, hint="stored_size")
    numbers = build.call(numpy_op(np.arange), size, hint="order")
    order = build.call(numpy_op(np.reshape), numbers, shape, hint="order")
    array_shape = build.call(core.shape, array, hint="shape")
    blank = build.call(numpy_op(np.zeros), array_shape, dtype=Const(np.dtype(np.int64)), hint="last")
    last = build.call(core.store, blank, order, *steps, hint="last")
    written = build.call(core.load, last, *steps, hint="written")
    kept = build.call(core.OPERATORS["=="], written, order, hint="kept")
    return build.call(numpy_op(np.where), kept, part, Const(0.0), hint="stored_bar")


def _writes_each_place_once(sweep: Sweeping, steps: tuple[Operand, ...]) -> bool:
    for step in steps:
        assert isinstance(step, Pack)
        if step.kind != "index":
            continue
        advanced = [e for e in step.items if _is_integer_array(e)]
        if len(advanced) > 0 and not (len(advanced) == 1 and sweep.is_distinct(advanced[0])):
            return False
    return True


def _is_integer_array(entry: Operand) -> bool:
    if isinstance(entry, Pack) and entry.kind == "slice":
        return False
    style = style_of(entry)
    if isinstance(numeric(style), Scalar):
        return False
    array = as_array(style)
    return isinstance(array, Array) and array.kind != "b" and not (isinstance(entry, Const))


def _copy(sweep: Sweeping, call: Call, bar: Operand) -> None:
    """A copy or a conversion passes its cotangent on, in the space of the operand."""
    operand = call.args[0]
    if isinstance(operand, Var) and sweep.is_active(operand):
        sweep.accumulate(operand, fit(sweep.builder, bar, operand))


def _add_at(sweep: Sweeping, call: Call, bar: Operand) -> None:
    array, value, steps = call.args[0], call.args[1], call.args[2:]
    sweep.accumulate(array, bar)
    if _live(sweep, value):
        _contribute(
            sweep, value, sweep.builder.call(core.load, bar, *steps, hint="stored_bar") if steps else bar
        )


def _contribute(sweep: Sweeping, operand: Operand, bar: Operand) -> None:
    """Accumulate a contribution; to the items of a list or tuple of numbers that is stored at once, too."""
    for var, part in distribute(sweep.builder, operand, bar):
        if sweep.is_active(var):
            sweep.accumulate(var, fit(sweep.builder, part, var))


# ------------------------------------------------------------------------------------------------ run-time lists


def _make_list(sweep: Sweeping, call: Call, bar: Operand) -> None:
    (items,) = call.args
    if isinstance(items, Var):
        sweep.accumulate(items, bar)
        return
    assert isinstance(items, Pack)
    for i, item in enumerate(items.items):
        _item(
            sweep,
            item,
            sweep.builder.call(core.list_get, bar, Const(i), hint="item_bar") if _live(sweep, item) else bar,
        )


def _live(sweep: Sweeping, operand: Operand) -> bool:
    return any(sweep.is_active(v) for v in variables(operand))


def _item(sweep: Sweeping, item: Operand, bar: Operand) -> None:
    """Accumulate a list item's cotangent, which may be a loose zero."""
    if isinstance(item, Var) and sweep.is_active(item):
        sweep.accumulate(item, exact(sweep.builder, item, bar))
    elif isinstance(item, Pack) and _live(sweep, item):
        if item.kind not in ("tuple", "list"):
            raise UnsupportedError(
                "a list that grows in a loop holds objects or dicts through which a derivative passes",
                loc=sweep.builder.loc,
                hint="keep tuples in it, or one list for each part",
            )
        build = sweep.builder
        zeros = build.call(
            core.make_list, Pack("list", tuple(Const(0.0) for _ in item.items)), hint="items_bar"
        )
        bars = build.call(core.add_lists, zeros, bar, hint="items_bar")  # the item's may be a loose zero
        for i, part in enumerate(item.items):
            if _live(sweep, part):
                _item(sweep, part, build.call(core.list_get, bars, Const(i), hint="item_bar"))


def _append(sweep: Sweeping, call: Call, bar: Operand) -> None:
    items, value = call.args
    if _live(sweep, value):
        _item(sweep, value, sweep.builder.call(core.list_get, bar, Const(-1), hint="item_bar"))
    if sweep.is_active(items):
        sweep.accumulate(items, sweep.builder.call(core.list_drop, bar, hint=bar_hint_of(items)))
    elif isinstance(items, Pack):
        for i, item in enumerate(items.items):
            if _live(sweep, item):
                _item(sweep, item, sweep.builder.call(core.list_get, bar, Const(i), hint="item_bar"))


def _list_get(sweep: Sweeping, call: Call, bar: Operand) -> None:
    items, index = call.args
    build = sweep.builder
    if isinstance(items, Pack):
        _item_of_display(sweep, items, index, bar)
        return
    assert isinstance(items, Var)
    old = sweep.bars.get(items)
    whole = exact(build, items, sweep.zero(items) if old is None else old)
    item = build.call(core.list_get, whole, index, hint="item_bar")
    more = add(build, call.targets[0], item, bar)
    sweep.bars.set(items, build.call(core.list_set, whole, more, index, hint=bar_hint(items)))


def _item_of_display(sweep: Sweeping, items: Pack, index: Operand, bar: Operand) -> None:
    """An item of a list or tuple display chosen at run time: zeros but for the chosen one."""
    build = sweep.builder
    zeros = build.call(core.make_list, Pack("list", tuple(Const(0.0) for _ in items.items)), hint="items_bar")
    bars = build.call(core.list_set, zeros, bar, index, hint="items_bar")
    for i, item in enumerate(items.items):
        if _live(sweep, item):
            _item(sweep, item, build.call(core.list_get, bars, Const(i), hint="item_bar"))


def _list_set(sweep: Sweeping, call: Call, bar: Operand) -> None:
    items, value, index = call.args
    if _live(sweep, value):
        _item(sweep, value, sweep.builder.call(core.list_get, bar, index, hint="item_bar"))
    if sweep.is_active(items):
        sweep.accumulate(
            items, sweep.builder.call(core.list_set, bar, Const(0.0), index, hint=bar_hint_of(items))
        )


def _list_drop(sweep: Sweeping, call: Call, bar: Operand) -> None:
    (items,) = call.args
    sweep.accumulate(items, sweep.builder.call(core.list_append, bar, Const(0.0), hint=bar_hint_of(items)))


def _list_slice(sweep: Sweeping, call: Call, bar: Operand) -> None:
    items, window = call.args
    n = sweep.builder.call(core.list_len, items, hint="n")
    sweep.accumulate(items, sweep.builder.call(core.spread_list, bar, n, window, hint=bar_hint_of(items)))


def _list_join(sweep: Sweeping, call: Call, bar: Operand) -> None:
    a, b = call.args
    build = sweep.builder
    n = build.call(core.list_len, a, hint="n") if isinstance(a, Var) else Const(len(a.items))  # type: ignore[union-attr]
    for operand, part in ((a, (Const(None), n)), (b, (n, Const(None)))):
        if _live(sweep, operand):
            window = Pack("slice", (*part, Const(None)))
            items_bar = build.call(core.list_slice, bar, window, hint="items_bar")
            if isinstance(operand, Pack):
                for i, item in enumerate(operand.items):
                    _item(sweep, item, build.call(core.list_get, items_bar, Const(i), hint="item_bar"))
            else:
                sweep.accumulate(operand, items_bar)


def _checked(rule: Callable[..., None]) -> Callable[..., None]:
    def checked(sweep: Sweeping, call: Call, bar: Operand | None) -> None:
        if bar is not None:
            rule(sweep, call, bar)

    return checked


ACCESS_RULES: dict[Op, Callable[..., None]] = {
    op: _checked(rule)
    for op, rule in (
        (core.load, _load),
        (core.store, _store),
        (core.add_at, _add_at),
        (core.copy, _copy),
        (core.same, _copy),
        (core.cast, _copy),
        (core.number, _copy),
        (core.known, _copy),
        (core.assume, _copy),
        (core.make_list, _make_list),
        (core.list_append, _append),
        (core.list_get, _list_get),
        (core.list_set, _list_set),
        (core.list_drop, _list_drop),
        (core.list_slice, _list_slice),
        (core.list_join, _list_join),
    )
}
