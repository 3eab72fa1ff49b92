"""Seeded faults: each breaks the compiler in one place, as a slip of the hand would.

A fault is a function that patches the compiler; the random programs must find it.  The late ones are those that only
one program in some hundred shows: they run under `--long`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from pullback.dispatch import entry, outside
from pullback.frontend import machine, sharing
from pullback.ir import core_ops as core
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import FRESH, Call, Const, Seq, Var
from pullback.passes import slots
from pullback.passes.buffers import decide
from pullback.rules.registry import op_of
from pullback.styles.style import Array, Scalar
from pullback.transform import (
    cotangents,
    gradient,
    pull_back,
    residuals,
    reverse,
    reverse_access,
    reverse_loop,
)

# modules that a function of their name hides
cse, dce, fold, simplify = (
    importlib.import_module(f"pullback.passes.{m}") for m in ("cse", "dce", "fold", "simplify")
)

Patch = pytest.MonkeyPatch
Patcher = Callable[[Patch], None]


@dataclass(frozen=True, slots=True)
class Fault:
    """A way to break the compiler; `late`: it takes many programs to find."""

    apply: Patcher
    late: bool = False


FAULTS: dict[str, Fault] = {}


def fault(apply: Patcher) -> Patcher:
    """Enter a fault in the table."""
    FAULTS[apply.__name__] = Fault(apply)
    return apply


def late_fault(apply: Patcher) -> Patcher:
    """Enter a fault in the table that many programs do not show."""
    FAULTS[apply.__name__] = Fault(apply, late=True)
    return apply


def _rule(patch: Patch, op: Any, rule: Callable[..., None]) -> None:
    patch.setitem(
        reverse_access.ACCESS_RULES, op, lambda s, c, bar: rule(s, c, bar) if bar is not None else None
    )


# ------------------------------------------------------------------------------------------------- cotangents


@fault
def no_unbroadcast(patch: Patch) -> None:
    patch.setattr(cotangents, "_unbroadcast", lambda builder, bar, var: bar)


@fault
def unbroadcast_over_the_wrong_axis(patch: Patch) -> None:
    real = cotangents._axis
    patch.setattr(cotangents, "_axis", lambda axes: -1 - axes[0] if len(axes) == 1 else real(axes))


@fault
def no_unbroadcast_to_numbers(patch: Patch) -> None:
    real = cotangents._unbroadcast

    def wrong(builder: Any, bar: Any, var: Var) -> Any:
        if isinstance(var.style, Scalar) and isinstance(style_of(bar), Array):
            return builder.call(op_of(np.mean), bar, hint="bar")
        return real(builder, bar, var)

    patch.setattr(cotangents, "_unbroadcast", wrong)


@fault
def dropped_accumulation(patch: Patch) -> None:
    for module in (reverse, reverse_access, reverse_loop):
        if hasattr(module, "add"):
            patch.setattr(module, "add", lambda builder, var, old, more: more)


@fault
def accumulation_of_the_old_one_only(patch: Patch) -> None:
    real = cotangents.add
    patch.setattr(reverse, "add", lambda b, var, old, more: real(b, var, old, more) if old is None else old)


@fault
def lost_sign(patch: Patch) -> None:
    real = pull_back._scaled

    def wrong(builder: Any, rule: Any, param: str, names: Any, out_bar: Any) -> Any:
        minus = rule.partials[param].strip() in ("-1", "-1.0")
        return out_bar if minus else real(builder, rule, param, names, out_bar)

    patch.setattr(pull_back, "_scaled", wrong)


@fault
def no_projection_of_a_returned_number(patch: Patch) -> None:
    def wrong(builder: Any, bar: Any, var: Var) -> Any:
        return cotangents.zero(builder, var, False) if bar is None else cotangents.exact(builder, var, bar)

    patch.setattr(gradient, "to_parameter", wrong)


@fault
def inactive_numbers(patch: Patch) -> None:
    real = gradient.active_variables

    def wrong(*args: Any) -> set[Var]:
        return {v for v in real(*args) if not (isinstance(v.style, Scalar) and v.hint.startswith("s"))}

    patch.setattr(gradient, "active_variables", wrong)


# ----------------------------------------------------------------------------------------------- element access


@fault
def store_without_kill(patch: Patch) -> None:
    def wrong(sweep: Any, call: Call, bar: Any) -> None:
        array, value, steps = call.args[0], call.args[1], call.args[2:]
        if sweep.is_active(value):
            part = reverse_access._surviving(sweep, array, bar, steps) if steps else bar
            reverse_access._contribute(sweep, value, part)
        if sweep.is_active(array):
            sweep.accumulate(array, bar)

    _rule(patch, core.store, wrong)


@fault
def stored_value_without_cotangent(patch: Patch) -> None:
    def wrong(sweep: Any, call: Call, bar: Any) -> None:
        array, steps = call.args[0], call.args[2:]
        if sweep.is_active(array) and steps:
            sweep.accumulate(array, sweep.builder.call(core.store, bar, Const(0.0), *steps))

    _rule(patch, core.store, wrong)


@fault
def load_overwrites(patch: Patch) -> None:
    def wrong(sweep: Any, call: Call, bar: Any) -> None:
        array, steps = call.args[0], call.args[1:]
        old = sweep.bars.get(array)
        whole = cotangents.exact(sweep.builder, array, sweep.zero(array) if old is None else old)
        sweep.bars.set(array, sweep.builder.call(core.store, whole, bar, *steps))

    _rule(patch, core.load, wrong)


@fault
def repeated_writes_all_survive(patch: Patch) -> None:
    patch.setattr(reverse_access, "_writes_each_place_once", lambda sweep, steps: True)


@fault
def appended_value_without_cotangent(patch: Patch) -> None:
    def wrong(sweep: Any, call: Call, bar: Any) -> None:
        if sweep.is_active(call.args[0]):
            sweep.accumulate(call.args[0], sweep.builder.call(core.list_drop, bar))

    _rule(patch, core.list_append, wrong)


@fault
def wrong_item_of_a_list(patch: Patch) -> None:
    def wrong(sweep: Any, call: Call, bar: Any) -> None:
        items, value = call.args
        if reverse_access._live(sweep, value):
            item = sweep.builder.call(core.list_get, bar, Const(0))
            reverse_access._item(sweep, value, item)
        if sweep.is_active(items):
            sweep.accumulate(items, sweep.builder.call(core.list_drop, bar))

    _rule(patch, core.list_append, wrong)


# ------------------------------------------------------------------------------------------- loops and branches


@fault
def saved_values_read_forwards(patch: Patch) -> None:
    real = reverse_loop._Reversal._save

    def wrong(self: Any, needs: Any, saved: Any, out: Any) -> Any:
        found = real(self, needs, saved, out)
        out.iters[:] = [(v, replace(it, reverse=False) if isinstance(it, Seq) else it) for v, it in out.iters]
        return found

    patch.setattr(reverse_loop._Reversal, "_save", wrong)


@fault
def range_run_forwards(patch: Patch) -> None:
    patch.setattr(
        reverse_loop._Reversal, "_backwards", lambda self, it: replace(it, count=self.count or it.count)
    )


@fault
def last_partial_iteration_forgotten(patch: Patch) -> None:
    real = reverse_loop._counted

    def wrong(stmt: Any) -> Any:
        counted, count = real(stmt)
        if count is None:
            return counted, count
        return replace(counted, inits=(*counted.inits[:-1], Const(-1))), count

    patch.setattr(reverse_loop, "_counted", wrong)


@fault
def cotangent_kept_through_an_iteration_that_rebinds(patch: Patch) -> None:
    patch.setattr(reverse_loop._Reversal, "_no_more", lambda self, slot: slot.param)


@fault
def restored_from_another_slot(patch: Patch) -> None:
    real = reverse_loop._Reversal._restored

    def wrong(self: Any, needs: Any) -> Any:
        return {end: (param, 0) for end, (param, _) in real(self, needs).items()}

    patch.setattr(reverse_loop._Reversal, "_restored", wrong)


@fault
def values_of_another_iteration(patch: Patch) -> None:
    real = reverse_loop._with_appends

    def wrong(forward: Any, stmt: Any, saves: Any) -> Any:
        ends = {p: y for p, y in zip(stmt.params, stmt.yields, strict=True) if isinstance(y, Var)}
        body = real(forward, stmt, saves)
        first = [c for c in body if isinstance(c, Call) and c.op is core.list_append and c.args[1] in ends]
        late = [replace(c, args=(c.args[0], ends[c.args[1]])) for c in first]
        return [c for c in body if c not in first] + late

    patch.setattr(reverse_loop, "_with_appends", wrong)


@fault
def branch_forgets_what_came_before(patch: Patch) -> None:
    real = reverse.Sweep._branch_ends

    def wrong(self: Any, table: Any, wanted: Any, stmts: Any) -> Any:
        ends = real(self, table, wanted, stmts)
        with self.builder.block() as more:
            ends = tuple(
                e if v in table.changed() else self.zero(v) for v, e in zip(wanted, ends, strict=True)
            )
        stmts += more
        return ends

    patch.setattr(reverse.Sweep, "_branch_ends", wrong)


@fault
def join_mixes_up_its_results(patch: Patch) -> None:
    real = reverse.Sweep._branch_ends
    patch.setattr(reverse.Sweep, "_branch_ends", lambda self, *args: _turned(real(self, *args)))


def _turned(ends: tuple[Any, ...]) -> tuple[Any, ...]:
    """The cotangents that a branch yields, one place on."""
    return (*ends[1:], *ends[:1])


@fault
def everything_is_recomputed(patch: Patch) -> None:
    def wrong(self: Any, var: Var, plan: dict[int, Any], depth: int) -> bool:
        stmt = self.defined.get(var)
        if var not in self.inside or var in self.saved or self.at_hand(var) or stmt is None:
            return True
        plan[id(stmt)] = stmt
        return True

    patch.setattr(residuals._Decision, "_plan", wrong)


# ------------------------------------------------------------------------------------------------------- passes


@fault
def cse_across_versions(patch: Patch) -> None:
    real = cse.operand_key

    def wrong(operand: Any) -> Any:
        array = isinstance(operand, Var) and isinstance(operand.style, Array)
        return ("array", operand.hint) if array else real(operand)

    patch.setattr(cse, "operand_key", wrong)


@fault
def constants_by_value_alone(patch: Patch) -> None:
    patch.setattr(
        cse,
        "constant_key",
        lambda value: ("const", abs(value)) if isinstance(value, int | float) else id(value),
    )


@fault
def dead_code_that_lives(patch: Patch) -> None:
    real = dce._Graph.rebuild

    def wrong(self: Any, block: Any) -> Any:
        kept = real(self, block)
        gone = [
            s for s in kept.stmts if isinstance(s, Call) and s.op is core.store and isinstance(s.args[0], Var)
        ]
        if not gone or self.reads.get(gone[0].targets[0]) is None:
            return kept
        return replace(
            kept,
            stmts=tuple(replace(s, op=core.copy, args=s.args[:1]) if s is gone[0] else s for s in kept.stmts),
        )

    patch.setattr(dce._Graph, "rebuild", wrong)


@fault
def dead_slots_that_live(patch: Patch) -> None:
    real = dce._Graph._define
    patch.setattr(
        dce._Graph, "_define", lambda self, var, reads, owner: real(self, var, list(reads)[:1], owner)
    )


@fault
def loops_over_constants_vanish(patch: Patch) -> None:
    patch.setattr(
        fold._Fold,
        "_is_empty",
        lambda self, it: all(isinstance(x, Const) for x in (it.start, it.stop, it.step)),
    )


@fault
def branches_forward_one_side(patch: Patch) -> None:
    patch.setattr(slots, "operand_key", lambda operand: 0)


@fault
def every_sum_begins_at_zero(patch: Patch) -> None:
    patch.setattr(simplify, "_is_zeros", lambda walk, operand: operand in walk.made)


@fault
def doubling_by_three(patch: Patch) -> None:
    real = simplify._doubled

    def wrong(walk: Any, call: Call) -> Call:
        found = real(walk, call)
        return found if found is call else replace(found, args=(Const(3.0), *found.args[1:]))

    patch.setattr(simplify, "_doubled", wrong)


# ------------------------------------------------------------------------------------------------ memory, guards


@fault
def residual_not_copied(patch: Patch) -> None:
    real = decide._Decide.own_results

    def wrong(self: Any, function: Any, owned: int) -> None:
        real(self, function, owned)
        if function.kind == "primal":
            self.out.results[:] = [False] * len(self.out.results)

    patch.setattr(decide._Decide, "own_results", wrong)


@fault
def shared_cotangents(patch: Patch) -> None:
    real = decide._Decide.own_results

    def wrong(self: Any, function: Any, owned: int) -> None:
        real(self, function, owned)
        if function.kind != "primal":
            self.out.results[:] = [False] * len(self.out.results)

    patch.setattr(decide._Decide, "own_results", wrong)


@fault
def every_write_in_place(patch: Patch) -> None:
    patch.setattr(decide._Decide, "_hindered", lambda self, stmt: frozenset())


@fault
def parameters_are_owned(patch: Patch) -> None:
    real = decide._Decide._hindered
    patch.setattr(
        decide._Decide,
        "_hindered",
        lambda self, stmt: frozenset(r for r in real(self, stmt) if self.regions.held(r)),
    )


@fault
def loads_are_said_to_be_fresh(patch: Patch) -> None:
    real = decide.Sharing.results

    def wrong(self: Any, call: Call) -> Any:
        fresh = replace(call.op, alias=FRESH)
        return real(self, replace(call, op=fresh) if call.op is core.load else call)

    patch.setattr(decide.Sharing, "results", wrong)


@fault
def writes_through_views_are_lost(patch: Patch) -> None:
    real = machine.Core.write

    def wrong(self: Any, target: Any, steps: Any, value: Any) -> None:
        if not getattr(target, "path", ()):
            real(self, target, steps, value)

    patch.setattr(machine.Core, "write", wrong)


@fault
def stale_guards(patch: Patch) -> None:
    patch.setattr(outside.Watch, "holds", lambda self, values: True)
    patch.setattr(entry._Entry, "guard", lambda self, guard: None)


@late_fault
def what_is_shared_by_one_path_may_be_written(patch: Patch) -> None:
    patch.setattr(sharing.Sharing, "_touches", lambda self, value, target: False)


@fault
def views_keep_what_they_showed(patch: Patch) -> None:
    patch.setattr(machine.Core, "view", lambda self, array, step: self.wrap(_seen(self, array, step)))


def _seen(machine: Any, array: Any, step: Any) -> Any:
    """The elements of a view as they are now."""
    if step.kind == "view":
        return machine.builder.call(step.meta, machine.operand(array), *step.items)
    return machine.builder.call(core.load, machine.operand(array), step)
