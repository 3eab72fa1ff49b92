"""Recompute or save: how a reverse block gets at the values of its forward block.

The reverse sweep is written as if it saw every value of the forward sweep.  Here each such read across blocks is
resolved: a cheap value is computed again from what is at hand, a shape is taken where the value lives, the rest is
saved.  What is saved is returned; the caller lifts it out of the branch, appends it to a list an iteration, or puts it
among the residuals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from pullback.ir import core_ops as core
from pullback.ir.builder import infer
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Block, Call, Const, Op, Operand, Stmt, Var
from pullback.ir.walk import (
    block_ends,
    copy_stmt,
    free_variables,
    own_operands,
    statements,
    substitute,
    substitute_block,
    targets,
    variables_in,
)
from pullback.passes.dce import prune
from pullback.styles.style import Array, Axis, Dim, Scalar, Style, Tup, is_varying, numeric, same_length
from pullback.transform.cotangents import numpy_op

MAX_RECOMPUTE_DEPTH = 8

# by the symbol of an axis: a parameter that has an axis of that length, and which it is
Lengths: TypeAlias = Mapping[tuple[int, int] | None, tuple[Var, int]]
_NONE: Lengths = {}


def lengths_of(parameters: Iterable[Var]) -> Lengths:
    """The axes of parameters, which are the same for the whole call."""
    found: dict[tuple[int, int] | None, tuple[Var, int]] = {}
    for var in parameters:
        for axis, length in enumerate(var.style.axes or () if isinstance(var.style, Array) else ()):
            key = _length_key(length)
            if key is not None:
                found.setdefault(key, (var, axis))
    return found


def _length_key(length: Axis | None) -> tuple[int, int] | None:
    known = isinstance(length, Dim) and not is_varying(length)
    return (length.sym, length.minus) if known and isinstance(length, Dim) else None


def _axis_key(style: Style, axis: Operand) -> tuple[int, int] | None:
    if not isinstance(style, Array) or style.axes is None or not isinstance(axis, Const):
        return None
    inside = isinstance(axis.value, int) and -len(style.axes) <= axis.value < len(style.axes)
    return _length_key(style.axes[axis.value]) if inside else None


@dataclass(slots=True)
class Needs:
    """The outcome: the reverse block and its end operands as rewritten so far, and the values to save."""

    reverse: Block
    ends: tuple[Operand, ...]
    forward: list[Stmt]  # with the shapes that were taken
    saved: list[Var] = field(default_factory=list)
    again: tuple[tuple[Var, Call], ...] = ()  # what is computed again, and the call that does

    def bind(self, mapping: dict[Var, Operand]) -> None:
        """Read saved values under the names by which the reverse block gets them."""
        self.reverse = substitute_block(self.reverse, mapping)
        self.ends = tuple(substitute(x, mapping) for x in self.ends)


def resolve(
    forward: Sequence[Stmt],
    heads: Iterable[Var],
    reverse: Sequence[Stmt],
    ends: Sequence[Operand],
    kept: Mapping[Var, Call],
    at_hand: Callable[[Var], bool] = lambda var: False,
    lengths: Lengths = _NONE,
) -> Needs:
    """Resolve the reads of a reverse block from its forward block.

    heads    Vars bound at the head of the forward block (loop params and indices)
    kept     loads that give values again, from an array as it is later or was earlier
    at_hand  heads that the reverse block has anyway (the index of a range)
    lengths  parameters from which the length of an axis can be had
    """
    block = prune(Block(tuple(reverse)), tuple(ends))
    forward_list, block = _take_shapes(list(forward), set(heads), block, ends, lengths)
    needs = Needs(block, tuple(ends), forward_list)
    defined = {var: stmt for stmt in forward_list for var in targets(stmt)}
    inside = set(defined) | set(heads)
    wanted = [v for v in free_variables(block, ends) if v in inside and not at_hand(v)]
    decide = _Decision(defined, inside, kept, at_hand, lengths)
    decide.choose(wanted)
    needs.saved = list(decide.saved)
    needs.again = tuple(decide.again.items())
    _recompute(needs, decide.again)
    return needs


class _Decision:
    """Which of the wanted values are saved, and which statements are run again."""

    def __init__(
        self,
        defined: dict[Var, Stmt],
        inside: set[Var],
        kept: Mapping[Var, Call],
        at_hand: Callable[[Var], bool],
        lengths: Lengths,
    ) -> None:
        self.defined = defined
        self.inside = inside
        self.kept = kept
        self.at_hand = at_hand
        self.lengths = lengths
        self.saved: dict[Var, None] = {}
        self.again: dict[Var, Call] = {}  # in the order in which to run them

    def choose(self, wanted: Sequence[Var]) -> None:
        for var in wanted:
            if not any(self._sources(var)):
                self.saved[var] = None
        for var in sorted(
            wanted, key=self._is_shape
        ):  # shapes last: of what is at hand by then they are free
            if var in self.saved:
                continue
            plan = dict(self.again)
            if self._plan(var, plan, 0):
                self.again = plan
            else:
                self.saved[var] = None

    def _sources(self, var: Var) -> Iterator[Call]:
        """The calls that give a value again: a read of what keeps it, or its own if that is cheap."""
        if var in self.kept:
            yield self.kept[var]
        stmt = self.defined.get(var)
        if isinstance(stmt, Call) and stmt.op is core.dim and isinstance(var.style, Scalar):
            found = self.lengths.get(_length_key(var.style.length))
            if found is not None:
                yield Call((Var(var.hint, var.style),), core.dim, (found[0], Const(found[1])))
        if (
            isinstance(stmt, Call) and stmt.op is core.assume
        ):  # checked once: it is known in the reverse sweep
            again = Var(var.hint, var.style)
            yield Call((again,), core.known, (stmt.args[0], Const(var.style)))
        if isinstance(stmt, Call) and stmt.op.cheap and not stmt.op.effect and len(stmt.targets) == 1:
            yield stmt

    def _plan(self, var: Var, plan: dict[Var, Call], depth: int) -> bool:
        """Whether a value can be had again from what is saved or at hand; collects the calls to run."""
        if var not in self.inside or var in self.saved or var in plan or self.at_hand(var):
            return True
        if depth > MAX_RECOMPUTE_DEPTH:
            return False
        for call in self._sources(var):
            more = dict(plan)
            if call.op is core.shape and self._costs(call.args[0], plan):
                found = self._shape(call.args[0], more, depth)
                if found is None:
                    return False
                plan.update(more)
                if isinstance(var.style, Tup):  # of which more may be known than is inferred
                    plan[found.targets[0]] = found
                    found = Call((), core.known, (found.targets[0], Const(var.style)))
                plan[var] = replace(found, targets=(Var(var.hint, var.style),))
                return True
            if all(self._plan(v, more, depth + 1) for v in variables_in(own_operands(call))):
                plan.update(more)
                plan[var] = call
                return True
        return False

    def _shape(self, array: Operand, plan: dict[Var, Call], depth: int) -> Call | None:
        """A call that gives an array's shape; that of an array to compute again, from the shapes of its operands."""
        if depth > MAX_RECOMPUTE_DEPTH:
            return None
        if not self._costs(array, plan):
            at_hand = not isinstance(array, Var) or self._plan(array, plan, depth + 1)
            return _call_of(core.shape, array) if at_hand else None
        shapes: list[Call] = []
        for operand in own_operands(self.defined[array]):  # type: ignore[index]
            style = numeric(style_of(operand))
            if isinstance(style, Scalar):
                continue
            found = self._shape(operand, plan, depth + 1) if isinstance(style, Array) else None
            if found is None:
                return None
            shapes.append(found)
        whole = shapes[0]
        for one in shapes[1:]:
            plan[whole.targets[0]], plan[one.targets[0]] = whole, one
            whole = _call_of(core.joint_shape, whole.targets[0], one.targets[0])
        return whole

    def _is_shape(self, var: Var) -> bool:
        stmt = self.defined.get(var)
        return isinstance(stmt, Call) and stmt.op in _SHAPE_OF

    def _costs(self, operand: Operand, plan: dict[Var, Call]) -> bool:
        """Whether an array would be computed again for its shape alone."""
        if operand not in self.inside or operand in self.saved or operand in plan:
            return False
        stmt = self.defined.get(operand) if isinstance(operand, Var) else None
        return isinstance(stmt, Call) and stmt.op.elementwise and isinstance(stmt.targets[0].style, Array)


def _call_of(op: Op, *args: Operand) -> Call:
    (style,) = infer(op, args, {})
    return Call((Var("shape", style),), op, args)


def _recompute(needs: Needs, again: dict[Var, Call]) -> None:
    """Put copies of the calls to run again at the head of the reverse block."""
    if not again:
        return
    mapping: dict[Var, Operand] = {}
    copies = []
    for var, call in again.items():
        copies.append(copy_stmt(call, mapping))
        mapping[var] = mapping[call.targets[0]]
    needs.bind(mapping)
    needs.reverse = Block((*copies, *needs.reverse.stmts))


_SHAPE_OF = (core.shape, core.dim)


def _take_shapes(
    forward: list[Stmt], heads: set[Var], block: Block, ends: Sequence[Operand], lengths: Lengths
) -> tuple[list[Stmt], Block]:
    """Where the reverse block needs a value only for its shape, take the shape in the forward block.

    Or read it off a value of the same shape that the reverse block has anyway.  Also turns `np.zeros_like(v)` into
    `np.zeros(shape of v)` for such values.
    """
    shapes = _Shapes(forward, heads, _other_uses(block, ends), lengths)
    rewritten = _map_statements(block, shapes.rewrite)
    return forward, substitute_block(rewritten, shapes.mapping) if shapes.mapping else rewritten


class _Shapes:
    """Rewrites the reads of shapes."""

    def __init__(self, forward: list[Stmt], heads: set[Var], other: set[Var], lengths: Lengths) -> None:
        self.forward = forward
        self.defined = {v: stmt for stmt in forward for v in targets(stmt)}
        self.inside = heads | set(self.defined)
        self.other = other  # what is read for more than its shape
        self.lengths = lengths
        self.mapping: dict[Var, Operand] = {}
        self.taken: dict[Var, Var] = {}

    def rewrite(self, stmt: Stmt) -> Stmt | None:
        """A statement of the reverse block; None where it is needed no more."""
        if not isinstance(stmt, Call) or not stmt.args or not isinstance(stmt.args[0], Var):
            return stmt
        var = stmt.args[0]
        if var not in self.inside or var in self.other:
            return stmt
        if stmt.op in _SHAPE_OF or _is_zeros_like(stmt):
            like = _of_one_shape(var, self.defined, self._at_hand)
            if like is not None and (stmt.op in _SHAPE_OF or _same_dtype(like, var)):
                return replace(stmt, args=(like, *stmt.args[1:]))
        if stmt.op is core.shape:
            self.mapping[stmt.targets[0]] = self._shape_of(var)
            return None
        if stmt.op is core.dim:
            found = self.lengths.get(_axis_key(var.style, stmt.args[1]))
            if found is not None:
                return replace(stmt, args=(found[0], Const(found[1])))
            return replace(stmt, op=core.list_get, args=(self._shape_of(var), stmt.args[1]))
        if _is_zeros_like(stmt) and isinstance(var.style, Array) and var.style.dtype is not None:
            kwargs = (("dtype", Const(var.style.dtype)),) if var.style.dtype != np.float64 else ()
            return replace(stmt, op=numpy_op(np.zeros), args=(self._shape_of(var),), kwargs=kwargs)
        return stmt

    def _at_hand(self, var: Var) -> bool:
        return var in self.other or var not in self.inside

    def _shape_of(self, var: Var) -> Var:
        if var not in self.taken:
            (style,) = (core.shape.style(var.style),)
            self.taken[var] = Var(f"{var.hint}_shape", style)
            self.forward.append(Call((self.taken[var],), core.shape, (var,)))
        return self.taken[var]


def _of_one_shape(var: Var, defined: Mapping[Var, Stmt], at_hand: Callable[[Var], bool]) -> Var | None:
    """A value at hand that has the shape of an elementwise result: an operand of it, of the same axes."""
    for _ in range(MAX_RECOMPUTE_DEPTH):
        stmt, style = defined.get(var), var.style
        if not isinstance(stmt, Call) or not stmt.op.elementwise or not isinstance(style, Array):
            return None
        operands = [x for x in stmt.args if isinstance(x, Var) and _same_axes(x.style, style)]
        if not operands:
            return None
        found = next((x for x in operands if at_hand(x)), None)
        if found is not None:
            return found
        var = operands[0]
    return None


def _same_axes(a: Style, b: Array) -> bool:
    """Whether two styles prove one shape."""
    if not isinstance(a, Array) or a.axes is None or b.axes is None or len(a.axes) != len(b.axes):
        return False
    return all(same_length(x, y) for x, y in zip(a.axes, b.axes, strict=True))


def _same_dtype(a: Var, b: Var) -> bool:
    return isinstance(a.style, Array) and isinstance(b.style, Array) and a.style.dtype == b.style.dtype


def _is_zeros_like(stmt: Call) -> bool:
    return stmt.op.fn is np.zeros_like and not stmt.kwargs


def _map_statements(block: Block, rewrite: Callable[[Stmt], Stmt | None]) -> Block:
    from pullback.ir.walk import map_operands

    out = []
    for stmt in block.stmts:
        new = rewrite(stmt)
        if new is None:
            continue
        if not isinstance(new, Call):
            new = map_operands(new, lambda x: x, lambda b: _map_statements(b, rewrite))
        out.append(new)
    return Block(tuple(out))


def _other_uses(block: Block, ends: Sequence[Operand]) -> set[Var]:
    """The Vars that a block reads for more than their shape."""
    found = set(variables_in(ends))
    for stmt in statements(block):
        for _, _, inner_ends in block_ends(stmt):
            found.update(variables_in(inner_ends))
        if isinstance(stmt, Call) and (stmt.op in _SHAPE_OF or _is_zeros_like(stmt)):
            continue
        found.update(variables_in(own_operands(stmt)))
    return found
