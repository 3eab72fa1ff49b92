"""Text made of values, and functions called for their effect: `str`, `print`, `warnings.warn`, exceptions."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from pullback.frontend.context import Context
from pullback.frontend.library.calls import NONE, Handler, storages
from pullback.frontend.values import Known, Num, Value
from pullback.ir import core_ops as core
from pullback.ir.nodes import Const


def text_of(ctx: Context, value: Value, template: str) -> Value:
    """Text made of a value: a compile-time string, or a run-time one (which carries no derivative)."""
    if isinstance(value, Known):
        return Known(template.format(value.obj))
    return Num(ctx.builder.call(core.format_, Const(template), ctx.operand(value), hint="text"))


def str_(ctx: Context, value: Value = Known("")) -> Value:
    """`str(value)`."""
    return text_of(ctx, value, "{!s}")


def repr_(ctx: Context, value: Value) -> Value:
    """`repr(value)`."""
    return text_of(ctx, value, "{!r}")


def format_(ctx: Context, value: Value, spec: Value = Known("")) -> Value:
    """`format(value, spec)`."""
    return text_of(ctx, value, "{:" + str(ctx.known(spec)) + "}")


def effect(ctx: Context, fn: Any, args: Sequence[Value], kwargs: dict[str, Value]) -> Value:
    """Call a function for its effect, in its place; it gets values as they are now."""
    operands = tuple(ctx.operand(v) for v in args)
    named = {name: ctx.operand(v) for name, v in kwargs.items()}
    (out,) = ctx.builder.call_many(core.call_effect, (Const(fn), *operands), named, ("result",))
    return ctx.wrap(out, storages([*args, *kwargs.values()]))


def silent_effect(fn: Any) -> Handler:
    """A handler of a function that returns None and keeps none of its arguments."""

    def handler(ctx: Context, *args: Value, **kwargs: Value) -> Value:
        operands = tuple(ctx.operand(v) for v in args)
        named = {name: ctx.operand(v) for name, v in kwargs.items()}
        ctx.builder.call_many(core.call_effect, (Const(fn), *operands), named, ("result",))
        return NONE

    return handler


def exception(
    ctx: Context, cls: type[BaseException], args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value:
    """An exception object: made at run time, in its place."""
    if kwargs or not all(isinstance(v, Known | Num) for v in args):
        ctx.refuse(
            f"`{cls.__name__}` of arrays or containers", "pass a message: an f-string may show the values"
        )
    operands = tuple(ctx.operand(v) for v in args)
    (out,) = ctx.builder.call_many(core.call_effect, (Const(cls), *operands), {}, ("error",))
    return Num(out)


def warn_(
    ctx: Context, message: Value, category: Value = NONE, stacklevel: Value = Known(1), source: Value = NONE
) -> Value:
    """`warnings.warn(...)`."""
    return silent_effect(warnings.warn)(ctx, message, category)


def refused(reason: str, hint: str) -> Handler:
    """A handler that refuses."""

    def handler(ctx: Context, *args: Value, **kwargs: Value) -> Value:
        ctx.refuse(reason, hint)

    return handler


FUNCTIONS: dict[Any, Handler] = {
    str: str_,
    repr: repr_,
    format: format_,
    print: silent_effect(print),
    warnings.warn: warn_,
}
