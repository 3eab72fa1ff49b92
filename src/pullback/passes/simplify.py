"""Cotangent arithmetic made simple, where the result is the same.

    scale(b, 1.0)                            b
    scale(1.0, p)                            p                        where nothing is written into it
    scale(broadcast_to(b, shape), p)         scale(b, p)              where p has that shape
    scale(broadcast_to(b, shape), number)    broadcast_to(scale(b, number), shape)
    -broadcast_to(b, shape)                  broadcast_to(-b, shape)
    scale(b, -p)                             -scale(b, p)
    accumulate(zeros, m)                     m
    accumulate(scale(b, x), scale(b, x))     scale(2.0 * b, x)        doubling is exact
    broadcast_to(1.0, shape)                 ones(shape)              where something is written into it
    broadcast_to(b, (dim(x, 0), dim(x, 1)))  broadcast_to(b, shape(x))
    accumulate(b, -m), of scalars            b - m
    scale(where(c, g, 0), p)                 where(c, scale(g, p), 0)
    -(-b), of a cotangent                    b
    sum(-b), unbroadcast(-b, shape)          -sum(b), -unbroadcast(b, shape)
    accumulate(zeros(shape), unbroadcast(b, shape))   unbroadcast(b, shape)
    2.0 * (1 / n), in a cotangent            2.0 / n

and what is in `arrays.py`.

Only operations that the reverse sweep emits are touched (and what it negates); the user's own arithmetic stays as it
is.  "The same" is equality of numbers: the sign of a zero and the last bit of a subnormal number may differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from pullback.ir import core_ops as core
from pullback.ir.builder import infer
from pullback.ir.core_ops import OPERATORS, style_of
from pullback.ir.nodes import Call, Const, Function, Op, Operand, Pack, Var
from pullback.ir.walk import block_ends, own_operands, statements, variables_in
from pullback.passes.arrays import fits, sum_of_one_number, transpose
from pullback.passes.rewrite import Rewriter
from pullback.rules.registry import op_of
from pullback.styles.join import below
from pullback.styles.style import Array, Scalar, Tup, numeric

Outcome: TypeAlias = Call | Operand
_MINUS = OPERATORS["u-"]


def simplify(function: Function) -> Function:
    """The function with simpler cotangent arithmetic.

    >>> from pullback.ir.builder import Builder
    >>> from pullback.ir.nodes import Param
    >>> from pullback.ir.pretty import pretty
    >>> from pullback.styles.style import FLOAT64, Dim
    >>> build, b, x = Builder(), Var("b", Scalar(FLOAT64)), Var("x", Array(FLOAT64, (Dim(0),)))
    >>> once, twice = (build.call(core.scale, b, x, hint="t_bar") for _ in range(2))
    >>> x_bar = build.call(core.accumulate, once, twice, hint="x_bar")
    >>> f = Function("f", (Param("b", b), Param("x", x)), build.finish(), (x_bar,))
    >>> from pullback.passes.dce import dce
    >>> print(pretty(dce(simplify(f))), end="")
    primal f(%b: f64, %x: f64[n]) -> %x_bar
      %t_bar: f64 = 2.0 * %b
      %x_bar: f64[n] = scale(%t_bar, %x)
    """
    return Simplify(function).function(function)


Kwargs: TypeAlias = tuple[tuple[str, Operand], ...]


class Simplify(Rewriter):
    """The walk.

    made      the calls so far, by what they make
    reversed  what the reverse sweep makes
    reads     how often a call reads a value
    buffers   what is returned, carried on or written into
    """

    def __init__(self, function: Function) -> None:
        super().__init__()
        self.made: dict[Var, Call] = {}
        self.reverse = function.kind == "pullback"
        self.reversed: set[Var] = set()  # what the reverse sweep makes
        self.reads: dict[Var, int] = {}
        self.buffers = set(variables_in(function.results))  # what is returned, carried on or written into
        for stmt in statements(function.body):
            if isinstance(stmt, Call):
                for var in variables_in((*stmt.args, *(x for _, x in stmt.kwargs))):
                    self.reads[var] = self.reads.get(var, 0) + 1
            if not isinstance(stmt, Call) or stmt.op.writes:
                self.buffers.update(variables_in(own_operands(stmt)))
            for _, _, ends in block_ends(stmt):
                self.buffers.update(variables_in(ends))

    def call(self, call: Call) -> Call | None:
        """Apply the first rule that fits."""
        self.reverse |= call.op is core.begin_reverse
        if self.reverse:
            self.reversed.update(call.targets)
        rule = _RULES.get(call.op) or _FUNCTION_RULES.get(call.op.numpy_path)
        found = rule(self, call) if rule is not None and len(call.targets) == 1 else call
        if not isinstance(found, Call):
            self.mapping[call.targets[0]] = found
            return None
        if len(found.targets) == 1:
            self.made[found.targets[0]] = found
        return found

    def call_of(self, operand: Operand, op: Op) -> Call | None:
        """The call of `op` that made an operand."""
        made = self.made.get(operand) if isinstance(operand, Var) else None
        return made if made is not None and made.op is op else None

    def renamed(self, operand: Operand, call: Call) -> Outcome:
        """An operand in place of a call; under the call's name where the sweep made it for this call alone."""
        made = self.made.get(operand) if isinstance(operand, Var) else None
        if made is None or operand not in self.reversed or self.reads.get(made.targets[0]) != 1:
            return operand
        return replace(made, targets=call.targets) if len(made.targets) == 1 else operand

    def product(self, operand: Operand) -> Call | None:
        """The call of the sweep's (it names its values so) that made an operand by multiplying two values."""
        made = self.made.get(operand) if isinstance(operand, Var) else None
        if made is None or made.op is core.scale:
            return made
        return made if made.op is OPERATORS["*"] and made.targets[0].hint.endswith("_bar") else None

    def spread(self, operand: Operand) -> Call | None:
        """The call of `np.broadcast_to` that made an operand."""
        made = self.made.get(operand) if isinstance(operand, Var) else None
        return made if made is not None and made.op.fn is np.broadcast_to and not made.kwargs else None

    def emit(self, like: Call, op: Op, *args: Operand, hint: str = "t_bar", kwargs: Kwargs = ()) -> Var:
        """Put a new call before the present one."""
        (style,) = infer(op, args, {})
        var = Var(hint, style)
        made = Call((var,), op, args, kwargs, like.loc)
        self.made[var] = made
        self.emitted.append(made)
        return var


def _is_one(operand: Operand) -> bool:
    return (
        isinstance(operand, Const) and isinstance(operand.value, float | np.floating) and operand.value == 1.0
    )


def _is_zero(operand: Operand) -> bool:
    return isinstance(operand, Const) and type(operand.value) in (int, float) and operand.value == 0


def _scale(walk: Simplify, call: Call) -> Outcome:
    bar, partial = call.args
    if _is_one(partial) and fits(style_of(bar), call):
        return bar
    if _is_one(bar) and fits(style_of(partial), call) and _shareable(walk, call):
        return walk.renamed(partial, call)  # one is not zero: the strong-zero product is the plain one
    spread = walk.spread(bar)
    if spread is not None:
        (style,) = infer(core.scale, (spread.args[0], partial), {})
        if fits(style, call):
            return replace(call, args=(spread.args[0], partial))
        if isinstance(numeric(style_of(partial)), Scalar):
            return _spread_later(walk, call, spread, core.scale, spread.args[0], partial)
    minus = walk.call_of(partial, _MINUS)
    if minus is not None:
        (style,) = infer(core.scale, (bar, minus.args[0]), {})
        if fits(style, call):
            hint, kwargs = call.targets[0].hint, call.kwargs
            product = walk.emit(call, core.scale, bar, minus.args[0], hint=hint, kwargs=kwargs)
            return replace(call, op=_MINUS, args=(product,), kwargs=())
    return _select(walk, call)


def _spread_later(walk: Simplify, call: Call, spread: Call, op: Op, *args: Operand) -> Call:
    """An operation on what was broadcast, done before it is."""
    (style,) = infer(op, args, {})
    (spread_style,) = infer(spread.op, (Var("bar", style), spread.args[1]), {})
    if not fits(spread_style, call):
        return call
    bar = walk.emit(call, op, *args)
    return replace(call, op=spread.op, args=(bar, spread.args[1]), kwargs=())


def _shareable(walk: Simplify, call: Call) -> bool:
    """Whether the result of a call may be one of its operands: a number, or an array that is only read."""
    (target,) = call.targets
    return isinstance(numeric(target.style), Scalar) or target not in walk.buffers


def _select(walk: Simplify, call: Call) -> Call:
    """Multiply inside a select: one select a chain, and no product with what is not selected."""
    bar, partial = call.args
    made = walk.made.get(bar) if isinstance(bar, Var) else None
    if made is None or made.op.fn is not np.where or len(made.args) != 3 or made.kwargs:
        return call
    test, chosen, other = made.args
    if walk.reads.get(made.targets[0]) != 1 or not _is_zero(other) or not isinstance(chosen, Var):
        return call
    (style,) = infer(core.scale, (chosen, partial), {})
    product = Var("t_bar", style)
    (selected,) = infer(made.op, (test, product, other), {})
    if not fits(selected, call) or not fits(style, call):
        return call
    inner = walk.emit(call, core.scale, chosen, partial, kwargs=call.kwargs)
    return replace(call, op=made.op, args=(test, inner, other), kwargs=())


def _accumulate(walk: Simplify, call: Call) -> Outcome:
    old, more = call.args
    if _is_zeros(walk, old) and (fits(style_of(more), call) or _has_shape(walk, more, old, call)):
        return more
    if _is_zeros(walk, more) and fits(style_of(old), call):
        return old
    minus = walk.call_of(more, _MINUS)
    if minus is not None and isinstance(call.targets[0].style, Scalar):
        (style,) = infer(OPERATORS["-"], (old, minus.args[0]), {})
        if fits(style, call):
            return replace(call, op=OPERATORS["-"], args=(old, minus.args[0]))
    return _doubled(walk, call)


def _has_shape(walk: Simplify, more: Operand, zeros: Operand, call: Call) -> bool:
    """Whether a cotangent of unknown rank has the shape and dtype of some zeros all the same."""
    a, b = numeric(style_of(more)), numeric(call.targets[0].style)
    if not isinstance(a, Array) or not isinstance(b, Array) or a.dtype != b.dtype or a.dtype is None:
        return False
    made = walk.made.get(more) if isinstance(more, Var) else None
    while made is not None and (made.op.writes or made.op is core.same):  # of the shape of the first operand
        more = made.args[0]
        made = walk.made.get(more) if isinstance(more, Var) else None
    unbroadcast = made is not None and made.op is core.unbroadcast
    shape = made.args[1] if unbroadcast and made is not None else _shape_of_zeros(walk, more)
    wanted = _shape_of_zeros(walk, zeros)
    return shape is not None and _origin(walk, shape) is _origin(walk, wanted)


def _shape_of_zeros(walk: Simplify, zeros: Operand) -> Operand | None:
    """The shape that zeros were made with, or the array that they are like."""
    made = walk.made.get(zeros) if isinstance(zeros, Var) else None
    return made.args[0] if made is not None and made.op.fn in (np.zeros_like, np.zeros) else None


def _origin(walk: Simplify, shape: Operand | None) -> Operand | None:
    """The array whose shape a shape is, or the shape itself."""
    made = walk.call_of(shape, core.shape) if shape is not None else None
    return shape if made is None else made.args[0]


def _of_negative(walk: Simplify, call: Call) -> Outcome:
    """A sum of what the sweep negated for it alone: the sum is negated, which is smaller."""
    inner = walk.call_of(call.args[0], _MINUS)
    if inner is None and call.op is not core.unbroadcast:
        return sum_of_one_number(walk, call)
    if inner is None or not {call.targets[0], inner.targets[0]} <= walk.reversed:
        return call
    if walk.reads.get(inner.targets[0]) != 1:
        return call
    total = Var(call.targets[0].hint, call.targets[0].style)
    made = replace(call, targets=(total,), args=(inner.args[0], *call.args[1:]))
    walk.made[total] = made
    walk.reversed.add(total)
    walk.emitted.append(made)
    return Call(call.targets, _MINUS, (total,), (), call.loc)


def _doubled(walk: Simplify, call: Call) -> Call:
    """`b * x + b * x` is `(2 b) * x`."""
    a, b = (walk.product(x) for x in call.args)
    if call.args[0] is call.args[1] and a is None and isinstance(call.targets[0].style, Scalar):
        (style,) = infer(core.scale, (Const(2.0), call.args[0]), {})
        return replace(call, op=core.scale, args=(Const(2.0), call.args[0])) if fits(style, call) else call
    if a is None or b is None or a.op is not b.op or bool(a.kwargs) is not bool(b.kwargs):
        return call
    if any(x is not y for x, y in zip(a.args, b.args, strict=True)):
        return call
    bar, partial = a.args
    twice = _twice(walk, call, bar)
    (style,) = infer(a.op, (twice, partial), {})
    if not fits(style, call):
        return call
    return replace(call, op=a.op, args=(twice, partial), kwargs=a.kwargs)


def _twice(walk: Simplify, call: Call, bar: Operand) -> Operand:
    if isinstance(bar, Const) and type(bar.value) is float:
        return Const(2.0 * bar.value)
    return walk.emit(call, OPERATORS["*"], Const(2.0), bar)


def _times(walk: Simplify, call: Call) -> Call:
    """`2.0 * (1 / n)` is `2.0 / n`, in cotangents."""
    over = walk.made.get(call.args[1]) if isinstance(call.args[1], Var) else None
    if over is None or over.op.fn is not np.divide or walk.reads.get(over.targets[0]) != 1 or over.kwargs:
        return call
    twice, one = call.args[0], over.args[0]
    if not _is_number(twice, 2.0) or not _is_number(one, 1.0) or not call.targets[0].hint.endswith("_bar"):
        return call
    (style,) = infer(over.op, (twice, over.args[1]), {})
    return replace(call, op=over.op, args=(twice, over.args[1])) if fits(style, call) else call


def _is_number(operand: Operand, value: float) -> bool:
    return isinstance(operand, Const) and type(operand.value) in (int, float) and operand.value == value


def _is_zeros(walk: Simplify, operand: Operand) -> bool:
    made = walk.made.get(operand) if isinstance(operand, Var) else None
    return made is not None and made.op.fn in (np.zeros_like, np.zeros)


def _negative(walk: Simplify, call: Call) -> Outcome:
    """Twice negated, where the inner one is the sweep's (it negates cotangents only)."""
    inner = walk.call_of(call.args[0], _MINUS)
    if inner is not None and inner.targets[0].hint.endswith("_bar") and fits(style_of(inner.args[0]), call):
        return inner.args[0]
    spread = walk.spread(call.args[0])
    if spread is not None and call.targets[0] in walk.reversed:
        return _spread_later(walk, call, spread, _MINUS, spread.args[0])
    return call


def _known(walk: Simplify, call: Call) -> Outcome:
    """Where no more is known than before."""
    return call.args[0] if below(style_of(call.args[0]), call.targets[0].style) else call


def _broadcast_to(walk: Simplify, call: Call) -> Call:
    """A number in a shape: an array of its own where one is needed in the end; the shape of an array as such."""
    if len(call.args) != 2 or call.kwargs:
        return call
    bar, shape = call.args
    found = _whole_shape(walk, call, shape)
    if isinstance(numeric(style_of(bar)), Scalar) and call.targets[0] in walk.buffers:
        ones = _is_one(bar) and isinstance(bar, Const) and type(bar.value) is float
        args = (found,) if ones else (found, bar)
        op = op_of(np.ones if ones else np.full)
        assert op is not None
        (style,) = infer(op, args, {})
        if fits(style, call):
            return replace(call, op=op, args=args)
    return call if found is shape else replace(call, args=(bar, found))


def _whole_shape(walk: Simplify, call: Call, shape: Operand) -> Operand:
    """`(x.shape[0], x.shape[1])` as `x.shape`."""
    items = shape.items if isinstance(shape, Pack) and shape.kind == "tuple" else ()
    whole = _items_in_order(walk, items)
    if whole is not None:
        return whole
    asked = [walk.call_of(item, core.dim) for item in items]
    if not asked or asked[0] is None:
        return shape
    array, style = asked[0].args[0], numeric(style_of(asked[0].args[0]))
    in_order = all(
        made is not None
        and made.args[0] is array
        and isinstance(made.args[1], Const)
        and made.args[1].value == i
        for i, made in enumerate(asked)
    )
    if not in_order or not isinstance(style, Array) or style.rank != len(items):
        return shape
    return walk.emit(
        call, core.shape, array, hint=f"{array.hint}_shape" if isinstance(array, Var) else "shape"
    )


def _items_in_order(walk: Simplify, items: tuple[Operand, ...]) -> Operand | None:
    """`(s[0], s[1])` as the tuple `s`."""
    got = [walk.call_of(item, core.list_get) for item in items]
    if not got or got[0] is None:
        return None
    source = got[0].args[0]
    style = style_of(source)
    if not isinstance(source, Var) or not isinstance(style, Tup) or len(style.items) != len(items):
        return None
    places = [(c.args[0], c.args[1].value) for c in got if c is not None and isinstance(c.args[1], Const)]
    return source if places == [(source, i) for i in range(len(items))] else None


_RULES: dict[Op, Callable[[Simplify, Call], Outcome]] = {
    core.known: _known,
    core.scale: _scale,
    core.accumulate: _accumulate,
    core.unbroadcast: _of_negative,
    OPERATORS["*"]: _times,
    _MINUS: _negative,
}
_FUNCTION_RULES: dict[str, Callable[[Simplify, Call], Outcome]] = {
    "np.broadcast_to": _broadcast_to,
    "np.sum": _of_negative,
    "np.transpose": transpose,
}
