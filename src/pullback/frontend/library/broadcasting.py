"""Scalar functions over arrays: `np.vectorize(f)(x)`, `pullback.broadcast(f, x)`; the front end of the hop chain.

A ufunc is itself; a function that has rules stays one call, whose rule is looked up hop by hop; any other function is
lowered from its own source, element by element, so that its branches and loops and the variables that it captures are
differentiated like everything else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback import markers
from pullback.frontend.context import Context
from pullback.frontend.library import facts, prelude, scalars
from pullback.frontend.library.calls import NONE, Args, Handler, Kwargs, given, is_array
from pullback.frontend.values import CellRef, Known, TupleValue, Value
from pullback.ir.core_ops import UFUNC_OF_OPERATOR
from pullback.rules.lookup import Site, Written, resolve
from pullback.rules.registry import op_of

_UFUNCS: dict[Any, np.ufunc] = {abs: np.absolute, **{op.fn: ufunc for op, ufunc in UFUNC_OF_OPERATOR.items()}}


def broadcast(ctx: Context, fn: Value, *args: Value, **kwargs: Value) -> Value:
    """`pullback.broadcast(f, *args)`."""
    if isinstance(fn, Known) and isinstance(fn.obj, np.ufunc):
        return ctx.call_value(fn, args, kwargs)
    if not any(is_array(v) or isinstance(v, CellRef | TupleValue) for v in [*args, *kwargs.values()]):
        return _numpy_number(ctx, ctx.call_value(fn, args, kwargs))
    if kwargs:
        ctx.refuse("broadcasting with keyword arguments", "pass them by position, or through a lambda")
    scalar = fn.obj if isinstance(fn, Known) else None
    if scalar in _UFUNCS:
        return ctx.call_value(Known(_UFUNCS[scalar]), args, {})
    descends = own_source(ctx, scalar or Written(getattr(fn, "name", "function")), "broadcast", args, {})
    if scalar is not None and op_of(scalar) is not None and not descends:
        whole = op_of(markers.broadcast)
        assert whole is not None
        return ctx.call(whole, [fn, *args])
    return ctx.call_value(Known(prelude.over_elements), [fn, *args], {})


def own_source(ctx: Context, fn: Any, form: str, args: Args, kwargs: Kwargs) -> bool:
    """Whether no rule serves a call, so that it is differentiated through the source of `fn`; `explain` tells."""
    operands = tuple([ctx.style(v) for v in args])
    options = tuple([(name, ctx.style(v)) for name, v in kwargs.items()])
    decision = resolve(Site(fn, form, operands, options, loc=ctx.builder.loc))
    if decision.path != "own source":
        return False
    if ctx.environment is not None:
        ctx.environment.descents.setdefault((fn, ctx.builder.loc), decision)  # its elements are no other call
    return True


def _numpy_number(ctx: Context, value: Value) -> Value:
    """What `np.vectorize` makes of the result for numbers: a NumPy scalar."""
    style = facts.scalar_style(ctx, value)
    if style is None or style.weak is False or style.dtype is None:
        return value
    return scalars.numpy_scalar(ctx, style.dtype.type, (value,), {})


def vectorize(
    ctx: Context, pyfunc: Value, otypes: Value = NONE, doc: Value = NONE, excluded: Value = NONE,
    cache: Value = Known(False), signature: Value = NONE,
) -> Value:  # fmt: skip
    """`np.vectorize(f)`: a function that waits for its operands."""
    if given(excluded) or given(signature) or given(otypes):
        ctx.refuse("`np.vectorize` with options", "np.vectorize(f)")
    if isinstance(pyfunc, Known):
        return Known(np.vectorize(pyfunc.obj))
    return ctx.call_value(Known(prelude.vectorized), [pyfunc], {})


def vectorized_call(ctx: Context, fn: Any, args: Args, kwargs: Kwargs) -> Value:
    """A call of an `np.vectorize` object."""
    if fn.excluded or fn.signature is not None:
        ctx.refuse("`np.vectorize` with options", "np.vectorize(f)")
    return broadcast(ctx, Known(fn.pyfunc), *args, **kwargs)


FUNCTIONS: dict[Any, Handler] = {np.vectorize: vectorize, markers.broadcast: broadcast}
