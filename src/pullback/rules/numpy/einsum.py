"""Einstein sums and chains of matrix products, whose rules emit IR."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs
# Rule functions are text in the language that we compile: their operands are of any style.

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pullback.ir import core_ops as core
from pullback.ir.builder import Builder, index_step
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Const, Operand, Pack
from pullback.rules.kinds import case
from pullback.rules.lookup import Site
from pullback.rules.numpy.products import SS, C, R, S, W
from pullback.rules.numpy.reductions import M, T, V
from pullback.rules.ops.products import einsum_labels
from pullback.rules.registry import builder, op_of
from pullback.styles.broadcast import as_array
from pullback.styles.style import Scalar, Static, kind


def _subscripts_known(site: Site) -> bool:
    text = site.operands[0] if site.operands else None
    ranks = [as_array(s) for s in site.operands[1:]]
    return (
        isinstance(text, Static)
        and isinstance(text.value, str)
        and all(isinstance(a, Scalar) or a.axes is not None for a in ranks)
    )


@builder(
    np.einsum,
    wrt=(1, 2, 3, 4),
    guard=_subscripts_known,
    cases=(
        case("ij,jk->ik", M, S, wrt=(1, 2)),
        case("ii->i", S, wrt=(1,)),
        case("ii->", S, wrt=(1,)),
        case("ij->ji", M, wrt=(1,)),
        case("ij,ij->", M, M + 1, wrt=(1, 2)),
        case("i,j", V, W, wrt=(1, 2)),
        case("...j,j", T, np.arange(4.0), wrt=(1, 2)),
        case("ij->", M, wrt=(1,)),
        case("ij->j", M, wrt=(1,)),
        case("bij,bj->bi", SS, M, wrt=(1, 2)),
        case("i,i,i->i", V, W, V + 1, wrt=(1, 2, 3)),
        case("iij,j->i", np.stack([S, S + 1, 2 * S]), V, wrt=(1, 2)),
        case("i,j->i", V, W, wrt=(1, 2)),
        case("ij,jk->ik", C, S, wrt=(1, 2)),
        case("ij,j", M, V, wrt=(1, 2)),
        case("...ij,...jk->...ik", SS, S, wrt=(1, 2)),
    ),
)
def einsum(
    b: Builder, args: Sequence[Operand], kwargs: Mapping[str, Operand], out: Operand, out_bar: Operand
) -> list[Operand | None]:
    """Each operand's cotangent is an einsum of the cotangent with the other operands.

    A label that only this operand has was summed: the cotangent is the same along it.  A repeated label is
    a diagonal.
    """
    assert isinstance(args[0], Const)
    operands = args[1:]
    shapes = [as_array(style_of(x)) for x in operands]
    ranks = tuple(0 if isinstance(s, Scalar) else s.rank or 0 for s in shapes)
    terms, result = einsum_labels(args[0].value, ranks)
    bars: list[Operand | None] = [None]
    for i, operand in enumerate(operands):
        others = [(t, x) for k, (t, x) in enumerate(zip(terms, operands, strict=True)) if k != i]
        bars.append(_einsum_bar(b, terms[i], operand, others, result, out_bar))
    return bars


def _call(b: Builder, fn: object, *args: Operand, hint: str = "t_bar") -> Operand:
    op = op_of(fn)
    assert op is not None
    return b.call(op, *args, hint=hint)


def _einsum_bar(
    b: Builder,
    term: str,
    operand: Operand,
    others: Sequence[tuple[str, Operand]],
    result: str,
    out_bar: Operand,
) -> Operand:
    distinct = "".join(dict.fromkeys(term))
    elsewhere = set(result).union(*[set(t) for t, _ in others])
    kept = "".join(c for c in distinct if c in elsewhere)
    factors = [_conjugate(b, x) for _, x in others]
    text = ",".join([result, *[t for t, _ in others]]) + "->" + kept
    bar = out_bar if not others and kept == result else _call(b, np.einsum, Const(text), out_bar, *factors)
    for axis, label in enumerate(distinct):
        if label not in elsewhere:
            bar = _call(b, np.expand_dims, bar, Const(axis))
    if kept != distinct:
        bar = _call(b, np.broadcast_to, bar, _label_shape(b, term, distinct, operand))
    if len(distinct) == len(term):
        return bar
    return _diagonal_bar(b, term, distinct, operand, bar)


def _conjugate(b: Builder, x: Operand) -> Operand:
    return _call(b, np.conjugate, x) if kind(style_of(x)) == "c" else x


def _label_shape(b: Builder, term: str, labels: str, operand: Operand) -> Operand:
    """The lengths of labels, read off the operand."""
    return Pack("tuple", tuple(b.call(core.dim, operand, Const(term.index(c)), hint="n") for c in labels))


def _diagonal_bar(b: Builder, term: str, distinct: str, operand: Operand, bar: Operand) -> Operand:
    """Zeros like the operand, with the cotangent on the diagonal that the repeated labels name."""
    zeros = _call(b, np.zeros_like, operand)
    places = []
    for label in term:
        axis = distinct.index(label)
        n = b.call(core.dim, operand, Const(term.index(label)), hint="n")
        shape = Pack("tuple", tuple(Const(-1 if k == axis else 1) for k in range(len(distinct))))
        index = _call(b, np.arange, n, hint="i")
        places.append(_call(b, np.reshape, index, shape, hint="i") if len(distinct) > 1 else index)
    return b.call(core.store, zeros, bar, index_step(*places), hint="t_bar")


@builder(
    np.linalg.multi_dot,
    when="sequence",
    cases=(case([M, S]), case([M, S, V]), case([V, S, S, W]), case([M, S, R])),
)
def multi_dot(
    b: Builder, args: Sequence[Operand], kwargs: Mapping[str, Operand], out: Operand, out_bar: Operand
) -> list[Operand]:
    """before^T bar after^T, with the product before a factor and the product after it."""
    assert isinstance(args[0], Pack)
    factors = list(args[0].items)
    ends = [_vector(factors[0]), _vector(factors[-1])]
    matrices = list(factors)
    bar = out_bar
    if ends[0]:
        matrices[0] = _call(b, np.expand_dims, factors[0], Const(0))
        bar = _call(b, np.expand_dims, bar, Const(0))
    if ends[1]:
        matrices[-1] = _call(b, np.expand_dims, factors[-1], Const(-1))
        bar = _call(b, np.expand_dims, bar, Const(-1))
    transposed = [_call(b, np.transpose, _conjugate(b, x)) for x in matrices]
    lefts = [bar]  # the cotangent with the factors before taken off
    for t in transposed[:-1]:
        lefts.append(_call(b, np.matmul, t, lefts[-1]))
    bars = [lefts[-1]]
    after: Operand = transposed[-1]
    for left, step in zip(reversed(lefts[:-1]), [None, *reversed(transposed[1:-1])], strict=True):
        after = after if step is None else _call(b, np.matmul, after, step)
        bars.append(_call(b, np.matmul, left, after))
    bars.reverse()
    shaped = [
        _call(b, np.reshape, y, b.call(core.shape, x, hint="shape")) if v else y
        for x, y, v in zip(factors, bars, [ends[0], *[False] * (len(factors) - 2), ends[1]], strict=True)
    ]
    return [Pack("tuple", tuple(shaped))]


def _vector(operand: Operand) -> bool:
    made = as_array(style_of(operand))
    return not isinstance(made, Scalar) and made.rank == 1
