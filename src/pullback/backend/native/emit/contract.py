"""Sums of products of two arrays as products of matrices: `np.tensordot`, `np.einsum`, products of arrays of several
axes, and kernels that sum up nothing but products.

    np.sum(patch[:, :, :, None] * weights[None], axis=(1, 2))      rows: axis 0, columns: axis 3, inner: axes 1 and 2

A kernel is taken so where each factor lacks an axis that the other one has, so that every item is used several times.
Where the result has a NaN it may be one that a cotangent of zero stands against: the kernel's loop is run then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pullback.backend.native.emit import writes
from pullback.backend.native.emit.elements import Parts, Reduction
from pullback.backend.native.emit.emitter import VALUE_ERROR, ArrayRef, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import leaves_of
from pullback.ir import core_ops as core
from pullback.ir.kernel import Kernel
from pullback.ir.nodes import Call, Const, Operand, Pack, Var
from pullback.styles.style import Array

SUFFIX = {"float64": "d", "float32": "s"}
Labels = Sequence[int]


@dataclass(frozen=True, slots=True)
class Plan:
    """A sum of products in a kernel: its factors with the axes of the space that their own axes are, -1 for an axis of
    length one, and the same of the result."""

    reduction: Reduction
    factors: tuple[tuple[Var, Labels], tuple[Var, Labels]]
    result: Labels


def emit(
    e: Emitter, out: ArrayRef, result: Labels, a: tuple[ArrayRef, Labels], b: tuple[ArrayRef, Labels]
) -> None:
    """Make `out` a new array, the sum of the products over the axes that it does not have.

    Labels of axes are numbers, -1 that of an axis of length one.  The lengths have been checked.
    """
    kind = SUFFIX.get(out.dtype.name)
    if kind is None or a[0].dtype != out.dtype or b[0].dtype != out.dtype:
        raise Untaken("a sum of products of these dtypes")
    places = [_places(*a), _places(*b), _places(out, result)]
    of_a, of_b, of_c = (set(p) for p in places)
    if (
        (of_a ^ of_b) - of_c
        or of_c - of_a - of_b
        or any(len(p) != len(set(p)) for p in (a[1], b[1]) if -1 not in p)
    ):
        raise Untaken("a sum of products over an axis of one factor")
    groups = [
        [x for x in places[2] if x in of_a and x in of_b],
        [x for x in places[2] if x not in of_b],
        [x for x in places[2] if x not in of_a],
        [x for x in places[0] if x not in of_c],
    ]
    length = {
        x: f"{ref.name}.n[{k}]"
        for (ref, _), place in ((b, places[1]), (a, places[0]))
        for x, k in place.items()
    }
    e.fresh_array(out, [length[x] if x >= 0 else "1" for x in result])
    with e.block(""):
        e.line(f"const int32_t pb_counts[] = {{{', '.join(str(len(g)) for g in groups)}}};")
        rows = []
        for x in (x for group in groups for x in group):
            strides = [
                f"{ref.name}.s[{p[x]}]" if x in p else "0"
                for ref, p in zip((a[0], b[0], out), places, strict=True)
            ]
            rows.append(f"{{{length[x]}, {', '.join(strides)}}}")
        e.line(f"pb_axis pb_axes[] = {{{', '.join(rows) or '{1, 0, 0, 0}'}}};")
        call = f"pb_contract_{kind}(pb_counts, pb_axes, {a[0].name}.data, {b[0].name}.data, {out.name}.data)"
        e.line(f"if (PB_RARE(!{call})) {e.fail(5)}")


def _places(ref: ArrayRef, labels: Labels) -> dict[int, int]:
    return {x: k for k, x in enumerate(labels) if x >= 0}


# --------------------------------------------------------------------------------------------------------- functions


def product(e: Emitter, call: Call, a: ArrayRef, b: ArrayRef) -> None:
    """`a @ b` of matrices in stacks; the stacks are broadcast where an axis is known to be one."""
    styles = [x.style for x in call.args if isinstance(x, Var)]
    if len(styles) != 2 or min(a.rank, b.rank) < 2:
        raise Untaken("a product of arrays of these ranks")
    row, column, inner = 100, 101, 102
    stack = max(a.rank, b.rank) - 2
    labels = [[*range(stack - (x.rank - 2), stack)] for x in (a, b)]
    for own, style in zip(labels, styles, strict=True):
        axes = style.axes if isinstance(style, Array) else None
        own[:] = [-1 if axes is not None and axes[k] == 1 else x for k, x in enumerate(own)]
    result = [k if any(k in own for own in labels) else -1 for k in range(stack)]
    left, right = (a, [*labels[0], row, inner]), (b, [*labels[1], inner, column])
    _one(e, call, left, right, [*result, row, column])


def tensordot(e: Emitter, call: Call) -> None:
    """`np.tensordot` over axes that are known when compiling."""
    a, b = map(e.array, call.args[:2])
    given = [*call.args[2:], *(x for _, x in call.kwargs)]
    axes: Any = _static(given[0]) if given else 2
    if isinstance(axes, int):
        axes = (range(a.rank - axes, a.rank), range(axes))
    left, right = ([axis] if isinstance(axis, int) else list(axis) for axis in axes)
    of_a, of_b = list(range(a.rank)), list(range(100, 100 + b.rank))
    for k, j in zip(left, right, strict=True):
        of_b[j] = of_a[k]
    summed = {of_a[k] for k in left}
    _one(e, call, (a, of_a), (b, of_b), [x for x in (*of_a, *of_b) if x not in summed])


def einsum(e: Emitter, call: Call) -> None:
    """`np.einsum` of two arrays by a text that is known when compiling."""
    text, *operands = call.args
    if call.kwargs or len(operands) != 2 or not isinstance(text, Const) or not isinstance(text.value, str):
        raise Untaken("np.einsum of these operands")
    sides = text.value.replace(" ", "").split("->")
    terms = sides[0].split(",")
    if len(sides) != 2 or len(terms) != 2 or not all(t.isalpha() for t in terms):
        raise Untaken("np.einsum by this text")
    a, b = map(e.array, operands)
    of_a, of_b, result = ([ord(x) for x in t] for t in (*terms, sides[1]))
    if len(of_a) != a.rank or len(of_b) != b.rank:
        raise Untaken("np.einsum by this text")
    _one(e, call, (a, of_a), (b, of_b), result)


def _one(
    e: Emitter, call: Call, a: tuple[ArrayRef, Labels], b: tuple[ArrayRef, Labels], result: Labels
) -> None:
    (target,) = call.targets
    leaf = leaves_of(target.style)[0]
    if len(result) == 0 or getattr(leaf, "rank", -1) != len(result) or leaf.dtype != a[0].dtype:  # type: ignore[union-attr]
        raise Untaken(f"{call.op.name} of another dtype or rank")
    for test in _tests(a, b):
        e.check(test, VALUE_ERROR, "shapes do not fit")
    out = e.declare_array("product", a[0].dtype, len(result))
    emit(e, out, result, a, b)
    e.set_array(e.array(target).name, out.name)
    e.line(f"PB_LET_GO({out.name});")


def _tests(a: tuple[ArrayRef, Labels], b: tuple[ArrayRef, Labels]) -> list[str]:
    """That the axes of one label have one length."""
    where = {x: f"{a[0].name}.n[{k}]" for k, x in enumerate(a[1]) if x >= 0}
    return [f"{where[x]} == {b[0].name}.n[{k}]" for k, x in enumerate(b[1]) if x in where]


def _static(operand: Operand) -> Any:
    if isinstance(operand, Const):
        return operand.value
    if isinstance(operand, Pack) and operand.kind in ("tuple", "list"):
        return tuple(map(_static, operand.items))
    raise Untaken("axes that are not known when compiling")


# ----------------------------------------------------------------------------------------------------------- kernels


def plans_of(kernel: Kernel, parts: Parts) -> list[Plan]:
    """The sums of products that a kernel is; none where it is anything else."""
    if parts.sinks or parts.made or parts.whole() or not parts.reductions:
        return []
    made = {t: s for s in kernel.function.body.stmts if isinstance(s, Call) for t in s.targets}
    found = [_plan(kernel, parts, made, r) for r in parts.reductions]
    return [p for p in found if p is not None] if all(found) else []


def _plan(kernel: Kernel, parts: Parts, made: Mapping[Var, Call], r: Reduction) -> Plan | None:
    call = made.get(r.operand) if isinstance(r.operand, Var) else None
    if call is None or call.op not in (core.OPERATORS["*"], core.scale) or len(call.args) != 2:
        return None
    if r.kind != "add" or r.mean or r.dtype.name not in SUFFIX:
        return None
    factors = [_factor(kernel, parts, made, x, r.dtype) for x in call.args]
    a, b = factors
    if a is None or b is None:
        return None
    rank, space = len(kernel.space), {k for k, axis in enumerate(kernel.space) if axis != 1}
    left, right = ({x for x in f[1] if x >= 0} for f in (a, b))
    kept = space - set(r.axes)
    if (left | right) != space or not (left - right) & kept or not (right - left) & kept or not left & right:
        return None
    if (left ^ right) - kept:
        return None
    result = [k if k in kept else -1 for k in range(rank) if r.keepdims or k not in r.axes]
    return Plan(r, (a, b), result)


def _factor(
    kernel: Kernel, parts: Parts, made: Mapping[Var, Call], operand: Operand, dtype: np.dtype[Any]
) -> tuple[Var, Labels] | None:
    """The parameter that a factor is, and which axes of the space it has."""
    while isinstance(operand, Var) and operand in made and made[operand].op.fn is np.broadcast_to:
        operand = made[operand].args[0]
    if not isinstance(operand, Var) or operand not in parts.arrays:
        return None
    style = operand.style
    if not isinstance(style, Array) or style.axes is None or style.dtype is None:
        return None
    if style.dtype.name not in SUFFIX or style.dtype.itemsize > dtype.itemsize:
        return None
    lead = len(kernel.space) - len(style.axes)
    return operand, [-1 if axis == 1 else lead + k for k, axis in enumerate(style.axes)]


def kernel_as_products(
    e: Emitter, plans: Sequence[Plan], given: Mapping[Var, Operand], targets: Mapping[Var, Var]
) -> str:
    """Compute a kernel's results so; the C name of whether that was done."""
    done = e.temporary("done")
    e.line(f"int {done} = 0;")
    refs = [
        tuple((_as(e, e.array(given[v]), p.reduction.dtype), labels) for v, labels in p.factors)
        for p in plans
    ]
    tests = dict.fromkeys(t for a, b in refs for t in _tests(a, b))
    with e.block(f"if ({' && '.join(tests) or '1'})"):
        outs = []
        for p, (a, b) in zip(plans, refs, strict=True):
            out = e.declare_array("product", p.reduction.dtype, len(p.result))
            emit(e, out, p.result, a, b)
            outs.append(out)
        fine = [
            f"!pb_any_nan_{SUFFIX[o.dtype.name]}(pb_count({o.rank}, {o.name}.n), {o.name}.data)" for o in outs
        ]
        e.line(f"{done} = {' && '.join(fine)};")
        with e.block(f"if (PB_OFTEN({done}))"):
            for p, out in zip(plans, outs, strict=True):
                e.set_array(e.array(targets[p.reduction.target]).name, out.name)
        for out in outs:
            e.line(f"PB_LET_GO({out.name});")
    return done


def _as(e: Emitter, ref: ArrayRef, dtype: np.dtype[Any]) -> ArrayRef:
    """An array in another dtype."""
    if ref.dtype == dtype:
        return ref
    out = e.declare_array("wide", dtype, ref.rank)
    e.fresh_array(out, ref.shape())
    writer = writes.writer(e, dtype, ref.dtype, adds=False)
    e.line(
        f"{writer}({out.rank}, {out.name}.n, {out.name}.data, {out.name}.s, {ref.name}.data, {ref.name}.s);"
    )
    return out
