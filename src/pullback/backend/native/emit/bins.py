"""Places in sorted arrays, histograms, and the triangles of matrices."""

from __future__ import annotations

import numpy as np

from pullback.backend.native.emit.element import Term
from pullback.backend.native.emit.emitter import INT64, VALUE_ERROR, ArrayRef, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.joining import hand_over
from pullback.backend.native.emit.leaves import leaves_of
from pullback.ir.nodes import Call, Const, Operand

FLOAT64 = np.dtype(np.float64)


def searchsorted(e: Emitter, call: Call) -> None:
    """`np.searchsorted` of floats in a sorted vector."""
    options = dict(zip(("side", "sorter"), call.args[2:], strict=False)) | dict(call.kwargs)
    side: Operand = options.pop("side", Const("left"))
    known = isinstance(side, Const) and side.value in ("left", "right")
    if not known or any(not _is_none(x) for x in options.values()) or len(call.args) < 2:
        raise Untaken("np.searchsorted with these options")
    assert isinstance(side, Const)
    right = int(side.value == "right")
    (target,) = call.targets
    items = _vector(e, call.args[0])
    search = f"pb_search({items.name}.n[0], {items.name}.data, {items.name}.s[0], "
    if not e.is_array(call.args[1]):
        term, key, place = e.term(call.args[1]), e.temporary("key"), e.temporary("place")
        if term.dtype != FLOAT64:
            raise Untaken("np.searchsorted of these dtypes")
        e.line(f"const double {key} = {term.text};")
        e.line(f"int64_t {place};")
        e.line(f"{search}1, (const char *)&{key}, 8, {right}, &{place});")
        e.set_number(target, Term(place, INT64))
        return
    keys = _vector(e, call.args[1])
    out = e.declare_array("places", INT64, 1)
    e.fresh_array(out, [f"{keys.name}.n[0]"])
    e.line(
        f"{search}{keys.name}.n[0], {keys.name}.data, {keys.name}.s[0], {right}, (int64_t *){out.name}.data);"
    )
    hand_over(e, target, out)


def histogram(e: Emitter, call: Call) -> None:
    """`np.histogram` of floats in so many bins of one width, between the least and the largest."""
    options = dict(zip(("bins", "range", "density", "weights"), call.args[1:], strict=False)) | dict(
        call.kwargs
    )
    bins: Operand = options.pop("bins", Const(10))
    weights: Operand = options.pop("weights", Const(None))
    if any(not _is_none(x) for x in options.values()) or e.is_array(bins) or len(call.targets) != 2:
        raise Untaken("np.histogram with these options")
    items, heavy = _vector(e, call.args[0]), None if _is_none(weights) else _vector(e, weights)
    dtype = INT64 if heavy is None else FLOAT64
    leaves = [leaf for t in call.targets for leaf in leaves_of(t.style)]
    if [getattr(x, "dtype", None) for x in leaves] != [dtype, FLOAT64]:
        raise Untaken("np.histogram of these dtypes")
    count = e.temporary("count")
    e.line(f"const int64_t {count} = {e.integer(bins)};")
    e.check(f"{count} > 0", VALUE_ERROR, "`bins` must be positive")
    if heavy is not None:
        e.check(
            f"{heavy.name}.n[0] == {items.name}.n[0]", VALUE_ERROR, "weights should have the same shape as a"
        )
    out, edges = e.declare_array("hist", dtype, 1), e.declare_array("edges", FLOAT64, 1)
    e.fresh_array(out, [count])
    e.fresh_array(edges, [f"{count} + 1"])
    weighed = f"{heavy.name}.data, {heavy.name}.s[0]" if heavy is not None else "NULL, 0"
    fine = (
        f"pb_histogram({items.name}.n[0], {items.name}.data, {items.name}.s[0], {weighed}, {count}, "
        f"(double *){edges.name}.data, {out.name}.data)"
    )
    e.check(fine, VALUE_ERROR, "a range that is not finite")
    for target, made in zip(call.targets, (out, edges), strict=True):
        if e.used(target):
            hand_over(e, target, made)
        else:
            e.drop(made)


def triangle(e: Emitter, call: Call) -> None:
    """`np.triu`, `np.tril` of a matrix."""
    options = dict(zip(("k",), call.args[1:], strict=False)) | dict(call.kwargs)
    diagonal = e.integer(options.pop("k", Const(0)))
    source = e.array(call.args[0])
    if options or source.rank != 2 or len(call.args) > 2:
        raise Untaken(f"{call.op.name} of these operands")
    out = e.declare_array("triangle", source.dtype, 2)
    e.fresh_array(out, source.shape())
    with e.block("for (int64_t pb_i = 0; pb_i < " + f"{out.name}.n[0]; pb_i++)"):
        edge = f"{diagonal} + pb_i{'' if call.op.name == 'np.triu' else ' + 1'}"
        e.line(f"const int64_t pb_cut = {edge}, pb_n = {out.name}.n[1], pb_s = {source.name}.s[1];")
        e.line("const int64_t pb_at = pb_cut < 0 ? 0 : pb_cut > pb_n ? pb_n : pb_cut;")
        first, last = ("pb_at", "pb_n") if call.op.name == "np.triu" else ("0", "pb_at")
        e.line(f"{out.ctype} *pb_to = ({out.ctype} *)({out.name}.data + pb_i * {out.name}.s[0]);")
        e.line(f"const char *pb_row = {source.name}.data + pb_i * {source.name}.s[0];")
        e.line(f"for (int64_t pb_j = 0; pb_j < {first}; pb_j++) pb_to[pb_j] = 0;")
        item = f"*(const {out.ctype} *)(pb_row + pb_j * pb_s)"
        e.line(f"for (int64_t pb_j = {first}; pb_j < {last}; pb_j++) pb_to[pb_j] = {item};")
        e.line(f"for (int64_t pb_j = {last}; pb_j < pb_n; pb_j++) pb_to[pb_j] = 0;")
    hand_over(e, call.targets[0], out)


def _vector(e: Emitter, operand: Operand) -> ArrayRef:
    """A vector of doubles."""
    array = e.array(operand)
    if array.rank != 1 or array.dtype != FLOAT64:
        raise Untaken("an array of several axes, or of another dtype")
    return array


def _is_none(operand: Operand) -> bool:
    return isinstance(operand, Const) and operand.value is None
