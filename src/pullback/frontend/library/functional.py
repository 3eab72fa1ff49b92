"""Functions of functions: `functools`, `operator`, `itertools`."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from pullback.frontend.context import Context
from pullback.frontend.library import builtins, effect_calls, introspection, iteration, prelude
from pullback.frontend.library.calls import NONE, Args, Handler, Kwargs, given, held, inline
from pullback.frontend.values import IterValue, Known, TupleValue, Value

MISSING = Known(prelude.MISSING)


def reduce(ctx: Context, fn: Value, iterable: Value, initial: Value = MISSING) -> Value:
    """`functools.reduce(fn, items, initial)`."""
    items = None if isinstance(iterable, IterValue) else iteration.items_of(ctx, iterable)
    if items is not None:
        return _reduced(ctx, fn, items if initial is MISSING else [initial, *items])
    if initial is not MISSING:
        return inline(ctx, prelude.fold_from, fn, iterable, initial)
    return inline(ctx, prelude.fold, fn, builtins.indexable(ctx, iterable, "reduce"))


def _reduced(ctx: Context, fn: Value, items: Sequence[Value]) -> Value:
    if not items:
        ctx.refuse("`reduce` of an empty sequence", "Python raises TypeError here; give an initial value")
    return builtins.fold(ctx, fn, items[1:], items[0])


def partial(ctx: Context, fn: Value, /, *args: Value, **kwargs: Value) -> Value:
    """`functools.partial(fn, ...)`: a function with some arguments fixed."""
    if isinstance(fn, Known) and all(isinstance(v, Known) for v in [*args, *kwargs.values()]):
        plain = [v.obj for v in args if isinstance(v, Known)]
        return Known(
            functools.partial(fn.obj, *plain, **{k: v.obj for k, v in kwargs.items() if isinstance(v, Known)})
        )
    return ctx.call_value(Known(prelude.partial), [fn, *args], kwargs)


# ------------------------------------------------------------------------------------------------------- operator


def _inlined(body: Callable[..., Any]) -> Handler:
    def handler(ctx: Context, *args: Value) -> Value:
        return inline(ctx, body, *args)

    return handler


_OPERATORS: dict[Any, Callable[..., Any]] = {
    operator.add: prelude.plus,
    operator.concat: prelude.plus,
    operator.sub: prelude.minus,
    operator.mul: prelude.times,
    operator.truediv: prelude.over,
    operator.floordiv: prelude.floor_over,
    operator.mod: prelude.remainder,
    operator.pow: prelude.power,
    operator.matmul: prelude.matrix_times,
    operator.neg: prelude.negative,
    operator.pos: prelude.positive,
    operator.invert: prelude.inverted,
    operator.inv: prelude.inverted,
    operator.not_: prelude.negation,
    operator.lt: prelude.less,
    operator.le: prelude.less_equal,
    operator.gt: prelude.greater,
    operator.ge: prelude.greater_equal,
    operator.eq: prelude.equal,
    operator.ne: prelude.not_equal,
    operator.and_: prelude.both,
    operator.or_: prelude.either,
    operator.xor: prelude.exclusive,
    operator.lshift: prelude.shift_left,
    operator.rshift: prelude.shift_right,
    operator.is_: prelude.same,
    operator.is_not: prelude.different,
    operator.contains: prelude.within,
    operator.getitem: prelude.get_item,
    operator.setitem: prelude.set_item,
    operator.iadd: prelude.add_in_place,
    operator.isub: prelude.subtract_in_place,
    operator.imul: prelude.multiply_in_place,
    operator.itruediv: prelude.divide_in_place,
}


def _truth(ctx: Context, value: Value) -> Value:
    return ctx.truth(value)


def _index(ctx: Context, value: Value) -> Value:
    return ctx.call_value(Known(int), [value], {})


def _getter(cls: Any) -> Handler:
    """Making an `itemgetter` or `attrgetter` of compile-time keys."""

    def handler(ctx: Context, *keys: Value) -> Value:
        return Known(cls(*[ctx.known(k) for k in keys]))

    return handler


def getter_call(ctx: Context, getter: Any, args: Args, kwargs: Kwargs) -> Value:
    """A call of `operator.itemgetter(...)`, `attrgetter(...)` or `methodcaller(...)`."""
    parts = getter.__reduce__()
    if isinstance(getter, operator.itemgetter):
        found = [inline(ctx, prelude.get_item, args[0], Known(key)) for key in parts[1]]
        return found[0] if len(found) == 1 else TupleValue(tuple(found))
    if isinstance(getter, operator.attrgetter):
        values = [_attribute_path(ctx, args[0], path) for path in parts[1]]
        return values[0] if len(values) == 1 else TupleValue(tuple(values))
    call = parts[1] if parts[0] is operator.methodcaller else (parts[0].args[0], *parts[1])
    named = {} if parts[0] is operator.methodcaller else parts[0].keywords
    method = ctx.attribute(args[0], call[0])
    return ctx.call_value(method, [Known(v) for v in call[1:]], {k: Known(v) for k, v in named.items()})


def _attribute_path(ctx: Context, value: Value, path: str) -> Value:
    for name in path.split("."):
        value = introspection.getattr_(ctx, value, Known(name))
    return value


# ------------------------------------------------------------------------------------------------------ itertools


def _known_sequences(ctx: Context, iterables: Sequence[Value]) -> list[list[Value]] | None:
    found = [iteration.items_of(ctx, v) for v in iterables]
    return None if any(f is None for f in found) else [f for f in found if f is not None]


def _arranged(fn: Any, name: str) -> Handler:
    """A function of `itertools` that only arranges items: it is run on the compile-time items themselves."""

    def handler(ctx: Context, *args: Value, **kwargs: Value) -> Value:
        counts = [a for a in args if isinstance(a, Known) and (a.obj is None or isinstance(a.obj, int))]
        sources = args[: len(args) - len(counts)]
        sequences = _known_sequences(ctx, sources)
        if sequences is None:
            ctx.refuse(
                f"`itertools.{name}` of a sequence whose length is known at run time only",
                "write nested loops",
            )
        options = {k: v if k == "fillvalue" else ctx.known(v) for k, v in kwargs.items()}
        return _as_value(fn(*sequences, *[c.obj for c in counts], **options))

    return handler


def _as_value(found: Any) -> Value:
    return TupleValue(tuple(TupleValue(x) if isinstance(x, tuple) else x for x in found))


def product(ctx: Context, *iterables: Value, repeat: Value = Known(1)) -> Value:
    """`itertools.product(...)`."""
    sequences = _known_sequences(ctx, iterables)
    if sequences is not None:
        return _as_value(itertools.product(*sequences, repeat=ctx.known(repeat)))
    its = [iteration.needed(ctx, builtins.indexable(ctx, v, "product"), "product") for v in iterables]
    return iteration.product_(ctx, its * ctx.known(repeat))


def chain(ctx: Context, *iterables: Value) -> Value:
    """`itertools.chain(...)`."""
    sequences = _known_sequences(ctx, iterables)
    if sequences is not None:
        return TupleValue(tuple(itertools.chain(*sequences)))
    out = iterables[0]
    for more in iterables[1:]:
        out = inline(ctx, prelude.chained, out, more)
    return out


def chain_from(ctx: Context, iterable: Value) -> Value:
    """`itertools.chain.from_iterable(...)`."""
    items = iteration.items_of(ctx, iterable)
    if items is None:
        ctx.refuse(
            "`chain.from_iterable` of a sequence whose length is known at run time only", "write nested loops"
        )
    return chain(ctx, *items) if items else TupleValue(())


def accumulate(ctx: Context, iterable: Value, func: Value = NONE, *, initial: Value = MISSING) -> Value:
    """`itertools.accumulate(...)`."""
    items = iteration.items_of(ctx, iterable)
    starts = initial is not MISSING and given(initial)
    fn = func if given(func) else Known(prelude.plus)
    if items is None and starts:
        return inline(ctx, prelude.running_from, iteration.needed(ctx, iterable, "accumulate"), fn, initial)
    if items is None:
        return inline(ctx, prelude.running, builtins.indexable(ctx, iterable, "accumulate"), fn)
    totals: list[Value] = [initial] if starts else items[:1]
    for item in items if starts else items[1:]:
        totals.append(held(ctx, ctx.call_value(fn, [totals[-1], item], {})))
    return TupleValue(tuple(totals))


def pairwise(ctx: Context, iterable: Value) -> Value:
    """`itertools.pairwise(items)`."""
    sequences = _known_sequences(ctx, [iterable])
    if sequences is not None:
        return _as_value(itertools.pairwise(sequences[0]))
    sequence = builtins.indexable(ctx, iterable, "pairwise")
    count = iteration.length_value(iteration.needed(ctx, sequence, "pairwise"))
    less = iteration.range_(ctx, ctx.call_value(Known(operator.sub), [count, Known(1)], {}))
    return IterValue(less.length, lambda index: inline(ctx, prelude.neighbours, sequence, index))


def method_caller(ctx: Context, name: Value, *args: Value, **kwargs: Value) -> Value:
    """`operator.methodcaller(name, ...)` of compile-time arguments."""
    named = {k: ctx.known(v) for k, v in kwargs.items()}
    return Known(operator.methodcaller(ctx.known(name), *[ctx.known(v) for v in args], **named))


def starmap(ctx: Context, fn: Value, iterable: Value) -> Value:
    """`itertools.starmap(fn, items)`."""
    return inline(ctx, prelude.spread, fn, iteration.needed(ctx, iterable, "starmap"))


def repeat(ctx: Context, item: Value, times: Value = NONE) -> Value:
    """`itertools.repeat(item, times)`."""
    if not given(times):
        ctx.refuse("`itertools.repeat` without end", "give the number of times")
    it = iteration.range_(ctx, times)
    return IterValue(it.length, lambda index: item, over=(item,))


FUNCTIONS: dict[Any, Handler] = {
    functools.reduce: reduce,
    functools.partial: partial,
    **{fn: _inlined(body) for fn, body in _OPERATORS.items()},
    operator.truth: _truth,
    operator.itemgetter: _getter(operator.itemgetter),
    operator.attrgetter: _getter(operator.attrgetter),
    operator.methodcaller: method_caller,
    operator.index: _index,
    operator.abs: builtins.abs_,
    itertools.product: product,
    itertools.chain: chain,
    itertools.chain.from_iterable: chain_from,
    itertools.accumulate: accumulate,
    itertools.starmap: starmap,
    itertools.repeat: repeat,
    itertools.combinations: _arranged(itertools.combinations, "combinations"),
    itertools.combinations_with_replacement: _arranged(
        itertools.combinations_with_replacement, "combinations_with_replacement"
    ),
    itertools.permutations: _arranged(itertools.permutations, "permutations"),
    itertools.islice: _arranged(itertools.islice, "islice"),
    itertools.zip_longest: _arranged(itertools.zip_longest, "zip_longest"),
    itertools.pairwise: pairwise,
    itertools.count: effect_calls.refused("`itertools.count` has no end", "use range, or a while loop"),
    itertools.cycle: effect_calls.refused("`itertools.cycle` has no end", "index with i % n"),
    itertools.tee: effect_calls.refused("`itertools.tee`", "make a list and run over it twice"),
    itertools.groupby: effect_calls.refused("`itertools.groupby`", "write the loop"),
}
