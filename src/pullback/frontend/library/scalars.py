"""Numbers: `float`, `int`, NumPy's scalar types as functions, `math`, `abs`, `round`.

A Python number that is active stays a Python number: `float(x)` and `x.item()` are conversions of the IR, which pass a
derivative; `int(x)`, `round(x)` and the like are constants.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from pullback.frontend.context import Context
from pullback.frontend.library import facts, iteration, prelude
from pullback.frontend.library.calls import NONE, Handler, Kwargs, emit, given, inline, is_array, is_runtime
from pullback.frontend.refusals import refusal
from pullback.frontend.values import CellRef, IterValue, Known, TupleValue, Value
from pullback.ir import core_ops as core
from pullback.ir.nodes import Const, Op
from pullback.rules.registry import declare, nondifferentiable
from pullback.styles.style import PY_INT, Scalar, Style, numeric


def _integer(*_: Style, **__: Style) -> Style:
    return PY_INT


def _rounded(x: Style, ndigits: Style = PY_INT) -> Style:
    x = numeric(x)
    return Scalar(x.dtype, x.weak, x.kind) if isinstance(x, Scalar) and x.kind != "b" else PY_INT


to_int = Op("int", int, _integer, cheap=True, numpy_path="int")
round_to_int = Op("round", round, _integer, cheap=True, numpy_path="round")
round_digits = declare(round, style=_rounded, cheap=True, path="round")
nondifferentiable(round)


def float_(ctx: Context, x: Value = Known(0.0)) -> Value:
    """`float(x)`."""
    return _python_number(ctx, x, float)


def complex_(ctx: Context, real: Value = Known(0), imag: Value = NONE) -> Value:
    """`complex(real, imag)`."""
    if given(imag):
        scaled = inline(ctx, prelude.times, imag, Known(1j))
        return _python_number(ctx, inline(ctx, prelude.plus, real, scaled), complex)
    return _python_number(ctx, real, complex)


def _python_number(ctx: Context, x: Value, cls: Any) -> Value:
    if isinstance(x, Known):
        try:
            return Known(cls(x.obj))
        except (TypeError, ValueError, OverflowError) as error:
            ctx.refuse(f"`{cls.__name__}({x.obj!r})`: {error}", "the call always raises this")
    style = facts.scalar_style(ctx, x)
    if style is not None:
        if cls is float and style.kind == "c":
            ctx.refuse("`float` of a number that may be complex", "take its real part first: x.real")
        if style.weak is True and facts.types_of(ctx, x) == (cls,):
            return x
        return ctx.call(core.number, [x, Known(cls)], hint="x")
    array = facts.array_style(ctx, x)
    if array is None:
        ctx.refuse(
            f"`{cls.__name__}` of a value that is not known to be a number",
            "pass a number or an array of one element",
        )
    if cls is float and array.kind == "c":
        ctx.refuse("`float` of an array that may be complex", "take its real part first: x.real")
    if array.rank != 0:
        x = _only_element(ctx, x)
    return ctx.call(core.number, [x, Known(cls)], hint="x")


def _only_element(ctx: Context, x: Value) -> Value:
    """What a call that wants a Python number makes of an array that may be none; TypeError where NumPy raises it."""
    if ctx.environment is not None:
        ctx.environment.versions[_ONE_ELEMENT if _ONE_ELEMENT_WILL_DO else _NO_AXES] = None
    inline(ctx, prelude.check_one_element if _ONE_ELEMENT_WILL_DO else prelude.check_no_axes, x)
    return emit(ctx, np.reshape, x, Known(()))


def _converts_one_element() -> bool:
    """Whether this NumPy makes a Python number of an array of shape (1,): up to 2.3, with a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            float(np.ones(1))
        except TypeError:
            return False
    return True


_ONE_ELEMENT_WILL_DO = _converts_one_element()
_ONE_ELEMENT = "NumPy up to 2.3, where an array of one element is a number"
_NO_AXES = "NumPy 2.4 and later, where only an array without axes is a number"


def int_(ctx: Context, x: Value = Known(0), base: Value = NONE) -> Value:
    """`int(x)`: carries no derivative."""
    if isinstance(x, Known):
        extra = [ctx.known(base)] if given(base) else []
        try:
            return Known(int(x.obj, *extra))
        except (TypeError, ValueError, OverflowError) as error:
            ctx.refuse(f"`int({x.obj!r})`: {error}", "the call always raises this")
    style = facts.scalar_style(ctx, x)
    if style is not None and style.weak is True and style.dtype is not None and style.kind == "i":
        return x
    array = facts.array_style(ctx, x)
    if array is not None and array.rank != 0:
        x = _only_element(ctx, x)
    return ctx.call(to_int, [x], hint="i")


def bool_(ctx: Context, x: Value = Known(False)) -> Value:
    """`bool(x)`."""
    return ctx.truth(x)


def item(ctx: Context, x: Value, *index: Value) -> Value:
    """`x.item()`, `x.item(i)`, `x.item(i, j)`: a Python number."""
    if index:
        x = _element(ctx, x, index)
    dtype = facts.dtype_of(ctx, x)
    if dtype is None:
        ctx.refuse("`item` of an array whose dtype is known at run time only", "convert with float(...)")
    array = facts.array_style(ctx, x)
    if array is not None and array.rank != 0:
        x = emit(ctx, np.reshape, x, Known(()))  # ValueError where it has not one element
    match dtype.kind:
        case "b":
            return bool_(ctx, x)
        case "i" | "u":
            return int_(ctx, x)
        case "f":
            return float_(ctx, x)
        case "c":
            return complex_(ctx, x)
    ctx.refuse(f"`item` of an array of dtype {dtype}", "use a numeric array")


def _element(ctx: Context, x: Value, index: tuple[Value, ...]) -> Value:
    count = facts.rank(ctx, x)
    if len(index) == 1 and isinstance(index[0], TupleValue):
        index = index[0].items
    if len(index) == 1 and count is not None and count != 1:
        x = emit(ctx, np.reshape, x, Known(-1))
    place = index[0] if len(index) == 1 else TupleValue(index)
    return inline(ctx, prelude.get_item, x, place)


# ------------------------------------------------------------------------------------------------------ abs, round


def absolute(ctx: Context, x: Value) -> Value:
    """`abs(x)`: a Python number of a Python number."""
    if isinstance(x, Known):
        return Known(abs(x.obj))
    if isinstance(x, CellRef | TupleValue):
        ctx.refuse("`abs` of a container", "take the absolute values of its items, or of np.array(items)")
    style = facts.scalar_style(ctx, x)
    if style is None or style.weak is False:
        return emit(ctx, np.abs, x)
    if style.kind in "bi" and style.weak:
        return inline(ctx, prelude.absolute, x) if style.kind == "i" else int_(ctx, x)
    if style.dtype is None:
        ctx.refuse(
            "`abs` of a number that is Python's on one path and NumPy's on another",
            "convert with float(...) first",
        )
    return emit(ctx, abs, x)


def round_(ctx: Context, x: Value, ndigits: Value = NONE) -> Value:
    """`round(x, ndigits)`: carries no derivative."""
    if isinstance(x, Known) and not is_runtime(ndigits):
        return Known(round(x.obj, ctx.known(ndigits)))
    style = facts.scalar_style(ctx, x)
    if style is None or (style.weak is False and style.kind == "i"):
        ctx.refuse("`round` of this value", "use np.round")
    if not given(ndigits):
        return ctx.call(round_to_int, [x], hint="i")
    return ctx.call(round_digits, [x, ndigits])


# ------------------------------------------------------------------------------------------- NumPy's scalar types


def numpy_scalar(ctx: Context, cls: type, args: tuple[Value, ...], kwargs: Kwargs) -> Value:
    """`np.float32(x)` and the other scalar types as functions."""
    if len(args) > 1 or kwargs:
        ctx.refuse(f"`np.{cls.__name__}` with options", f"np.{cls.__name__}(x)")
    if not args:
        return Known(cls())
    x = args[0]
    if isinstance(x, Known):
        return Known(cls(x.obj))
    dtype = _dtype_or_none(cls)
    if dtype is None or dtype.kind not in "biufc":
        ctx.refuse(f"`np.{cls.__name__}` of a run-time value", "use a numeric type")
    if isinstance(x, CellRef | TupleValue):
        return emit(ctx, np.array, x, dtype=Known(dtype))
    return converted(ctx, x, dtype)


def converted(ctx: Context, x: Value, dtype: np.dtype[Any]) -> Value:
    """The number or a new array in another dtype."""
    source = facts.dtype_of(ctx, x)
    if facts.scalar_style(ctx, x) is not None:
        style = facts.scalar_style(ctx, x)
        if style is not None and style.weak is False and source == dtype:
            return x
        return ctx.call(core.cast, [x, Known(dtype)])
    if source == dtype:
        return ctx.call(core.copy, [x])
    cast = ctx.builder.call(core.cast, ctx.operand(x), Const(dtype), hint="t")
    if source is not None:
        return ctx.wrap(cast)  # another dtype: certainly a new array
    return ctx.wrap(ctx.builder.call(core.copy, cast, hint="t"))


def _dtype_or_none(obj: Any) -> np.dtype[Any] | None:
    try:
        dtype: np.dtype[Any] = np.dtype(obj)
        return dtype
    except TypeError:
        return None


def dtype_argument(ctx: Context, value: Value) -> np.dtype[Any]:
    """A `dtype=` argument, which is known at compile time and numeric."""
    asked = ctx.known(value)
    dtype = _dtype_or_none(asked)
    if dtype is None:
        ctx.refuse(f"{asked!r} is no dtype", "pass a NumPy dtype")
    if dtype.kind == "O":
        ctx.refuse(*refusal("object-array"))
    if dtype.kind not in "biufc":
        ctx.refuse(f"arrays of dtype {dtype} are not supported", "use a numeric dtype")
    return dtype


# ------------------------------------------------------------------------------------------------------------ math


def _real(ctx: Context, x: Value) -> Value:
    """What `math` makes of an argument first: a Python float (an array of one element is allowed there)."""
    return float_(ctx, x) if is_array(x) else x


def _math(fn: Any) -> Handler:
    def handler(ctx: Context, *args: Value) -> Value:
        return emit(ctx, fn, *[_real(ctx, x) for x in args])

    return handler


def product(ctx: Context, iterable: Value, *, start: Value = Known(1)) -> Value:
    """`math.prod(iterable)`."""
    items = None if isinstance(iterable, IterValue) else iteration.items_of(ctx, iterable)
    if items is None:
        return inline(ctx, prelude.multiply_up, iteration.needed(ctx, iterable, "math.prod"), start)
    total = start
    for item_ in items:
        total = inline(ctx, prelude.times, total, item_)
    return total


def exact_sum(ctx: Context, iterable: Value) -> Value:
    """`math.fsum(iterable)`."""
    items = iteration.items_of(ctx, iterable)
    if items is not None and all(isinstance(v, Known) for v in items):
        return Known(math.fsum(v.obj for v in items if isinstance(v, Known)))
    ctx.refuse("`math.fsum` of run-time values", "use sum(...) or np.sum(np.array(items))")


def distance(ctx: Context, p: Value, q: Value) -> Value:
    """`math.dist(p, q)`."""
    difference = inline(ctx, prelude.minus, emit(ctx, np.array, p), emit(ctx, np.array, q))
    return float_(ctx, emit(ctx, np.linalg.norm, difference))


_OWN_MATH = (math.prod, math.fsum, math.dist)

FUNCTIONS: dict[Any, Handler] = {
    float: float_,
    int: int_,
    bool: bool_,
    complex: complex_,
    math.prod: product,
    math.fsum: exact_sum,
    math.dist: distance,
}
MATH: dict[Any, Handler] = {
    fn: _math(fn)
    for name, fn in vars(math).items()
    if callable(fn) and not name.startswith("_") and fn not in _OWN_MATH
}
