"""What can be iterated: `range`, `enumerate`, `zip`, `reversed`, `map`, rows of arrays, items of lists.

Each is an IterValue: a length and the item at an index.  Nothing is computed until an item is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.frontend import subclassed
from pullback.frontend.context import Context
from pullback.frontend.library import facts
from pullback.frontend.library.calls import held
from pullback.frontend.values import (
    CellRef,
    IterValue,
    Known,
    ListCell,
    Num,
    ObjectCell,
    TupleValue,
    Value,
)
from pullback.ir import core_ops as core
from pullback.ir.nodes import Const, Op, Operand
from pullback.styles.style import PY_INT, Array, ListOf, Scalar, Style, Tup, numeric


def _least(*lengths: Style) -> Style:
    """The style of the smallest of several integers: the first's length where all are the same."""
    parts = [numeric(s) for s in lengths]
    return parts[0] if parts and all(p == parts[0] for p in parts) else PY_INT


least = Op("min", min, _least, cheap=True, numpy_path="min")  # of Python integers
greatest = Op("max", max, _least, cheap=True, numpy_path="max")


def iterator(ctx: Context, value: Value) -> IterValue | None:
    """The value as something to run over; None where it cannot be."""
    if isinstance(value, IterValue):
        return value
    cell = ctx.cell(value) if isinstance(value, CellRef) else None
    if isinstance(cell, ObjectCell) and hasattr(cell.cls, "__iter__"):
        return iterator(ctx, ctx.call_value(ctx.asked(value, "__iter__"), [], {}))
    items = ctx.iterate(value)
    if items is not None and isinstance(value, CellRef) and isinstance(ctx.cell(value), ListCell):
        # as it is when the item is asked for
        return IterValue(len(items), lambda index: ctx.subscript(value, index), over=(value,))
    if items is not None:
        return of_items(ctx, items)
    style = ctx.style(value)
    if isinstance(style, ListOf):
        return _of_list(ctx, value)
    if isinstance(style, Array) and style.axes is not None and style.axes:
        return _of_rows(ctx, value)
    return None


def needed(ctx: Context, value: Value, what: str) -> IterValue:
    """The value as something to run over; refused where it cannot be."""
    found = iterator(ctx, value)
    if found is None:
        ctx.refuse_unknown(
            value,
            f"{what}: cannot run over a value of which the compiler does not know that it has items",
            "pass an array of known rank, a list, a tuple or a range",
        )
    return found


def items_of(ctx: Context, value: Value) -> list[Value] | None:
    """The items of a value whose length is known at compile time."""
    cell = ctx.cell(value) if isinstance(value, CellRef) else None
    if isinstance(cell, ObjectCell) and hasattr(cell.cls, "__iter__"):
        value = needed(ctx, value, "for")
    items = ctx.iterate(value)
    if items is None and isinstance(value, IterValue) and isinstance(value.length, int):
        return [held(ctx, value.item(Known(i))) for i in range(value.length)]
    return items


def of_items(ctx: Context, items: Sequence[Value]) -> IterValue:
    """Over known items."""

    def item(index: Value) -> Value:
        if isinstance(index, Known):
            place: int = index.obj
            return items[place]
        packed = ctx.operand(TupleValue(tuple(items)))
        return ctx.wrap(ctx.builder.call(core.list_get, packed, ctx.operand(index), hint="item"), items)

    return IterValue(len(items), item, over=tuple(items))


def _of_list(ctx: Context, value: Value) -> IterValue:
    def item(index: Value) -> Value:
        return ctx.subscript(value, index)

    return IterValue(ctx.builder.call(core.list_len, ctx.operand(value), hint="n"), item, over=(value,))


def _of_rows(ctx: Context, value: Value) -> IterValue:
    length = facts.dim(ctx, value, 0)

    def item(index: Value) -> Value:
        return ctx.subscript(value, index)

    rows = length.obj if isinstance(length, Known) else ctx.operand(length)
    return IterValue(rows, item, over=(value,))


def length_value(it: IterValue) -> Value:
    """The length as a Value."""
    return Known(it.length) if isinstance(it.length, int) else Num(it.length)


# ------------------------------------------------------------------------------------------------------ builtins


def range_(ctx: Context, *bounds: Value) -> IterValue:
    """`range(stop)`, `range(start, stop)`, `range(start, stop, step)`."""
    if not 1 <= len(bounds) <= 3:
        ctx.refuse(
            f"`range` takes 1 to 3 arguments, not {len(bounds)}", "see range() in Python's documentation"
        )
    bounds = tuple(
        Known(int(b.obj)) if isinstance(b, Known) and subclassed.base_of(b.obj) is int else b for b in bounds
    )
    for b in bounds:
        style = facts.scalar_style(ctx, b)
        if style is None or style.kind not in "bi":
            ctx.refuse("`range` needs integers", "convert with int(...)")
    start, stop = (Known(0), bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
    step = bounds[2] if len(bounds) == 3 else Known(1)
    return range_value(ctx, start, stop, step)


def range_value(ctx: Context, start: Value, stop: Value, step: Value) -> IterValue:
    """The range of three integers."""
    operands = tuple(ctx.operand(v) for v in (start, stop, step))
    length = _range_length_of(ctx, operands)

    def item(index: Value) -> Value:
        offset = index if _is(step, 1) else ctx.call(core.OPERATORS["*"], [index, step], hint="i")
        return offset if _is(start, 0) else ctx.call(core.OPERATORS["+"], [start, offset], hint="i")

    return IterValue(length, item, (operands[0], operands[1], operands[2]))


def _is(value: Value, number: int) -> bool:
    return isinstance(value, Known) and bool(value.obj == number)


def _range_length_of(ctx: Context, bounds: tuple[Operand, ...]) -> int | Operand:
    plain = [b.value if isinstance(b, Const) else None for b in bounds]
    if None not in plain:
        return len(range(*[p for p in plain if p is not None]))
    if plain[0] == 0 and plain[2] == 1:
        style = core.style_of(bounds[1])
        if getattr(style, "length", None) is not None:
            return bounds[1]  # the length of an axis: never negative
    if plain[2] == 1:
        stop = (
            bounds[1]
            if plain[0] == 0
            else ctx.builder.call(core.OPERATORS["-"], bounds[1], bounds[0], hint="n")
        )
        return ctx.builder.call(greatest, stop, Const(0), hint="n")
    start, stop, step = bounds
    span = ctx.builder.call(core.OPERATORS["-"], start, stop, hint="n")
    steps = ctx.builder.call(core.OPERATORS["//"], span, step, hint="n")  # minus the quotient, rounded up
    return ctx.builder.call(
        greatest, ctx.builder.call(core.OPERATORS["u-"], steps, hint="n"), Const(0), hint="n"
    )


def enumerate_(ctx: Context, iterable: Value, start: Value = Known(0)) -> Value:
    """`enumerate(iterable, start)`."""
    it = needed(ctx, iterable, "enumerate")

    def item(index: Value) -> Value:
        number = index if _is(start, 0) else ctx.call(core.OPERATORS["+"], [start, index], hint="i")
        return TupleValue((number, it.item(index)))

    return IterValue(it.length, item, over=(it,))


def zip_(ctx: Context, *iterables: Value, strict: Value = Known(False)) -> Value:
    """`zip(...)`: as long as the shortest."""
    if not iterables:
        return of_items(ctx, [])
    its = [needed(ctx, v, "zip") for v in iterables]
    if ctx.known(strict):
        _check_strict(ctx, its)

    def item(index: Value) -> Value:
        return TupleValue(tuple(it.item(index) for it in its))

    return IterValue(shortest(ctx, [it.length for it in its]), item, over=tuple(its))


def _check_strict(ctx: Context, its: Sequence[IterValue]) -> None:
    first = its[0].length
    for it in its[1:]:
        if isinstance(first, int) and isinstance(it.length, int):
            if first != it.length:
                ctx.refuse("`zip(strict=True)` of different lengths", "the call always raises ValueError")
            continue
        a, b = length_value(its[0]), length_value(it)
        test = ctx.call(core.OPERATORS["=="], [a, b], hint="same")
        if isinstance(test, Known) and test.obj:
            continue
        ctx.refuse(
            "`zip(strict=True)` of lengths known at run time only",
            "check the lengths with assert, then zip(...)",
        )


def shortest(ctx: Context, lengths: Sequence[int | Operand]) -> int | Operand:
    """The smallest of several lengths."""
    operands = [Const(n) if isinstance(n, int) else n for n in lengths]
    styles = [core.style_of(o) for o in operands]
    if all(isinstance(n, int) for n in lengths):
        return min(n for n in lengths if isinstance(n, int))
    marks = [getattr(numeric(s), "length", None) for s in styles]
    if len(operands) == 1 or (marks[0] is not None and all(m == marks[0] for m in marks)):
        return operands[0]
    return ctx.builder.call(least, *operands, hint="n")


def reversed_(ctx: Context, sequence: Value) -> Value:
    """`reversed(sequence)`."""
    it = needed(ctx, sequence, "reversed")
    if it.range_ is not None:
        plain = [o.value if isinstance(o, Const) else None for o in it.range_]
        if None not in plain:
            turned = range(*[p for p in plain if p is not None])[::-1]
            return range_value(ctx, Known(turned.start), Known(turned.stop), Known(turned.step))
    last = length_value(it)
    last = (
        Known(last.obj - 1)
        if isinstance(last, Known)
        else ctx.call(core.OPERATORS["-"], [last, Known(1)], hint="i")
    )

    def item(index: Value) -> Value:
        if isinstance(last, Known) and isinstance(index, Known):
            return it.item(Known(last.obj - index.obj))
        return it.item(ctx.call(core.OPERATORS["-"], [last, index], hint="i"))

    return IterValue(it.length, item, over=(it,))


def map_(ctx: Context, fn: Value, *iterables: Value) -> Value:
    """`map(fn, ...)`: the calls are made when the items are asked for."""
    its = [needed(ctx, v, "map") for v in iterables]
    if not its:
        ctx.refuse("`map` needs a sequence", "map(f, items)")

    def item(index: Value) -> Value:
        return ctx.call_value(fn, [it.item(index) for it in its], {})

    return IterValue(shortest(ctx, [it.length for it in its]), item, over=(fn, *its))


def product_(ctx: Context, its: Sequence[IterValue]) -> IterValue:
    """All combinations, the last running fastest: the index counts through them."""
    lengths = [length_value(it) for it in its]
    total: Value = Known(1)
    for n in lengths:
        total = n if total_is_one(total) else ctx.call(core.OPERATORS["*"], [total, n], hint="n")

    def item(index: Value) -> Value:
        parts: list[Value] = []
        for it, n in zip(reversed(its[1:]), reversed(lengths[1:]), strict=True):
            parts.append(it.item(ctx.call(core.OPERATORS["%"], [index, n], hint="i")))
            index = ctx.call(core.OPERATORS["//"], [index, n], hint="i")
        parts.append(its[0].item(index))
        return TupleValue(tuple(reversed(parts)))

    count = total.obj if isinstance(total, Known) else ctx.operand(total)
    return IterValue(count, item, over=tuple(its))


def total_is_one(total: Value) -> bool:
    """Nothing has been multiplied yet."""
    return isinstance(total, Known) and bool(total.obj == 1)


def element_style(ctx: Context, value: Value) -> Style | None:
    """The style of every item of a vector, or of a list or tuple of like items; None where it is not known."""
    style = ctx.style(value)
    match style:
        case Array(dtype, axes) if axes is not None and len(axes) == 1:
            return Scalar(dtype, False, style.kind)
        case ListOf(elem):
            return numeric(elem)
        case Tup(items):
            kinds = {
                (type(s), getattr(s, "dtype", None), getattr(s, "weak", None)) for s in map(numeric, items)
            }
            return numeric(items[0]) if len(kinds) == 1 else None
    return None


def as_tuple(ctx: Context, value: Value) -> Value:
    """`tuple(value)`."""
    items = items_of(ctx, value)
    if items is not None:
        return TupleValue(tuple(items))
    style = ctx.style(value)
    if isinstance(style, Tup):
        return value
    ctx.refuse("`tuple(...)` of a sequence whose length is known at run time only", "keep a list: list(...)")
