"""Functions of numbers, evaluated at each element of arrays that broadcast against each other.

    %y: f64[n, m] = newton(%x: f64[n, 1], %c: f64[m], %tol: float)

A `Mapped` is the `fn` of the operation that does this.  It is elementwise: it fuses with other elementwise work, and
its function, which may have branches and loops, runs inside the loop over the elements.  `MappedPullback` is what
serves its reverse: one cotangent of a pair of functions, again at each element.  What the pair's primal saves lives
for one element only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pullback.ir import interp
from pullback.ir.callee import Callee
from pullback.ir.nodes import Call, Function, Op, Pack, Param
from pullback.ir.walk import variables
from pullback.styles.broadcast import elementwise
from pullback.styles.style import Array, Scalar, Style


@dataclass(frozen=True, eq=False, slots=True)
class Mapped:
    """A function of numbers: its parameters are single numbers, and so is its one result."""

    callee: Callee


@dataclass(frozen=True, eq=False, slots=True)
class MappedPullback:
    """One cotangent of a function of numbers.  Operands are those of the function, then the cotangent of its result.

    value     the function itself
    primal    its value, then what it saves
    pullback  what was saved and the cotangent of the value -> cotangents
    result    which of these
    """

    value: Callee
    primal: Callee
    pullback: Callee
    result: int


def mapped_of(call: Call) -> Mapped | None:
    """The function that a call evaluates at each element, if it is such a call."""
    return call.op.fn if isinstance(call.op.fn, Mapped) else None


def mapped_pullback_of(call: Call) -> MappedPullback | None:
    """The cotangent that a call evaluates at each element, if it is such a call."""
    return call.op.fn if isinstance(call.op.fn, MappedPullback) else None


def operation(callee: Callee, result: Style) -> Op:
    """The operation that evaluates a function of numbers at each element."""
    return _operation(callee.name, result, lambda *xs: interp.run(callee.body(), xs)[0], Mapped(callee))


def pullback_operation(value: Callee, primal: Callee, pullback: Callee, index: int, result: Style) -> Op:
    """The operation that evaluates one cotangent at each element."""

    def at(*args: Any) -> Any:
        *xs, bar = args
        residuals = interp.run(primal.body(), xs)[1]
        found = interp.run(pullback.body(), (residuals, bar))[0]
        return found[index] if isinstance(found, tuple) else found

    return _operation(pullback.name, result, at, MappedPullback(value, primal, pullback, index))


def _operation(name: str, result: Style, at: Callable[..., Any], fn: Any) -> Op:
    assert isinstance(result, Scalar | Array) and result.dtype is not None
    dtype, top = result.dtype, result.kind
    return Op(
        name,
        lambda *args: _each(at, dtype, args),
        lambda *styles: _style(elementwise(styles, dtype, top)),
        elementwise=True,
        numpy_path=name,
        fn=fn,
    )


def _style(style: Style) -> Style:
    return replace(style, contiguous=True) if isinstance(style, Array) else style


def _each(at: Callable[..., Any], dtype: np.dtype[Any], args: Sequence[Any]) -> Any:
    """A function at each element; numbers are handed on as they are."""
    shape = np.broadcast_shapes(*map(np.shape, args))
    wide = [np.broadcast_to(x, shape) if isinstance(x, np.ndarray) else None for x in args]
    out = np.empty(shape, dtype)
    for i in np.ndindex(shape):
        out[i] = at(*[x if w is None else w[i] for x, w in zip(args, wide, strict=True)])
    return out


def taken_apart(made: MappedPullback) -> tuple[Function, Function]:
    """The pair with what is saved as single results and parameters, and the cotangents as single results."""
    primal, pullback = made.primal.body(), made.pullback.body()
    value, residuals = primal.results
    saved = [Param(f"saved_{k}", v) for k, v in enumerate(variables(pullback.params[0].tree))]
    (cotangents,) = pullback.results
    several = isinstance(cotangents, Pack) and cotangents.kind == "tuple"
    return (
        replace(primal, results=(value, *variables(residuals))),
        replace(
            pullback,
            params=(*saved, *pullback.params[1:]),
            results=cotangents.items if several and isinstance(cotangents, Pack) else pullback.results,
        ),
    )
