"""How an entry of the library's tables is called.

A handler is a plain function `handler(ctx, *values, **values) -> Value`: its parameters mirror those of the library
function, so that Python itself binds the user's arguments.  What cannot be bound is refused with Python's own message.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from pullback.frontend.context import Context
from pullback.frontend.values import ArrayRef, CellRef, FrozenRef, Known, Num, TupleValue, Value
from pullback.ir.nodes import Op
from pullback.rules.registry import op_of, path_of
from pullback.styles.style import Anything

Handler: TypeAlias = Callable[..., Value]
Args: TypeAlias = Sequence[Value]
Kwargs: TypeAlias = Mapping[str, Value]

NONE = Known(None)


@lru_cache(maxsize=4096)
def _signature(handler: Handler) -> inspect.Signature:
    return inspect.signature(handler)


def invoke(ctx: Context, name: str, handler: Handler, args: Args, kwargs: Kwargs) -> Value:
    """Call a handler with the user's arguments."""
    try:
        bound = _signature(handler).bind(ctx, *args, **kwargs)
    except TypeError as error:
        ctx.refuse(
            f"call of `{name}`: {error}", "only the arguments that the compiler knows can be followed here"
        )
    return handler(*bound.args, **bound.kwargs)


def name_of(fn: Any) -> str:
    """How an object of the library is called in messages."""
    path = path_of(fn)
    if path:
        return path
    name = getattr(fn, "__qualname__", None) or getattr(fn, "__name__", None) or repr(fn)
    module = getattr(fn, "__module__", None)
    return name if module in (None, "builtins") else f"{module}.{name}"


def given(value: Value) -> bool:
    """Whether an optional argument was given (and not as None)."""
    return not (isinstance(value, Known) and value.obj is None)


def options(**named: Value) -> dict[str, Value]:
    """The keyword arguments that were given."""
    return {name: value for name, value in named.items() if given(value)}


def emit(ctx: Context, fn: Any, *args: Value, hint: str = "t", **kwargs: Value) -> Value:
    """Emit the operation of a library function."""
    return held(ctx, ctx.call(operation(fn), args, kwargs, hint))


def held(ctx: Context, value: Value) -> Value:
    """A value that a handler keeps while it makes others: its storage stays until the user's statement ends."""
    if not isinstance(value, Known | Num):
        ctx.temps.append(value)
    return value


def operation(fn: Any) -> Op:
    """The operation of a function: the registry's, else one of which only the object is known (it has no rule)."""
    found = op_of(fn)
    if found is not None:
        return found
    if fn not in _unknown:
        path = path_of(fn)
        name = path or name_of(fn)
        _unknown[fn] = Op(name, fn, _anything_from(name), numpy_path=path, fn=fn)
    return _unknown[fn]


_unknown: dict[Any, Op] = {}


def _anything_from(name: str) -> Callable[..., Anything]:
    return lambda *_, **__: Anything(name)


def inline(ctx: Context, fn: Callable[..., Any], *args: Value, **kwargs: Value) -> Value:
    """Lower a call of a function of `prelude.py` as if the user had written it."""
    return held(ctx, ctx.call_value(Known(fn), args, kwargs))


def is_array(value: Value) -> bool:
    """A reference to an array (a frozen run-time list counts too; see `facts.array_style`)."""
    return isinstance(value, ArrayRef | FrozenRef)


def values_in(values: Iterable[Value]) -> list[Value]:
    """The values, and those inside tuples."""
    out: list[Value] = []
    for value in values:
        if isinstance(value, TupleValue):
            out += values_in(value.items)
        else:
            out.append(value)
    return out


def storages(values: Iterable[Value]) -> list[Value]:
    """The values that have storage of their own: what a result of unknown sharing may share."""
    return [v for v in values_in(values) if isinstance(v, ArrayRef | FrozenRef | CellRef)]


def is_runtime(value: Value) -> bool:
    """Whether anything of a value is known at run time only."""
    if isinstance(value, TupleValue):
        return any(is_runtime(v) for v in value.items)
    return isinstance(value, Num | ArrayRef | FrozenRef | CellRef)
