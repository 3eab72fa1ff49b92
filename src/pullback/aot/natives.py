"""The gradients of a module as entries of one C text, and what C does not take.

In: units.  Out: `Natives`: the text without its headers, an entry for each unit that C takes, why not the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from pullback.aot.baked import NotBakedError, literal
from pullback.aot.demands import Demand, demands
from pullback.aot.trees import below
from pullback.aot.units import GRADIENTS, Unit
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.module import Native, emit_entries
from pullback.backend.native.interface import ArraySpec, ResultSpec, ScalarSpec
from pullback.backend.numpy.wrap import quoted
from pullback.errors import Loc, failing_at
from pullback.ir.nodes import ABSENT, UNDEF, Block, Call, Const, Function, Operand, Pack, Param, Var
from pullback.styles.style import Static, Tup


@dataclass(frozen=True, slots=True)
class Left:
    """What C does not take of a unit: the reason and the line."""

    unit: Unit
    reason: str
    loc: Loc

    @property
    def said(self) -> str:
        """Both as a text."""
        return f"{self.reason} ({self.loc})"


@dataclass(frozen=True, slots=True)
class Natives:
    """Gradients as C.

    body     the C text, without the headers that it needs
    entries  by the label of the unit
    left     what stays with NumPy
    """

    body: str
    entries: dict[str, Native]
    left: tuple[Left, ...]

    @property
    def calls(self) -> tuple[Call, ...]:
        """The operations that NumPy does for them, by number."""
        return next((native.calls for native in self.entries.values()), ())


def natives_of(units: Sequence[Unit], *, alone: bool) -> Natives:
    """The gradients of some units as C; `alone`: without NumPy for what C does not do itself."""
    taken: dict[str, Function] = {}
    left: list[Left] = []
    for unit in units:
        whole = unit.compiled.lowered.function.loc
        pair = [form for form in unit.entry.forms if form not in GRADIENTS]
        if pair:
            left.append(Left(unit, _PAIR[pair[0]], whole))
        if len(pair) == len(unit.entry.forms):
            continue
        try:
            with failing_at(lambda at=whole: at):  # type: ignore[misc]
                taken[unit.label] = _function(unit, alone)
        except Untaken as untaken:
            left.append(Left(unit, untaken.reason, untaken.at(whole).loc))
    named = [(function, f"pb_entry_{label}") for label, function in taken.items()]
    body, made = emit_entries(named, alone=alone) if named else ("", [])
    return Natives(body, dict(zip(taken, made, strict=True)), tuple(left))


_PAIR = {
    "pair": "the primal and the pullback as functions of their own",
    "vjp": "the value with a function that pulls back",
}


def _function(unit: Unit, alone: bool) -> Function:
    """The function of a unit's entry.  Raises Untaken where C does not take it."""
    if not unit.proved:
        raise Untaken("a value that is not known to be a number")
    function = unit.compiled.native_function("value_and_grad")
    _, (tried,) = emit_entries([(function, "pb_entry")], alone=alone)
    for call in tried.calls:
        operation(call, "tried")
    for tree in tried.results:
        _writable(tree)
    return function


def _writable(tree: Operand) -> None:
    """A result must be one that Python text can put together."""
    if isinstance(tree, Pack):
        if tree.kind not in ("tuple", "list", "dict", "new"):
            raise Untaken(f"a {tree.kind} as a result")
        for item in tree.items:
            _writable(item)
    elif isinstance(tree, Const) and tree.value is not ABSENT:
        if tree.value is UNDEF:
            raise Untaken("a result that may not be bound")
        try:
            literal(tree.value)
        except NotBakedError as error:
            raise Untaken(f"{error.what} as a result") from None


# ------------------------------------------------------------------------------------------------ calls from Python


class LibraryCall:
    """A call of a unit's entry from the module's public function.

    names  the expressions of the parameters, in order
    """

    def __init__(self, unit: Unit, native: Native, names: Sequence[str]) -> None:
        self.native = native
        self.places: dict[Var, str] = {}
        for param, name in zip(native.function.params, names, strict=True):
            self._place(param.tree, name)
        given = [self.places[v] for v in native.arguments]
        self.text = f"_LIBRARY.run({', '.join([quoted(unit.label), *given])})"
        tests = [_test(demand, given) for demand in demands(unit, native)]
        if tests:
            self.text += f" if {' and '.join(tests)} else None"

    def _place(self, tree: Operand, at: str) -> None:
        if isinstance(tree, Var):
            self.places[tree] = at
        elif isinstance(tree, Pack):
            for i, item in enumerate(tree.items):
                self._place(item, below(tree, i, at))

    def results(
        self, found: str, reference: Callable[[Any], str], use: Callable[[str], str]
    ) -> tuple[str, str]:
        """The expressions of the value and of the gradient, of what the call gave."""
        at = count()

        def built(tree: Operand) -> str:
            if isinstance(tree, Var):
                own = f"{found}[{next(at)}]"
                return self.places.get(tree, own)  # an argument that is handed back is itself
            if isinstance(tree, Const):
                return "None" if tree.value is ABSENT else literal(tree.value)
            return _built(tree, [built(item) for item in tree.items], reference, use)

        value, grads = map(built, self.native.results)
        return value, grads


def _test(demand: Demand, given: Sequence[str]) -> str:
    """Whether a demand is met."""
    found = f"{given[demand.at]}.shape[{demand.axis}]"
    if demand.other is not None:
        at, axis = demand.other
        return f"{found} == {given[at]}.shape[{axis}]"
    return f"{found} {'==' if demand.one else '!='} 1"


def _built(pack: Pack, items: list[str], reference: Callable[[Any], str], use: Callable[[str], str]) -> str:
    """The expression of a structure."""
    if pack.kind == "dict":
        return f"{{{', '.join(f'{literal(k)}: {x}' for k, x in zip(pack.meta, items, strict=True))}}}"
    if pack.kind == "new":
        constructor, names = pack.meta
        cls = reference(constructor)
        if names is None:
            return f"{cls}({', '.join(items)})"
        return f"{use('build')}({', '.join([cls, *(f'{n}={x}' for n, x in zip(names, items, strict=True))])})"
    if pack.kind == "list":
        return f"[{', '.join(items)}]"
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


# -------------------------------------------------------------------------------------- operations that NumPy does


def operation(call: Call, name: str) -> Function:
    """An operation that NumPy does, as a function of the values that pass.  Raises Untaken for tuples among them."""
    params: list[Param] = []

    def passed(operand: Operand) -> Operand:
        if isinstance(operand, Pack):
            return Pack(operand.kind, tuple(map(passed, operand.items)), operand.meta)
        if isinstance(operand, Const):
            return Const(None) if operand.value is ABSENT else operand
        if isinstance(operand.style, Static):
            return Const(operand.style.value)
        if isinstance(operand.style, Tup):
            raise Untaken(f"`{call.op.name}` of a tuple", call.loc)
        var = Var(operand.hint, operand.style)
        params.append(Param(f"x{len(params)}", var))
        return var

    args = tuple(map(passed, call.args))
    kwargs = tuple((key, passed(x)) for key, x in call.kwargs)
    targets = tuple(Var(t.hint, t.style) for t in call.targets)
    if any(isinstance(t.style, Tup | Static) for t in targets):
        raise Untaken(f"`{call.op.name}`, which gives a tuple", call.loc)
    return _of(Call(targets, call.op, args, kwargs, call.loc), name, tuple(params))


def _of(call: Call, name: str, params: tuple[Param, ...]) -> Function:
    doc = f"What NumPy does for the library ({call.loc})."
    return Function(name, params, Block((call,)), call.targets, doc=doc, loc=call.loc)


# ------------------------------------------------------------------------------------------------- specs as text


def spec_text(spec: ResultSpec) -> str:
    """A spec as `_Library` reads it: `float64[2]`, `np.float64`, `float`."""
    if isinstance(spec, ArraySpec):
        return f"{spec.dtype.name}[{spec.rank}]"
    return spec.kind if spec.dtype is None else f"np.{_name(spec)}"


def passed_text(spec: ResultSpec) -> str:
    """The spec of an argument of an operation: one that is not borrowed is copied."""
    kept = isinstance(spec, ArraySpec) and not spec.writes
    return spec_text(spec) + " copy" * kept


def _name(spec: ScalarSpec) -> str:
    dtype: np.dtype[Any] | None = spec.dtype
    assert dtype is not None
    return "bool" if dtype.kind == "b" else dtype.name
