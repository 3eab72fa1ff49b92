"""Loops over the elements of arrays as functions of numbers that are evaluated at each element (ir/mapped.py).

    for %i in range(0, %n) carry %items = []:         %y = f(%x)
      %t = load(%x, [%i])                       =>
      %items.1 = list_append(%items, ...%t...)        where f(%t) is the body, with its branches and loops
    %y = np.array(%items)

That is what the front end makes of `np.vectorize(f)(x)`, `pb.broadcast(f, x, y)` and `np.array([f(v) for v in x])`.
Taken are loops whose iterations have nothing to do with one another, that compute with numbers only and raise nothing
by themselves.  Operands that were broadcast and ravelled before are taken as they were: nothing of that is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pullback.ir import core_ops as core
from pullback.ir.callee import Callee
from pullback.ir.core_ops import style_of
from pullback.ir.mapped import operation
from pullback.ir.nodes import (
    Block,
    Call,
    Const,
    For,
    Function,
    If,
    Operand,
    Pack,
    Param,
    Range,
    Stmt,
    Var,
    While,
)
from pullback.ir.walk import (
    block_ends,
    copy_block,
    definitions,
    free_variables,
    own_operands,
    statements,
    targets,
    variables,
)
from pullback.passes.dce import dce
from pullback.passes.iterations import (
    counts,
    element_of,
    invariant,
    is_number,
    is_of_numbers,
    vector_of,
    without,
)
from pullback.styles.style import Array, Axis, Scalar, Style, numeric, same_length


def map_loops(function: Function) -> Function:
    """The function with such loops as calls; the same object where there is none."""
    found = _Mapping(function)
    body = found.block(function.body)
    return function if body is function.body else dce(replace(function, body=body))


@dataclass(frozen=True, slots=True)
class _Site:
    """A loop that is a function of numbers: what each of its lists becomes, and the operands."""

    loop: For
    lists: dict[Var, Operand]  # results of the loop, each with what an iteration appends
    elements: dict[Var, Var]  # what the body reads of arrays, each with the array
    before: list[Call]  # what every iteration computes alike
    dropped: set[int]  # these, and statements that only have to do with the loop (by `id`)


@dataclass(slots=True)
class _Mapping:
    function: Function
    made: dict[Var, Call] = field(default_factory=dict)
    readers: Counter[Var] = field(default_factory=Counter)
    names: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        for stmt in statements(self.function.body):
            if isinstance(stmt, Call):
                self.made.update(dict.fromkeys(stmt.targets, stmt))
            self.readers.update(_read(stmt))
        self.readers.update(v for x in self.function.results for v in _variables(x))

    # --------------------------------------------------------------------------------------------- blocks

    def block(self, block: Block) -> Block:
        """A block; its loops first tried as a whole, then inside."""
        out: list[Stmt] = []
        gone: set[int] = set()
        for at, stmt in enumerate(block.stmts):
            if id(stmt) in gone:
                continue
            site = self._site(stmt) if isinstance(stmt, For) else None
            calls = None if site is None else self._calls(site, block.stmts[at + 1 :], gone)
            out += [self._inside(stmt)] if calls is None else calls
        same = len(out) == len(block.stmts) and all(a is b for a, b in zip(out, block.stmts, strict=True))
        return block if same else Block(tuple(out))

    def _inside(self, stmt: Stmt) -> Stmt:
        match stmt:
            case If():
                then, orelse = self.block(stmt.then), self.block(stmt.orelse)
                same = then is stmt.then and orelse is stmt.orelse
                return stmt if same else replace(stmt, then=then, orelse=orelse)
            case For() | While():
                body = self.block(stmt.body)
                return stmt if body is stmt.body else replace(stmt, body=body)
        return stmt

    # ------------------------------------------------------------------------------------------- the loop

    def _site(self, loop: For) -> _Site | None:
        """The loop as a function of numbers, if it is one."""
        if loop.go is not None or not loop.params:
            return None
        appends = [self._append(loop, k) for k in range(len(loop.params))]
        if not all(appends):
            return None
        dropped = {id(call) for call in appends}
        counters = {v for v, it in zip(loop.index, loop.iters, strict=True) if counts(it)}
        elements = {v: x for v, it in zip(loop.index, loop.iters, strict=True) for x in vector_of(it)}
        if len(counters) + len(elements) != len(loop.index):
            return None
        before = invariant(loop)
        dropped.update(map(id, before))
        for stmt in statements(loop.body):
            array = element_of(stmt, counters)
            if array is not None:
                elements[targets(stmt)[0]] = array
                dropped.add(id(stmt))
            elif id(stmt) not in dropped and not is_of_numbers(stmt):
                return None
        lists = {r: call.args[1] for r, call in zip(loop.results, appends, strict=True) if call is not None}
        outside = self._outside(loop, lists.values(), elements, dropped)
        if not elements or counters & set(outside) or not all(map(is_number, (*outside, *elements))):
            return None
        return _Site(loop, lists, elements, before, dropped)

    def _append(self, loop: For, k: int) -> Call | None:
        """The one `list_append` to a carried list, that was empty before."""
        param, init, end = loop.params[k], loop.inits[k], loop.yields[k]
        call = self.made.get(end) if isinstance(end, Var) else None
        begun = self.made.get(init) if isinstance(init, Var) else None
        empty = begun.args[0] if begun is not None and begun.op is core.make_list else init
        if not (isinstance(empty, Pack) and empty.kind == "list" and not empty.items):
            return None
        if call is None or call.op is not core.list_append or call.args[0] is not param:
            return None
        alone = self.readers[param] == self.readers[end] == 1  # type: ignore[index]
        number = numeric(style_of(call.args[1]))
        known = isinstance(number, Scalar) and number.dtype is not None
        return call if alone and known and any(s is call for s in loop.body.stmts) else None

    def _outside(
        self, loop: For, values: Iterable[Operand], elements: Iterable[Var], dropped: set[int]
    ) -> list[Var]:
        """What the body reads from outside, arrays whose elements it reads aside."""
        kept = without(loop.body, dropped)
        return list(free_variables(kept, tuple(values), (*elements, *definitions(kept))))

    # ------------------------------------------------------------------------------------------ the calls

    def _calls(self, site: _Site, rest: Sequence[Stmt], gone: set[int]) -> list[Stmt] | None:
        """The calls that stand for a loop; None where its lists are more than arrays, or its arrays do not fit."""
        made = {r: self._arrays(r, rest) for r in site.lists}
        if any(calls is None for calls in made.values()):
            return None
        space = self._space(site)
        if space is None:
            return None
        out: list[Stmt] = [*site.before]
        for result, value in site.lists.items():
            for call in made[result] or ():
                out += self._call(site, value, call, space, rest, gone)
        return out

    def _arrays(self, result: Var, rest: Sequence[Stmt]) -> list[Call] | None:
        """The calls of `np.array` that alone read a list."""
        found = [
            s
            for s in rest
            if isinstance(s, Call) and s.op.fn is np.array and s.args == (result,) and not s.kwargs
        ]
        known = all(
            isinstance(c.targets[0].style, Array) and c.targets[0].style.dtype is not None for c in found
        )
        return found if known and len(found) == self.readers[result] else None

    def _space(self, site: _Site) -> tuple[Axis, ...] | None:
        """The axes over which a loop runs, if they are those of all its arrays."""
        sources = [self._source(x) for x in site.elements.values()]
        first = sources[0].style
        assert isinstance(first, Array) and first.axes is not None
        for source in sources[1:]:
            axes = source.style.axes  # type: ignore[union-attr]
            if axes is None or len(axes) != len(first.axes) or not all(map(same_length, axes, first.axes)):
                return None
        counts = [it.stop for it in site.loop.iters if isinstance(it, Range)]
        return first.axes if all(self._is_size(x, first.axes) for x in counts) else None

    def _source(self, array: Var) -> Var:
        """The array that was ravelled."""
        call = self.made.get(array)
        plain = call is not None and call.op.fn is np.ravel and len(call.args) == 1 and not call.kwargs
        source = call.args[0] if plain and call is not None else array
        known = isinstance(source, Var) and isinstance(source.style, Array) and source.style.axes is not None
        return source if known and isinstance(source, Var) else array

    def _is_size(self, count: Operand, axes: Sequence[Axis]) -> bool:
        """Whether a number is how many elements an array of these axes has."""
        found = self._factors(count)
        wanted = [a for a in axes if a != 1]
        return len(found) == len(wanted) and all(
            a is not None and same_length(a, b) for a, b in zip(found, wanted, strict=True)
        )

    def _factors(self, count: Operand) -> list[Axis | None]:
        """The lengths of which a number is the product."""
        call = self.made.get(count) if isinstance(count, Var) else None
        if call is not None and call.op is core.OPERATORS["*"]:
            return [f for x in call.args for f in self._factors(x)]
        if call is not None and call.op is core.dim and isinstance(call.args[1], Const):
            style = style_of(call.args[0])
            axes = style.axes if isinstance(style, Array) else None
            return [] if axes is None or axes[call.args[1].value] == 1 else [axes[call.args[1].value]]
        style = numeric(style_of(count))
        length = style.length if isinstance(style, Scalar) else None
        return [] if length == 1 else [length]

    def _call(
        self,
        site: _Site,
        value: Operand,
        call: Call,
        space: tuple[Axis, ...],
        rest: Sequence[Stmt],
        gone: set[int],
    ) -> list[Stmt]:
        """The array of a list as one call."""
        gone.add(id(call))
        (flat,) = call.targets
        function, operands = self._function(site, value, space)
        assert isinstance(flat.style, Array)
        op = operation(Callee(function.name, function), replace(flat.style))
        shaped = self._shaped(flat, space, rest)
        if shaped is not None:
            gone.add(id(shaped))
            return [Call(shaped.targets, op, operands, (), site.loop.loc)]
        if len(space) == 1:
            return [Call((flat,), op, operands, (), site.loop.loc)]
        whole = Var(flat.hint, replace(flat.style, axes=space))
        ravel = next(
            c.op for c in map(self.made.get, site.elements.values()) if c is not None and c.op.fn is np.ravel
        )
        return [
            Call((whole,), op, operands, (), site.loop.loc),
            Call((flat,), ravel, (whole,), (), call.loc),
        ]

    def _shaped(self, flat: Var, space: Sequence[Axis], rest: Sequence[Stmt]) -> Call | None:
        """The one statement that reads a flat array, where it gives it the shape of the loop's arrays."""
        call = next(
            (s for s in rest if isinstance(s, Call) and s.op is core.load and s.args[0] is flat), None
        )
        if call is None or self.readers[flat] != 1 or len(call.args) != 2:
            return None
        step = call.args[1]
        if (
            not isinstance(step, Pack)
            or step.kind != "view"
            or step.meta.fn is not np.reshape
            or len(step.items) != 1
        ):
            return None
        lengths = step.items[0]
        if not isinstance(lengths, Pack) or len(lengths.items) != len(space):
            return None
        same = all(self._is_size(x, (axis,)) for x, axis in zip(lengths.items, space, strict=True))
        return call if same else None

    # ------------------------------------------------------------------------------------------- the function

    def _function(
        self, site: _Site, value: Operand, space: Sequence[Axis]
    ) -> tuple[Function, tuple[Operand, ...]]:
        """The body of a loop as a function, and what it is called with."""
        kept = without(site.loop.body, site.dropped)
        params: dict[Var, Var] = {}  # by what it is of
        mapping: dict[Var, Operand] = {}
        for var, array in site.elements.items():
            source = self._source(array)
            if source not in params:
                params[source] = Var(var.hint, Scalar(_dtype(source.style), False, _kind(source.style)))
            mapping[var] = params[source]
        operands = self._operands(list(params), space)
        bound = (*site.elements, *definitions(kept))
        for var in free_variables(kept, (value,), bound):
            mapping[var] = params[var] = Var(var.hint, var.style)
            operands.append(var)
        body = copy_block(kept, mapping)
        result = mapping.get(value, value) if isinstance(value, Var) else value
        made = tuple(Param(f"{v.hint}_{k}", v) for k, v in enumerate(params.values()))
        function = dce(Function(self._name(), made, body, (result,), site.loop.loc))
        return function, tuple(operands)

    def _operands(self, sources: Sequence[Var], space: Sequence[Axis]) -> list[Operand]:
        """The arrays, as they were before they were broadcast to one shape."""
        before = [self._before(x) for x in sources]
        shapes = [style.axes or () for x in before for style in [style_of(x)] if isinstance(style, Array)]
        for k, axis in enumerate(reversed(space)):
            if axis != 1 and all(len(axes) <= k or axes[-1 - k] == 1 for axes in shapes):
                return list(sources)
        return before if any(len(axes) == len(space) for axes in shapes) else list(sources)

    def _before(self, source: Var) -> Operand:
        call = self.made.get(source)
        if call is None or call.op.fn is not np.broadcast_to:
            return source
        style = numeric(style_of(call.args[0]))
        known = isinstance(style, Scalar | Array) and style.dtype is not None
        return call.args[0] if known and getattr(style, "axes", ()) is not None else source

    def _name(self) -> str:
        self.names["element"] += 1
        count = self.names["element"]
        return "element" if count == 1 else f"element_{count}"


def _read(stmt: Stmt) -> Iterable[Var]:
    """What a statement reads, and the ends of its blocks."""
    for x in own_operands(stmt):
        yield from _variables(x)
    for _, _, ends in block_ends(stmt):
        for x in ends:
            yield from _variables(x)


def _variables(operand: Operand | None) -> Iterable[Var]:
    return variables(operand) if operand is not None else ()


def _dtype(style: Style) -> np.dtype[Any] | None:
    return style.dtype if isinstance(style, Array) else None


def _kind(style: Style) -> str:
    return style.kind if isinstance(style, Array) else "f"
