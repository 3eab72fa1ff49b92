"""Products of vectors and matrices."""

from __future__ import annotations

import numpy as np

from pullback.backend.native.emit import contract
from pullback.backend.native.emit.element import Term
from pullback.backend.native.emit.emitter import VALUE_ERROR, ArrayRef, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.host_calls import host_call
from pullback.backend.native.emit.leaves import leaves_of
from pullback.ir.nodes import Call

_SUFFIX = {"float64": "d", "float32": "s", "complex128": "z", "complex64": "c"}


def dot(e: Emitter, call: Call) -> None:
    """`a @ b`, `np.dot` of vectors and matrices of one floating dtype."""
    if len(call.args) != 2 or call.kwargs or not all(map(e.is_array, call.args)):
        raise Untaken(f"`{call.op.name}` of these operands")
    a, b = map(e.array, call.args)
    if a.dtype == b.dtype and max(a.rank, b.rank) > 2 and call.op.name != "np.dot":
        contract.product(e, call, a, b)
        return
    if a.dtype != b.dtype or a.dtype.name not in _SUFFIX or not (1 <= a.rank <= 2 and 1 <= b.rank <= 2):
        raise Untaken(f"`{call.op.name}` of arrays of these ranks and dtypes")
    inner = f"{a.name}.n[{a.rank - 1}] == {b.name}.n[0]"
    e.check(inner, VALUE_ERROR, "shapes not aligned")
    if a.rank == b.rank == 1:
        _inner(e, call, a, b)
    else:
        _product(e, call, a, b)


def vdot(e: Emitter, call: Call) -> None:
    """`np.vdot` of real vectors."""
    if any(not e.is_array(x) or e.array(x).rank != 1 for x in call.args):
        raise Untaken("np.vdot of arrays of several axes")
    if any(e.array(x).dtype.kind == "c" for x in call.args):
        raise Untaken("np.vdot of complex vectors")
    dot(e, call)


def _inner(e: Emitter, call: Call, a: ArrayRef, b: ArrayRef) -> None:
    kind = _SUFFIX[a.dtype.name]
    text = f"pb_dot_{kind}({a.name}.n[0], {a.name}.data, {a.name}.s[0], {b.name}.data, {b.name}.s[0])"
    e.set_number(call.targets[0], Term(text, a.dtype))


def _product(e: Emitter, call: Call, a: ArrayRef, b: ArrayRef) -> None:
    """A new array; each vector counts as a matrix of one row or column.  A large product of matrices is
    the host's."""
    (target,) = call.targets
    (leaf,) = leaves_of(target.style)
    if leaf.dtype != np.dtype(a.dtype):  # type: ignore[union-attr]
        raise Untaken("a product of another dtype")
    rows = [f"{a.name}.n[0]"] if a.rank == 2 else []
    columns = [f"{b.name}.n[1]"] if b.rank == 2 else []
    if not rows or not columns or e.module.alone:
        _small(e, call, a, b, rows, columns)
        return
    factors = " * ".join(["(double)1", *rows, *columns, f"{a.name}.n[{a.rank - 1}]"])
    with e.block(f"if (host->call && {factors} > PB_LARGE_PRODUCT)", "} else {"):
        host_call(e, call, optional=True)
    e.depth += 1
    _small(e, call, a, b, rows, columns)
    e.depth -= 1
    e.line("}")


def _small(e: Emitter, call: Call, a: ArrayRef, b: ArrayRef, rows: list[str], columns: list[str]) -> None:
    kind = _SUFFIX[a.dtype.name]
    out = e.declare_array("product", a.dtype, len(rows) + len(columns))
    e.fresh_array(out, [*rows, *columns])
    row_stride = f"{a.name}.s[0]" if a.rank == 2 else "0"
    column_stride = f"{b.name}.s[1]" if b.rank == 2 else "0"
    e.line(
        f"pb_matmul_{kind}({rows[0] if rows else 1}, {columns[0] if columns else 1}, {a.name}.n[{a.rank - 1}], "
        f"{a.name}.data, {row_stride}, {a.name}.s[{a.rank - 1}], {b.name}.data, {b.name}.s[0], {column_stride}, ({out.ctype} *){out.name}.data);"
    )
    e.set_array(e.array(call.targets[0]).name, out.name)
    e.line(f"PB_LET_GO({out.name});")
