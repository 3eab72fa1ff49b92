"""Items of lists by position: taken out, put in, replaced.  Of lists of run-time length by slices joined again."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pullback.frontend.context import Context
from pullback.frontend.library import facts, iteration
from pullback.frontend.library.calls import given, values_in
from pullback.frontend.values import (
    ArrayRef,
    CellRef,
    DictCell,
    FrozenRef,
    GrowingCell,
    Known,
    ListCell,
    ObjectCell,
    SliceValue,
    Value,
)
from pullback.ir import core_ops as core
from pullback.ir.nodes import Const, Operand, Pack
from pullback.styles.style import PY_INT, Array, Scalar, Tup, Undef

_Bound = Operand | None


def grown(ctx: Context, owner: Value, place: Value) -> bool:
    """Whether a list is one of run-time length; one of like items becomes one where a position is not known."""
    cell = ctx.cell(owner)
    if isinstance(cell, GrowingCell):
        return True
    if not isinstance(cell, ListCell) or isinstance(place, Known):
        return False
    style = core._list_get_style(Tup(tuple(ctx.style(v) for v in cell.items), "list"), PY_INT)
    known = isinstance(style, Undef | Scalar) or (isinstance(style, Array) and style.axes is not None)
    if known:
        items = Pack("list", tuple(ctx.operand(v) for v in cell.items))
        made = ctx.builder.call(core.make_list, items, hint="items")
        ctx.set_cell(owner, GrowingCell(made, storages_of(cell.items), cell.param))
    return known


def storages_of(values: Iterable[Value]) -> frozenset[int]:
    """The storages of the arrays inside values: a run-time list of them shares them."""
    out: set[int] = set()
    for v in values_in(values):
        if isinstance(v, ArrayRef):
            out.add(v.cell)
        elif isinstance(v, FrozenRef):
            out |= v.cells
    return frozenset(out)


def pop(ctx: Context, owner: Value, place: Value) -> Value:
    """`items.pop(place)` of a list of run-time length."""
    cell = _growing(ctx, owner)
    item = ctx.subscript(owner, place)
    if isinstance(place, Known) and place.obj == -1:
        rest: Operand = ctx.builder.call(core.list_drop, cell.operand, hint="items")
    else:
        rest = _without(ctx, cell.operand, place)
    ctx.set_cell(owner, GrowingCell(rest, cell.shares, cell.param))
    return item


def insert(ctx: Context, owner: Value, place: Value, item: Value, shares: frozenset[int]) -> None:
    """`items.insert(place, item)` of a list of run-time length."""
    cell, at = _growing(ctx, owner), _position(ctx, place)
    added: Operand = ctx.builder.call(core.make_list, Pack("list", (ctx.operand(item),)), hint="items")
    if not (isinstance(at, Const) and at.value == 0):
        added = _join(ctx, _part(ctx, cell.operand, None, at), added)
    whole = _join(ctx, added, _part(ctx, cell.operand, at, None))
    ctx.set_cell(owner, GrowingCell(whole, cell.shares | shares, cell.param))


def delete(ctx: Context, owner: Value, index: Value) -> None:
    """`del owner[index]`."""
    if isinstance(owner, CellRef):
        grown(ctx, owner, index)
    cell = ctx.cell(owner) if isinstance(owner, CellRef) else None
    match cell:
        case ListCell(items):
            left = list(items)
            _python(ctx, lambda: left.__delitem__(ctx.known(index)))
            ctx.set_cell(owner, ListCell(tuple(left), cell.param))
        case GrowingCell(operand):
            window = _window(ctx, index)
            rest = _without(ctx, operand, index) if window is None else _around(ctx, operand, *window)[2]()
            ctx.set_cell(owner, GrowingCell(rest, cell.shares, cell.param))
        case DictCell(entries):
            table = dict(entries)
            _python(ctx, lambda: table.__delitem__(ctx.known(index)))
            ctx.set_cell(owner, DictCell(table, cell.param))
        case ObjectCell(cls) if hasattr(cls, "__delitem__"):
            ctx.call_value(ctx.asked(owner, "__delitem__"), [index], {})
        case _:
            ctx.refuse(
                "`del` of an item of something that is not known to be one list or dict",
                "use np.delete for arrays; build a new container",
            )


def store_slice(ctx: Context, owner: Value, index: Value, more: Value, shares: frozenset[int]) -> None:
    """`items[start:stop] = more` of a list of run-time length."""
    cell, window = _growing(ctx, owner), _window(ctx, index)
    assert window is not None
    given_items = iteration.items_of(ctx, more)
    if given_items is None and not isinstance(more, CellRef):
        more = ctx.call_value(Known(list), [more], {})
    between = (
        ctx.operand(more) if given_items is None else Pack("list", tuple(ctx.operand(v) for v in given_items))
    )
    first, last, _ = _around(ctx, cell.operand, *window)
    middle = ctx.builder.call(core.make_list, between, hint="items")
    whole = _join(ctx, _join(ctx, first(), middle), last())
    ctx.set_cell(owner, GrowingCell(whole, cell.shares | shares, cell.param))


def _python(ctx: Context, change: Callable[[], None]) -> None:
    try:
        change()
    except (IndexError, KeyError, TypeError) as error:
        ctx.refuse(f"`del`: {error}", f"Python raises {type(error).__name__} here")


def _growing(ctx: Context, owner: Value) -> GrowingCell:
    cell = ctx.cell(owner)
    assert isinstance(cell, GrowingCell)
    return cell


def _position(ctx: Context, place: Value) -> Operand:
    style = facts.scalar_style(ctx, place)
    if style is None or style.kind not in "bi":
        ctx.refuse("a position in a list that is not an integer", "Python raises TypeError here")
    return ctx.operand(place)


def _window(ctx: Context, index: Value) -> tuple[_Bound, _Bound] | None:
    """The bounds of a slice; None where the index is a number."""
    if isinstance(index, Known) and isinstance(index.obj, slice):
        parts: list[Value] = [Known(index.obj.start), Known(index.obj.stop), Known(index.obj.step)]
    elif isinstance(index, SliceValue):
        parts = [index.start, index.stop, index.step]
    else:
        return None
    if given(parts[2]) and ctx.known(parts[2]) != 1:
        ctx.refuse(
            "a slice with a step of a list whose length is known at run time only is changed",
            "build a new list in a loop",
        )
    start, stop = (_position(ctx, v) if given(v) else None for v in parts[:2])
    return start, stop


def _part(ctx: Context, items: Operand, start: _Bound, stop: _Bound) -> Operand:
    """`items[start:stop]`."""
    bounds = tuple(Const(None) if b is None else b for b in (start, stop, None))
    out: Operand = ctx.builder.call(core.list_slice, items, Pack("slice", bounds), hint="items")
    return out


def _join(ctx: Context, a: Operand, b: Operand) -> Operand:
    out: Operand = ctx.builder.call(core.list_join, a, b, hint="items")
    return out


def _without(ctx: Context, items: Operand, place: Value) -> Operand:
    """The items but one."""
    at = _position(ctx, place)
    if isinstance(at, Const) and at.value == 0:
        return _part(ctx, items, Const(1), None)
    return _join(ctx, _part(ctx, items, None, at), _part(ctx, _part(ctx, items, at, None), Const(1), None))


def _around(
    ctx: Context, items: Operand, start: _Bound, stop: _Bound
) -> tuple[Callable[[], Operand], Callable[[], Operand], Callable[[], Operand]]:
    """What stands before a window, after it, and both joined.  After: nothing of what stands before."""

    def before() -> Operand:
        return _part(ctx, items, None, Const(0) if start is None else start)

    def after() -> Operand:
        if stop is None:
            return _part(ctx, items, Const(0), Const(0))
        if start is None:
            return _part(ctx, items, stop, None)
        inside: Operand = ctx.builder.call(core.list_len, _part(ctx, items, start, stop), hint="n")
        return _part(ctx, _part(ctx, items, start, None), inside, None)

    def both() -> Operand:
        if start is None:
            return after()
        return before() if stop is None else _join(ctx, before(), after())

    return before, after, both
