"""The reversal of one loop.

The reverse loop runs over the saved lists and the reversed range in step, and carries the cotangents of the carried
values and of the values from outside that the body reads.  The iterations that ran are counted where a test or a `go`
ends the loop; otherwise the range itself says how many there were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from pullback.errors import Loc
from pullback.ir import core_ops as core
from pullback.ir.builder import Builder
from pullback.ir.core_ops import OPERATORS, style_of
from pullback.ir.nodes import (
    UNDEF,
    Block,
    Call,
    Const,
    For,
    Iter,
    Operand,
    Pack,
    Range,
    Seq,
    Stmt,
    Var,
    While,
    list_hint,
)
from pullback.ir.walk import definitions, free_variables, targets
from pullback.styles.join import below, covering
from pullback.styles.style import PY_INT, Array, ListOf, Scalar, Style, numeric
from pullback.transform.bars import Bars
from pullback.transform.cotangents import add, bar_hint, bar_style, known, zero
from pullback.transform.residuals import Lengths, Needs, resolve


class Facts(Protocol):
    """The analyses' results, as far as a loop needs them."""

    active: set[Var]
    unbound: set[Var]
    kept: dict[Var, Call]
    lengths: Lengths


class Sweeping(Protocol):
    """The reverse sweep, as far as a loop needs it."""

    builder: Builder
    bars: Bars
    again: list[tuple[Var, Call]]

    @property
    def facts(self) -> Facts: ...

    def zero(self, var: Var) -> Operand: ...

    def accumulate_exact(self, operand: Operand, bar: Operand | None) -> None: ...

    def block(self, stmts: Sequence[Stmt]) -> list[Stmt]: ...


@dataclass(slots=True)
class _Slot:
    """A carried cotangent, of `var` inside the loop.

    `param` is the cotangent at the end of a forward iteration, `result` that at entry of the loop; both have a style
    for all iterations, and `at_end` and `at_entry` are what more is known there.  `steady`: the value has one shape in
    all iterations, as far as styles prove it.
    """

    var: Var
    init: Operand
    param: Var
    result: Var
    at_end: Style
    at_entry: Style
    steady: bool = True


@dataclass(slots=True)
class _Reverse:
    """The reverse loop being put together."""

    params: list[Var] = field(default_factory=list)
    inits: list[Operand] = field(default_factory=list)
    ends: list[Operand] = field(default_factory=list)
    iters: list[tuple[Var, Iter]] = field(default_factory=list)


def reverse_loop(sweep: Sweeping, stmt: For | While) -> list[Stmt]:
    """Emit the reverse of a loop; returns the forward loop with what it saves."""
    return _Reversal(sweep, stmt).run()


class _Reversal:
    def __init__(self, sweep: Sweeping, stmt: For | While) -> None:
        self.sweep = sweep
        self.builder = sweep.builder
        self.active = sweep.facts.active
        self.stmt, self.count = _counted(stmt)
        self.position = Var("k", PY_INT)  # the number of the iteration, for the cotangents of list items
        inside = {*definitions(stmt.body), *stmt.params, *_index(stmt)}
        free = free_variables(stmt.body, stmt.yields)
        self.outer = [v for v in free if v in self.active and v not in inside]
        slots = zip(stmt.params, stmt.results, strict=True)
        self.carried = [k for k, (p, r) in enumerate(slots) if p in self.active or r in self.active]

    def run(self) -> list[Stmt]:
        carried = [self._carried_slot(k) for k in self.carried]
        outer = [self._outer_slot(v) for v in self.outer + self._lists()]
        forward, reverse, table = self._body(carried, outer)
        used = [s for s in outer if table.get(s.var) is not s.param]
        ends = self._ends(carried, used, table, reverse)
        needs = self._resolve(forward, reverse, ends)
        self.sweep.again += needs.again
        new_stmt = self._emit(carried + used, needs)
        return [new_stmt]

    # ------------------------------------------------------------------------------------ carried cotangents

    def _carried_slot(self, k: int) -> _Slot:
        result, param = self.stmt.results[k], self.stmt.params[k]
        init, end = self.stmt.inits[k], self.stmt.yields[k]
        unbound = self.sweep.facts.unbound
        steady = _steady(self.stmt, k)
        bar = self.sweep.bars.pop(result)
        if bar is None:
            bar = self.sweep.zero(result)
        at_end = bar_style(_style(end, param), loose=param in unbound or end in unbound)
        at_entry = bar_style(_style(init, param), loose=param in unbound)
        style = covering(bar_style(param.style, loose=param in unbound), at_end, at_entry, style_of(bar))
        if below(style_of(bar), at_end) and below(bar_style(param.style), at_end):
            style = at_end
        slot = (Var(bar_hint(param), style), Var(bar_hint(param), style))
        return _Slot(param, bar, *slot, at_end, at_entry, steady and param not in unbound)

    def _outer_slot(self, var: Var) -> _Slot:
        bar = self.sweep.bars.get(var)
        init = self.sweep.zero(var) if bar is None else bar
        style = bar_style(var.style, var in self.sweep.facts.unbound)
        init = known(self.builder, init, style)
        return _Slot(var, init, Var(bar_hint(var), style), Var(bar_hint(var), style), style, style)

    def _lists(self) -> list[Var]:
        """The run-time lists whose active items the loop runs over."""
        return [it.value for _, it in self._active_items() if it.value not in self.outer]  # type: ignore[misc]

    def _active_items(self) -> list[tuple[Var, Seq]]:
        if not isinstance(self.stmt, For):
            return []
        pairs = zip(self.stmt.index, self.stmt.iters, strict=True)
        return [
            (i, it)
            for i, it in pairs
            if i in self.active and isinstance(it, Seq) and isinstance(it.value, Var)
        ]

    # ---------------------------------------------------------------------------------------------- the body

    def _body(self, carried: Sequence[_Slot], outer: Sequence[_Slot]) -> tuple[list[Stmt], list[Stmt], Bars]:
        sweep = self.sweep
        before, sweep.bars = sweep.bars, Bars()
        try:
            with self.builder.block() as reverse:
                for slot in outer:
                    sweep.bars.set(slot.var, slot.param)
                for k, slot in zip(self.carried, carried, strict=True):
                    bar = known(self.builder, slot.param, slot.at_end)
                    sweep.accumulate_exact(self.stmt.yields[k], bar)
                forward = sweep.block(self.stmt.body.stmts)
                for index, it in self._active_items():
                    self._item_bar(index, it)
            return forward, reverse, sweep.bars
        finally:
            sweep.bars = before

    def _item_bar(self, index: Var, it: Seq) -> None:
        """Put an item's cotangent into the cotangent of the list the loop runs over."""
        bar = self.sweep.bars.pop(index)
        assert isinstance(it.value, Var)
        whole = self.sweep.bars.get(it.value)
        if bar is None or whole is None:
            return
        old = self.builder.call(core.list_get, whole, self.position, hint=bar_hint(index))
        more = add(self.builder, index, old, bar)
        new = self.builder.call(core.list_set, whole, more, self.position, hint=bar_hint(it.value))
        self.sweep.bars.set(it.value, new)

    def _ends(
        self, carried: Sequence[_Slot], outer: Sequence[_Slot], table: Bars, reverse: list[Stmt]
    ) -> tuple[Operand, ...]:
        """The carried cotangents at the end of a reverse iteration."""
        ends: list[Operand] = []
        with self.builder.block() as more:
            for slot in (*carried, *outer):
                bar = table.get(slot.var)
                bar = self._no_more(slot) if bar is None else bar
                ends.append(known(self.builder, bar, slot.param.style))
        reverse += more
        return tuple(ends)

    def _no_more(self, slot: _Slot) -> Operand:
        """The cotangent of a carried value that an iteration does not read."""
        if slot.steady and isinstance(numeric(slot.param.style), Array):
            return zero(self.builder, slot.param, False)
        return self.sweep.zero(slot.var)

    # ------------------------------------------------------------------------------------ putting it together

    def _resolve(self, forward: list[Stmt], reverse: list[Stmt], ends: tuple[Operand, ...]) -> Needs:
        ranges = {self.position}
        if isinstance(self.stmt, For):
            ranges |= {
                v for v, it in zip(self.stmt.index, self.stmt.iters, strict=True) if self._reversible(it)
            }
        heads = (*self.stmt.params, *_index(self.stmt), self.position)
        facts = self.sweep.facts
        return resolve(forward, heads, reverse, ends, facts.kept, lambda v: v in ranges, facts.lengths)

    def _emit(self, slots: Sequence[_Slot], needs: Needs) -> For | While:
        out = _Reverse([s.param for s in slots], [s.init for s in slots])
        restored = self._restored(needs)
        new_stmt, items = self._save(needs, [v for v in needs.saved if v not in restored], out)
        mapping: dict[Var, Operand] = dict(items)
        for end, (param, k) in restored.items():
            again = Var(end.hint, end.style)
            mapping[end] = again
            out.params.append(again)
            out.inits.append(new_stmt.results[k])
            out.ends.append(items[param])
        self._range_iters(needs, out, mapping)
        needs.bind(mapping)
        results = (*(s.result for s in slots), *(Var(p.hint, p.style) for p in out.params[len(slots) :]))
        index, iters = tuple(v for v, _ in out.iters), tuple(it for _, it in out.iters)
        ends = (*needs.ends, *out.ends)
        self.builder.add(
            For(
                index,
                iters,
                tuple(out.params),
                tuple(out.inits),
                needs.reverse,
                ends,
                results,
                loc=self.stmt.loc,
            )
        )
        self._after(slots, results)
        return new_stmt

    def _restored(self, needs: Needs) -> dict[Var, tuple[Var, int]]:
        """Values that a slot yields, where the slot's value at entry is saved too: the reverse loop carries them.

        The value at the end of an iteration is the value at entry of the next, so one list serves both.
        """
        found: dict[Var, tuple[Var, int]] = {}
        for k, (param, end) in enumerate(zip(self.stmt.params, self.stmt.yields, strict=True)):
            if (
                param in needs.saved
                and isinstance(end, Var)
                and end in needs.saved
                and end not in self.stmt.params
            ):
                found.setdefault(end, (param, k))
        return found

    def _save(
        self, needs: Needs, saved: Sequence[Var], out: _Reverse
    ) -> tuple[For | While, dict[Var, Operand]]:
        """The forward loop with a list for each saved value, and the names of their items in the reverse loop."""
        stmt = self.stmt
        lists = [Var(list_hint(v.hint), ListOf(v.style)) for v in saved]
        longer = [Var(x.hint, x.style) for x in lists]
        results = [Var(x.hint, x.style) for x in lists]
        saves = dict(zip(saved, zip(lists, longer, strict=True), strict=True))
        items: dict[Var, Operand] = {}
        for var, result in zip(saved, results, strict=True):
            item = Var(f"{var.hint}_in" if var in stmt.params else var.hint, var.style)
            items[var] = item
            out.iters.append((item, Seq(result, reverse=True)))
        new_stmt = replace(
            stmt,
            params=(*stmt.params, *lists),
            inits=(*stmt.inits, *(Pack("list", ()) for _ in lists)),
            body=Block(tuple(_with_appends(needs.forward, stmt, saves))),
            yields=(*stmt.yields, *longer),
            results=(*stmt.results, *results),
        )
        return new_stmt, items

    def _range_iters(self, needs: Needs, out: _Reverse, mapping: dict[Var, Operand]) -> None:
        """Iterators for the indices that the reverse body reads; one at least, if no saved list gives the count."""
        free = free_variables(needs.reverse, needs.ends)
        found: list[tuple[Var, Iter]] = []
        if isinstance(self.stmt, For):
            for index, it in zip(self.stmt.index, self.stmt.iters, strict=True):
                if self._reversible(it) and index in free:
                    assert isinstance(it, Range)
                    found.append((Var(index.hint, index.style), self._backwards(it)))
                    mapping[index] = found[-1][0]
        if self.position in free:
            found.append((Var("k", PY_INT), self._numbers()))
            mapping[self.position] = found[-1][0]
        if not found and not out.iters:
            found.append((Var("_", PY_INT), self._numbers()))
        out.iters[:0] = found

    def _reversible(self, it: Iter) -> bool:
        """Whether the index can be had by running the range backwards (a cut reversed range has no such form)."""
        return isinstance(it, Range) and not (it.reverse and self.count is not None)

    def _backwards(self, it: Range) -> Range:
        return replace(it, count=self.count or it.count, reverse=not it.reverse)

    def _numbers(self) -> Range:
        """As many numbers as iterations ran, the last first."""
        count: Operand | None = self.count
        if count is None:
            assert isinstance(self.stmt, For)
            it = self.stmt.iters[0]
            if isinstance(it, Range) and self.stmt.iters[1:] == ():
                return self._backwards(it)
            source = next((x.value for x in self.stmt.iters if isinstance(x, Seq)), None)
            if source is None:
                return self._backwards(it)  # type: ignore[arg-type]
            count = self.builder.call(core.list_len, source, hint="count")
        return Range(Const(0), count, Const(1), reverse=True)

    def _after(self, slots: Sequence[_Slot], results: Sequence[Var]) -> None:
        """Hand the cotangents at the loop's entry to the values there."""
        bars = list(zip(slots, results, strict=False))
        for slot, bar in bars[len(self.carried) :]:
            self.sweep.bars.set(slot.var, bar)
        for k, (slot, bar) in zip(self.carried, bars, strict=False):
            init = self.stmt.inits[k]
            if isinstance(init, Pack):
                self._into_pack(init, bar)
            else:
                self.sweep.accumulate_exact(init, known(self.builder, bar, slot.at_entry))

    def _into_pack(self, init: Pack, bar: Var) -> None:
        """A carried run-time list that starts as a display: the cotangents of its first items."""
        for i, item in enumerate(init.items):
            if isinstance(item, Var) and item in self.active:
                part = self.builder.call(core.list_get, bar, Const(i), hint=bar_hint(item))
                self.sweep.accumulate_exact(item, part)


def _index(stmt: For | While) -> tuple[Var, ...]:
    return stmt.index if isinstance(stmt, For) else ()


def _counted(stmt: For | While) -> tuple[For | While, Var | None]:
    """The loop with a slot that counts its iterations, where only the run time knows them."""
    if isinstance(stmt, For) and stmt.go is None:
        return stmt, None
    before, after, count = (Var("count", PY_INT) for _ in range(3))
    step = Call((after,), OPERATORS["+"], (before, Const(1)), loc=stmt.loc)
    counted = replace(
        stmt,
        params=(*stmt.params, before),
        inits=(*stmt.inits, Const(0)),
        body=Block((*stmt.body.stmts, step)),
        yields=(*stmt.yields, after),
        results=(*stmt.results, count),
    )
    return counted, count


def _style(operand: Operand, param: Var) -> Style:
    """The style of a carried value at one end of an iteration."""
    return operand.style if isinstance(operand, Var) else param.style


def _steady(stmt: For | While, k: int) -> bool:
    """Whether a carried value has one shape at entry and after every iteration, as far as styles prove it."""
    init = stmt.inits[k]
    if isinstance(init, Const) and init.value is UNDEF:
        return False
    styles = [numeric(style_of(x)) for x in (init, stmt.params[k], stmt.yields[k])]
    if isinstance(styles[1], ListOf) or all(isinstance(s, Scalar) for s in styles):
        return True
    axes = {s.axes for s in styles if isinstance(s, Array)}
    return all(isinstance(s, Array) for s in styles) and len(axes) == 1 and None not in axes


def _with_appends(
    forward: Sequence[Stmt], stmt: For | While, saves: dict[Var, tuple[Var, Var]]
) -> list[Stmt]:
    """The forward body with each saved value appended to its list right after it is bound."""
    body: list[Stmt] = []

    def append(var: Var, loc: Loc) -> None:
        if var in saves:
            before, after = saves[var]
            body.append(Call((after,), core.list_append, (before, var), loc=loc))

    for var in (*stmt.params, *_index(stmt)):
        append(var, stmt.loc)
    for inner in forward:
        body.append(inner)
        for var in targets(inner):
            append(var, inner.loc)
    return body
