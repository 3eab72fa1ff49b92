"""The meeting of the state at the end of a loop's body with the state at its head.

The head holds parameters (Vars) where values are carried; `inits` gives their values at entry.  After a round, either
every leaf of the head covers what the body ends with (`changed` is False and `yields` holds what is carried on), or the
meeting is the head of the next round, with more carried values, wider styles, frozen references, run-time lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pullback.frontend.joins import Merge, Side, joined_style, plain_style, same_operand
from pullback.frontend.names import Names
from pullback.frontend.values import (
    ArrayCell,
    ArrayRef,
    Cell,
    DictCell,
    FrozenRef,
    FunctionValue,
    GrowingCell,
    Known,
    ListCell,
    Num,
    ObjectCell,
    SliceValue,
    State,
    TupleValue,
    Value,
)
from pullback.ir import core_ops as core
from pullback.ir.nodes import UNDEF, Const, Operand, Pack, Stmt, Var
from pullback.ir.walk import substitute
from pullback.styles.join import below
from pullback.styles.style import (
    Array,
    Axis,
    Dim,
    ListOf,
    Scalar,
    Style,
    Tup,
    fresh_dim,
    is_varying,
    varying,
)

COARSE = 3  # rounds after which what is not settled becomes unknown


@dataclass(slots=True)
class Plan:
    """One loop being lowered: the head of the next round, what enters, and the axes that may vary in the loop."""

    head: State
    inits: dict[Var, Operand]
    first_symbol: int  # axes with a later symbol were made in the loop
    at_head: frozenset[str]  # keys of the names that live at the head
    certain: bool  # the loop runs at least once
    mark: int  # storages with a larger number were made in the loop; those that only snapshots share go by it
    round: int = 0


class LoopMerge(Merge):
    """The head (a) meets the end of the body (b)."""

    def __init__(self, machine: Names, plan: Plan, end: State, body: list[Stmt], keys: Iterable[str]) -> None:
        super().__init__(machine, Side(plan.head, None), Side(end, body), keys)
        self.plan = plan
        self.inits: dict[Var, Operand] = {}
        self.yields: dict[Var, Operand] = {}
        self.changed = False
        self._made: dict[tuple[int, int], Var] = {}

    def read(self, first: bool, value: Value) -> Operand:
        """At the head: what can be had without a statement; else the operand at entry, which a new value carries."""
        if not first:
            return super().read(first, value)
        match value:
            case Known(obj):
                return Const(obj)
            case Num(operand) | FrozenRef(operand):
                return operand
            case ArrayRef(_, ()):
                cell = self._content(True, value)
                assert isinstance(cell, ArrayCell)
                return cell.operand
        self.changed = True
        return self._at_entry(value)

    def _at_entry(self, value: Value) -> Operand:
        machine = self.machine
        mapping: Mapping[Var, Operand] = self.plan.inits
        saved, machine.state = machine.state, map_state(self.plan.head, lambda x: substitute(x, mapping))
        try:
            operand = machine.operand(map_value(value, lambda x: substitute(x, mapping)))
            return operand
        finally:
            machine.state = saved

    def refine(self, key: str, a: Value | None, b: Value | None) -> tuple[Value | None, Value | None]:
        """A name that is bound anew before it is read in each iteration need not have its old value at the head."""
        if key in self.plan.at_head or not self.plan.certain or a is None or b is None:
            return a, b
        carried = isinstance(a, Num) and a.operand in self.plan.inits
        return (a, b) if carried or type(a) is type(b) else (None, b)

    def slot(self, a: Operand, b: Operand, hint: str) -> Operand:
        """The carried value for `a` at the head and `b` at the end of the body."""
        if isinstance(a, Var) and a in self.plan.inits:
            return self._carried(a, b, hint)
        if same_operand(a, b):
            return a
        return self._new(substitute(a, self.plan.inits), a, b, hint)

    def _carried(self, param: Var, end: Operand, hint: str) -> Operand:
        style = core.style_of(end)
        fits = end is param or below(style, param.style, self._is_free)
        if fits and (param not in self.yields or same_operand(self.yields[param], end)):
            self.inits[param] = self.plan.inits[param]
            self.yields[param] = end
            return param
        return self._new(self.plan.inits[param], param, end, param.hint)

    def _is_free(self, dim: Dim) -> bool:
        return dim.sym >= self.plan.first_symbol

    def _new(self, init: Operand, a: Operand, b: Operand, hint: str) -> Operand:
        self.changed = True
        key = (id(a), id(b))
        if key not in self._made:
            style = self._refreshed(_run_time(joined_style(a, b)))
            if self.plan.round >= COARSE:
                style = _coarse(style)
            var = Var(hint, style)
            self._made[key] = var
            self.inits[var] = init
            self.yields[var] = b
        return self._made[key]

    def _refreshed(self, style: Style) -> Style:
        """Each carried value has its own symbols for the lengths that vary in the loop: no two are said to be equal."""

        def axis(a: Axis, in_list: bool) -> Axis:
            if not isinstance(a, Dim) or not self._is_free(a):
                return a
            return varying(a.not_one) if in_list else fresh_dim(a.not_one)

        return map_axes(style, axis)

    def _note_kinds(self, a: Value | None, b: Value | None, first: Operand, second: Operand) -> None:
        if isinstance(first, Const) and first.value is UNDEF:
            return
        super()._note_kinds(a, b, first, second)

    def mark(self, number: int) -> int:
        """Those made in the loop have another number in each round."""
        return min(number, self.plan.mark)

    def aside(self, number: int) -> int:
        """One mark for all."""
        return self.plan.mark

    def note_unsettled(self) -> None:
        """Only what lives at the head can be settled by an iteration."""
        if self.current is None or self.current in self.plan.at_head:
            self.unsettled = True

    def growing(self, a: Cell | None, b: Cell | None, hint: str, param: str) -> Cell:
        """A list whose length changes in the loop; its shares are those of all iterations."""
        out = super().growing(a, b, hint, param)
        assert isinstance(out, GrowingCell)
        if not isinstance(a, GrowingCell) or not out.shares <= a.shares:
            self.changed = True
        return out

    def _as_list(self, first: bool, cell: Cell | None) -> tuple[Operand, frozenset[int]]:
        if first and isinstance(cell, ListCell):
            packed = Pack("list", tuple(self._at_entry(v) for v in cell.items))
            shares: frozenset[int] = frozenset()
            for v in cell.items:
                shares |= self._cells_of(True, v)
            return self.machine.builder.call(core.make_list, packed, hint="items"), shares
        return super()._as_list(first, cell)

    def _leaf(self, a: Value | None, b: Value | None, hint: str) -> Value:
        out = super()._leaf(a, b, hint)
        if isinstance(out, FrozenRef) and not (isinstance(a, FrozenRef) and out.cells <= a.cells):
            self.changed = True
        return out

    def value(self, a: Value | None, b: Value | None, hint: str) -> Value:
        """The joined value."""
        out = super().value(a, b, hint)
        if a is None or (type(out) is not type(a)):
            self.changed = True
        return out


# ------------------------------------------------------------------------------------------------------- helpers


def _run_time(style: Style) -> Style:
    style = plain_style(style)
    return replace(style, length=None) if isinstance(style, Scalar) and style.length is not None else style


def carried_style(operand: Operand) -> Style:
    """The first guess of the style of a carried value."""
    return _run_time(core.style_of(operand))


def _coarse(style: Style) -> Style:
    if isinstance(style, Array):
        return Array(style.dtype, None, False, style.kind)
    if isinstance(style, ListOf):
        return ListOf(_coarse(style.elem))
    return style


def map_axes(style: Style, fn: Callable[[Axis, bool], Axis], in_list: bool = False) -> Style:
    """The style with each axis replaced; `fn` is told whether it is of a list's items."""
    match style:
        case Scalar(length=length) if length is not None:
            new = fn(length, in_list)
            return replace(style, length=None if is_varying(new) else new)
        case Array(axes=axes) if axes is not None:
            return replace(style, axes=tuple(fn(a, in_list) for a in axes))
        case Tup(items):
            return replace(style, items=tuple(map_axes(s, fn, in_list) for s in items))
        case ListOf(elem):
            return ListOf(map_axes(elem, fn, True))
    return style


Mapped = Callable[[Operand], Operand]


def map_state(state: State, fn: Mapped) -> State:
    """The state with every operand in it replaced."""
    names = {k: map_value(v, fn) for k, v in state.names.items()}
    return State(names, {n: map_cell(c, fn) for n, c in state.cells.items()}, state.dead)


def map_value(value: Value, fn: Mapped) -> Value:
    """A value with its operands replaced."""
    match value:
        case Num(operand):
            new = fn(operand)
            if isinstance(new, Const) and new.value is not UNDEF:
                return Known(new.value)
            return value if new is operand else Num(new)
        case FrozenRef(operand):
            new = fn(operand)
            return value if new is operand else replace(value, operand=new)
        case ArrayRef(_, path) if path:
            steps: Any = tuple(fn(step) for step in path)
            return value if steps == path else replace(value, path=steps)
        case TupleValue(items):
            mapped = tuple(map_value(v, fn) for v in items)
            return value if mapped == items else replace(value, items=mapped)
        case SliceValue(start, stop, step):
            return SliceValue(*[map_value(v, fn) for v in (start, stop, step)])
        case FunctionValue() if value.defaults or value.kw_defaults:
            named = {k: map_value(v, fn) for k, v in value.kw_defaults.items()}
            return replace(value, defaults=tuple(map_value(v, fn) for v in value.defaults), kw_defaults=named)
    return value


def map_cell(cell: Cell, fn: Mapped) -> Cell:
    """A cell with the operands in it replaced."""
    match cell:
        case ArrayCell(operand) | GrowingCell(operand):
            new = fn(operand)
            return cell if new is operand else replace(cell, operand=new)
        case ListCell(items):
            return replace(cell, items=tuple(map_value(v, fn) for v in items))
        case DictCell(items):
            return replace(cell, items={k: map_value(v, fn) for k, v in items.items()})
        case ObjectCell(_, fields):
            return replace(cell, fields={k: map_value(v, fn) for k, v in fields.items()})


__all__ = ["LoopMerge", "Plan", "carried_style", "map_axes", "map_cell", "map_state", "map_value"]
