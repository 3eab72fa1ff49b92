"""Functions of which C takes parts: a driver of the NumPy target, which calls compiled regions.

A region that leaves a call to NumPy is run by its own NumPy version, which stands in the driver's module.  Lists pass
between two regions as the bytes that the one has packed (`saved.py`); to everybody else they are lists.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np

from pullback.backend.native.bridge import MISS
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.module import Native, emit_native
from pullback.backend.native.load import load
from pullback.backend.native.saved import Saved, pack, packed, saved, unpack
from pullback.backend.numpy.load import load as load_source
from pullback.backend.numpy.module import Generated, emit_module
from pullback.ir.callee import Callee, reachable
from pullback.ir.nodes import Block, Call, Function, Operand, Param, Var
from pullback.ir.walk import (
    block_ends,
    own_operands,
    statements,
    substitute,
    substitute_block,
    variables_in,
)
from pullback.passes.regions import Fault, Outlined, outline
from pullback.styles.style import Array, ListOf, Scalar, Style

RECENT, TOO_MANY = 16, 8  # of so many last calls so many failed: the region stays with NumPy


@dataclass(frozen=True, slots=True)
class NativeRegion:
    """A region as C; which of its parameters and results are lists, and how each is packed."""

    callee: Callee
    native: Native
    given: tuple[Saved | None, ...]
    made: tuple[Saved | None, ...]


@dataclass(frozen=True, slots=True)
class Regions:
    """Functions with their regions, as a module for NumPy, and the C of each region.

    packed  the results that stay bytes, by region and position: nobody but regions reads them
    """

    functions: tuple[Function, ...]
    generated: Generated
    regions: tuple[NativeRegion, ...]
    faults: tuple[Fault, ...]
    packed: frozenset[tuple[str, int]]

    @property
    def source(self) -> str:
        """The C of the regions, behind the Python that calls them as a comment."""
        driver = self.generated.source.rstrip().replace("*/", "* /").replace("/*", "/ *")
        head = [
            "/* C takes parts of this; NumPy does the rest, and calls them.",
            "",
            *driver.split("\n"),
            "*/",
        ]
        return "\n".join([*head, *(f"\n{region.native.source}" for region in self.regions)])


def regions_of(
    functions: Sequence[Function],
    *,
    bufferize: bool = True,
    blocks: bool = False,
    copy_residuals: bool = False,
) -> Regions:
    """Take regions out of functions, which a driver of the NumPy target calls.  Raises Untaken where there are none."""
    judge = _Judge(bufferize)
    numbers = count(1)
    outlined = [outline(f, judge, lambda: next(numbers)) for f in functions]
    faults = tuple(dict.fromkeys(fault for x in outlined for fault in x.faults))
    names = {callee.name for x in outlined for callee in x.regions}
    found = tuple(
        judge.made[name] for name in sorted(names, key=lambda name: int(name.strip("_").split("_")[1]))
    )
    if not found:
        first = faults[0] if faults else Fault("anything of it that repays a call", functions[0].loc)
        raise Untaken(first.reason, first.loc)
    drivers = tuple(x.function for x in outlined)
    generated = emit_module(
        [*drivers, *(c.body() for c in reachable(drivers))],
        guarded=True,
        bufferize=bufferize,
        blocks=blocks,
        copy_residuals=copy_residuals,
    )
    return Regions(drivers, generated, found, faults, frozenset(_packed(outlined)))


class _Judge:
    """Tries to emit C; keeps what it made, by the name of the region."""

    def __init__(self, in_place: bool) -> None:
        self.in_place = in_place
        self.made: dict[str, NativeRegion] = {}

    def function(self, function: Function) -> Fault | None:
        """What stands against a region."""
        try:
            made = _native(function, self.in_place)
        except Untaken as untaken:
            return Fault(untaken.reason, untaken.loc)
        self.made[function.name] = made
        return None

    def crosses(self, style: Style) -> bool:
        """Whether a value passes: a number or an array of a known kind, or a list of such."""
        if isinstance(style, Scalar) and style.weak is None and style.dtype != np.float64:
            return False
        if not isinstance(style, Scalar | Array | ListOf):
            return False
        if isinstance(style, Array) and style.axes == ():  # NumPy may have a number there
            return False
        try:
            what = saved((style,))
        except Untaken:
            return False
        return isinstance(style, ListOf) or not what.packed[0]


def _native(function: Function, in_place: bool) -> NativeRegion:
    """A region as C: its lists pass as bytes."""
    mapping: dict[Var, Operand] = {}
    params, head, tail, results = [], [], [], []
    for param in function.params:
        var = param.tree
        assert isinstance(var, Var)
        if isinstance(var.style, ListOf):
            what = saved((var.style,))
            data, mapping[var] = Var(var.hint, pack(what).style()), (items := Var(var.hint, var.style))
            head.append(Call((items,), unpack(what), (data,), (), function.loc))
            param = Param(param.name, data)
        params.append(param)
    for result in function.results:
        assert isinstance(result, Var)
        if isinstance(result.style, ListOf):
            op = pack(saved((result.style,)))
            data = Var(result.hint, op.style())
            tail.append(Call((data,), op, (result,), (), function.loc))
            result = data
        results.append(result)
    body = substitute_block(function.body, mapping)
    stmts = (*head, *body.stmts, *tail)
    passing = tuple(substitute(r, mapping) for r in results)
    made = replace(function, params=tuple(params), body=Block(stmts), results=passing)
    given = tuple(_as_list(p.tree) for p in function.params)
    return NativeRegion(
        Callee(function.name, function),
        emit_native(made, in_place=in_place),
        given,
        tuple(_as_list(r) for r in function.results),
    )


def _as_list(operand: Operand) -> Saved | None:
    style = operand.style if isinstance(operand, Var) else None
    return saved((style,)) if isinstance(style, ListOf) else None


def _packed(outlined: Sequence[Outlined]) -> list[tuple[str, int]]:
    """The lists that regions make and nobody but regions reads."""
    found = []
    for x in outlined:
        calls = {id(c): c for c in x.regions}
        made: dict[Var, tuple[str, int]] = {}
        read: set[Var] = set(variables_in(x.function.results))
        for stmt in statements(x.function.body):
            if isinstance(stmt, Call) and id(stmt.op.fn) in calls:
                made.update((t, (stmt.op.name, k)) for k, t in enumerate(stmt.targets))
                continue
            read.update(variables_in(own_operands(stmt)))
            read.update(v for _, _, ends in block_ends(stmt) for v in variables_in(ends))
        found += [place for var, place in made.items() if isinstance(var.style, ListOf) and var not in read]
    return found


# -------------------------------------------------------------------------------------------------- at run time


@dataclass(slots=True)
class Packed:
    """A list as bytes, on its way from one region to another."""

    data: Any
    what: Saved

    def items(self) -> Any:
        """The list."""
        return self.what.restore((self.data,))[0]


class Region:
    """A region at run time: C, or where that leaves a call its NumPy version."""

    def __init__(self, region: NativeRegion, stay: frozenset[int], numpy: Callable[..., Any]) -> None:
        self.numpy = numpy
        self.run: Callable[..., Any] | None = None
        self.calls = 0
        self.failures: deque[int] = deque(maxlen=TOO_MANY)
        self.given = tuple((k, what) for k, what in enumerate(region.given) if what is not None)
        self.made = tuple((k, what) for k, what in enumerate(region.made) if what is not None)
        self.single = len(region.made) == 1
        self.stay = stay  # the lists that stay bytes

    def failed(
        self, code: int, line: int, detail: Any, message: str | None, pending: BaseException | None
    ) -> Any:
        """A call ended with an error: NumPy is to raise it, or to return what is right."""
        if pending is not None and not isinstance(pending, Exception):
            raise pending
        self.failures.append(self.calls)
        if len(self.failures) == TOO_MANY and self.calls - self.failures[0] < RECENT:
            self.run = None
        return MISS

    def __call__(self, *args: Any) -> Any:
        """The results of a call."""
        self.calls += 1
        if not self.given and not self.made:
            run = self.run
            out = MISS if run is None else run(*args)
            return self.numpy(*args) if out is MISS else out
        return self.with_lists(list(args))

    def packed(self, args: Sequence[Any]) -> list[Any]:
        """The arguments with lists as bytes."""
        out = list(args)
        for k, what in self.given:
            out[k] = args[k].data if isinstance(args[k], Packed) else packed(what, (args[k],))
        return out

    def with_lists(self, args: list[Any]) -> Any:
        """A call that takes or gives lists."""
        run = self.run
        out: Any = MISS
        if run is not None:
            try:
                out = run(*self.packed(args))
            except (TypeError, ValueError):  # a list of other items
                out = MISS
        if out is MISS:
            for k, _ in self.given:
                args[k] = args[k].items() if isinstance(args[k], Packed) else args[k]
            return self.numpy(*args)
        results = [out] if self.single else list(out)
        for k, what in self.made:
            items = Packed(results[k], what)
            results[k] = items if k in self.stay else items.items()
        return results[0] if self.single else tuple(results)


def load_regions(made: Regions, names: Sequence[str], threads: int = 0) -> list[Callable[..., Any]]:
    """Functions of a module, with its regions compiled.  Raises NoCompiler or BuildFailed."""
    namespace = load_source(made.generated, names[0]).__globals__
    for region in made.regions:
        name = region.callee.name
        stay = frozenset(k for owner, k in made.packed if owner == name)
        called = Region(region, stay, namespace[name])
        called.run = load(region.native, threads=threads, failed=called.failed)[0]
        namespace[name] = called
    return [namespace[name] for name in names]
