"""View operations: other strides over the same items, a copy only where NumPy copies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pullback.backend.native.emit import creation
from pullback.backend.native.emit.emitter import TYPE_ERROR, VALUE_ERROR, ArrayRef, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import ArrayLeaf, code_of, leaves_of
from pullback.ir.nodes import Call, Const, Op, Operand, Pack


def call(e: Emitter, stmt: Call) -> None:
    """A view operation as a statement of its own."""
    base, *operands = stmt.args
    if not e.is_array(base):
        _spread(e, stmt)
        return
    more = [x for _, x in stmt.kwargs]
    view = view_step(e, e.array(base), stmt.op, [*operands, *more])
    if not e.name_view(stmt.targets[0], view):
        e.put_array(stmt.targets[0], view)


def _spread(e: Emitter, stmt: Call) -> None:
    """A view of a number: a new array of it."""
    if stmt.op.name == "np.broadcast_to":
        creation.fill(e, stmt.targets[0], e.integers(stmt.args[1]), stmt.args[0])
        return
    (leaf,) = leaves_of(stmt.targets[0].style)
    if stmt.op.name not in ("np.expand_dims", "np.reshape", "np.ravel") or not isinstance(leaf, ArrayLeaf):
        raise Untaken(f"{stmt.op.name} of a number")
    for length in e.integers(stmt.args[1]) if stmt.op.name == "np.reshape" else ():
        e.check(f"{length} == 1 || {length} == -1", VALUE_ERROR, "cannot reshape a number into this shape")
    creation.fill(e, stmt.targets[0], ["1"] * leaf.rank, stmt.args[0])


def written_step(e: Emitter, array: ArrayRef, op: Op, operands: Sequence[Operand]) -> ArrayRef:
    """The view that an operation makes of an array that is written through it.

    A shape that would need a copy here may need none in NumPy: then the function is left.
    """
    if op.name in ("np.reshape", "np.ravel"):
        flat = f"pb_is_contiguous({array.rank}, {array.size}, {array.name}.n, {array.name}.s)"
        e.check(flat, TYPE_ERROR, "a write through another shape of an array that is not contiguous")
    return view_step(e, array, op, operands)


def view_step(e: Emitter, array: ArrayRef, op: Op, operands: Sequence[Operand]) -> ArrayRef:
    """The view that an operation makes of an array."""
    made = _STEPS.get(op.name)
    if made is None:
        raise Untaken(f"{op.name}")
    return made(e, array, operands)


def _struct(e: Emitter, array: ArrayRef, data: str, axes: Sequence[tuple[str, str]]) -> ArrayRef:
    view = e.temporary("view")
    lengths = ", ".join(n for n, _ in axes) or "1"
    strides = ", ".join(s for _, s in axes) or "0"
    e.line(
        f"const pb_array{len(axes)} {view} = {{{data}, {array.name}.owner, {{{lengths}}}, {{{strides}}}}};"
    )
    return ArrayRef(view, array.dtype, len(axes))


def _axes(array: ArrayRef) -> list[tuple[str, str]]:
    return [(f"{array.name}.n[{k}]", f"{array.name}.s[{k}]") for k in range(array.rank)]


def static_axes(operands: Sequence[Operand]) -> list[int] | None:
    """Axes known at compile time; None where there are none or it is None."""
    if not operands or (len(operands) == 1 and isinstance(operands[0], Const) and operands[0].value is None):
        return None
    items = operands[0].items if len(operands) == 1 and isinstance(operands[0], Pack) else operands
    out: list[int] = []
    for x in items:
        if not isinstance(x, Const):
            raise Untaken("axes that are not known when compiling")
        out += list(x.value) if isinstance(x.value, tuple | list) else [int(x.value)]
    return out


def _transpose(e: Emitter, array: ArrayRef, operands: Sequence[Operand]) -> ArrayRef:
    order = static_axes(operands) or list(reversed(range(array.rank)))
    axes = _axes(array)
    return _struct(e, array, f"{array.name}.data", [axes[k % array.rank] for k in order])


def _swapaxes(e: Emitter, array: ArrayRef, operands: Sequence[Operand]) -> ArrayRef:
    a, b = static_axes(operands) or (0, 0)
    axes = _axes(array)
    axes[a], axes[b] = axes[b], axes[a]
    return _struct(e, array, f"{array.name}.data", axes)


def _last_two(e: Emitter, array: ArrayRef, operands: Sequence[Operand]) -> ArrayRef:
    axes = _axes(array)
    return _struct(e, array, f"{array.name}.data", [*axes[:-2], axes[-1], axes[-2]])


def _moveaxis(e: Emitter, array: ArrayRef, operands: Sequence[Operand]) -> ArrayRef:
    source, target = (static_axes([x]) or [] for x in operands)
    moved = [k % array.rank for k in source]
    order = [k for k in range(array.rank) if k not in moved]
    for place, axis in sorted(zip((k % array.rank for k in target), moved, strict=True)):
        order.insert(place, axis)
    axes = _axes(array)
    return _struct(e, array, f"{array.name}.data", [axes[k] for k in order])


def _expand_dims(e: Emitter, array: ArrayRef, operands: Sequence[Operand]) -> ArrayRef:
    places = static_axes(operands) or []
    rank = array.rank + len(places)
    wanted = {k % rank for k in places}
    rest = iter(_axes(array))
    return _struct(
        e, array, f"{array.name}.data", [("1", "0") if k in wanted else next(rest) for k in range(rank)]
    )


def _squeeze(e: Emitter, array: ArrayRef, operands: Sequence[Operand]) -> ArrayRef:
    axes = static_axes(operands)
    if axes is None:
        raise Untaken("np.squeeze of all axes of length one")
    gone = {k % array.rank for k in axes}
    for k in sorted(gone):
        e.check(f"{array.name}.n[{k}] == 1", VALUE_ERROR, "cannot squeeze an axis whose length is not one")
    return _struct(e, array, f"{array.name}.data", [x for k, x in enumerate(_axes(array)) if k not in gone])


def _flip(e: Emitter, array: ArrayRef, operands: Sequence[Operand]) -> ArrayRef:
    axes = static_axes(operands)
    turned = set(range(array.rank)) if axes is None else {k % array.rank for k in axes}
    data, kept = [f"{array.name}.data"], _axes(array)
    for k in sorted(turned):
        length, stride = kept[k]
        data.append(f"({length} ? ({length} - 1) * {stride} : 0)")
        kept[k] = (length, f"-{stride}")
    return _struct(e, array, " + ".join(data), kept)


def _real(e: Emitter, array: ArrayRef, operands: Sequence[Operand]) -> ArrayRef:
    return array if array.dtype.kind != "c" else _part(e, array, 0)


def _imag(e: Emitter, array: ArrayRef, operands: Sequence[Operand]) -> ArrayRef:
    if array.dtype.kind != "c":
        raise Untaken("the imaginary part of real numbers")
    return _part(e, array, array.size // 2)


def _part(e: Emitter, array: ArrayRef, offset: int) -> ArrayRef:
    """The parts of complex numbers that stand so many bytes behind their beginnings."""
    view = _struct(e, array, f"{array.name}.data + {offset}", _axes(array))
    return ArrayRef(view.name, np.dtype(f"f{array.size // 2}"), view.rank)


def _broadcast_to(e: Emitter, array: ArrayRef, operands: Sequence[Operand]) -> ArrayRef:
    lengths = e.integers(operands[0])
    lead = len(lengths) - array.rank
    if lead < 0:
        raise Untaken("a broadcast to fewer axes")
    axes: list[tuple[str, str]] = []
    for k, length in enumerate(lengths):
        if k < lead:
            axes.append((length, "0"))
            continue
        own, stride = _axes(array)[k - lead]
        e.check(f"{own} == 1 || {own} == {length}", VALUE_ERROR, "shapes cannot be broadcast")
        axes.append((length, f"({own} == 1 ? 0 : {stride})"))
    return _struct(e, array, f"{array.name}.data", axes)


def _reshape(e: Emitter, array: ArrayRef, operands: Sequence[Operand]) -> ArrayRef:
    shape = operands[0] if len(operands) == 1 else Pack("tuple", tuple(operands))
    return reshaped(e, array, e.integers(shape))


def _ravel(e: Emitter, array: ArrayRef, operands: Sequence[Operand]) -> ArrayRef:
    if operands:
        raise Untaken("ravel in an order")
    return reshaped(e, array, [f"pb_count({array.rank}, {array.name}.n)" if array.rank else "1"])


def reshaped(e: Emitter, array: ArrayRef, lengths: Sequence[str]) -> ArrayRef:
    """The array in another shape: a view where its items stand in C order, else a copy."""
    rank = len(lengths)
    out = e.declare_array("reshaped", array.dtype, rank)
    with e.block(""):
        e.line(f"int64_t pb_n[] = {{{', '.join(lengths) or '1'}}};")
        old = f"pb_count({array.rank}, {array.name}.n)" if array.rank else "1"
        e.check(f"pb_fill_shape({rank}, pb_n, {old})", VALUE_ERROR, "cannot reshape array into this shape")
        n = f"{array.name}.n, {array.name}.s"
        with e.block(f"if (pb_is_contiguous({array.rank}, {array.size}, {n}))", "} else {"):
            e.line(
                f"PB_RELEASE({out.name}); {out.name}.data = {array.name}.data; {out.name}.owner = {array.name}.owner;"
            )
            e.line(f"pb_retain({out.name}.owner); memcpy({out.name}.n, pb_n, sizeof {out.name}.n);")
            e.line(f"pb_c_strides({rank}, {array.size}, {out.name}.n, {out.name}.s);")
        e.depth += 1
        e.line(
            f"PB_NEW({out.name}, {code_of(array.dtype)}, {array.size}, {rank}, pb_n, {e.module.place(e.loc)});"
        )
        e.line(f"int64_t pb_t[{max(array.rank, 1)}];")
        e.line(f"pb_c_strides({array.rank}, {array.size}, {array.name}.n, pb_t);")
        e.line(
            f"pb_copy_items({array.rank}, {array.name}.n, {array.size}, {out.name}.data, pb_t, {array.name}.data, {array.name}.s);"
        )
        e.depth -= 1
        e.line("}")
    e.fails = True
    return out


_STEPS = {
    "np.transpose": _transpose, "np.permute_dims": _transpose, "np.swapaxes": _swapaxes, "np.matrix_transpose": _last_two,
    "np.moveaxis": _moveaxis, "np.expand_dims": _expand_dims, "np.broadcast_to": _broadcast_to, "np.reshape": _reshape,
    "np.ravel": _ravel, "np.squeeze": _squeeze, "np.flip": _flip, "np.real": _real, "np.imag": _imag,
}  # fmt: skip
