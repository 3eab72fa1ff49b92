"""Arrays made of numbers and of other arrays: `np.array`, `np.concatenate`, `np.stack` and their kin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.backend.native.emit import creation, gathering, writes
from pullback.backend.native.emit.element import is_number
from pullback.backend.native.emit.emitter import VALUE_ERROR, ArrayRef, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import ArrayLeaf, leaves_of, operand_style
from pullback.backend.native.emit.views import static_axes
from pullback.ir.nodes import Call, Const, Operand, Pack, Var
from pullback.styles.style import ListOf

UNEQUAL = "all the input array dimensions must match"


def array(e: Emitter, call: Call) -> None:
    """`np.array`, `np.asarray` of nested lists of numbers, of rows, or of an array."""
    source, (target,) = call.args[0], call.targets
    leaf = _leaf(target)
    if isinstance(source, Const) and isinstance(source.value, list | tuple):
        source = _constant(source.value, leaf)
    if e.is_array(source):
        if e.array(source).dtype != leaf.dtype:
            raise Untaken("an array in another dtype")
        creation.copy(e, Call(call.targets, call.op, (source,), (), call.loc))
        return
    if gathering.has_list(operand_style(source)):
        _gather(e, target, source, 0)
        return
    items, lengths = _flat(source)
    if any(not is_number(operand_style(x)) for x in items):
        _stack(e, target, _parts(e, source), 0)
        return
    if len(lengths) != leaf.rank:
        raise Untaken("a list of another depth than expected")
    out = e.declare_array("listed", leaf.dtype, leaf.rank)
    e.fresh_array(out, [str(n) for n in lengths])
    for k, item in enumerate(items):
        e.line(f"(({out.ctype} *){out.name}.data)[{k}] = {e.number(item, leaf.dtype)};")
    hand_over(e, target, out)


def _constant(value: Sequence[Any], leaf: ArrayLeaf) -> Const:
    """A list that is known when compiling as an array."""
    try:
        return Const(np.array(value, leaf.dtype))
    except (ValueError, TypeError, OverflowError):
        raise Untaken("a list that is no array") from None


def _leaf(target: Var) -> ArrayLeaf:
    (leaf,) = leaves_of(target.style)
    if not isinstance(leaf, ArrayLeaf):
        raise Untaken("a number where an array is expected")
    return leaf


def _flat(source: Operand) -> tuple[list[Operand], list[int]]:
    """The numbers of nested lists, and the lengths of the lists."""
    if not isinstance(source, Pack) or source.kind not in ("list", "tuple"):
        if isinstance(source, Const) and isinstance(source.value, list | tuple):
            return _flat(Pack("list", tuple(Const(v) for v in source.value)))
        return [source], []
    items: list[Operand] = []
    inner: list[int] | None = None
    for part in source.items:
        more, lengths = _flat(part)
        if inner is not None and lengths != inner:
            raise Untaken("lists of several lengths")
        items, inner = items + more, lengths
    return items, [len(source.items), *(inner or [])]


def _parts(e: Emitter, source: Operand) -> list[ArrayRef]:
    """The arrays that are joined."""
    if not isinstance(source, Pack) or source.kind not in ("list", "tuple") or not source.items:
        raise Untaken("arrays of a number that is not known when compiling")
    if not all(map(e.is_array, source.items)):
        raise Untaken("numbers joined to arrays")
    return [e.array(x) for x in source.items]


def _axis(call: Call) -> int:
    """The axis of a call that has no other option."""
    given = dict(call.kwargs)
    axis = given.pop("axis", Const(0))
    if given or len(call.args) > 2:
        raise Untaken(f"{call.op.name} with these options")
    found = static_axes([call.args[1] if len(call.args) == 2 else axis])
    if found is None or len(found) != 1:
        raise Untaken(f"{call.op.name} along no axis")
    return found[0]


def _gather(e: Emitter, target: Var, source: Operand, axis: int) -> None:
    """Lists of run-time length as an array."""
    leaf = _leaf(target)
    out = e.declare_array("gathered", leaf.dtype, leaf.rank)
    gathering.gather(e, out, source, axis)
    hand_over(e, target, out)


def _gather_along(e: Emitter, target: Var, source: Operand, axis: int) -> None:
    """The arrays of a list of run-time length one after the other."""
    leaf = _leaf(target)
    out = e.declare_array("joined", leaf.dtype, leaf.rank)
    gathering.concatenate(e, out, source, axis)
    hand_over(e, target, out)


def concatenate(e: Emitter, call: Call) -> None:
    """`np.concatenate` of arrays of one rank along an axis."""
    if isinstance(operand_style(call.args[0]), ListOf):
        _gather_along(e, call.targets[0], call.args[0], _axis(call))
        return
    _concatenate(e, call.targets[0], _parts(e, call.args[0]), _axis(call))


def stack(e: Emitter, call: Call) -> None:
    """`np.stack` of arrays."""
    if isinstance(operand_style(call.args[0]), ListOf):
        _gather(e, call.targets[0], call.args[0], _axis(call))
        return
    _stack(e, call.targets[0], _parts(e, call.args[0]), _axis(call))


def hstack(e: Emitter, call: Call) -> None:
    """`np.hstack`: along the second axis, of vectors along the only one."""
    if isinstance(operand_style(call.args[0]), ListOf):
        if call.kwargs or len(call.args) > 1 or 0 in gathering.kinds(e, call.args[0]):
            raise Untaken("np.hstack of these operands")
        _gather_along(e, call.targets[0], call.args[0], 0 if gathering.kinds(e, call.args[0]) == {1} else 1)
        return
    parts = _parts(e, call.args[0])
    if call.kwargs or len(call.args) > 1 or not all(p.rank for p in parts):
        raise Untaken("np.hstack of these operands")
    _concatenate(e, call.targets[0], parts, 0 if parts[0].rank == 1 else 1)


def vstack(e: Emitter, call: Call) -> None:
    """`np.vstack`: along the first axis, vectors as rows."""
    if isinstance(operand_style(call.args[0]), ListOf):
        ranks = gathering.kinds(e, call.args[0])
        if call.kwargs or len(call.args) > 1 or 0 in ranks:
            raise Untaken("np.vstack of these operands")
        (_gather if ranks == {1} else _gather_along)(e, call.targets[0], call.args[0], 0)
        return
    parts = _parts(e, call.args[0])
    if call.kwargs or len(call.args) > 1 or not all(p.rank for p in parts):
        raise Untaken("np.vstack of these operands")
    if all(p.rank == 1 for p in parts):
        _stack(e, call.targets[0], parts, 0)
    else:
        _concatenate(e, call.targets[0], parts, 0)


def _concatenate(e: Emitter, target: Var, parts: Sequence[ArrayRef], axis: int) -> None:
    leaf = _leaf(target)
    rank = leaf.rank
    if any(p.rank != rank for p in parts) or not -rank <= axis < rank:
        raise Untaken("arrays of several ranks")
    axis %= rank
    first = parts[0].shape()
    for part in parts[1:]:
        for k in range(rank):
            if k != axis:
                e.check(f"{part.shape()[k]} == {first[k]}", VALUE_ERROR, UNEQUAL)
    total = " + ".join(p.shape()[axis] for p in parts)
    out = e.declare_array("joined", leaf.dtype, rank)
    e.fresh_array(out, [*first[:axis], total, *first[axis + 1 :]])
    at = e.temporary("at")
    e.line(f"char *{at} = {out.name}.data;")
    strides = [f"{out.name}.s[{k}]" for k in range(rank)]
    for part in parts:
        _place(e, out, at, strides, part)
        e.line(f"{at} += {part.shape()[axis]} * {strides[axis]};")
    hand_over(e, target, out)


def _stack(e: Emitter, target: Var, parts: Sequence[ArrayRef], axis: int) -> None:
    leaf = _leaf(target)
    rank = leaf.rank
    if any(p.rank != rank - 1 for p in parts) or not -rank <= axis < rank:
        raise Untaken("arrays of several ranks")
    axis %= rank
    first = parts[0].shape()
    for part in parts[1:]:
        for k in range(rank - 1):
            e.check(f"{part.shape()[k]} == {first[k]}", VALUE_ERROR, UNEQUAL)
    out = e.declare_array("stacked", leaf.dtype, rank)
    e.fresh_array(out, [*first[:axis], str(len(parts)), *first[axis:]])
    strides = [f"{out.name}.s[{k}]" for k in range(rank)]
    for number, part in enumerate(parts):
        _place(
            e,
            out,
            f"{out.name}.data + {number} * {strides[axis]}",
            strides[:axis] + strides[axis + 1 :],
            part,
        )
    hand_over(e, target, out)


def _place(e: Emitter, out: ArrayRef, at: str, strides: Sequence[str], part: ArrayRef) -> None:
    """Copy an array to where it belongs in a new one."""
    with e.block(""):
        e.line(f"const int64_t pb_t[] = {{{', '.join(strides) or '0'}}};")
        writer = writes.writer(e, out.dtype, part.dtype, adds=False)
        e.line(f"{writer}({part.rank}, {part.name}.n, {at}, pb_t, {part.name}.data, {part.name}.s);")


def hand_over(e: Emitter, target: Var, made: ArrayRef) -> None:
    """Make a new array the value of a target."""
    e.put_array(target, made)
    e.drop(made)
