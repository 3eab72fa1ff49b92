"""What can be said against a call: parameters without a gradient, results that are no real scalar, shared memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.dispatch.variants import Variant
from pullback.errors import ArgumentError, OverlapError
from pullback.frontend.signature import leaves
from pullback.frontend.subclassed import base_of
from pullback.ir.nodes import Const, Function, Operand, Pack, Var
from pullback.ir.walk import variables
from pullback.styles.style import Array, ListOf, Scalar, Tup, differentiable, kind, numeric
from pullback.transform.gradient import always_raises, differentiated


def part_of(tree: Operand, path: tuple[int, ...]) -> Operand:
    """The part of a parameter's tree that positions lead to."""
    for i in path:
        assert isinstance(tree, Pack)
        tree = tree.items[i]
    return tree


def check_parameter(name: str, tree: Operand) -> None:
    """A parameter asked for must carry a derivative somewhere; leaves of structures that do not get None."""
    if isinstance(tree, Var):
        what = kind(tree.style)
        if what in ("i", "b"):
            word = "an integer (int)" if what == "i" else "a boolean"
            raise ArgumentError(
                f"`{name}` is {word} value and has no gradient",
                hint="pass a float (3.0 instead of 3, or x.astype(float)), or leave it out of argnums",
            )
    elif isinstance(tree, Const) and base_of(tree.value) is not None:
        base, cls = base_of(tree.value), type(tree.value).__name__
        assert base is not None
        raise ArgumentError(
            f"`{name}` has no gradient: it is a {cls}, a class made from {base.__name__}, and taken by value",
            hint=f"pass the plain number, {base.__name__}({name}), or leave it out of argnums",
        )
    elif isinstance(tree, Const):
        needed = (
            "an integer that is needed when compiling" if type(tree.value) is int else "not a number or array"
        )
        raise ArgumentError(
            f"`{name}` has no gradient: it is {needed} ({type(tree.value).__name__})",
            hint="leave it out of argnums",
        )
    elif not any(differentiable(v.style) for v in variables(tree)):
        raise ArgumentError(f"`{name}` holds no float and has no gradient", hint="leave it out of argnums")


def check_scalar(name: str, function: Function, has_aux: bool) -> bool:
    """The gradient is of a real scalar.  Whether its style proves that it is one."""
    if always_raises(function):
        return False
    result = differentiated(function, has_aux)
    if isinstance(result, Pack):
        raise ArgumentError(
            f"`{name}` returns a {result.meta[0].__name__ if result.kind == 'new' else result.kind}; "
            "a gradient is of a scalar",
            hint="return one number, use has_aux=True for (value, aux), or use vjp",
        )
    style = numeric(result.style) if isinstance(result, Var) else None
    if isinstance(result, Const):
        _check_constant(name, result.value)
        return True
    if isinstance(style, ListOf | Tup):
        raise not_scalar(name, "a list" if isinstance(style, ListOf) else f"a {style.kind}")
    if isinstance(style, Array) and style.axes is not None and style.axes != ():
        raise not_scalar(name, f"an array of rank {len(style.axes)}")
    if isinstance(style, Scalar | Array) and style.dtype is not None:
        _check_real(name, style.kind)
        return style.axes is not None if isinstance(style, Array) else True
    return False


def _check_constant(name: str, value: Any) -> None:
    if not isinstance(value, int | float | np.number):
        raise not_scalar(name, f"{type(value).__name__}" if value is not None else "None")


def _check_real(name: str, what: str) -> None:
    if what in "bi":
        raise ArgumentError(
            f"`{name}` returns {'a boolean' if what == 'b' else 'an integer'}, which has no derivative",
            hint="return the number before it is rounded, compared or counted",
        )
    if what == "c":
        raise ArgumentError(
            f"`{name}` returns a complex number; a gradient is of a real scalar (holomorphic or not)",
            hint="return its real part or its absolute value, or use vjp with a complex seed",
        )


def not_scalar(name: str, what: str) -> ArgumentError:
    """The error for a gradient of something that is no scalar."""
    return ArgumentError(
        f"`{name}` returns {what}; a gradient is of a scalar",
        hint="reduce it to one number (np.sum(...), x[0]), or use vjp with a seed",
    )


def check_value(name: str, value: Any) -> None:
    """The result of a call, where its style did not say what it is."""
    if np.ndim(value) != 0:
        raise not_scalar(name, f"an array of shape {np.shape(value)}")
    if np.iscomplexobj(value):
        _check_real(name, "c")


def check_overlap(name: str, variant: Variant, values: tuple[Any, ...]) -> None:
    """An argument whose storage the function writes may share memory with no other array that it reads."""
    arrays = arrays_of(variant, values)
    for k, (ours, i, a) in enumerate(arrays):
        for m, (theirs, j, b) in enumerate(arrays):
            if k != m and i in variant.written and (m > k or j not in variant.written) and shares(a, b):
                raise OverlapError(
                    f"`{name}` writes into `{ours}`, which shares memory with `{theirs}`",
                    hint="pass a copy of one of them",
                )


def arrays_of(variant: Variant, values: tuple[Any, ...]) -> list[tuple[str, int, Any]]:
    """The arrays that a call reads: the parameter's name and position, and the array."""
    return [
        (param.name, i, array)
        for i, (param, value) in enumerate(zip(variant.params, values, strict=True))
        for _, array in leaves(param.tree, value)
        if isinstance(array, np.ndarray)
    ]


def shares(a: Any, b: Any) -> bool:
    """Whether two arrays share memory; where that is hard to say, they do."""
    if not np.may_share_memory(a, b):
        return False
    try:
        return bool(np.shares_memory(a, b, max_work=10_000))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True
