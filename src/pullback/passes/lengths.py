"""Lengths taken to be equal: what a compiled function may assume, and the checks of it.

    %t: f64[k] = %x[n] + %y[m]          n and m are two lengths, or one of them is 1

NumPy broadcasts where a length is 1; that a length which is not known when compiling is 1 beside one that is not, is
rare.  `assume_lengths` takes the lengths that meet in elementwise calls, stores and products to be one, and a slice of
one item (`x[:, 0:1]`) to find it; it checks that where the later of two arrays is made (`assume`).  A function so
changed raises ValueError where an assumption fails: it is for those who then have another version to call.  In: a
primal.  Out: the primal with fewer lengths, with checks.  `settle_assumed` makes bare checks of them when nothing is
derived any more.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar

from pullback.errors import NOWHERE, Loc
from pullback.ir import core_ops as core
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Block, Call, Const, For, Function, If, Operand, Pack, Param, Stmt, Var, While
from pullback.ir.slices import SliceLengths
from pullback.ir.walk import map_operands, statements, substitute, targets, variables
from pullback.passes.rewrite import Rewriter
from pullback.styles.broadcast import as_array
from pullback.styles.style import Array, Axis, Dim, ListOf, Scalar, Style, Tup, is_varying, numeric

L = TypeVar("L", For, While)
Length: TypeAlias = tuple[int, int]  # a Dim without what is known of it
_PRODUCTS = ("@", "np.matmul", "np.dot")


def assume_lengths(function: Function) -> Function:
    """The function in which lengths that meet are one, with checks."""
    calls = [s for s in statements(function.body) if isinstance(s, Call)]
    made = {t: s for s in calls for t in s.targets}
    proved = _Classes()
    slices = SliceLengths(name=proved.axis)
    for stmt in calls:
        for a, b in _equal(stmt, slices):
            proved.meet(a, b)
    classes = _Classes(dict(proved.parent), set(proved.not_one))
    for stmt in calls:
        for axis, length in _cut(stmt, made):
            classes.fix(axis, length)
        for a, b in _meetings(stmt, slices):
            classes.meet(a, b)
    if not classes.parent:
        return function
    return _Restyled(classes, proved, slices).function(function)


def settle_assumed(function: Function) -> Function:
    """Each `assume` as a check alone."""
    return _Settled().function(function)


def drop_assumed(function: Function) -> Function:
    """The function without checks: for one that runs on what has passed them."""
    return _Settled(checks=False).function(function)


# -------------------------------------------------------------------------------------------------- what meets


def _equal(call: Call, slices: SliceLengths) -> Iterator[tuple[Axis, Axis]]:
    """The pairs of axes that are proved to have one length: slices of one length by the same bounds."""
    style = call.targets[0].style if call.op is core.load else None
    if isinstance(style, Array) and style.axes is not None:
        for k, key in slices.keys(call.args[0], call.args[1:]):
            yield slices.known.setdefault(key, style.axes[k]), style.axes[k]


def _place(call: Call, slices: SliceLengths) -> Style:
    """The style of what a store writes."""
    base, _, *steps = call.args
    return slices.named(core.load_style(style_of(base), *map(style_of, steps)), base, steps)


def _meetings(call: Call, slices: SliceLengths) -> Iterator[tuple[Axis, Axis]]:
    """The pairs of axes that have one length unless NumPy broadcasts."""
    if _is_elementwise(call):
        shapes = [axes for x in (*call.args, *call.targets) for axes in [_axes(style_of(x))] if axes]
        for first, second in itertools.combinations(shapes, 2):
            yield from _aligned(first, second)
    elif call.op in (core.store, core.add_at):
        yield from _aligned(_axes(_place(call, slices)) or (), _axes(style_of(call.args[1])) or ())
    elif call.op.name in _PRODUCTS and len(call.args) == 2:
        a, b = (_axes(style_of(x)) for x in call.args)
        if a and b:
            yield a[-1], b[max(len(b) - 2, 0)]


def _cut(call: Call, made: Mapping[Var, Call]) -> Iterator[tuple[Axis, int]]:
    """The axes that a slice of one item makes, `x[:, 0:1]` or `x[:, i : i + 1]`, each with that length: there may be
    nothing to take."""
    if call.op is not core.load or len(call.args) < 2:
        return
    index, *views = call.args[1:]
    style, base = call.targets[0].style, style_of(call.args[0])
    if not isinstance(index, Pack) or index.kind != "index" or not isinstance(style, Array) or not style.axes:
        return
    if any(
        not isinstance(v, Pack) or v.meta is None or getattr(v.meta, "name", "") != "np.transpose"
        for v in views
    ):
        return
    if (
        any(isinstance(v, Pack) and v.items for v in views)
        or not isinstance(base, Array)
        or base.axes is None
    ):
        return
    lengths = _cut_axes(index.items, len(base.axes), made)
    if lengths is None or len(lengths) != len(style.axes):
        return
    for axis, length in zip(style.axes[:: (-1) ** len(views)], lengths, strict=True):
        if length == 1 and isinstance(axis, Dim) and not is_varying(axis):
            yield axis, length


def _cut_axes(entries: Sequence[Operand], rank: int, made: Mapping[Var, Call]) -> list[int | None] | None:
    """For each axis of a basic index's result its length, where the bounds of a slice tell it."""
    out: list[int | None] = []
    used = 0
    for entry in entries:
        value = entry.value if isinstance(entry, Const) else None
        if isinstance(entry, Const) and value is None:
            out.append(None)
            continue
        used += 1
        style = numeric(style_of(entry))
        if isinstance(value, slice):
            out.append(_length_of_slice(value.start, value.stop, value.step))
        elif isinstance(entry, Pack) and entry.kind == "slice":
            out.append(_length_of_bounds(entry.items, made))
        elif not (isinstance(style, Scalar) and style.kind == "i"):
            return None  # an ellipsis, or an array
    return out + [None] * (rank - used)


def _length_of_bounds(bounds: Sequence[Operand], made: Mapping[Var, Call]) -> int | None:
    """The same of operands; those of `x[i : i + c]` tell it too."""
    if all(isinstance(x, Const) for x in bounds):
        return _length_of_slice(*(x.value for x in bounds if isinstance(x, Const)))
    start, stop, step = bounds
    call = made.get(stop) if isinstance(stop, Var) else None
    if call is None or call.op.name != "+" or len(call.args) != 2 or not isinstance(start, Var):
        return None
    for first, more in (call.args, call.args[::-1]):
        if first is start and isinstance(more, Const) and isinstance(step, Const):
            return _length_of_slice(0, more.value, step.value)
    return None


def _length_of_slice(start: object, stop: object, step: object) -> int | None:
    """How many items a slice takes from a long axis; None where that depends on the axis."""
    first = 0 if start is None else start
    if not isinstance(first, int) or not isinstance(stop, int) or step not in (None, 1):
        return None
    return stop - first if 0 <= first < stop else None


def _is_elementwise(call: Call) -> bool:
    return call.op.elementwise or call.op is core.accumulate


def _axes(style: Style) -> tuple[Axis, ...] | None:
    array = as_array(style)
    return array.axes if isinstance(array, Array) else None


def _aligned(a: Sequence[Axis], b: Sequence[Axis]) -> Iterator[tuple[Axis, Axis]]:
    yield from zip(reversed(a), reversed(b), strict=False)


@dataclass(slots=True)
class _Classes:
    """Union-find over lengths; the root of a class is a number where one of its lengths is."""

    parent: dict[Length | int, Length | int] = field(default_factory=dict)
    not_one: set[Length | int] = field(default_factory=set)

    def find(self, length: Length | int) -> Length | int:
        """The representative of a class."""
        while length in self.parent:
            length = self.parent[length]
        return length

    def fix(self, axis: Axis, length: int) -> None:
        """An axis that is taken to have this length."""
        root = self.find(_key(axis))
        if not isinstance(root, int) and root not in self.not_one:
            self.parent[root] = length

    def meet(self, a: Axis, b: Axis) -> None:
        """Two axes that are taken to have one length."""
        if a == 1 or b == 1 or is_varying(a) or is_varying(b):
            return
        for axis in (a, b):
            if isinstance(axis, Dim) and axis.not_one:
                self.not_one.add((axis.sym, axis.minus))
        x, y = self.find(_key(a)), self.find(_key(b))
        if x == 1 or y == 1 or x == y or (isinstance(x, int) and isinstance(y, int)):
            return
        if isinstance(x, tuple) and isinstance(y, tuple) and x[0] == y[0]:
            return  # n and n - 1: never equal
        if isinstance(y, int):
            x, y = y, x
        self.parent[y] = x
        if y in self.not_one:
            self.not_one.add(x)

    def axis(self, axis: Axis) -> Axis:
        """An axis by the length that stands for all of its class."""
        if isinstance(axis, int) or is_varying(axis):
            return axis
        key = _key(axis)
        root = self.find(key)
        if isinstance(root, int):
            return root
        return axis if root == key else Dim(root[0], root[1], axis.not_one or root in self.not_one)

    def style(self, style: Style) -> Style:
        """A style with its axes so named."""
        match style:
            case Array() if style.axes is not None:
                return replace(style, axes=tuple(map(self.axis, style.axes)))
            case Scalar() if style.length is not None:
                return replace(style, length=self.axis(style.length))
            case Tup():
                return replace(style, items=tuple(map(self.style, style.items)))
            case ListOf():
                return ListOf(self.style(style.elem))
        return style


def _key(axis: Axis) -> Length | int:
    return axis if isinstance(axis, int) else (axis.sym, axis.minus)


# ------------------------------------------------------------------------------------------------ the new function


@dataclass(slots=True)
class _Restyled:
    """Rebuilds a function; `seen` holds, per block from the outermost, an array that has each length.

    proved  which of the lengths are equal without a check
    """

    classes: _Classes
    proved: _Classes
    slices: SliceLengths
    mapping: dict[Var, Operand] = field(default_factory=dict)
    seen: list[dict[Length, tuple[Var, int]]] = field(default_factory=lambda: [{}])
    loc: Loc = NOWHERE  # of the statement before a check

    def function(self, function: Function) -> Function:
        """The function with its checks."""
        self.loc = function.loc
        params = tuple(self._param(p) for p in function.params)
        head = self._checked(v for p in function.params for v in variables(p.tree))
        body = self._statements(function.body.stmts)
        results = tuple(substitute(x, self.mapping) for x in function.results)
        return replace(function, params=params, body=Block((*head, *body)), results=results)

    def _param(self, param: Param) -> Param:
        return replace(param, tree=self._renamed(param.tree))

    def _renamed(self, tree: Operand) -> Operand:
        if isinstance(tree, Pack):
            return replace(tree, items=tuple(map(self._renamed, tree.items)))
        return self._var(tree) if isinstance(tree, Var) else tree

    def _var(self, var: Var) -> Var:
        made = Var(var.hint, self.classes.style(var.style))
        self.mapping[var] = made
        return made

    def _checked(self, defined: Iterable[Var], follows: bool = False) -> list[Call]:
        """Checks of the lengths that some values are the first to have here.

        follows: they are results of an elementwise call, whose operands have been checked
        """
        out: list[Call] = []
        for var in defined:
            style = var.style
            if not isinstance(style, Array):
                continue
            for k, axis in enumerate(style.axes or ()):
                if isinstance(axis, Dim) and not is_varying(axis):
                    out += self._first(var, k, (axis.sym, axis.minus), follows)
        return out

    def _first(self, var: Var, k: int, length: Length, follows: bool) -> list[Call]:
        length = self._proved(length)
        if any(length in block for block in self.seen):
            return []
        root = self.classes.find(length)
        other = self._witness(root)
        value = self.mapping[var]
        assert isinstance(value, Var)
        out = []
        if other is not None and not follows:
            made = Var(value.hint, value.style)
            out.append(Call((made,), core.assume, (value, Const(k), *other), (), self.loc))
            self.mapping[var] = value = made
        self.seen[-1][length] = (value, k)
        return out

    def _proved(self, length: Length) -> Length:
        """Which of the lengths that are proved to be equal stands for them; a number needs a check to be one."""
        found = self.proved.find(length)
        return length if isinstance(found, int) else found

    def _checked_place(self, store: Call) -> Iterator[Call]:
        """Checks that the place of a store has the lengths of its value: the place, and a check for each length."""
        value = self.mapping.get(store.args[1]) if isinstance(store.args[1], Var) else None
        place = _place(store, self.slices)
        if not isinstance(place, Array) or not isinstance(value, Var) or not isinstance(value.style, Array):
            return
        base, _, *steps = (self._use(x) for x in store.args)
        part = Var("part", self.classes.style(place))
        checks = []
        for k in range(1, min(len(place.axes or ()), len(value.style.axes or ())) + 1):
            assert place.axes is not None and value.style.axes is not None
            axis = place.axes[-k]
            if not isinstance(axis, Dim) or is_varying(axis) or value.style.axes[-k] == 1:
                continue
            length = self._proved((axis.sym, axis.minus))
            if self.classes.axis(axis) != self.classes.axis(value.style.axes[-k]):
                continue
            if any(length in block for block in self.seen):
                continue
            at = len(place.axes) - k
            other = self._witness(self.classes.find(length)) or (value, Const(len(value.style.axes) - k))
            checks.append(Call((), core.check_length, (part, Const(at), *other), (), store.loc))
            self.seen[-1][length] = (part, at)
        if checks:
            yield Call((part,), core.load, (base, *steps), (), store.loc)
            yield from checks

    def _witness(self, root: Length | int) -> tuple[Operand, Operand] | None:
        """Something in reach that has the length of a class."""
        if isinstance(root, int):
            return Const(root), Const(None)
        for block in self.seen:
            for length, (var, k) in block.items():
                if self.classes.find(length) == root:
                    return var, Const(k)
        return None

    # -------------------------------------------------------------------------------------------- statements

    def _statements(self, stmts: Iterable[Stmt]) -> list[Stmt]:
        out: list[Stmt] = []
        for stmt in stmts:
            if isinstance(stmt, Call) and stmt.op in (core.store, core.add_at):
                out += self._checked_place(stmt)
            out.append(self._statement(stmt))
            self.loc = stmt.loc
            out += self._checked(targets(stmt), isinstance(stmt, Call) and _is_elementwise(stmt))
        return out

    def _statement(self, stmt: Stmt) -> Stmt:
        match stmt:
            case Call():
                call = map_operands(stmt, self._use, lambda b: b)
                assert isinstance(call, Call)
                return replace(call, targets=tuple(map(self._var, stmt.targets)))
            case If():
                branch = map_operands(stmt, self._use, lambda b: self._block(b, {}))
                assert isinstance(branch, If)
                return replace(branch, results=tuple(map(self._var, stmt.results)))
            case For():
                head = tuple(map(self._var, (*stmt.index, *stmt.params)))
                bound = (*stmt.index, *stmt.params)
                counted = self._loop(stmt, dict(zip(bound, head, strict=True)))
                count = len(stmt.index)
                results = tuple(map(self._var, stmt.results))
                return replace(counted, index=head[:count], params=head[count:], results=results)
            case While():
                params = tuple(map(self._var, stmt.params))
                loop = self._loop(stmt, dict(zip(stmt.params, params, strict=True)))
                return replace(loop, params=params, results=tuple(map(self._var, stmt.results)))

    def _loop(self, stmt: L, bound: Mapping[Var, Var]) -> L:
        """A loop: each of its blocks checks what is bound at its head."""
        made = map_operands(stmt, self._use, lambda b: self._block(b, bound))
        assert isinstance(made, type(stmt))
        return made

    def _block(self, block: Block, bound: Mapping[Var, Var]) -> Block:
        self.seen.append({})
        self.mapping.update(bound)
        stmts = [*self._checked(bound), *self._statements(block.stmts)]
        self.seen.pop()
        return Block(tuple(stmts))

    def _use(self, operand: Operand) -> Operand:
        return substitute(operand, self.mapping)


class _Settled(Rewriter):
    """Takes `assume` out and leaves the check, or not."""

    def __init__(self, checks: bool = True) -> None:
        super().__init__()
        self.checks = checks

    def call(self, call: Call) -> Call | None:
        """A check; the array is what it was."""
        if call.op is not core.assume:
            return call
        self.mapping[call.targets[0]] = call.args[0]
        return Call((), core.check_length, call.args, (), call.loc) if self.checks else None
