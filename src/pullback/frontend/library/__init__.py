"""What the front end does with calls, methods and attributes of library objects.

`dispatch` looks a called object up in the tables of the topic files (by the object, never its spelling); what stands in
none of them and has an operation is called as that operation.  `method` and `attribute` go by the value's kind.
"""

from __future__ import annotations

import operator
import sys
import types
from types import FunctionType
from typing import Any

import numpy as np

from pullback.frontend.context import Context
from pullback.frontend.library import (
    arrays,
    broadcasting,
    builtins,
    containers,
    creation,
    effect_calls,
    effects,
    facts,
    functional,
    higher,
    indexing,
    introspection,
    mutation,
    numpy_calls,
    objects,
    queries,
    scalars,
    statistics,
)
from pullback.frontend.library.calls import Args, Handler, Kwargs, invoke, name_of
from pullback.frontend.values import (
    ArrayRef,
    BoundMethod,
    CellRef,
    FrozenRef,
    IterValue,
    Known,
    Num,
    ObjectCell,
    SliceValue,
    TupleValue,
    Value,
)
from pullback.ir import core_ops as core
from pullback.rules.registry import op_of, path_of
from pullback.styles.style import Anything, Foreign, ListOf, Tup

_TABLES = (
    builtins, introspection, effect_calls, scalars, functional, creation, mutation, queries, effects, broadcasting,
    objects, higher, indexing, statistics,
)  # fmt: skip
FUNCTIONS: dict[Any, Handler] = {fn: handler for table in _TABLES for fn, handler in table.FUNCTIONS.items()}
_GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)
_RANGE_FIELDS = {"start": 0, "stop": 1, "step": 2}


_CONVERSIONS = (int, float, complex, abs, round, str, repr, format, hash)  # of an object, what it now is


def dispatch(ctx: Context, fn: Any, args: Args, kwargs: Kwargs) -> Value | None:
    """Call a library object; None where it is not one."""
    if not (isinstance(fn, type) or fn in introspection.FUNCTIONS):
        args = [objects.plain(ctx, v) for v in args]
    if fn in _CONVERSIONS:
        ctx.check_constant(args)
    handler = _handler(fn)
    if handler is not None:
        return invoke(ctx, name_of(fn), handler, args, kwargs)
    if isinstance(fn, np.ufunc):
        return numpy_calls.ufunc_call(ctx, fn, args, kwargs)
    if isinstance(fn, type):
        return _construct(ctx, fn, args, kwargs)
    for classes, special in _SPECIAL:
        if isinstance(fn, classes):
            found: Value | None = special(ctx, fn, args, kwargs)
            return found
    if op_of(fn) is not None or path_of(fn):
        return _operation(ctx, fn, args, kwargs)
    if _checks_only(fn):
        return effect_calls.silent_effect(fn)(ctx, *args, **kwargs)
    return None


def _checks_only(fn: Any) -> bool:
    """Whether a function is one of `numpy.testing`, which would be slow to import only to know its functions."""
    module = sys.modules.get("numpy.testing")
    return module is not None and getattr(module, getattr(fn, "__name__", ""), None) is fn


def _handler(fn: Any) -> Handler | None:
    try:
        return FUNCTIONS.get(fn) or scalars.MATH.get(fn)
    except TypeError:  # not hashable
        return None


def _operation(ctx: Context, fn: Any, args: Args, kwargs: Kwargs) -> Value | None:
    """A function that has an operation, or one of NumPy that has none (it is called; it has no rule).

    None for a function of the user's whose rules all decline: its own source serves.
    """
    op = op_of(fn)
    if op is not None and not _is_numpy(fn):
        form = "ufunc" if op.elementwise else "call"
        if isinstance(fn, FunctionType) and broadcasting.own_source(ctx, fn, form, args, kwargs):
            return None
        return ctx.call(op, args, kwargs)
    return numpy_calls.call(ctx, fn, args, kwargs)


def _is_numpy(fn: Any) -> bool:
    return path_of(fn).startswith("np.")


def _construct(ctx: Context, cls: type, args: Args, kwargs: Kwargs) -> Value | None:
    """A class of NumPy or of Python, called."""
    if issubclass(cls, np.generic):
        return scalars.numpy_scalar(ctx, cls, tuple(args), kwargs)
    if issubclass(cls, BaseException):
        return effect_calls.exception(ctx, cls, args, kwargs)
    return None


def _bound_builtin(ctx: Context, fn: Any, args: Args, kwargs: Kwargs) -> Value | None:
    """A method of a known object: of a ufunc, a string, a compile-time number."""
    owner = fn.__self__
    if isinstance(owner, np.ufunc):
        return numpy_calls.ufunc_method(ctx, owner, fn.__name__, args, kwargs)
    if effects.is_generator(ctx, Known(owner)):
        return effects.generator_method(ctx, Known(owner), fn.__name__, args, kwargs)
    op = op_of(fn)
    if op is not None:
        return ctx.call(op, args, kwargs)
    if owner is None or isinstance(owner, types.ModuleType | type):
        return _operation(ctx, fn, args, kwargs) if path_of(fn) else None
    return containers.known_method(ctx, owner, fn.__name__, args, kwargs)


def _unbound(ctx: Context, fn: Any, args: Args, kwargs: Kwargs) -> Value | None:
    """`np.ndarray.sum(x)`, `str.upper(s)`, `list.append(items, x)`."""
    if not args or not issubclass(
        fn.__objclass__, np.ndarray | np.generic | str | list | dict | tuple | int | float
    ):
        return None
    return method(ctx, args[0], fn.__name__, args[1:], kwargs)


_SPECIAL: tuple[tuple[Any, Any], ...] = (
    (np.vectorize, broadcasting.vectorized_call),
    (_GETTERS, functional.getter_call),
    (types.BuiltinMethodType, _bound_builtin),
    ((types.MethodDescriptorType, types.WrapperDescriptorType), _unbound),
)


def subscript(ctx: Context, owner: Any, index: Value) -> Value | None:
    """`np.c_[a, b]` and the like; None where the object is none of the library's."""
    handler = indexing.SUBSCRIPTS.get(id(owner))
    return None if handler is None else handler(ctx, index)


# --------------------------------------------------------------------------------------------- methods, attributes


def method(ctx: Context, owner: Value, name: str, args: Args, kwargs: Kwargs) -> Value:
    """Call a method of an array, number, container or compile-time object."""
    match owner:
        case Known(obj):
            if isinstance(obj, np.generic | bool | int | float | complex) and _is_array_method(obj, name):
                return arrays.method(ctx, owner, name, args, kwargs)
            return containers.known_method(ctx, obj, name, args, kwargs)
        case TupleValue() | CellRef():
            return containers.method(ctx, owner, name, args, kwargs)
        case IterValue():
            return _range_method(ctx, owner, name, args)
    style = ctx.style(owner)
    if isinstance(style, ListOf):
        return _frozen_list_method(ctx, owner, name, args, kwargs)
    if isinstance(owner, ArrayRef | FrozenRef) or facts.scalar_style(ctx, owner) is not None:
        return arrays.method(ctx, owner, name, args, kwargs)
    if effects.is_generator(ctx, owner):
        return effects.generator_method(ctx, owner, name, args, kwargs)
    return effects.opaque_method(ctx, owner, name, args, kwargs)


def _is_array_method(obj: Any, name: str) -> bool:
    return hasattr(obj, name) and (name in arrays.METHODS or name in arrays.SAME)


def _frozen_list_method(ctx: Context, owner: Value, name: str, args: Args, kwargs: Kwargs) -> Value:
    if name == "copy":
        return builtins.list_(ctx, owner)
    ctx.refuse(
        f"`list.{name}` of a list that another name or container may share", "make a copy first: list(items)"
    )


def _range_method(ctx: Context, owner: IterValue, name: str, args: Args) -> Value:
    ctx.refuse(f"method `{name}` of an iterator", "make a list of it first")


def attribute(ctx: Context, owner: Value, name: str) -> Value:
    """Read an attribute of an array, number, container or run-time object; a method waits to be called."""
    match owner:
        case Known(obj):
            return _known_attribute(ctx, owner, obj, name)
        case TupleValue(items, cls):
            fields = getattr(cls, "_fields", ())
            return items[fields.index(name)] if name in fields else BoundMethod(owner, name)
        case CellRef():
            return _cell_attribute(ctx, owner, name)
        case IterValue():
            return _range_attribute(ctx, owner, name)
        case SliceValue():
            return _slice_attribute(ctx, owner, name)
    style = ctx.style(owner)
    if isinstance(style, Tup) and style.kind not in ("tuple", "list"):
        ctx.refuse(
            f"attribute `{name}` of an object that is an item of a list of run-time length",
            "keep plain tuples in the list, or one list for each attribute",
        )
    if isinstance(style, ListOf | Tup):
        return BoundMethod(owner, name)
    if isinstance(owner, ArrayRef | FrozenRef) or facts.scalar_style(ctx, owner) is not None:
        return arrays.attribute(ctx, owner, name)
    if isinstance(owner, Num) and isinstance(style, Anything | Foreign):
        return (
            BoundMethod(owner, name)
            if effects.is_generator(ctx, owner)
            else _opaque_attribute(ctx, owner, name)
        )
    ctx.refuse(
        f"attribute `{name}` of a value of which the compiler knows nothing",
        "pass the attribute as an argument",
    )


def _opaque_attribute(ctx: Context, owner: Value, name: str) -> Value:
    return ctx.call(core.attribute, [owner, Known(name)], hint=name)


def _known_attribute(ctx: Context, owner: Value, obj: Any, name: str) -> Value:
    if isinstance(obj, np.generic | bool | int | float | complex):
        found = getattr(obj, name, None)
        if found is None:
            ctx.refuse(f"{type(obj).__name__} has no attribute `{name}`", "Python raises AttributeError here")
        return BoundMethod(owner, name) if callable(found) else containers.constant(ctx, found)
    try:
        return Known(getattr(obj, name))
    except AttributeError as error:
        ctx.refuse(str(error), "Python raises AttributeError here")


def _cell_attribute(ctx: Context, owner: Value, name: str) -> Value:
    cell = ctx.cell(owner)
    if isinstance(cell, ObjectCell):
        if name in cell.fields:
            return cell.fields[name]
        ctx.refuse(f"{cell.cls.__name__} has no attribute `{name}`", "set it before it is read")
    if name not in containers.table_of(ctx, owner):
        ctx.refuse(f"attribute `{name}` of a container", "use indexing and the common methods")
    return BoundMethod(owner, name)


def _range_attribute(ctx: Context, owner: IterValue, name: str) -> Value:
    if owner.range_ is None or name not in _RANGE_FIELDS:
        ctx.refuse(f"attribute `{name}` of an iterator", "make a list of it first")
    return ctx.wrap(owner.range_[_RANGE_FIELDS[name]])


def _slice_attribute(ctx: Context, owner: SliceValue, name: str) -> Value:
    if name not in _RANGE_FIELDS:
        ctx.refuse(f"attribute `{name}` of a slice", "start, stop and step are its attributes")
    return {"start": owner.start, "stop": owner.stop, "step": owner.step}[name]


__all__ = ["FUNCTIONS", "attribute", "dispatch", "method", "subscript"]
