"""Loops, lowered to a fixpoint of carried values, their styles, and the partition of names into storages.

A round lowers the body from an assumed state at the loop's head and lets the state at its end meet the head.  What
differs and is not carried yet becomes carried; a carried style that is too narrow is widened; a list whose length
changes becomes a run-time list; references that disagree are frozen.  Then the body is lowered again.  A loop whose
values change kind after one iteration is peeled once, under the test that it runs at all.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from pullback.frontend import library
from pullback.frontend.branches import Branches, shown_name
from pullback.frontend.joins import Meeting, is_constant
from pullback.frontend.library import iteration
from pullback.frontend.machine import Unroll
from pullback.frontend.refusals import refuse
from pullback.frontend.values import (
    ArrayCell,
    ArrayRef,
    Cell,
    CellRef,
    DictCell,
    FrozenRef,
    GrowingCell,
    IterValue,
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
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import UNDEF, Block, Const, For, Operand, Pack, Range, Stmt, Var, While
from pullback.styles.join import below, join
from pullback.styles.style import PY_INT, Anything, Array, Dim, ListOf, Scalar, Static, Style, Undef, numeric

MAX_ROUNDS = 24
MAX_UNROLL = 64
MAX_DISPLAY = 8  # a comprehension over so few items of a range is a list display
Place = tuple[Any, ...]


class _Again(Exception):
    """The entry state was changed: start over."""


class _Peel(Exception):
    """The values change kind after one iteration."""


@dataclass(slots=True)
class _Carried:
    """A carried value: its init at entry, its style so far, and whether that was widened."""

    init: Operand
    style: Style
    hint: str
    free: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Slots:
    """A loop's carried slots as its constructor takes them: params and inits; body, yields, results and go."""

    head: tuple[tuple[Var, ...], tuple[Operand, ...]]
    tail: tuple[Block, tuple[Operand, ...], tuple[Var, ...], Operand | None]


@dataclass(slots=True)
class _Plan:
    """One loop being lowered."""

    entry: State
    keys: list[str]
    carried: dict[Place, _Carried] = field(default_factory=dict)
    may_peel: bool = True


def map_state(state: State, fn: Callable[[Place, Operand], Operand]) -> State:
    """The state with each run-time leaf of names and storages replaced."""
    names = {k: _map_value(("name", k), v, fn) for k, v in state.names.items()}
    cells = {c: _map_cell(("cell", c), cell, fn) for c, cell in state.cells.items()}
    return State(names, cells)


def _map_value(place: Place, value: Value, fn: Callable[[Place, Operand], Operand]) -> Value:
    match value:
        case Known() if is_constant(value):
            const = Const(value.obj)
            new = fn(place, const)
            return value if new is const else Num(new)
        case Num(operand):
            new = fn(place, operand)
            return value if new is operand else Num(new)
        case FrozenRef(operand):
            new = fn(place, operand)
            return value if new is operand else replace(value, operand=new)
        case ArrayRef(_, path) if path:
            steps = tuple(_map_step((*place, i), s, fn) for i, s in enumerate(path))
            return value if all(a is b for a, b in zip(steps, path, strict=True)) else replace(value, path=steps)
        case TupleValue(items):
            mapped = tuple(_map_value((*place, i), x, fn) for i, x in enumerate(items))
            return value if all(a is b for a, b in zip(mapped, items, strict=True)) else replace(value, items=mapped)
        case SliceValue(start, stop, step):
            parts = [_map_value((*place, i), x, fn) for i, x in enumerate((start, stop, step))]
            return SliceValue(*parts)
    return value


def _map_step(place: Place, step: Any, fn: Callable[[Place, Operand], Operand]) -> Any:
    if isinstance(step, Pack):
        items = tuple(_map_step((*place, i), x, fn) for i, x in enumerate(step.items))
        return step if all(a is b for a, b in zip(items, step.items, strict=True)) else replace(step, items=items)
    if isinstance(step, Const) and type(step.value) is not int:
        return step
    return fn(place, step)


def _map_cell(place: Place, cell: Cell, fn: Callable[[Place, Operand], Operand]) -> Cell:
    match cell:
        case ArrayCell(operand) | GrowingCell(operand):
            new = fn(place, operand)
            return cell if new is operand else replace(cell, operand=new)
        case ListCell(items):
            return replace(cell, items=tuple(_map_value((*place, i), x, fn) for i, x in enumerate(items)))
        case DictCell(items):
            return replace(cell, items={k: _map_value((*place, k), x, fn) for k, x in items.items()})
        case ObjectCell(_, fields):
            return replace(cell, fields={k: _map_value((*place, k), x, fn) for k, x in fields.items()})


class _LoopMeeting(Meeting):
    """The state at the end of the body meets the head; places are those of the head."""

    def __init__(self, loops: Loops, plan: _Plan, head: State, end: State, body: list[Stmt]) -> None:
        self.loops = loops
        self.plan = plan
        self.body = body
        self.differ: dict[Place, tuple[Operand, Operand]] = {}
        super().__init__(head, end, self._differs, self._read_side, self._different,
                         lambda: next(loops._ids))

    def _differs(self, place: Place, a: Operand, b: Operand) -> Operand:
        if place[0] == "cell":
            place = ("cell", place[1], *place[3:])
        self.differ[place] = (a, b)
        return a

    def _read_side(self, side: int, value: Value) -> Operand:
        state = self.b if side else self.a
        kept, self.loops.state = self.loops.state, state
        try:
            with self.loops.block() as more:
                operand = self.loops.operand(value)
            self.body += more
            return operand
        finally:
            self.loops.state = kept

    def _freeze(self, place: Place, a: Value, b: Value) -> Value:
        """The head must have the name frozen already; else it is frozen at entry."""
        if place[0] != "name" or len(place) != 2:
            self.loops.refuse("an array in a container that is rebound in a loop", "bind it to a name of its own")
        key = place[1]
        concerned = frozenset(c for c in _cells_of(a) | _cells_of(b) if c in self.plan.entry.cells)
        if isinstance(a, FrozenRef):
            if not concerned <= a.cells:
                self._enter_frozen(key, concerned | a.cells)
            operand = self._read_side(1, b)
            if operand is not a.operand:
                self._differs(place, a.operand, operand)
            return a
        self._enter_frozen(key, concerned)
        raise _Again

    def _enter_frozen(self, key: str, cells: frozenset[int]) -> None:
        entry = self.plan.entry
        kept, self.loops.state = self.loops.state, entry
        try:
            operand = self.loops.operand(entry.names[key])
        finally:
            self.loops.state = kept
        entry.names[key] = FrozenRef(operand, cells)
        raise _Again

    def _one_sided(self, place: Place, a: Value | None, b: Value | None) -> Value | None:
        """A name that the body binds: at entry it is there too, undefined."""
        if a is not None or b is None:
            return a  # bound before, deleted in the body
        key = place[1]
        self.plan.entry.names[key] = self._undefined(b, {})
        raise _Again

    def _undefined(self, value: Value, made: dict[int, int]) -> Value:
        undef = Const(UNDEF)
        entry = self.plan.entry
        match value:
            case Known() if is_constant(value):
                return Num(undef)
            case Num():
                return Num(undef)
            case ArrayRef(cell, ()) if cell not in entry.cells:
                return ArrayRef(self._undefined_cell(cell, made))
            case ArrayRef() | FrozenRef():
                cells = frozenset(c for c in _cells_of(value) if c in entry.cells)
                if cells:
                            return FrozenRef(undef, cells)
            case TupleValue():
                return replace(value, items=tuple(self._undefined(x, made) for x in value.items))
            case CellRef(cell) if cell not in entry.cells:
                return CellRef(self._undefined_cell(cell, made))
        return value

    def _undefined_cell(self, cell: int, made: dict[int, int]) -> int:
        if cell in made:
            return made[cell]
        new = made[cell] = self.new_id()
        content = self.b.cells[cell]
        match content:
            case ArrayCell() | GrowingCell():
                content = replace(content, operand=Const(UNDEF))
            case ListCell(items):
                content = replace(content, items=tuple(self._undefined(x, made) for x in items))
            case DictCell(items):
                content = replace(content, items={k: self._undefined(x, made) for k, x in items.items()})
            case ObjectCell(_, fields):
                content = replace(content, fields={k: self._undefined(x, made) for k, x in fields.items()})
        self.plan.entry.cells[new] = content
        return new

    def _different(self, meeting: Meeting, place: Place, a: Value | None, b: Value | None) -> Value | None:
        """Different structure: a list that grows becomes a run-time list; else the loop is peeled."""
        if isinstance(a, CellRef) and isinstance(b, CellRef):
            ca, cb = self.a.cells[a.cell], self.b.cells[b.cell]
            if isinstance(ca, ListCell) and isinstance(cb, ListCell | GrowingCell):
                self._enter_growing(a.cell, cb)
        if self.plan.may_peel:
            raise _Peel
        if isinstance(a, Num) and isinstance(b, ArrayRef | FrozenRef):
            self._differs(place, a.operand, self._read_side(1, b))
            return a
        if isinstance(a, FrozenRef) and isinstance(b, Num | Known):
            self._differs(place, a.operand, self._read_side(1, b))
            return a
        if isinstance(a, ArrayRef) and isinstance(b, Num | Known) and place[0] == "name":
            self._enter_frozen(place[1], frozenset({a.cell}))
        self.loops.refuse(
            f"{shown_name(place)} changes its structure from one iteration to the next",
            "bind it before the loop to a value of the structure that it has in it",
        )

    def _enter_growing(self, cell: int, end: Cell) -> None:
        entry = self.plan.entry
        old = entry.cells[cell]
        assert isinstance(old, ListCell)
        kept, self.loops.state = self.loops.state, entry
        try:
            packed = self.loops.operand(CellRef(cell))
            operand = self.loops.builder.call(core.make_list, packed, hint="items")
        finally:
            self.loops.state = kept
        shares = self.loops.cells_of(old.items)
        entry.cells[cell] = GrowingCell(operand, shares, old.param)
        raise _Again


def _cells_of(value: Value) -> frozenset[int]:
    if isinstance(value, ArrayRef):
        return frozenset({value.cell})
    return value.cells if isinstance(value, FrozenRef) else frozenset()


class Loops(Branches):
    """Lowers loops."""

    def do_For(self, stmt: ast.For) -> None:
        """`for`."""
        it = iteration.needed(self, self.evaluate(stmt.iter), "for")
        self.for_loop(stmt, it, lambda item: self.assign(stmt.target, item), lambda: self.execute(stmt.body))

    def do_While(self, stmt: ast.While) -> None:
        """`while`."""
        self.while_loop(stmt, lambda: self.evaluate(stmt.test), lambda: self.execute(stmt.body))

    # ------------------------------------------------------------------------------------------------ for, while

    def for_loop(
        self, node: ast.For, it: IterValue, bind: Callable[[Value], None], body: Callable[[], None],
        may_peel: bool = True,
    ) -> None:
        """Lower a counted loop: `bind(item)` then `body()` for each item."""
        length = it.length if isinstance(it.length, int) else None
        if length is not None and it.range_ is None and length <= MAX_UNROLL and self._must_unroll(it):
            self._unrolled(node, [self._item_of(it, i) for i in range(length)], bind, body)
            return
        index, token = Var(_target_hint(node), PY_INT), object()
        start, stop, step = it.range_ or (Const(0), _length(it), Const(1))
        self.sources[index] = frozenset({token})

        def one() -> Operand | None:
            bind(Num(index) if it.range_ is not None else it.item(Num(index)))
            body()
            return self._go(node)

        def emit(slots: _Slots) -> None:
            self.builder.add(For((index,), (Range(start, stop, step),), *slots.head, *slots.tail, loc=self.builder.loc))

        def peeled() -> None:
            self._peel_for(node, it, (start, stop, step), bind, body)

        before = self.state.fork()
        if length is not None and length <= MAX_UNROLL:
            self.unrollable.append(token)
        try:
            self._fixpoint(node, one, emit, peeled, may_peel)
        except Unroll as need:
            if need.token is not token or length is None:
                raise
            self.state = before
            self._unrolled(node, [self._item_of(it, i) for i in range(length)], bind, body)
        finally:
            if token in self.unrollable:
                self.unrollable.remove(token)

    def _item_of(self, it: IterValue, i: int) -> Value:
        return it.item(Known(i)) if it.range_ is None else Known(_nth(it, i))

    def _must_unroll(self, it: IterValue) -> bool:
        """Items that are not numbers, or rows of one array: each iteration is its own code."""
        assert isinstance(it.length, int)
        with self.block():
            kept = self.state.fork()
            items = [it.item(Known(i)) for i in range(it.length)]
            self.state = kept
        simple = all(isinstance(x, Num) or (isinstance(x, Known) and is_constant(x)) for x in items)
        rows = all(isinstance(x, ArrayRef) and x.path for x in items)
        return not (simple or rows) or len(items) <= 1

    def _unrolled(
        self, node: ast.For, items: list[Value], bind: Callable[[Value], None], body: Callable[[], None]
    ) -> None:
        if not items:
            return
        bind(items[0])
        body()
        self._rest(self._go(node), lambda: self._unrolled(node, items[1:], bind, body))

    def _peel_for(
        self, node: ast.For, it: IterValue, bounds: tuple[Operand, Operand, Operand], bind: Callable[[Value], None],
        body: Callable[[], None],
    ) -> None:
        """`if the loop runs at all: first iteration; the loop over the rest`."""
        start, stop, step = (self.wrap(b) for b in bounds)
        if not (isinstance(step, Known) and step.obj != 0):
            self.refuse("a loop whose values change kind, over a range with a step known at run time only",
                        "bind the values before the loop to what they are in it")
        runs = self.operator("<" if step.obj > 0 else ">", start, stop, hint="runs")

        def first() -> None:
            bind(start if it.range_ is not None else it.item(start))
            body()
            self._rest(self._go(node), rest)

        def rest() -> None:
            second = self.operator("+", start, step, hint="second")
            length = it.length - 1 if isinstance(it.length, int) else it.length
            remaining = IterValue(length, it.item, (self.operand(second), bounds[1], bounds[2]))
            binding = bind if it.range_ is not None else (lambda i: bind(it.item(i)))
            self.for_loop(node, remaining, binding, body, may_peel=False)

        self.branch(self.test(runs), first, lambda: None)

    def _rest(self, go: Operand | None, rest: Callable[[], None]) -> None:
        """What follows an iteration, where it may have left the loop."""
        if self.state.dead:
            return
        if go is None:
            rest()
        elif not (isinstance(go, Const) and not go.value):
            self.branch(go, rest, lambda: None)

    def while_loop(
        self, node: ast.While, test: Callable[[], Value], body: Callable[[], None], may_peel: bool = True
    ) -> None:
        """Lower a loop under a test."""
        if self._never_runs(test):
            return
        condition: list[tuple[list[Stmt], Operand]] = []

        def one() -> Operand | None:
            with self.block() as stmts:
                found = self.test(test())
                operand: Operand = Const(bool(found.obj)) if isinstance(found, Known) else found
            condition[:] = [(stmts, operand)]
            body()
            return self._go(node)

        def emit(slots: _Slots) -> None:
            stmts, operand = condition[0]
            loop = While(*slots.head, Block(tuple(stmts)), operand, *slots.tail, loc=self.builder.loc)
            self.builder.add(loop)

        def peeled() -> None:
            def first() -> None:
                body()
                self._rest(self._go(node), lambda: self.while_loop(node, test, body, may_peel=False))

            self.branch(self.test(test()), first, lambda: None)

        self._fixpoint(node, one, emit, peeled, may_peel)

    def _never_runs(self, test: Callable[[], Value]) -> bool:
        kept = self.state.fork()
        with self.block():
            found = self.test(test())
        self.state = kept
        return isinstance(found, Known) and not found.obj

    def _go(self, node: ast.For | ast.While) -> Operand | None:
        """The flag at the end of an iteration: None where it is certainly true."""
        name = getattr(node, "go", None)
        if name is None or self.state.dead:
            return None
        assert self.frame is not None
        found = self.test(self.state.names[self.frame.key(name)])
        if isinstance(found, Known):
            return None if found.obj else Const(False)
        return found

    # -------------------------------------------------------------------------------------------- comprehensions

    def visit_ListComp(self, node: ast.ListComp) -> Value:
        """`[... for ...]`."""
        return self._comprehension(node.elt, node.generators, node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Value:
        """A generator expression that is consumed at once: its items, as a list."""
        return self._comprehension(node.elt, node.generators, node)

    def visit_SetComp(self, node: ast.SetComp) -> Value:
        """`{... for ...}` of compile-time objects."""
        return Known(set(self.known(self._comprehension(node.elt, node.generators, node))))

    def visit_DictComp(self, node: ast.DictComp) -> Value:
        """`{key: value for ...}`: the keys are known at compile time, so its loops are unrolled."""
        pair = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node)
        items = self.items_of(self._comprehension(pair, node.generators, node, unroll=True))
        if items is None:
            self.refuse("a dict comprehension over a number of items known at run time only", "use a list", node)
        found: dict[Any, Value] = {}
        for item in items:
            assert isinstance(item, TupleValue)
            found[self.known(item.items[0])] = item.items[1]
        return self.new_cell(DictCell(found))

    def _comprehension(
        self, elt: ast.expr, generators: list[ast.comprehension], node: ast.expr, unroll: bool = False
    ) -> Value:
        """A loop that appends to a list, with names of its own for its targets."""
        frame = self.frame
        assert frame is not None and frame.stmt is not None
        out = f".items{next(self._numbers)}"
        targets = {n.id for g in generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        outer = {name: self.state.names.pop(frame.key(name)) for name in targets if frame.key(name) in self.state.names}
        frame.hidden.append({out, *targets})
        self.state.names[frame.key(out)] = self.new_cell(ListCell(()))
        try:
            self._generate(elt, generators, out, node, unroll)
        finally:
            frame.hidden.pop()
        result = self.state.names.pop(frame.key(out))
        for name in targets:
            self.state.names.pop(frame.key(name), None)
            if name in outer:
                self.state.names[frame.key(name)] = outer[name]
        return result

    def _generate(
        self, elt: ast.expr, generators: list[ast.comprehension], out: str, node: ast.expr, unroll: bool
    ) -> None:
        frame = self.frame
        assert frame is not None
        if not generators:
            items = self.state.names[frame.key(out)]
            library.method(self, items, "append", [self.evaluate(elt)], {})
            return
        first, *rest = generators
        if first.is_async:
            refuse("async", self.place(node))
        it = iteration.needed(self, self.evaluate(first.iter), "a comprehension")
        loop = ast.copy_location(ast.For(first.target, first.iter, [], []), node)
        loop.go = None  # type: ignore[attr-defined]

        def filtered(tests: list[ast.expr]) -> None:
            if not tests:
                self._generate(elt, rest, out, node, unroll)
                return
            self.branch(self.test(self.evaluate(tests[0])), lambda: filtered(tests[1:]), lambda: None)

        def bind(item: Value) -> None:
            self.assign(first.target, item)

        small = isinstance(it.length, int) and it.length <= MAX_UNROLL
        if small and isinstance(it.length, int) and (unroll or it.range_ is None or it.length <= MAX_DISPLAY):
            self._unrolled(loop, [self._item_of(it, i) for i in range(it.length)], bind, lambda: filtered(first.ifs))
        else:
            self.for_loop(loop, it, bind, lambda: filtered(first.ifs))

    # ------------------------------------------------------------------------------------------------- fixpoint

    def _fixpoint(
        self, node: ast.For | ast.While, one: Callable[[], Operand | None], emit: Callable[[_Slots], None],
        peeled: Callable[[], None], may_peel: bool,
    ) -> None:
        before = self.state.fork()
        plan = _Plan(self.state.fork(), self._loop_keys(node), may_peel=may_peel)
        self._guess(plan, node)
        held = len(self.temps)
        for _ in range(MAX_ROUNDS):
            del self.temps[held:]
            try:
                if self._round(plan, one, emit):
                    return
            except _Again:
                self._refresh(plan)
            except _Peel:
                self.state = before
                peeled()
                return
        self.refuse("the compiler finds no fixed structure for the values that this loop carries",
                    "bind them before the loop to what they are in it", node)

    def _refresh(self, plan: _Plan) -> None:
        """The entry state has changed: so may have the inits."""
        for place in list(plan.carried):
            found = _leaf_at(plan.entry, place)
            if found is None:
                del plan.carried[place]
            elif found is not plan.carried[place].init:
                del plan.carried[place]
                self._carry(plan, place)

    def _loop_keys(self, node: ast.For | ast.While) -> list[str]:
        """The keys of the names that live at the loop's head or after it, in every frame."""
        keys = set(self.reachable_keys())
        frame = self.frame
        assert frame is not None
        if node is frame.stmt:
            keys |= {frame.key(n) for n in frame.body.liveness.loop_head(node)}
        return sorted(keys)

    def _guess(self, plan: _Plan, node: ast.For | ast.While) -> None:
        """Names that the body assigns, and storages that it plainly writes, are carried from the first round on."""
        assert self.frame is not None
        keys = set(plan.keys)
        for name in _assigned(node):
            key = self.frame.key(name)
            value = plan.entry.names.get(key)
            if key not in keys or value is None:
                continue
            if isinstance(value, ArrayRef) and value.cell in plan.entry.cells:
                self._carry(plan, ("cell", value.cell))
            elif _leaf_at(plan.entry, ("name", key)) is not None:
                self._carry(plan, ("name", key))

    def _carry(self, plan: _Plan, place: Place) -> None:
        init = _leaf_at(plan.entry, place)
        assert init is not None
        plan.carried.setdefault(place, _Carried(init, _run_time(style_of(init)), _place_hint(place, init)))

    def _round(self, plan: _Plan, one: Callable[[], Operand | None], emit: Callable[[_Slots], None]) -> bool:
        """Lower the body once; True where the state at its end agrees with the assumed head."""
        params = {place: Var(c.hint, c.style) for place, c in plan.carried.items()}
        self.claimed.update(params.values())
        head = map_state(plan.entry, lambda place, operand: params.get(place, operand))
        self.state = head.fork()
        self.note_frozen()
        with self.block() as stmts:
            go = one()
        if self.state.dead:
            self.refuse("a loop whose body always raises", "raise without the loop")
        meeting = _LoopMeeting(self, plan, head, self.state, stmts)
        meeting.run(plan.keys)
        meeting.keep_cells(head.cells)
        if not self._settled(plan, meeting):
            return False
        results = {place: Var(c.hint, c.style) for place, c in plan.carried.items()}
        self.claimed.update(results.values())
        yields = [meeting.differ[place][1] if place in meeting.differ else params[place] for place in plan.carried]
        inits = tuple(c.init for c in plan.carried.values())
        emit(_Slots((tuple(params.values()), inits), (Block(tuple(stmts)), tuple(yields), tuple(results.values()), go)))
        self.state = map_state(plan.entry, lambda place, operand: results.get(place, operand))
        self.note_frozen()
        return True

    def _settled(self, plan: _Plan, meeting: _LoopMeeting) -> bool:
        settled = True
        for place, (_, end) in meeting.differ.items():
            style = _run_time(style_of(end))
            if place not in plan.carried:
                self._carry(plan, place)
                settled = False
            carried = plan.carried[place]
            if not below(style, carried.style, lambda dim, c=carried: dim.sym in c.free):  # type: ignore[misc]
                self._widen(plan, carried, style)
                settled = False
        return settled

    def _widen(self, plan: _Plan, carried: _Carried, style: Style) -> None:
        """Join a carried style with that at the end of the body."""
        kinds_differ = _shape_kind(carried.style) != _shape_kind(style) and not isinstance(carried.style, Undef)
        if kinds_differ and plan.may_peel:
            raise _Peel
        joined = join(carried.style, style)
        carried.free |= _new_dims(joined, carried.style)
        carried.style = joined


def _run_time(style: Style) -> Style:
    """The style of a carried value: it is not known at compile time, nor the length of an axis for certain."""
    style = numeric(style)
    if isinstance(style, Scalar) and style.length is not None:
        return replace(style, length=None)
    return Anything() if isinstance(style, Static) else style


def _shape_kind(style: Style) -> Any:
    """What may not change from one iteration to the next without the loop being peeled."""
    if isinstance(style, Array):
        return ("array", style.rank)
    return type(style).__name__


def _new_dims(style: Style, old: Style) -> set[int]:
    def syms(s: Style) -> set[int]:
        if isinstance(s, Array) and s.axes is not None:
            return {a.sym for a in s.axes if isinstance(a, Dim)}
        if isinstance(s, ListOf):
            return syms(s.elem)
        return set()

    return syms(style) - syms(old)


def _leaf_at(state: State, place: Place) -> Operand | None:
    """The run-time leaf at a place of a state."""
    found: list[Operand] = []

    def look(at: Place, operand: Operand) -> Operand:
        if at == place:
            found.append(operand)
        return operand

    if place[0] == "name":
        value = state.names.get(place[1])
        if value is not None:
            _map_value(("name", place[1]), value, look)
    elif place[1] in state.cells:
        _map_cell(("cell", place[1]), state.cells[place[1]], look)
    return found[0] if found else None


def _place_hint(place: Place, init: Operand) -> str:
    if place[0] == "name" and len(place) == 2:
        return str(place[1]).partition("@")[0].lstrip(".") or "t"
    return init.hint if isinstance(init, Var) else "t"


def _target_hint(node: ast.For) -> str:
    return node.target.id if isinstance(node.target, ast.Name) else "i"


def _length(it: IterValue) -> Operand:
    return Const(it.length) if isinstance(it.length, int) else it.length


def _nth(it: IterValue, i: int) -> int:
    assert it.range_ is not None
    bounds = [b.value for b in it.range_ if isinstance(b, Const)]
    return range(*bounds)[i]


def _assigned(node: ast.stmt) -> Iterable[str]:
    """The names that a loop assigns, or whose elements it assigns."""
    found: dict[str, None] = {}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            found[inner.id] = None
        elif isinstance(inner, ast.Subscript | ast.Attribute) and isinstance(inner.ctx, ast.Store):
            base: ast.expr = inner
            while isinstance(base, ast.Subscript | ast.Attribute):
                base = base.value
            if isinstance(base, ast.Name):
                found[base.id] = None
    return found
