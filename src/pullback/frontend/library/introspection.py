"""Questions about types and attributes, answered at compile time; what asks for identity or names is refused."""

from __future__ import annotations

import dataclasses
from typing import Any

from pullback.frontend.context import Context
from pullback.frontend.environment import Path, path_to
from pullback.frontend.instances import SLOT
from pullback.frontend.library import effect_calls, facts, iteration, prelude
from pullback.frontend.library.calls import NONE, Handler
from pullback.frontend.library.effect_calls import refused
from pullback.frontend.refusals import refusal
from pullback.frontend.values import (
    BoundMethod,
    CellRef,
    FunctionValue,
    Known,
    Num,
    ObjectCell,
    Super,
    TupleValue,
    Value,
)

MISSING = Known(prelude.MISSING)


def _classes(ctx: Context, classes: Value) -> Any:
    if isinstance(classes, TupleValue):
        return tuple(_classes(ctx, c) for c in classes.items)
    return ctx.known(classes)


def isinstance_(ctx: Context, value: Value, classes: Value) -> Value:
    """`isinstance(value, classes)`, answered at compile time."""
    wanted = _classes(ctx, classes)
    if isinstance(value, Known):
        return Known(isinstance(value.obj, wanted))
    found = facts.types_of(ctx, value)
    if found is None:
        ctx.refuse_unknown(
            value,
            "`isinstance` of a value whose type is known at run time only",
            "compare by another property",
        )
    answers = {issubclass(t, wanted) for t in found}
    if len(answers) != 1:
        names = " or ".join(sorted(t.__name__ for t in found))
        ctx.refuse(
            f"`isinstance`: the value is {names} by the path taken",
            "make it one type on every path: float(x) or np.asarray(x)",
        )
    return Known(answers.pop())


def issubclass_(ctx: Context, cls: Value, classes: Value) -> Value:
    """`issubclass(cls, classes)`."""
    return Known(issubclass(ctx.known(cls), _classes(ctx, classes)))


def type_(ctx: Context, value: Value, *more: Value) -> Value:
    """`type(value)`, answered at compile time."""
    found = facts.types_of(ctx, value)
    if more or found is None or len(found) != 1:
        ctx.refuse(
            "`type` with three arguments"
            if more
            else "`type` of a value whose type is known at run time only",
            "use isinstance on a value of one type",
        )
    return Known(found[0])


def callable_(ctx: Context, value: Value) -> Value:
    """`callable(value)`."""
    if isinstance(value, FunctionValue | BoundMethod):
        return Known(True)
    if isinstance(value, Known):
        return Known(callable(value.obj))
    found = facts.types_of(ctx, value)
    if found is None:
        ctx.refuse_unknown(
            value,
            "`callable` of a value of which the compiler knows nothing",
            "pass functions as arguments of their own",
        )
    return Known(any(hasattr(t, "__call__") for t in found))  # noqa: B004


def hasattr_(ctx: Context, value: Value, name: Value) -> Value:
    """`hasattr(value, name)`, answered at compile time."""
    text = ctx.known(name)
    if isinstance(value, Known):
        path = value.path or path_to(value.obj)
        if path is not None:
            ctx.watch(path.has(text), hasattr(value.obj, text))
        return Known(hasattr(value.obj, text))
    if isinstance(value, CellRef):
        cell = ctx.cell(value)
        if isinstance(cell, ObjectCell):
            if text not in cell.fields:
                _check_answers(ctx, cell.cls, text)
                ctx.watch(Path(cell.cls, "object", cell.cls.__name__).has(text), hasattr(cell.cls, text))
            given = hasattr(cell.cls, text) and type(getattr(cell.cls, text)) is not SLOT  # an empty one
            return Known(text in cell.fields or given)
    found = facts.types_of(ctx, value)
    answers = {hasattr(t, text) for t in found or ()}
    if len(answers) != 1:
        ctx.refuse(
            f"`hasattr(..., {text!r})` of a value whose type is known at run time only", "use isinstance"
        )
    return Known(answers.pop())


def _check_answers(ctx: Context, cls: type, name: str) -> None:
    """Refuse to guess what a class says of attributes that neither it nor its instance has."""
    if not name.isidentifier():
        ctx.refuse(f"an attribute called {name!r}", "give it a name that can be written")
    own = getattr(cls, "__getattribute__", None) is not object.__getattribute__
    if own or (hasattr(cls, "__getattr__") and not hasattr(cls, name)):
        ctx.refuse(
            f"`{cls.__name__}` says itself whether it has an attribute `{name}`",
            "set the attribute, or ask before the function is called",
        )


def getattr_(ctx: Context, value: Value, name: Value, default: Value = MISSING) -> Value:
    """`getattr(value, name, default)`."""
    text = ctx.known(name)
    if default is not MISSING and not ctx.known(hasattr_(ctx, value, name)):
        return default
    return ctx.attribute(value, text)


def setattr_(ctx: Context, value: Value, name: Value, new: Value) -> Value:
    """`setattr(object, name, new)` of an ordinary object."""
    text = ctx.known(name)
    cell = ctx.cell(value) if isinstance(value, CellRef) else None
    if not isinstance(cell, ObjectCell):
        ctx.refuse(
            "`setattr` of something that is not an ordinary object", "keep the value in a variable or a dict"
        )
    ctx.store_attribute(value, text, new)
    return NONE


def iter_(ctx: Context, iterable: Value, *more: Value) -> Value:
    """`iter(...)`: good for one loop, as every iterator."""
    if more:
        ctx.refuse("`iter` with a sentinel", "write a `while` loop")
    return dataclasses.replace(iteration.needed(ctx, iterable, "iter"), range_=None, reusable=False)


def super_(ctx: Context, *given: Value) -> Value:
    """`super()` (the front end writes out what it reads), `super(cls, self)`."""
    if len(given) != 2:
        ctx.refuse("`super()` outside a method of a class", "write super(Class, self)")
    after, instance = ctx.known(given[0]), given[1]
    cls = instance.obj if isinstance(instance, Known) and isinstance(instance.obj, type) else None
    found = (cls,) if cls is not None else facts.types_of(ctx, instance)
    if found is None or len(found) != 1 or not issubclass(found[0], after):
        ctx.refuse("`super` of an object whose class is not known", "call the method of the class by name")
    return Known(Super(after, found[0], instance))


def next_(ctx: Context, iterator: Value, default: Value = MISSING) -> Value:
    """`next(...)` of a run-time object is an effect."""
    if isinstance(iterator, Num):
        return effect_calls.effect(ctx, next, [iterator, *([] if default is MISSING else [default])], {})
    ctx.refuse(
        "`next` of something that is not a run-time iterator", "write a `for` loop, or index the sequence"
    )


FUNCTIONS: dict[Any, Handler] = {
    isinstance: isinstance_,
    issubclass: issubclass_,
    type: type_,
    callable: callable_,
    hasattr: hasattr_,
    getattr: getattr_,
    setattr: setattr_,
    iter: iter_,
    super: super_,
    next: next_,
    id: refused(
        "`id`: the identity of a value has no meaning in generated code", "compare with `is` or `==`"
    ),
    hash: refused("`hash` of a run-time value", "hash compile-time constants outside the function"),
    vars: refused("`vars`", "name the attributes"),
    dir: refused("`dir`", "name the attributes"),
    **{fn: refused(*refusal("exec", name=fn.__name__)) for fn in (globals, locals, eval, exec)},
    compile: refused("`compile`", "write the code out"),
    __import__: refused("`__import__`", "import the module at the top of the file"),
    open: refused(
        "`open`: reading files inside a differentiated function",
        "read before, and pass the data as an argument",
    ),
    input: refused(
        "`input` inside a differentiated function", "read before, and pass the data as an argument"
    ),
    delattr: refused("`delattr`", "keep the attribute"),
    memoryview: refused("`memoryview`", "use NumPy's views"),
    bytearray: refused("`bytearray`", "use a NumPy array"),
}
