"""Calls of NumPy functions: their operation, and what is the same for all of them.

`out=` is a store into the target (so that the IR has no output arguments), `where=` a selection, `dtype=` of a ufunc a
cast of its operands.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from pullback.frontend import subclassed
from pullback.frontend.context import Context
from pullback.frontend.library import facts, mutation, scalars
from pullback.frontend.library.calls import NONE, Args, Kwargs, given, is_array, name_of, operation
from pullback.frontend.values import IterValue, Known, TupleValue, Value
from pullback.ir import core_ops as core
from pullback.ir.builder import index_step
from pullback.rules.registry import declare, op_of, path_of
from pullback.styles.broadcast import ufunc_style

# options that do not change what is computed, with the only values they may have
_IDLE: dict[str, tuple[Any, ...]] = {
    "subok": (True, False),
    "like": (None,),
    "order": ("K", "C", None),
    "device": (None, "cpu"),
    "overwrite_input": (False,),
}
_ORDER_MATTERS = (np.ravel, np.reshape)
# parameters that rules need when compiling: which axis it is decides about shapes
_AXES = ("axis", "axes", "axis1", "axis2", "axisa", "axisb", "axisc", "source", "destination")
_OUT_AT = {np.dot: 2, np.concatenate: 2, np.choose: 2, np.take: 3}


def call(ctx: Context, fn: Any, args: Args, kwargs: Kwargs) -> Value:
    """A call of a NumPy function that has an operation."""
    if isinstance(fn, np.ufunc):
        return ufunc_call(ctx, fn, args, kwargs)
    _check_names(ctx, fn, args, kwargs)
    args, kwargs, out = _take_out(ctx, fn, list(args), dict(kwargs))
    kwargs = _without_idle(ctx, fn, kwargs)
    for name in ("dtype",):
        if name in kwargs and given(kwargs[name]):
            kwargs[name] = Known(scalars.dtype_argument(ctx, kwargs[name]))
    if out is None:
        return plain_call(ctx, fn, args, kwargs)
    _needs_out(ctx, out)
    value = plain_call(ctx, fn, args, kwargs)
    _check_out_dtype(ctx, fn, value, out)
    ctx.write(out, (), value)
    return out


def _check_names(ctx: Context, fn: Any, args: Args, kwargs: Kwargs) -> None:
    """Arguments that NumPy's function does not have."""
    parameters = _parameters(fn)
    if parameters is None or not kwargs:
        return
    kinds = {p.kind for p in parameters.values()}
    unknown = [k for k in kwargs if k not in parameters]
    if unknown and inspect.Parameter.VAR_KEYWORD not in kinds:
        ctx.refuse(
            f"{name_of(fn)}() got an unexpected keyword argument '{unknown[0]}'",
            "NumPy raises TypeError here",
        )


def plain_call(ctx: Context, fn: Any, args: Args, kwargs: Kwargs) -> Value:
    """Emit the operation."""
    for name, value in _named(fn, args, kwargs):
        if name in _AXES:
            ctx.settle(value)
    operands = [_materialised(ctx, fn, a) for a in args]
    named = {k: _materialised(ctx, fn, v) for k, v in kwargs.items()}
    return ctx.call(operation(fn), operands, named)


def _named(fn: Any, args: Args, kwargs: Kwargs) -> list[tuple[str, Value]]:
    """The arguments by name, as far as the names are known."""
    return [*zip(_parameters(fn) or (), args, strict=False), *kwargs.items()]


def _materialised(ctx: Context, fn: Any, value: Value) -> Value:
    """NumPy takes a range for an array of integers, and makes nonsense of other iterators."""
    if isinstance(value, Known) and subclassed.base_of(value.obj) is not None:
        return Known(subclassed.beside_numpy(value.obj))
    if isinstance(value, IterValue):
        if value.range_ is not None:
            return ctx.wrap(ctx.builder.call(operation(np.arange), *value.range_, hint="r"))
        ctx.refuse(f"`{name_of(fn)}` of an iterator", "NumPy does not run over iterators: pass list(...)")
    return value


@lru_cache(maxsize=512)
def _parameters(fn: Any) -> Mapping[str, inspect.Parameter] | None:
    try:
        return inspect.signature(fn).parameters
    except (TypeError, ValueError):
        return None


def _without_idle(ctx: Context, fn: Any, kwargs: dict[str, Value]) -> dict[str, Value]:
    out: dict[str, Value] = {}
    for name, value in kwargs.items():
        if name in _IDLE and not (name == "order" and fn in _ORDER_MATTERS):
            if ctx.known(value) not in _IDLE[name]:
                ctx.refuse(f"`{name_of(fn)}({name}={ctx.known(value)!r})`", "leave the option out")
            continue
        out[name] = value
    return out


# ------------------------------------------------------------------------------------------------------------ out=


def _take_out(
    ctx: Context, fn: Any, args: list[Value], kwargs: dict[str, Value]
) -> tuple[list[Value], dict[str, Value], Value | None]:
    """Split off the output argument, by name or by position."""
    out = kwargs.pop("out", NONE)
    at = _out_position(fn)
    if at is not None and len(args) > at:
        out = args[at]
        rest = args[at + 1 :]
        args = args[:at]
        parameters = _parameters(fn)
        if rest:
            if parameters is None:
                ctx.refuse(f"`{name_of(fn)}` with arguments after `out`", "pass them by name")
            kwargs.update(zip(list(parameters)[at + 1 :], rest, strict=False))
    return args, kwargs, out if given(out) else None


def _out_position(fn: Any) -> int | None:
    if fn in _OUT_AT:
        return _OUT_AT[fn]
    parameters = _parameters(fn) or {}
    if "out" not in parameters or parameters["out"].kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD:
        return None
    return list(parameters).index("out")


def _needs_out(ctx: Context, out: Value) -> None:
    if not is_array(out):
        ctx.refuse("`out=` must be an array", "pass an array made before, of the result's shape")


def _check_out_dtype(ctx: Context, fn: Any, value: Value, out: Value) -> None:
    """A reduction computes in the dtype of its output: the same as ours only where it has the result's dtype."""
    made, to = facts.dtype_of(ctx, value), facts.dtype_of(ctx, out)
    if made is None or made != to:
        ctx.refuse(
            f"`{name_of(fn)}(out=...)` into another dtype", "assign: target[...] = the call without out"
        )


# ---------------------------------------------------------------------------------------------------------- ufuncs


def ufunc_operation(fn: np.ufunc) -> Any:
    """The operation of a ufunc, another library's included (it has no rule unless one is registered)."""
    found = op_of(fn)
    if found is not None:
        return found
    return declare(fn, style=lambda *styles: ufunc_style(fn, *styles), elementwise=True, path=path_of(fn))


@lru_cache(maxsize=1024)
def _computes_objects(fn: np.ufunc) -> bool:
    """Whether a ufunc is made of a Python function."""
    return len(fn.types) == 1 and set(fn.types[0]) <= set("O->")


def ufunc_call(ctx: Context, fn: np.ufunc, args: Args, kwargs: Kwargs) -> Value:
    """`ufunc(x, y, out, where=mask, dtype=...)`."""
    if _computes_objects(fn):
        ctx.refuse(
            f"`{name_of(fn)}` computes with Python objects", "use the Python function, or np.vectorize of it"
        )
    operands, targets = list(args[: fn.nin]), list(args[fn.nin :])
    if len(operands) < fn.nin:
        ctx.refuse(f"`{name_of(fn)}` needs {fn.nin} arguments", "see its documentation")
    operands = [_materialised(ctx, fn, v) for v in operands]
    named = dict(kwargs)
    targets = _targets(ctx, fn, targets, named.pop("out", NONE))
    where = named.pop("where", Known(True))
    casting = ctx.known(named.pop("casting", Known("same_kind")))
    named.pop("signature", NONE)
    dtype = named.pop("dtype", NONE)
    named = _without_idle(ctx, fn, named)
    if given(dtype):
        operands = _cast_operands(ctx, fn, operands, scalars.dtype_argument(ctx, dtype), casting)
    if targets and not (isinstance(where, Known) and where.obj is True):
        operands = _harmless(ctx, fn, operands, where)
    value = ctx.call(ufunc_operation(fn), operands, named)
    everywhere = isinstance(where, Known) and where.obj is True
    if not targets:
        if not everywhere:
            ctx.refuse(
                f"`{name_of(fn)}(where=...)` without out leaves values uninitialised",
                "pass out=np.zeros(...), or use np.where",
            )
        return value
    return _store_results(ctx, fn, value, targets, None if everywhere else where, casting)


_DOMAINS = frozenset({
    np.divide, np.floor_divide, np.remainder, np.fmod, np.power, np.float_power, np.reciprocal, np.sqrt, np.log,
    np.log2, np.log10, np.log1p, np.arcsin, np.arccos, np.arccosh, np.arctanh, np.exp, np.exp2, np.expm1, np.sinh,
    np.cosh,
})  # fmt: skip


def _harmless(ctx: Context, fn: np.ufunc, operands: Sequence[Value], where: Value) -> list[Value]:
    """Operands that raise no warning where the mask leaves them out: there they are a number inside the domain."""
    if fn not in _DOMAINS:
        return list(operands)
    inside = Known(0.5 if fn is np.arctanh else 1)
    return [
        ctx.call(operation(np.where), [where, v, inside]) if _numeric_array(ctx, v) else v for v in operands
    ]


def _numeric_array(ctx: Context, value: Value) -> bool:
    style = facts.array_style(ctx, value)
    return style is not None and style.kind in "ifc"


def _targets(ctx: Context, fn: np.ufunc, positional: list[Value], out: Value) -> list[Value]:
    targets = positional
    if given(out):
        targets = list(out.items) if isinstance(out, TupleValue) else [out]
    if not any(given(t) for t in targets):
        return []
    if len(targets) != fn.nout or not all(given(t) for t in targets):
        ctx.refuse(f"`{name_of(fn)}` with some of its outputs", "give all outputs, or none")
    for t in targets:
        _needs_out(ctx, t)
    return targets


def _store_results(
    ctx: Context, fn: np.ufunc, value: Value, targets: list[Value], where: Value | None, casting: str
) -> Value:
    values = list(value.items) if isinstance(value, TupleValue) else [value]
    for target, one in zip(targets, values, strict=True):
        mutation.check_cast(ctx, one, target, casting, f"`{name_of(fn)}(out=...)`")
        if where is not None:
            one = ctx.call(operation(np.where), [where, one, target])
        ctx.write(target, (), one)
    return targets[0] if len(targets) == 1 else TupleValue(tuple(targets))


def _cast_operands(
    ctx: Context, fn: np.ufunc, operands: Sequence[Value], dtype: np.dtype[Any], casting: str
) -> list[Value]:
    """`dtype=` asks for the loop of that dtype: right where operands and results all have it."""
    loop = dtype.char * fn.nin + "->" + dtype.char * fn.nout
    if loop not in fn.types:
        ctx.refuse(f"`{name_of(fn)}(dtype={dtype})`", "convert the operands with .astype")
    out = []
    for value in operands:
        by = facts.dtype_of(ctx, value)
        if by is None or not _castable(ctx, value, dtype, casting):
            ctx.refuse(f"`{name_of(fn)}(dtype={dtype})` of these operands", "convert them with .astype")
        out.append(value if by == dtype and is_array(value) else scalars.converted(ctx, value, dtype))
    return out


def _castable(ctx: Context, value: Value, dtype: np.dtype[Any], casting: str) -> bool:
    style = facts.scalar_style(ctx, value)
    if style is not None and style.weak is True:
        return "bifc".find(style.kind) <= "bifc".find(dtype.kind.replace("u", "i"))
    by = facts.dtype_of(ctx, value)
    return by is not None and bool(np.can_cast(by, dtype, casting))  # type: ignore[arg-type]


# -------------------------------------------------------------------------------------------------- ufunc methods

_REDUCE: dict[np.ufunc, Any] = {
    np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min, np.logical_and: np.all,
    np.logical_or: np.any,
}  # fmt: skip
_ACCUMULATE: dict[np.ufunc, Any] = {np.add: np.cumsum, np.multiply: np.cumprod}


def ufunc_method(ctx: Context, fn: np.ufunc, name: str, args: Args, kwargs: Kwargs) -> Value:
    """`np.add.reduce(x)` and the other methods of ufuncs."""
    handler = _UFUNC_METHODS.get(name)
    if handler is None:
        ctx.refuse(f"`{name_of(fn)}.{name}`", "use a loop, or a reduction of NumPy")
    try:
        bound = inspect.signature(handler).bind(ctx, fn, *args, **kwargs)
    except TypeError as error:
        ctx.refuse(f"`{name_of(fn)}.{name}`: {error}", "see NumPy's documentation")
    return handler(*bound.args, **bound.kwargs)


def _reduce(
    ctx: Context, fn: np.ufunc, array: Value, axis: Value = Known(0), dtype: Value = NONE, out: Value = NONE,
    keepdims: Value = Known(False), initial: Value = NONE, where: Value = NONE,
) -> Value:  # fmt: skip
    as_function = _REDUCE.get(fn)
    if as_function is None:
        ctx.refuse(f"`{name_of(fn)}.reduce`", "use functools.reduce, or a loop")
    if as_function in (np.max, np.min, np.all, np.any) and given(dtype):
        ctx.refuse(f"`{name_of(fn)}.reduce(dtype=...)`", "convert with .astype first")
    if as_function in (np.all, np.any) and given(initial):
        ctx.refuse(f"`{name_of(fn)}.reduce(initial=...)`", "combine with the initial value afterwards")
    more = {"axis": axis, "keepdims": keepdims}
    more |= {
        k: v for k, v in (("dtype", dtype), ("out", out), ("initial", initial), ("where", where)) if given(v)
    }
    return call(ctx, as_function, [array], more)


def _accumulate(
    ctx: Context, fn: np.ufunc, array: Value, axis: Value = Known(0), dtype: Value = NONE, out: Value = NONE
) -> Value:
    as_function = _ACCUMULATE.get(fn)
    if as_function is None:
        ctx.refuse(f"`{name_of(fn)}.accumulate`", "write a loop over the axis")
    more = {"axis": axis} | {k: v for k, v in (("dtype", dtype), ("out", out)) if given(v)}
    return call(ctx, as_function, [array], more)


def _outer(ctx: Context, fn: np.ufunc, a: Value, b: Value) -> Value:
    """Every element of `a` with every element of `b`."""
    a, b = (
        v if is_array(v) or facts.scalar_style(ctx, v) else ctx.call(operation(np.array), [v]) for v in (a, b)
    )
    left, right = facts.rank(ctx, a), facts.rank(ctx, b)
    if left is None or right is None:
        ctx.refuse(
            f"`{name_of(fn)}.outer` of arrays whose rank is known at run time only",
            "name the axes with np.newaxis",
        )
    if left and right:
        shape = facts.shape(ctx, a)
        assert isinstance(shape, TupleValue)
        a = call(ctx, np.reshape, [a, TupleValue((*shape.items, *[Known(1)] * right))], {})
    return ufunc_call(ctx, fn, [a, b], {})


def _at(ctx: Context, fn: np.ufunc, a: Value, indices: Value, b: Value = NONE) -> Value:
    """`np.add.at(a, indices, b)`: repeated indices count each time."""
    if fn not in (np.add, np.subtract) or not given(b):
        ctx.refuse(f"`{name_of(fn)}.at`", "write a loop, or use np.add.at")
    _needs_out(ctx, a)
    mutation.check_cast(ctx, b, a, "same_kind", f"`{name_of(fn)}.at`")
    if fn is np.subtract:
        b = ctx.call(ufunc_operation(np.negative), [b])
    entries = indices.items if isinstance(indices, TupleValue) else (indices,)
    step = index_step(*[ctx.operand(e) for e in entries], as_tuple=isinstance(indices, TupleValue))
    added = ctx.builder.call(core.add_at, ctx.operand(a), ctx.operand(b), step, hint="t")
    ctx.write(a, (), ctx.wrap(added))
    return NONE


_UFUNC_METHODS: dict[str, Callable[..., Value]] = {
    "reduce": _reduce,
    "accumulate": _accumulate,
    "outer": _outer,
    "at": _at,
    "__call__": ufunc_call,
}
