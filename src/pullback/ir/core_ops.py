"""The operations of the IR that are not NumPy functions: element access, stores, cotangent arithmetic, lists, effects.

Paths: `load(A, *steps)`, `store(A, value, *steps)` and `add_at(A, value, *steps)` take the steps of a view path, each a
Pack of kind "index" or "view".  At run time an index step is `("index", index)`, a view step `("view", fn, args)`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback import runtime
from pullback.ir.nodes import ABSENT, UNDEF, Alias, Call, Const, Op, Pack
from pullback.styles.broadcast import as_array, broadcast_axes, elementwise, ufunc_dtypes, ufunc_style
from pullback.styles.indexing import index_array, is_basic
from pullback.styles.join import join, join_items
from pullback.styles.style import (
    BOOL,
    INT64,
    PY_BOOL,
    PY_INT,
    Anything,
    Array,
    Axis,
    Dim,
    Foreign,
    ListOf,
    Scalar,
    Static,
    Style,
    Tup,
    Undef,
    fresh_dim,
    kind,
    max_kind,
    numeric,
    style_of_number,
)

# ---------------------------------------------------------------------------------------------- element access


def _step(array: Any, step: tuple[Any, ...]) -> Any:
    if step[0] == "index":
        return array[step[1]]
    return step[1](array, *step[2])


def _load(array: Any, *steps: tuple[Any, ...]) -> Any:
    for step in steps:
        array = _step(array, step)
    return array


def _store(array: Any, value: Any, *steps: tuple[Any, ...]) -> Any:
    out = np.array(array, order="K")
    _write(out, value, steps)
    return out


def _write(out: Any, value: Any, steps: Sequence[tuple[Any, ...]]) -> None:
    """Store into `out` in place at the end of a path."""
    if not steps:
        out[...] = value
        return
    target = _load(out, *steps[:-1])
    last = steps[-1]
    if last[0] == "index":
        target[last[1]] = value
    else:
        _step(target, last)[...] = value


def _add_at(array: Any, value: Any, *steps: tuple[Any, ...]) -> Any:
    out = np.array(array, order="K")
    target = _load(out, *steps[:-1]) if steps else out
    if steps and steps[-1][0] == "index":
        np.add.at(target, steps[-1][1], value)
    elif steps:
        view = _step(target, steps[-1])
        view[...] += value
    else:
        out[...] += value
    return out


def _step_style(style: Style, step: Style) -> Style:
    assert isinstance(step, Tup)
    if step.kind == "index":
        if isinstance(style, Array):
            return index_array(style, step.items)
        return Anything()
    assert isinstance(step.items[0], Static)
    out: Style = step.items[0].value.style(style, *step.items[1:])
    return out


def load_style(array: Style, *steps: Style) -> Style:
    """The style at the end of a path."""
    out = array
    for step in steps:
        out = _step_style(out, step)
    return out


def _load_alias(call: Call) -> Alias:
    """A view while every step is basic indexing or a view; a copy once one is advanced."""
    for step in call.args[1:]:
        assert isinstance(step, Pack)
        if step.kind == "index":
            basic = is_basic(tuple(style_of(item) for item in step.items))
            if basic is False:
                return Alias()
            if basic is None:
                return Alias("maybe", (0,))
        elif step.meta.alias != Alias("view", (0,)):
            return Alias("maybe", (0,))
    return Alias("view", (0,))


def style_of(operand: Any) -> Style:
    """The style of an operand: a Var's own, a Const as Static, a Pack as Tup (a view step starts with its Op)."""
    if isinstance(operand, Pack):
        items = tuple(style_of(item) for item in operand.items)
        if operand.kind == "view":
            items = (Static(operand.meta), *items)
        return Tup(items, operand.kind)
    if isinstance(operand, Const):
        return Undef() if operand.value is UNDEF or operand.value is ABSENT else Static(operand.value)
    out: Style = operand.style
    return out


def _same_as_first(first: Style, *_: Style, **__: Style) -> Style:
    return first


load = Op("load", _load, load_style, _load_alias, cheap=True)
store = Op("store", _store, _same_as_first, writes=True)
add_at = Op("add_at", _add_at, _same_as_first, writes=True)

# -------------------------------------------------------------------------------------------- cotangent arithmetic


def _accumulate(bar: Any, more: Any) -> Any:
    return bar + more


def _accumulate_style(bar: Style, more: Style) -> Style:
    bar, more = numeric(bar), numeric(more)
    if isinstance(bar, Scalar):
        return Scalar(bar.dtype, False if not bar.weak else None, bar.kind)
    return bar


accumulate = Op("accumulate", _accumulate, _accumulate_style, writes=True)


def _scale(bar: Any, partial: Any, selects: bool = False) -> Any:
    with np.errstate(all="ignore"):
        return runtime.scale(bar, partial, selects)


def _scale_style(bar: Style, partial: Style, selects: Style = Static(False)) -> Style:  # noqa: B008
    out = ufunc_style(np.multiply, bar, partial)
    assert not isinstance(out, tuple)
    return out


scale = Op("scale", _scale, _scale_style, cheap=True, elementwise=True)


def _unbroadcast_style(bar: Style, shape: Style) -> Style:
    bar_array = as_array(bar)
    axes = shape_axes(shape)
    if axes == ():
        return Scalar(bar_array.dtype, False, bar_array.kind)
    return Array(bar_array.dtype, axes, False, bar_array.kind)


def shape_axes(shape: Style) -> tuple[Axis, ...] | None:
    """The axes that a shape operand (an int, or a tuple of ints) stands for."""
    shape = numeric(shape)
    if isinstance(shape, Static) and isinstance(shape.value, tuple | list):
        shape = Tup(tuple(Static(v) for v in shape.value))
    if isinstance(shape, Scalar):
        return (axis_of_length(shape),)
    if isinstance(shape, Tup):
        return tuple(axis_of_length(s) for s in shape.items)
    return None


def axis_of_length(style: Style) -> Axis:
    """The axis whose length is the value of an integer scalar."""
    style = numeric(style)
    if isinstance(style, Scalar) and style.length is not None:
        return style.length
    return fresh_dim()


# an array of which nothing is known, as what it is
same = Op("same", np.asarray, lambda x: Array(None, None), Alias("maybe", (0,)), numpy_path="np.asarray")
copy = Op("copy", lambda x: np.array(x, order="K"), _same_as_first)  # x.copy()

unbroadcast = Op(
    "unbroadcast", runtime.unbroadcast, _unbroadcast_style, Alias("maybe", (0,)), numpy_path="unbroadcast"
)


project = Op(
    "project", runtime.project, lambda bar, like: numeric(like), Alias("maybe", (0,)), numpy_path="project"
)


def _cast_style(bar: Style, dtype: Style) -> Style:
    assert isinstance(dtype, Static)
    array = as_array(bar)
    target = np.dtype(dtype.value)
    if isinstance(array, Scalar) or array.axes == ():  # `[()]` of rank 0 is a number
        return Scalar(target, False)
    return Array(target, array.axes, array.contiguous)


cast = Op(
    "cast", runtime.cast, _cast_style, Alias("maybe", (0,))
)  # real part if needed, then astype(dtype, copy=False)


def _number_style(bar: Style, cls: Style) -> Style:
    assert isinstance(cls, Static)
    return numeric(Static(cls.value(0)))


number = Op("number", lambda bar, cls: cls(bar), _number_style)  # float(bar), complex(bar)


def _known_style(value: Style, style: Style) -> Style:
    assert isinstance(style, Static) and isinstance(style.value, Scalar | Array | ListOf | Tup)
    return style.value


# a value of which more is known than can be inferred: a cotangent has the shape of its primal
known = Op("known", lambda value, style: value, _known_style, Alias("view", (0,)))


def _assume(x: Any, axis: int, other: Any, other_axis: int | None) -> Any:
    _check_length(x, axis, other, other_axis)
    return x


def _check_length(x: Any, axis: int, other: Any, other_axis: int | None) -> None:
    wanted = other if other_axis is None else np.shape(other)[other_axis]
    if np.shape(x)[axis] != wanted:
        raise ValueError("lengths that were taken to be equal are not")


# an array one axis of which has the length of another's (or a number), by an assumption that is checked
assume = Op("assume", _assume, lambda x, *_: x, Alias("view", (0,)))
check_length = Op("check_length", _check_length, lambda *_: (), effect=True)  # the check alone; no targets


def _check_finite(*numbers: Any) -> None:
    if not all(map(np.isfinite, numbers)):
        raise FloatingPointError("a gradient that is not finite")


check_finite = Op("check_finite", _check_finite, lambda *_: (), effect=True)  # no targets

# --------------------------------------------------------------------------------------------------- shapes


def _shape_style(x: Style) -> Style:
    array = as_array(x)
    if isinstance(array, Scalar):
        return Tup(())
    if array.axes is None:
        return Anything()
    return Tup(tuple(Scalar(INT64, True, "i", a) for a in array.axes))


shape = Op("shape", np.shape, _shape_style, cheap=True, numpy_path="np.shape")


def _joint_shape_style(a: Style, b: Style) -> Style:
    first, second = shape_axes(a), shape_axes(b)
    if first is None or second is None:
        return Anything()
    axes = broadcast_axes(first, second)
    return Tup(tuple(Scalar(INT64, True, "i", n if n in first or n in second else None) for n in axes))


# the shape of what two arrays are broadcast to
joint_shape = Op("joint_shape", runtime.joint_shape, _joint_shape_style, cheap=True, numpy_path="joint_shape")


def _dim_style(x: Style, axis: Style) -> Style:
    array = as_array(x)
    if not isinstance(array, Array) or array.axes is None or not isinstance(axis, Static):
        return PY_INT
    inside = -len(array.axes) <= axis.value < len(array.axes)  # else NumPy raises when it is run
    return Scalar(INT64, True, "i", array.axes[axis.value]) if inside else PY_INT


dim = Op("dim", lambda x, axis: np.shape(x)[axis], _dim_style, cheap=True)  # x.shape[axis]

# ----------------------------------------------------------------------------------------------- Python operators

_BINARY: dict[str, tuple[Callable[..., Any], np.ufunc]] = {
    "+": (operator.add, np.add),
    "-": (operator.sub, np.subtract),
    "*": (operator.mul, np.multiply),
    "/": (operator.truediv, np.true_divide),
    "//": (operator.floordiv, np.floor_divide),
    "%": (operator.mod, np.remainder),
    "**": (operator.pow, np.power),
    "@": (operator.matmul, np.matmul),
    "<<": (operator.lshift, np.left_shift),
    ">>": (operator.rshift, np.right_shift),
    "&": (operator.and_, np.bitwise_and),
    "|": (operator.or_, np.bitwise_or),
    "^": (operator.xor, np.bitwise_xor),
    "<": (operator.lt, np.less),
    "<=": (operator.le, np.less_equal),
    ">": (operator.gt, np.greater),
    ">=": (operator.ge, np.greater_equal),
    "==": (operator.eq, np.equal),
    "!=": (operator.ne, np.not_equal),
}
_UNARY: dict[str, tuple[Callable[..., Any], np.ufunc]] = {
    "u-": (operator.neg, np.negative),
    "u+": (operator.pos, np.positive),
    "~": (operator.invert, np.invert),
}
COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
_CHEAP = frozenset({"+", "-", "*", "/", "u-", "u+", "//", "%"}) | COMPARISONS


def _python_result(symbol: str, styles: Sequence[Scalar]) -> Scalar:
    """The style of an operator on Python numbers."""
    if symbol in COMPARISONS:
        return PY_BOOL
    top = styles[0].kind
    for s in styles[1:]:
        top = max_kind(top, s.kind)
    if symbol in ("&", "|", "^") and top == "b":
        return PY_BOOL
    top = "i" if top == "b" else top
    if symbol == "/" and top == "i":
        top = "f"
    if symbol == "**" and top == "i":
        return Scalar(None, True, "f")  # int ** -int is a float
    number = style_of_number({"i": 0, "f": 0.0, "c": 0j}[top])
    assert number is not None
    return Scalar(number.dtype, True, number.kind, _length(symbol, styles))


def _length(symbol: str, styles: Sequence[Scalar]) -> Axis | None:
    """`n - 1` where n is the length of an axis."""
    if symbol not in ("+", "-") or len(styles) != 2:
        return None
    a, b = styles[0].length, styles[1].length
    if isinstance(a, int) and isinstance(b, int):
        value = a + b if symbol == "+" else a - b
        return value if value >= 0 else None
    if isinstance(a, Dim) and isinstance(b, int):
        # n - k may be negative where max(n - k, 0) is not: such a length is only ever used as a size or a bound
        minus = a.minus - b if symbol == "+" else a.minus + b
        return Dim(a.sym, minus, a.not_one and minus == a.minus) if minus >= 0 and a.minus == 0 else None
    return None


def _operator_style(symbol: str, ufunc: np.ufunc) -> Callable[..., Style]:
    def style(*operands: Style) -> Style:
        parts = [numeric(s) for s in operands]
        if not all(isinstance(s, Scalar | Array) for s in parts):
            return _non_numeric(symbol, parts)
        scalars = [s for s in parts if isinstance(s, Scalar)]
        if len(scalars) == len(parts) and all(s.weak for s in scalars):
            if any(s.dtype is None for s in scalars) and symbol not in COMPARISONS:
                top = "b"
                for s in scalars:
                    top = max_kind(top, s.kind)
                return Scalar(None, True, "f" if top in "bi" and symbol in "/**" else top)
            return _python_result(symbol, scalars)
        if symbol == "@":
            return matmul_style(*parts)
        out = ufunc_style(ufunc, *parts)
        assert not isinstance(out, tuple)
        if len(scalars) == len(parts) and any(s.weak is None for s in scalars):
            strong_all = not any(s.weak is False for s in scalars)
            out = Scalar(out.dtype, None if strong_all else False, out.kind)  # type: ignore[union-attr]
        return out

    return style


def _non_numeric(symbol: str, parts: Sequence[Style]) -> Style:
    if symbol == "@" and len(parts) == 2 and any(isinstance(p, Array) for p in parts):
        return matmul_style(*parts)
    if symbol in COMPARISONS:
        arrays = [as_array(s) for s in parts if isinstance(numeric(s), Array)]
        return elementwise(arrays, BOOL, "b") if arrays else Anything()
    if any(isinstance(p, Array) for p in parts) and symbol in _BINARY:
        out = ufunc_style(_BINARY[symbol][1], *[as_array(p) for p in parts])
        return out if not isinstance(out, tuple) else Anything()
    return Anything()


def matmul_style(a: Style, b: Style) -> Style:
    """`a @ b`: the last two axes contract, leading axes broadcast."""
    x, y = as_array(a), as_array(b)
    (dtype,) = ufunc_dtypes(np.matmul, [x, y]) if x.dtype is not None and y.dtype is not None else (None,)
    top = max_kind(x.kind, y.kind)
    xa = x.axes if isinstance(x, Array) else ()
    ya = y.axes if isinstance(y, Array) else ()
    if xa is None or ya is None or not xa or not ya:
        return Array(dtype, None, False, top)
    batch = broadcast_axes(xa[:-2], ya[:-2])
    axes = batch + (xa[-2:-1] if len(xa) > 1 else ()) + (ya[-1:] if len(ya) > 1 else ())
    return Array(dtype, axes, True, top) if axes else Scalar(dtype, False, top)


def _operator(symbol: str, fn: Callable[..., Any], ufunc: np.ufunc) -> Op:
    return Op(
        symbol, fn, _operator_style(symbol, ufunc), cheap=symbol in _CHEAP, elementwise=symbol != "@", fn=fn
    )


OPERATORS: dict[str, Op] = {s: _operator(s, f, u) for s, (f, u) in {**_BINARY, **_UNARY}.items()}
UFUNC_OF_OPERATOR: dict[Op, np.ufunc] = {OPERATORS[s]: u for s, (_, u) in {**_BINARY, **_UNARY}.items()}


def _truth_style(*_: Style) -> Style:
    return PY_BOOL


not_ = Op("not", operator.not_, _truth_style, cheap=True)
is_ = Op("is", operator.is_, _truth_style, cheap=True)
is_not = Op("is not", operator.is_not, _truth_style, cheap=True)
contains = Op("in", lambda item, container: item in container, _truth_style)

# --------------------------------------------------------------------------------------------------- run-time lists


def _list_get_style(items: Style, index: Style) -> Style:
    if (
        isinstance(items, Tup)
        and isinstance(index, Static)
        and isinstance(index.value, int)
        and -len(items.items) <= index.value < len(items.items)
    ):
        return items.items[index.value]
    return _item_style(items)


def _item_style(items: Style) -> Style:
    """The style of all items of a list or tuple."""
    if isinstance(items, ListOf):
        return items.elem
    if isinstance(items, Tup):
        out: Style = Undef()
        for s in items.items:
            out = join_items(out, s)
        return out
    return Anything()


def _append_style(items: Style, value: Style) -> Style:
    if isinstance(items, Tup):
        return ListOf(join_items(_item_style(items), value))
    return ListOf(join_items(items.elem, value)) if isinstance(items, ListOf) else Anything()


def _list_set(items: list[Any], value: Any, index: Any) -> list[Any]:
    out = list(items)
    out[index] = value
    return out


def _to_list_style(items: Style) -> Style:
    if isinstance(items, ListOf):
        return items
    return ListOf(_item_style(items))


make_list = Op("make_list", list, _to_list_style, Alias("maybe", (0,)))  # a run-time list of a Pack's items
list_append = Op(
    "list_append", lambda items, v: [*items, v], _append_style, Alias("maybe", (0, 1)), writes=True
)
list_get = Op("list_get", lambda items, i: items[i], _list_get_style, Alias("view", (0,)), cheap=True)
list_set = Op(
    "list_set", _list_set, lambda items, v, i: _append_style(items, v), Alias("maybe", (0, 1)), writes=True
)
list_len = Op("list_len", len, lambda items: PY_INT, cheap=True)
# drop the last item: (rest,) -- the item itself is read by list_get(items, -1) first
list_drop = Op(
    "list_drop", lambda items: list(items[:-1]), lambda items: items, Alias("maybe", (0,)), writes=True
)
list_slice = Op(
    "list_slice", lambda items, window: items[window], lambda items, window: items, Alias("maybe", (0,))
)
# concatenation of two run-time lists (list + list, extend)
list_join = Op(
    "list_join",
    lambda a, b: [*a, *b],
    lambda a, b: ListOf(join_items(_item_style(a), _item_style(b))),
    Alias("maybe", (0, 1)),
    writes=True,
)


def _spread_list_style(items: Style, n: Style, window: Style) -> Style:
    return items


def _zeros_list_style(items: Style) -> Style:
    elem = items.elem if isinstance(items, ListOf) else Undef()
    if isinstance(elem, ListOf):
        return ListOf(_zeros_list_style(elem))
    return ListOf(
        Array(None, None, False, "c") if not isinstance(elem, Scalar) else Scalar(elem.dtype, None, elem.kind)
    )


zeros_list = Op("zeros_list", runtime.zeros_list, _zeros_list_style, numpy_path="zeros_list")
add_lists = Op(
    "add_lists", runtime.add_lists, lambda a, b: join(a, b), Alias("maybe", (0, 1)), numpy_path="add_lists"
)
spread_list = Op(
    "spread_list", runtime.spread_list, _spread_list_style, Alias("maybe", (0,)), numpy_path="spread_list"
)
list_rows = Op(
    "list_rows",
    list,
    lambda x: ListOf(load_style(x, Tup((PY_INT,), "index"))),
    Alias("view", (0,)),
    numpy_path="list",
)


def _nested_rows_style(x: Style, depth: Style) -> Style:
    assert isinstance(depth, Static)
    out: Style = Array(None, None, False, kind(x))
    if isinstance(x, Array) and x.axes is not None and len(x.axes) >= depth.value:
        out = x
        for _ in range(depth.value):
            out = load_style(out, Tup((PY_INT,), "index"))
    for _ in range(depth.value):
        out = ListOf(out)
    return out


nested_rows = Op(
    "nested_rows", runtime.nested_rows, _nested_rows_style, Alias("view", (0,)), numpy_path="nested_rows"
)

# --------------------------------------------------------------------------------------------------- effects


def _raise(error: Any) -> None:
    raise error


def _assert(test: Any, message: Any = None) -> None:
    if not test:
        raise AssertionError(*([] if message is None else [message]))


raise_ = Op("raise", _raise, lambda error: (), effect=True)  # no targets
assert_ = Op("assert", _assert, lambda test, *message: (), effect=True)  # no targets
# the reverse sweep of a joint function begins here; printed as the head of `with np.errstate(all="ignore")`
begin_reverse = Op("begin_reverse", lambda: None, lambda: (), effect=True)  # no targets
# fn(*args, **kwargs) for its effect and its opaque result; args[0] is the callable (a Const)
call_effect = Op(
    "effect", lambda fn, *args, **kwargs: fn(*args, **kwargs), lambda *a, **k: Anything(), effect=True
)


def _enter(fn: Any, *args: Any, **kwargs: Any) -> Any:
    manager = fn(*args, **kwargs)
    manager.__enter__()
    return manager


# the statements from `enter` to the `leave` of its result, in the same block, are the body of a `with`
enter = Op("enter", _enter, lambda *a, **k: Anything(), effect=True)
leave = Op(
    "leave", lambda manager: manager.__exit__(None, None, None), lambda m: (), effect=True
)  # no targets
# a pure call of an unknown callable on inactive operands, result assumed opaque unless the caller gives a style
format_ = Op("format", lambda fmt, *args: fmt.format(*args), lambda *a: Foreign(str))
# truth value of an operand as Python's bool
truth = Op("bool", bool, _truth_style, cheap=True)
# getattr on an opaque run-time object; args: object, name (Const)
attribute = Op(
    "attribute", getattr, lambda obj, name: Anything(getattr(obj, "origin", "")), Alias("maybe", (0,))
)
