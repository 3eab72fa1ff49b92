"""The primal and the pullback as two C modules, with what passes between them (`saved.py`)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pullback.analysis.binding import maybe_unbound
from pullback.backend.native.emit.dtypes import settle_dtypes
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.module import Native, emit_native
from pullback.backend.native.interface import ArraySpec
from pullback.backend.native.saved import Saved, pack, saved, unpack
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Block, Call, Const, Function, Operand, Pack, Param, Var
from pullback.ir.walk import substitute, substitute_block
from pullback.passes.known import drop_known
from pullback.passes.lengths import drop_assumed, settle_assumed
from pullback.styles.style import Static, Style


@dataclass(frozen=True, slots=True)
class NativePair:
    """Two modules, and the function that the pullback was made of, for what is left to NumPy.

    saved  how the residuals pass between the modules
    """

    primal: Native
    pullback: Native
    saved: Saved
    function: Function

    def restore(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """What the compiled primal saves, as `function` takes it."""
        return self.saved.restore(values)


def emit_pair(
    primal: Function, pullback: Function, *, in_place: bool = True, copy_residuals: bool = True
) -> NativePair:
    """The C modules of a primal and its pullback.  Raises Untaken where C takes one of them not."""
    settled = settle_dtypes(settle_assumed(drop_known(primal)))
    *values, residuals = settled.results
    tree = pullback.params[0].tree
    if not isinstance(residuals, Pack) or not isinstance(tree, Pack):
        raise Untaken("residuals that are no tuple")
    styles = [_style(x, own) for x, own in zip(residuals.items, tree.items, strict=True)]
    what = saved(styles)
    packing = _packing(settled, values, residuals.items, what)
    taking = _unpacking(pullback, tree.items, what)
    missing = maybe_unbound(settled, absent=True)
    absent = {
        p
        for r, p in zip(_passing(packing.results[-1]), _passing(taking.params[0].tree), strict=True)
        if r in missing
    }
    return NativePair(
        emit_native(packing, in_place=in_place, copy_residuals=copy_residuals),
        _with_any_shape(emit_native(taking, in_place=in_place), absent),
        what,
        drop_assumed(pullback),
    )


def _passing(tree: Operand) -> tuple[Operand, ...]:
    assert isinstance(tree, Pack)
    return tree.items


def _with_any_shape(native: Native, absent: Collection[Operand]) -> Native:
    """A module some of whose arguments may not be there: then they are empty, whatever shape they would have."""
    specs = tuple(
        ArraySpec(spec.dtype, spec.rank) if var in absent and isinstance(spec, ArraySpec) else spec
        for var, spec in zip(native.arguments, native.interface.args, strict=True)
    )
    return replace(native, interface=replace(native.interface, args=specs))


def _style(operand: Operand, own: Operand) -> Style:
    """The style of a residual: that which the primal gives it, where it tells."""
    return operand.style if isinstance(operand, Var) else style_of(own)


def _packing(
    primal: Function, values: Sequence[Operand], residuals: Sequence[Operand], what: Saved
) -> Function:
    """The primal whose residuals pass to the outside."""
    passing = [_known(x) for x, packed in zip(residuals, what.packed, strict=True) if not packed]
    packed = tuple(x for x, packed in zip(residuals, what.packed, strict=True) if packed)
    stmts = primal.body.stmts
    if packed:
        op = pack(what)
        data = Var("saved", op.style())
        stmts = (*stmts, Call((data,), op, packed, (), primal.loc))
        passing.append(data)
    return replace(primal, body=Block(stmts), results=(*values, Pack("tuple", tuple(passing))))


def _known(operand: Operand) -> Operand:
    return (
        Const(operand.style.value)
        if isinstance(operand, Var) and isinstance(operand.style, Static)
        else operand
    )


def _unpacking(pullback: Function, residuals: Sequence[Operand], what: Saved) -> Function:
    """The pullback that takes its residuals as they pass."""
    mapping: dict[Var, Operand] = {}
    passing: list[Operand] = []
    packed: list[Var] = []
    for var, style, is_packed in zip(residuals, what.styles, what.packed, strict=True):
        assert isinstance(var, Var)
        mapping[var] = made = Var(var.hint, style)
        (packed if is_packed else passing).append(made)
    stmts = substitute_block(pullback.body, mapping).stmts
    if packed:
        data = Var("saved", pack(what).style())
        passing.append(data)
        stmts = (Call(tuple(packed), unpack(what), (data,), (), pullback.loc), *stmts)
    params = (Param("residuals", Pack("tuple", tuple(passing))), *pullback.params[1:])
    results = tuple(substitute(x, mapping) for x in pullback.results)
    return replace(pullback, params=params, body=Block(stmts), results=results)
