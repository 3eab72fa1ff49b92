"""Fused groups of elementwise work: statements that run as one loop.

A `Kernel` is the `fn` of the operation that runs it.  Its function is straight-line IR on whole arrays, the statements
as they were before they were fused: what a kernel means is what they mean.  A target is free to run it element by
element, or block by block.  Fusion comes after bufferisation: a store in a kernel is done in the buffer of its base.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pullback.ir.nodes import Alias, Call, Function, Op, Var
from pullback.styles.style import Axis


@dataclass(frozen=True, eq=False, slots=True)
class Kernel:
    """A group that runs as one loop over `space`.

    function  parameters are single values (arrays, views, numbers); a straight line of calls: elementwise ones, shape
              questions, broadcasts, reductions, and stores into bases that are parameters (on request also additions to
              the result of another addition).  No member reads what a reduction or a store makes.  A call of
              `begin_reverse` may stand where the reverse sweep begins, for targets on which that means something
    space     the axes that the loop runs over: those of each result that is no number, of each operand of a reduction
              and of each value stored; what else is computed broadcasts to it
    apart     the places of one buffer that it adds to are proved to share nothing
    """

    name: str
    function: Function
    space: tuple[Axis, ...]
    apart: bool = False


def operation(kernel: Kernel) -> Op:
    """The operation that runs a kernel.  A result may be a parameter's buffer after a store, or else is fresh."""
    styles = [x.style for x in kernel.function.results if isinstance(x, Var)]
    result: Any = styles[0] if len(styles) == 1 else tuple(styles)
    alias = Alias("maybe", tuple(range(len(kernel.function.params))))
    return Op(kernel.name, _not_by_value, lambda *_: result, alias, numpy_path=kernel.name, fn=kernel)


def kernel_of(call: Call) -> Kernel | None:
    """The kernel that a call runs, if it is such a call."""
    return call.op.fn if isinstance(call.op.fn, Kernel) else None


def _not_by_value(*_: Any) -> Any:
    raise AssertionError("a kernel is entered by the interpreter")
