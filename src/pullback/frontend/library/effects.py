"""Calls with effects: random draws, clocks, logging.

They stay in their place and order.  A draw carries no derivative; `normal` and `uniform` of run-time parameters are
written as the scaled standard draw that NumPy makes of them, so that the parameters get theirs.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pullback.frontend.context import Context
from pullback.frontend.library import effect_calls, facts
from pullback.frontend.library.calls import NONE, Args, Handler, Kwargs, given, name_of
from pullback.frontend.values import Known, Num, TupleValue, Value
from pullback.ir import core_ops as core
from pullback.ir.core_ops import shape_axes
from pullback.ir.nodes import Op
from pullback.rules.registry import op_of, path_of
from pullback.styles.style import (
    FLOAT64,
    INT64,
    PY_FLOAT,
    PY_INT,
    Anything,
    Array,
    Foreign,
    Scalar,
    Static,
    Style,
    Tup,
    numeric,
)

_GENERATORS = (np.random.Generator, np.random.RandomState)
_ops: dict[tuple[Any, Any], Op] = {}
_NO_SIZE = Static(None)


def _effect_op(fn: Any, style: Callable[..., Style]) -> Op:
    key = (fn, style)
    if key not in _ops:
        _ops[key] = Op(name_of(fn), fn, style, effect=True, numpy_path=path_of(fn), fn=fn)
    return _ops[key]


def _float(*_: Style, **__: Style) -> Style:
    return PY_FLOAT


def _int(*_: Style, **__: Style) -> Style:
    return PY_INT


def _unknown(*_: Style, **__: Style) -> Style:
    return Anything()


def _generator(*_: Style, **__: Style) -> Style:
    return Foreign(np.random.Generator)


def _legacy_state(*_: Style, **__: Style) -> Style:
    return Foreign(np.random.RandomState)


def _is_generator_style(style: Style) -> bool:
    if isinstance(style, Static):
        return isinstance(style.value, _GENERATORS)
    return isinstance(style, Foreign) and issubclass(style.cls, _GENERATORS)


def _dims(*args: Style, **_: Style) -> Style:
    """The style of `rand(2, 3)` after the generator."""
    sizes = tuple(a for a in args if not _is_generator_style(a))
    return Array(FLOAT64, shape_axes(Tup(sizes)), True) if sizes else PY_FLOAT


def _permutation(*args: Style, **_: Style) -> Style:
    """The style of a permutation of n numbers, or of an array."""
    x = numeric(args[-1])
    if isinstance(x, Scalar):
        return Array(INT64, shape_axes(x), True)
    return Array(x.dtype, x.axes, True, x.kind) if isinstance(x, Array) else Anything()


def _sized(kind: Any) -> Callable[..., Style]:
    """The style of a draw whose size comes first (after the generator) or by name."""

    def style(*args: Style, size: Style = _NO_SIZE, **_: Style) -> Style:
        given_size = args[-1] if args and not _is_generator_style(args[-1]) else size
        if given_size == _NO_SIZE:
            return PY_FLOAT if kind == FLOAT64 else PY_INT
        return Array(kind, shape_axes(given_size), True)

    return style


_floats, _ints = _sized(FLOAT64), _sized(INT64)


def _call(fn: Any, style: Callable[..., Style]) -> Handler:
    def handler(ctx: Context, *args: Value, **kwargs: Value) -> Value:
        return ctx.call(_effect_op(fn, style), args, kwargs, "draw" if "random" in name_of(fn) else "t")

    return handler


# ---------------------------------------------------------------------------------------------------- random draws


def _standard(ctx: Context, owner: Value | None, name: str, size: Value) -> Value:
    """A standard draw of the generator `owner`, or of the module."""
    sized = [size] if given(size) else []
    if owner is None:
        return ctx.call(_effect_op(getattr(np.random, name), _floats), sized, {}, "draw")
    fn = getattr(_class_of(ctx, owner), name)
    return ctx.call(_effect_op(fn, _floats), [owner, *sized], {}, "draw")


def _class_of(ctx: Context, owner: Value) -> type:
    style = ctx.style(owner)
    if isinstance(style, Static):
        return type(style.value)
    assert isinstance(style, Foreign)
    return style.cls


def _size_of(ctx: Context, a: Value, b: Value, size: Value) -> Value:
    """The size of a draw: as given, else of the broadcast parameters."""
    if given(size):
        return size
    for one, other in ((a, b), (b, a)):
        style, rest = facts.array_style(ctx, one), facts.rank(ctx, other)
        if style is not None:
            if style.axes is None or (rest != 0 and facts.array_style(ctx, other) != style):
                ctx.refuse("a random draw of arrays of parameters without a size", "pass size=...")
            return facts.shape(ctx, one)
    return NONE


def _normal(ctx: Context, owner: Value | None, loc: Value, scale: Value, size: Value) -> Value:
    draw = _standard(ctx, owner, "standard_normal", _size_of(ctx, loc, scale, size))
    return _plus(ctx, loc, _times(ctx, scale, draw))


def _uniform(ctx: Context, owner: Value | None, low: Value, high: Value, size: Value) -> Value:
    name = "random_sample" if owner is None or _class_of(ctx, owner) is np.random.RandomState else "random"
    draw = _standard(ctx, owner, name, _size_of(ctx, low, high, size))
    width = ctx.call(core.OPERATORS["-"], [high, low])
    return _plus(ctx, low, _times(ctx, width, draw))


def _plus(ctx: Context, a: Value, b: Value) -> Value:
    return ctx.call(core.OPERATORS["+"], [a, b])


def _times(ctx: Context, a: Value, b: Value) -> Value:
    return ctx.call(core.OPERATORS["*"], [a, b])


def normal(ctx: Context, loc: Value = Known(0.0), scale: Value = Known(1.0), size: Value = NONE) -> Value:
    """`np.random.normal(loc, scale, size)`."""
    return _normal(ctx, None, loc, scale, size)


def uniform(ctx: Context, low: Value = Known(0.0), high: Value = Known(1.0), size: Value = NONE) -> Value:
    """`np.random.uniform(low, high, size)`."""
    return _uniform(ctx, None, low, high, size)


def _only_constants(ctx: Context, what: str, args: Args, kwargs: Kwargs) -> None:
    """A draw passes no derivative to its parameters: refuse those that may be active."""
    for value in [*args, *kwargs.values()]:
        style = facts.array_style(ctx, value) or facts.scalar_style(ctx, value)
        if not isinstance(value, Known) and style is not None and style.kind in "fc":
            ctx.refuse(
                f"`{what}` of run-time parameters: a random draw passes no derivative",
                "draw standard values and transform them (loc + scale * standard_normal), or draw outside",
            )


def _opaque_draw(fn: Any) -> Handler:
    def handler(ctx: Context, *args: Value, **kwargs: Value) -> Value:
        _only_constants(ctx, name_of(fn), args, kwargs)
        style = _permutation if fn == np.random.permutation else _unknown
        return ctx.call(op_of(fn) or _effect_op(fn, style), args, kwargs, "draw")

    return handler


_GENERATOR, _LEGACY = _GENERATORS
_STYLES: dict[Any, Callable[..., Style]] = {
    _GENERATOR.random: _floats,
    _GENERATOR.standard_normal: _floats,
    _LEGACY.random_sample: _floats,
    _LEGACY.standard_normal: _floats,
    _LEGACY.rand: _dims,
    _LEGACY.randn: _dims,
    _GENERATOR.permutation: _permutation,
    _LEGACY.permutation: _permutation,
}


def generator_method(ctx: Context, owner: Value, name: str, args: Args, kwargs: Kwargs) -> Value:
    """A method of a random generator."""
    cls = _class_of(ctx, owner)
    if name in _PLACED:
        return _PLACED[name](ctx, owner, *args, **kwargs)
    fn = getattr(cls, name, None)
    if fn is None or name == "shuffle":
        ctx.refuse(f"`{cls.__name__}.{name}`", "draw an order with permutation(n) and index by it")
    _only_constants(ctx, f"{cls.__name__}.{name}", args, kwargs)
    style = _STYLES.get(fn, _unknown) if not kwargs.keys() - {"size"} else _unknown
    return ctx.call(_effect_op(fn, style), [owner, *args], kwargs, "draw")


def _method_normal(
    ctx: Context, owner: Value, loc: Value = Known(0.0), scale: Value = Known(1.0), size: Value = NONE
) -> Value:
    return _normal(ctx, owner, loc, scale, size)


def _method_uniform(
    ctx: Context, owner: Value, low: Value = Known(0.0), high: Value = Known(1.0), size: Value = NONE
) -> Value:
    return _uniform(ctx, owner, low, high, size)


_PLACED: dict[str, Callable[..., Value]] = {"normal": _method_normal, "uniform": _method_uniform}


def is_generator(ctx: Context, value: Value) -> bool:
    """Whether a value is a random generator."""
    return isinstance(value, Known | Num) and _is_generator_style(ctx.style(value))


# ------------------------------------------------------------------------------------------------ opaque objects


def opaque_method(ctx: Context, owner: Value, name: str, args: Args, kwargs: Kwargs) -> Value:
    """A method of a run-time object of which nothing is known: an effect on inactive arguments that are no arrays."""
    for value in [*args, *kwargs.values()]:
        if facts.types_of(ctx, value) is None or not isinstance(value, Known | Num | TupleValue):
            ctx.refuse(
                f"`.{name}(...)` of an object of which the compiler knows nothing, with arrays or containers",
                "compute it outside the function and pass the result as an argument",
            )
    _only_constants(ctx, f".{name}", args, kwargs)
    bound = ctx.call(core.attribute, [owner, Known(name)], hint=name)
    return ctx.call(core.call_effect, [bound, *args], kwargs, "result")


def gauss(ctx: Context, mu: Value = Known(0.0), sigma: Value = Known(1.0)) -> Value:
    """`random.gauss(mu, sigma)`, written as the standard draw that Python makes of it."""
    draw = ctx.call(_effect_op(random.gauss, _float), [Known(0.0), Known(1.0)], {}, "draw")
    return _plus(ctx, mu, _times(ctx, draw, sigma))


def python_uniform(ctx: Context, a: Value, b: Value) -> Value:
    """`random.uniform(a, b)`, as Python computes it."""
    draw = ctx.call(_effect_op(random.random, _float), [], {}, "draw")
    return _plus(ctx, a, _times(ctx, ctx.call(core.OPERATORS["-"], [b, a]), draw))


_LOGGER = logging.Logger
_SILENT = (
    random.seed, logging.debug, logging.info, logging.warning, logging.error, logging.critical, _LOGGER.debug,
    _LOGGER.info, _LOGGER.warning, _LOGGER.error, _LOGGER.critical, _LOGGER.exception, _LOGGER.log, np.seterr,
    np.set_printoptions, np.save, np.savetxt, np.savez, np.savez_compressed,
)  # fmt: skip
_CLOCKS = (time.time, time.perf_counter, time.monotonic, time.process_time)
_INTEGER_CLOCKS = (time.time_ns, time.perf_counter_ns, time.monotonic_ns, time.process_time_ns)
_OWN_DRAWS = ("shuffle", "normal", "uniform")
_DRAWS = tuple(
    fn
    for name in np.random.__all__
    if callable(fn := getattr(np.random, name)) and not isinstance(fn, type) and name not in _OWN_DRAWS
)

FUNCTIONS: dict[Any, Handler] = {
    **{fn: _opaque_draw(fn) for fn in _DRAWS},
    np.random.normal: normal,
    np.random.uniform: uniform,
    np.random.default_rng: _call(np.random.default_rng, _generator),
    np.random.RandomState: _call(np.random.RandomState, _legacy_state),
    **{fn: _call(fn, _float) for fn in _CLOCKS},
    **{fn: _call(fn, _int) for fn in _INTEGER_CLOCKS},
    time.sleep: effect_calls.silent_effect(time.sleep),
    random.random: _call(random.random, _float),
    random.randint: _call(random.randint, _int),
    random.gauss: gauss,
    random.uniform: python_uniform,
    **{fn: effect_calls.silent_effect(fn) for fn in _SILENT},
}
