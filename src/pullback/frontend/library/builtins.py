"""Python's builtins on values that are known at compile time, at run time, or half so.

Numbers that are not differentiable (lengths, flags) stay Python's; sums, extrema and the like of active values are
lowered from their plain Python meaning in `prelude.py`.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from pullback.frontend.context import Context
from pullback.frontend.library import facts, iteration, prelude, scalars
from pullback.frontend.library.calls import NONE, Handler, given, held, inline
from pullback.frontend.values import (
    CellRef,
    DictCell,
    GrowingCell,
    IterValue,
    Known,
    ListCell,
    Num,
    ObjectCell,
    SliceValue,
    TupleValue,
    Value,
)
from pullback.ir import core_ops as core
from pullback.styles.style import Array, Foreign, ListOf, Scalar, Tup

MISSING = Known(prelude.MISSING)
_LONGEST_SORT = 12


def length(ctx: Context, value: Value) -> Value:
    """`len(value)`."""
    match value:
        case TupleValue(items):
            return Known(len(items))
        case IterValue() if value.range_ is not None or value.reusable:
            return iteration.length_value(value)
        case Known(obj) if hasattr(obj, "__len__"):
            special = ctx.special(value, "__len__")
            return Known(len(obj)) if special is None else ctx.call_value(special, [], {})
        case CellRef():
            return _length_of_cell(ctx, value)
    style = ctx.style(value)
    if isinstance(style, Array):
        if style.rank == 0:
            ctx.refuse("`len` of an array of rank 0", "NumPy raises TypeError here")
        return facts.dim(ctx, value, 0) if style.axes else ctx.call(core.dim, [value, Known(0)], hint="n")
    if isinstance(style, Tup):
        return Known(len(style.items))
    if isinstance(style, ListOf) or (isinstance(style, Foreign) and issubclass(style.cls, str)):
        return ctx.call(core.list_len, [value], hint="n")
    ctx.refuse(
        "`len` of a value of which the compiler does not know that it has a length",
        "use an array, list or tuple",
    )


def _length_of_cell(ctx: Context, value: Value) -> Value:
    cell = ctx.cell(value)
    match cell:
        case ListCell(items) | DictCell(items):
            return Known(len(items))
        case GrowingCell(operand):
            return Num(ctx.builder.call(core.list_len, operand, hint="n"))
        case ObjectCell(cls):
            if hasattr(cls, "__len__"):
                return ctx.call_value(ctx.asked(value, "__len__"), [], {})
    ctx.refuse("`len` of this object", "give its class a __len__ method")


# ----------------------------------------------------------------------------------------------- sums and extrema


def sum_(ctx: Context, iterable: Value, start: Value = Known(0)) -> Value:
    """`sum(iterable, start)`."""
    items = _at_hand(ctx, iterable)
    if items is None:
        return inline(ctx, prelude.add_up, iteration.needed(ctx, iterable, "sum"), start)
    return fold(ctx, Known(prelude.plus), items, start)


def fold(ctx: Context, fn: Value, items: Sequence[Value], total: Value) -> Value:
    """`fn(fn(total, items[0]), items[1])` and so on."""
    for item in items:
        total = held(ctx, ctx.call_value(fn, [total, item], {}))
    return total


def _at_hand(ctx: Context, iterable: Value) -> list[Value] | None:
    """The items of a container of known length; None of anything else, iterators included."""
    return None if isinstance(iterable, IterValue) else iteration.items_of(ctx, iterable)


def any_(ctx: Context, iterable: Value) -> Value:
    """`any(iterable)`."""
    return _decided(ctx, iterable, True) or inline(
        ctx, prelude.any_of, iteration.needed(ctx, iterable, "any")
    )


def all_(ctx: Context, iterable: Value) -> Value:
    """`all(iterable)`."""
    return _decided(ctx, iterable, False) or inline(
        ctx, prelude.all_of, iteration.needed(ctx, iterable, "all")
    )


def _decided(ctx: Context, iterable: Value, decisive: bool) -> Value | None:
    """`any` (decisive: True) or `all` (False) of numbers at hand."""
    items = _at_hand(ctx, iterable)
    if items is None or any(facts.scalar_style(ctx, v) is None and not isinstance(v, Known) for v in items):
        return None
    answer: Value = Known(not decisive)
    for item in items:
        test = ctx.truth(item)
        if isinstance(test, Known):
            if test.obj == decisive:
                return test
            continue
        symbol = "|" if decisive else "&"
        answer = (
            test
            if isinstance(answer, Known)
            else ctx.call(core.OPERATORS[symbol], [answer, test], hint="test")
        )
    return answer


def _best(ctx: Context, better: Any, items: Sequence[Value], key: Value) -> Value:
    """The first item that none other beats."""
    best = items[0]
    if not given(key):
        return fold(ctx, Known(better), items[1:], best)
    mark = ctx.call_value(key, [best], {})
    for item in items[1:]:
        candidate = held(ctx, ctx.call_value(key, [item], {}))
        both = inline(ctx, prelude.BETTER_BY[better], best, mark, item, candidate)
        best, mark = ctx.subscript(both, Known(0)), ctx.subscript(both, Known(1))
    return best


def _extremum(name: str, plain: Any, by: Any, better: Any, op: Any) -> Handler:
    def handler(ctx: Context, *args: Value, key: Value = NONE, default: Value = MISSING) -> Value:
        items = list(args) if len(args) > 1 else iteration.items_of(ctx, args[0]) if args else None
        if items is not None:
            if not items:
                return _empty(ctx, name, default)
            if len(items) > 1 and not given(key) and all(facts.is_inactive_int(ctx, v) for v in items):
                return _of_integers(ctx, name, op, items)
            return _best(ctx, better, items, key)
        if not args:
            ctx.refuse(f"`{name}` needs an argument", f"{name}(a, b) or {name}(items)")
        if default is not MISSING:
            ctx.refuse(
                f"`{name}(..., default=...)` of a sequence whose length is known at run time only",
                f"test the length: {name}(items) if len(items) else default",
            )
        sequence = indexable(ctx, args[0], name)
        return inline(ctx, by, key, sequence) if given(key) else inline(ctx, plain, sequence)

    return handler


def _empty(ctx: Context, name: str, default: Value) -> Value:
    if default is MISSING:
        ctx.refuse(f"`{name}` of an empty sequence", "Python raises ValueError here; give a default")
    return default


def _of_integers(ctx: Context, name: str, op: Any, items: Sequence[Value]) -> Value:
    if all(isinstance(v, Known) for v in items):
        return Known(getattr(builtins, name)(v.obj for v in items if isinstance(v, Known)))
    return ctx.call(op, items, hint="n")


def indexable(ctx: Context, value: Value, what: str) -> Value:
    """The value, or a list of its items where it has no positions of its own."""
    if isinstance(value, IterValue) and value.range_ is None:
        return inline(ctx, prelude.collect, value)
    iteration.needed(ctx, value, what)
    return value


def sorted_(ctx: Context, iterable: Value, *, key: Value = NONE, reverse: Value = Known(False)) -> Value:
    """`sorted(iterable)`: of compile-time items, or of a few numbers by comparisons."""
    items = iteration.items_of(ctx, iterable)
    down = bool(ctx.known(reverse))
    if items is not None and all(isinstance(v, Known) for v in items) and _plain_key(key):
        keyed = {"key": key.obj} if isinstance(key, Known) and given(key) else {}
        out = sorted([v.obj for v in items if isinstance(v, Known)], reverse=down, **keyed)
        return ctx.new_cell(ListCell(tuple(Known(v) for v in out)))
    if given(key):
        ctx.refuse("`sorted(key=...)` of run-time values", "sort with numpy: x[np.argsort(keys)]")
    if items is None or len(items) > _LONGEST_SORT:
        return _sorted_numbers(ctx, iterable if items is None else TupleValue(tuple(items)), down)
    if any(facts.scalar_style(ctx, v) is None for v in items):
        ctx.refuse("`sorted` of items that are not numbers", "use np.sort, or sort by an array of keys")
    return ctx.new_cell(ListCell(tuple(_insertion_sorted(ctx, items, down))))


def _sorted_numbers(ctx: Context, source: Value, down: bool) -> Value:
    """Many numbers in order: by NumPy's sort, as the same kind of number as before."""
    found = iteration.element_style(ctx, source)
    if not isinstance(found, Scalar) or found.kind != "f" or found.dtype is None or found.weak is None:
        ctx.refuse(
            "`sorted` of a long sequence of which the compiler does not know that it holds real numbers",
            "use np.sort(np.array(items))",
        )
    order = inline(ctx, prelude.sorted_down if down else prelude.sorted_up, source)
    return inline(ctx, prelude.as_floats if found.weak else prelude.collect, order)


def _insertion_sorted(ctx: Context, items: Sequence[Value], down: bool) -> list[Value]:
    """The items in order: comparisons and exchanges of neighbours, as stable as Python's own sort."""
    out = list(items)
    body = prelude.in_order_down if down else prelude.in_order
    for i in range(1, len(out)):
        for k in range(i, 0, -1):
            pair = inline(ctx, body, out[k - 1], out[k])
            out[k - 1], out[k] = ctx.subscript(pair, Known(0)), ctx.subscript(pair, Known(1))
    return out


def _plain_key(key: Value) -> bool:
    return not given(key) or (isinstance(key, Known) and key.obj in (abs, len, str, int, float, repr))


# -------------------------------------------------------------------------------------------------------- numbers


def abs_(ctx: Context, x: Value) -> Value:
    """`abs(x)`."""
    return scalars.absolute(ctx, x)


def pow_(ctx: Context, base: Value, exp: Value, mod: Value = NONE) -> Value:
    """`pow(base, exp, mod)`."""
    if given(mod):
        if all(isinstance(v, Known) for v in (base, exp, mod)):
            return Known(pow(ctx.known(base), ctx.known(exp), ctx.known(mod)))
        ctx.refuse("`pow` with a modulus of run-time values", "write (base ** exp) % mod")
    return inline(ctx, prelude.power, base, exp)


def divmod_(ctx: Context, a: Value, b: Value) -> Value:
    """`divmod(a, b)`."""
    return inline(ctx, prelude.quotient_and_remainder, a, b)


# ----------------------------------------------------------------------------------------------------- containers


def list_(ctx: Context, iterable: Value = NONE) -> Value:
    """`list(iterable)`: a new list."""
    if not given(iterable):
        return ctx.new_cell(ListCell(()))
    items = iteration.items_of(ctx, iterable)
    if items is not None:
        return ctx.new_cell(ListCell(tuple(items)))
    if isinstance(ctx.style(iterable) if not isinstance(iterable, IterValue) else None, ListOf):
        return _copy_of_list(ctx, iterable)
    return inline(ctx, prelude.collect, iteration.needed(ctx, iterable, "list"))


def _copy_of_list(ctx: Context, value: Value) -> Value:
    cell = ctx.cell(value) if isinstance(value, CellRef) else None
    shares = cell.shares if isinstance(cell, GrowingCell) else getattr(value, "cells", frozenset())
    return ctx.new_cell(GrowingCell(ctx.operand(value), shares))


def tuple_(ctx: Context, iterable: Value = NONE) -> Value:
    """`tuple(iterable)`."""
    return iteration.as_tuple(ctx, iterable) if given(iterable) else TupleValue(())


def dict_(ctx: Context, iterable: Value = NONE, /, **named: Value) -> Value:
    """`dict(other, **named)`: keys are known at compile time."""
    items: dict[Any, Value] = {}
    if given(iterable):
        cell = ctx.cell(iterable) if isinstance(iterable, CellRef) else None
        if isinstance(cell, DictCell):
            items.update(cell.items)
        else:
            for pair in iteration.items_of(ctx, iterable) or _no_pairs(ctx):
                key, value = ctx.iterate(pair) or _no_pairs(ctx)
                items[ctx.known(key)] = value
    items.update(named)
    return ctx.new_cell(DictCell(items))


def _no_pairs(ctx: Context) -> list[Value]:
    ctx.refuse(
        "`dict` of pairs whose number is known at run time only", "use a dict with fixed keys, or a list"
    )


def set_(ctx: Context, iterable: Value = NONE) -> Value:
    """`set(iterable)` of compile-time objects: answered at compile time, so it may not change."""
    items = iteration.items_of(ctx, iterable) if given(iterable) else []
    if items is None or not all(isinstance(v, Known) for v in items):
        ctx.refuse("a set of run-time values", "use a list, a mask or np.unique")
    return Known(frozenset(v.obj for v in items if isinstance(v, Known)))


def slice_(ctx: Context, *bounds: Value) -> Value:
    """`slice(stop)`, `slice(start, stop, step)`."""
    if not 1 <= len(bounds) <= 3:
        ctx.refuse("`slice` takes 1 to 3 arguments", "slice(start, stop)")
    start, stop = (NONE, bounds[0]) if len(bounds) == 1 else bounds[:2]
    return SliceValue(start, stop, bounds[2] if len(bounds) == 3 else NONE)


def filter_(ctx: Context, predicate: Value, iterable: Value) -> Value:
    """`filter(predicate, iterable)`, consumed at once."""
    items = _at_hand(ctx, iterable)
    source: Value = (
        TupleValue(tuple(items)) if items is not None else iteration.needed(ctx, iterable, "filter")
    )
    return (
        inline(ctx, prelude.keep, predicate, source)
        if given(predicate)
        else inline(ctx, prelude.keep_true, source)
    )


FUNCTIONS: dict[Any, Handler] = {
    len: length,
    range: iteration.range_,
    enumerate: iteration.enumerate_,
    zip: iteration.zip_,
    reversed: iteration.reversed_,
    map: iteration.map_,
    filter: filter_,
    sum: sum_,
    min: _extremum("min", prelude.smallest, prelude.smallest_by, prelude.smaller, iteration.least),
    max: _extremum("max", prelude.largest, prelude.largest_by, prelude.larger, iteration.greatest),
    any: any_,
    all: all_,
    sorted: sorted_,
    abs: abs_,
    round: scalars.round_,
    pow: pow_,
    divmod: divmod_,
    list: list_,
    tuple: tuple_,
    dict: dict_,
    set: set_,
    frozenset: set_,
    slice: slice_,
}
