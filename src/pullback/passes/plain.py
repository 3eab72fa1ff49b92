"""Strong-zero products made plain ones, and the check that this has changed nothing.

    %t_bar = scale(%b, %p)         %t_bar = %b * %p
                                   ...
                                   %t = %x_bar * 0.0; %s = np.sum(%t)
                                   check_finite(%s)

A strong zero (0 where the cotangent is 0, whatever the partial is) matters only where a partial is infinite or NaN.
Then the plain product is NaN, which shows in the gradient.  So a gradient whose numbers are all finite is the same
either way; where one is not, `check_finite` raises, for those who then have the version with strong zeros to call.
In: a function that returns (value, cotangents).  Out: its plain version; None where a cotangent cannot be checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pullback.ir import core_ops as core
from pullback.ir.builder import Builder, infer
from pullback.ir.core_ops import OPERATORS, style_of
from pullback.ir.nodes import Block, Call, Const, Function, Op, Operand, Pack, Var
from pullback.ir.walk import statements
from pullback.passes.rewrite import Rewriter
from pullback.rules.registry import op_of
from pullback.styles.style import Array, Scalar, Static, Style, numeric, same_length


def has_products(function: Function) -> bool:
    """Whether there is a strong-zero product in a function."""
    return any(isinstance(s, Call) and s.op is core.scale for s in statements(function.body))


def plain_products(function: Function) -> Function:
    """The function with plain products of real numbers."""
    return _Plain().function(function)


def checked(function: Function) -> Function | None:
    """The function with a check that its cotangents are finite; None where one is of a kind that has no such check."""
    leaves = list(_leaves(function.results[1]))
    if any(leaf is None for leaf in leaves):
        return None
    builder = Builder()
    builder.loc = function.loc
    numbers = [_number(builder, leaf) for leaf in dict.fromkeys(leaves) if leaf is not None]
    if not numbers:
        return function
    stmts = (*function.body.stmts, *builder.finish().stmts, Call((), core.check_finite, tuple(numbers)))
    return replace(function, body=Block(stmts))


def _number(builder: Builder, leaf: Var) -> Var:
    """A number that is finite where all of a leaf are."""
    if isinstance(leaf.style, Scalar):
        return leaf
    nothing = builder.call(OPERATORS["*"], leaf, Const(0.0), hint="t")
    return builder.call(_op(np.sum), nothing, hint="not_finite")


def _op(fn: object) -> Op:
    op = op_of(fn)
    assert op is not None
    return op


def _leaves(tree: Operand) -> Iterator[Var | None]:
    """The cotangents that may not be finite; None for one of another kind than real numbers and arrays of them."""
    if isinstance(tree, Pack):
        for item in tree.items:
            yield from _leaves(item)
    elif isinstance(tree, Var):
        style = tree.style
        real = isinstance(style, Scalar | Array) and style.kind == "f" and style.dtype is not None
        if not isinstance(style, Static):
            yield tree if real and not (isinstance(style, Array) and style.axes is None) else None


class _Plain(Rewriter):
    def call(self, call: Call) -> Call | None:
        """A product of two real numbers or arrays of them."""
        if call.op is not core.scale:
            return call
        operands = call.args[:2]
        if not all(map(_is_real, operands)):
            return call
        for op in (OPERATORS["*"], _op(np.multiply)):
            if _alike(infer(op, operands, {})[0], call.targets[0].style):
                return replace(call, op=op, args=operands, kwargs=())
        return call


def _alike(a: Style, b: Style) -> bool:
    """Whether values of two styles are of one dtype and shape, and both numbers of Python's or both of NumPy's."""
    if isinstance(a, Array) and isinstance(b, Array) and a.axes is not None and b.axes is not None:
        return a.dtype == b.dtype and len(a.axes) == len(b.axes) and all(map(same_length, a.axes, b.axes))
    return isinstance(a, Scalar) and isinstance(b, Scalar) and a.dtype == b.dtype and a.weak is b.weak


def _is_real(operand: Operand) -> bool:
    style = numeric(style_of(operand))
    return isinstance(style, Scalar | Array) and style.kind in "bif" and style.dtype is not None
