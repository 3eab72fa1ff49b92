"""Running sums and products, positions of extremes, outer products, ranges."""

from __future__ import annotations

import numpy as np

from pullback.backend.native.emit import writes
from pullback.backend.native.emit.element import Term, element, loop_of
from pullback.backend.native.emit.emitter import INT64, VALUE_ERROR, ArrayRef, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.joining import hand_over
from pullback.backend.native.emit.leaves import ArrayLeaf, c_type, leaves_of, operand_style
from pullback.backend.native.emit.views import static_axes
from pullback.ir.nodes import Call, Const, Operand

FLOAT64 = np.dtype(np.float64)
_RUNNING = {"np.cumsum": np.add, "np.cumprod": np.multiply}


def running(e: Emitter, call: Call) -> None:
    """`np.cumsum`, `np.cumprod` along an axis."""
    source, (target,) = e.array(call.args[0]), call.targets
    (leaf,) = leaves_of(target.style)
    axis = _axis(call, source.rank)
    if not isinstance(leaf, ArrayLeaf) or leaf.rank != source.rank or axis is None:
        raise Untaken(f"{call.op.name} over all axes")
    out = e.declare_array("run", leaf.dtype, leaf.rank)
    e.fresh_array(out, source.shape())
    e.line(
        f"{writes.writer(e, out.dtype, source.dtype, adds=False)}({out.rank}, {out.name}.n, {out.name}.data, {out.name}.s, "
        f"{source.name}.data, {source.name}.s);"
    )
    ufunc = _RUNNING[call.op.name]
    text = element(
        ufunc, (out.dtype,) * 3, [Term("pb_p[pb_k - pb_step]", out.dtype), Term("pb_p[pb_k]", out.dtype)]
    ).text
    with e.block(
        ""
    ):  # items one step along the axis stand so many items apart, and all after the first have one before
        e.line(f"{out.ctype} *pb_p = ({out.ctype} *){out.name}.data;")
        inner = " * ".join(f"{out.name}.n[{k}]" for k in range(axis + 1, out.rank)) or "1"
        e.line(f"const int64_t pb_step = {inner}, pb_line = pb_step * {out.name}.n[{axis}];")
        e.line(f"const int64_t pb_all = pb_count({out.rank}, {out.name}.n);")
        e.line("for (int64_t pb_from = 0; pb_from < pb_all; pb_from += pb_line)")
        e.line(
            f"    for (int64_t pb_k = pb_from + pb_step; pb_k < pb_from + pb_line; pb_k++) pb_p[pb_k] = {text};"
        )
    hand_over(e, target, out)


def _axis(call: Call, rank: int) -> int | None:
    """The axis of a call that has no other option; None where it is over all of several axes."""
    given = dict(call.kwargs)
    axis: Operand = given.pop("axis", Const(None))
    if given or len(call.args) > 2:
        raise Untaken(f"{call.op.name} with these options")
    found = static_axes([call.args[1] if len(call.args) == 2 else axis])
    if found is None:
        return 0 if rank == 1 else None
    if len(found) != 1 or not -rank <= found[0] < rank:
        raise Untaken(f"{call.op.name} along these axes")
    return found[0] % rank


def extreme(e: Emitter, call: Call) -> None:
    """`np.argmax`, `np.argmin` of a vector: the first of equal items, or the first NaN."""
    source = e.array(call.args[0])
    if _axis(call, source.rank) != 0 or source.rank != 1 or source.dtype.kind == "c":
        raise Untaken(f"{call.op.name} of these operands")
    best, item, at = e.temporary("best"), e.temporary("item"), e.temporary("at")
    e.check(f"{source.name}.n[0] > 0", VALUE_ERROR, "an empty sequence has no extreme")
    read = f"*(const {source.ctype} *)({source.name}.data + {{}} * {source.name}.s[0])"
    sign = ">" if call.op.name == "np.argmax" else "<"
    e.line(f"int64_t {at} = 0;")
    e.line(f"{source.ctype} {best} = {read.format('0')};")
    with e.block(f"for (int64_t pb_k = 1; pb_k < {source.name}.n[0] && {best} == {best}; pb_k++)"):
        e.line(f"const {source.ctype} {item} = {read.format('pb_k')};")
        e.line(f"if ({item} {sign} {best} || {item} != {item}) {{ {best} = {item}; {at} = pb_k; }}")
    e.set_number(call.targets[0], Term(at, INT64))


def outer(e: Emitter, call: Call) -> None:
    """`np.outer` of vectors."""
    if len(call.args) != 2 or call.kwargs or not all(map(e.is_array, call.args)):
        raise Untaken("np.outer of these operands")
    a, b = map(e.array, call.args)
    if a.rank != 1 or b.rank != 1:
        raise Untaken("np.outer of arrays of several axes")
    dtypes = loop_of(np.multiply, [operand_style(x) for x in call.args])
    out = e.declare_array("outer", dtypes[-1], 2)
    e.fresh_array(out, [f"{a.name}.n[0]", f"{b.name}.n[0]"])
    terms = [Term("pb_x", a.dtype), Term("pb_y", b.dtype)]
    text = element(np.multiply, dtypes, terms).text
    with e.block(f"for (int64_t pb_i = 0; pb_i < {a.name}.n[0]; pb_i++)"):
        e.line(f"const {a.ctype} pb_x = *(const {a.ctype} *)({a.name}.data + pb_i * {a.name}.s[0]);")
        e.line(f"{out.ctype} *pb_to = ({out.ctype} *)({out.name}.data + pb_i * {out.name}.s[0]);")
        for test, place in (
            (f"if ({b.name}.s[0] == {b.size})", f"((const {b.ctype} *){b.name}.data)[pb_j]"),
            ("else", f"*(const {b.ctype} *)({b.name}.data + pb_j * {b.name}.s[0])"),
        ):
            e.line(test)
            e.line(
                f"    for (int64_t pb_j = 0; pb_j < {b.name}.n[0]; pb_j++) {{ const {b.ctype} pb_y = {place}; pb_to[pb_j] = {text}; }}"
            )
    hand_over(e, call.targets[0], out)


def arange(e: Emitter, call: Call) -> None:
    """`np.arange` of integers or floats, as NumPy counts them."""
    (target,) = call.targets
    (leaf,) = leaves_of(target.style)
    if (
        any(name != "dtype" for name, _ in call.kwargs)
        or len(call.args) > 3
        or any(map(e.is_array, call.args))
    ):
        raise Untaken("np.arange with these options")
    whole = all(e.term(x).dtype.kind in "ib" for x in call.args)
    dtype = INT64 if whole else FLOAT64
    if not isinstance(leaf, ArrayLeaf) or leaf.dtype != dtype:
        raise Untaken("np.arange in another dtype")
    if any(isinstance(x, Const) and x.value is None for x in call.args):
        raise Untaken("np.arange with these options")
    texts = [e.number(x, dtype) for x in call.args]
    start, stop = ("0", texts[0]) if len(texts) == 1 else (texts[0], texts[1])
    step = texts[2] if len(texts) == 3 else "1"
    first, delta, count = e.temporary("first"), e.temporary("step"), e.temporary("count")
    ctype = c_type(dtype)
    e.line(f"const {ctype} {first} = {start};")
    e.line(f"{ctype} {delta} = {step};")
    e.check(f"{delta} != 0", VALUE_ERROR, "the step of a range may not be zero")
    if whole:
        e.line(f"const int64_t {count} = pb_range({first}, {stop}, {delta});")
    else:
        length = f"__builtin_ceil(({stop} - {first}) / {delta})"
        e.check(f"{length} < 0x1p40", VALUE_ERROR, "Maximum allowed size exceeded")
        e.line(f"const int64_t {count} = {length} > 0 ? (int64_t){length} : 0;")
        e.line(f"{delta} = ({first} + {delta}) - {first};")
    out: ArrayRef = e.declare_array("range", dtype, 1)
    e.fresh_array(out, [count])
    e.line(
        f"for (int64_t pb_k = 0; pb_k < {count}; pb_k++) (({ctype} *){out.name}.data)[pb_k] = {first} + pb_k * {delta};"
    )
    hand_over(e, target, out)


def eye(e: Emitter, call: Call) -> None:
    """`np.eye`, `np.identity`: ones where row and column are one number."""
    (target,) = call.targets
    (leaf,) = leaves_of(target.style)
    if (
        any(name != "dtype" for name, _ in call.kwargs)
        or len(call.args) > 2
        or not isinstance(leaf, ArrayLeaf)
    ):
        raise Untaken("np.eye with these options")
    sizes = [x for x in call.args if not (isinstance(x, Const) and x.value is None)]
    if call.op.name == "np.identity" and len(sizes) != 1:
        raise Untaken("np.identity with these options")
    rows, columns = e.integer(sizes[0]), e.integer(sizes[-1])
    out = e.declare_array("eye", leaf.dtype, 2)
    e.fresh_array(out, [f"{n} < 0 ? 0 : {n}" for n in (rows, columns)])
    e.line(f"memset({out.name}.data, 0, (size_t)(pb_count(2, {out.name}.n) * {out.size}));")
    e.line(f"for (int64_t pb_k = 0; pb_k < {out.name}.n[0] && pb_k < {out.name}.n[1]; pb_k++)")
    e.line(f"    *({out.ctype} *)({out.name}.data + pb_k * ({out.name}.s[0] + {out.name}.s[1])) = 1;")
    hand_over(e, target, out)
