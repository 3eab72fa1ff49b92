"""An entry, compiled: its IR, and the private functions that serve it.

In: an Entry.  Out: a Unit.  Where an integer is needed when compiling, one found outside is taken as it is now; of an
argument the signature must give the value.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

from pullback.aot.entries import Entry
from pullback.aot.narrow import is_narrow
from pullback.aot.said import is_plain, member_text, value_text
from pullback.aot.text import INDENT, paragraph
from pullback.api.argnums import Arguments, is_single
from pullback.api.callables import target_of
from pullback.backend.numpy.module import Part, has_products
from pullback.dispatch.binding import Header, header_of
from pullback.dispatch.checks import check_parameter, check_scalar, part_of
from pullback.errors import ArgumentError, SignatureError
from pullback.frontend.environment import Environment, NeedStatic
from pullback.frontend.environment import Path as OutsidePath
from pullback.frontend.signature import Node, Spec
from pullback.ir.callee import Callee, callee_of, reachable
from pullback.ir.nodes import Call, Const, Function, Operand, Pack, Param
from pullback.ir.pretty import pretty
from pullback.ir.walk import block_ends, own_operands, statements, variables
from pullback.pipeline import Compiled, Options, compile_function
from pullback.transform.gradient import Request

GRADIENTS = ("value_and_grad", "grad")


@dataclass(slots=True)
class Unit:
    """A compiled entry.

    proved     the result is known to be a real scalar
    functions  the gradient functions made so far: "joint" (one) or "pair" (two)
    """

    entry: Entry
    fn: FunctionType
    header: Header
    compiled: Compiled
    request: Request
    proved: bool
    functions: dict[str, tuple[Function, ...]] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What its names begin with."""
        return self.entry.label or self.compiled.name

    @property
    def params(self) -> tuple[Param, ...]:
        """The user's parameters, then the implicit ones."""
        return self.compiled.lowered.function.params

    @property
    def specs(self) -> tuple[tuple[str, Spec], ...]:
        """The user's parameters with their specs."""
        return self.entry.declared.signature.args

    @property
    def outside(self) -> tuple[tuple[str, OutsidePath], ...]:
        """The implicit parameters, and where each is found."""
        implicits = self.compiled.lowered.environment.implicits
        return tuple((name, path) for path, (name, _) in implicits.items())

    @property
    def result(self) -> Operand:
        """The result, as the function returns it."""
        return self.compiled.lowered.function.results[0]

    def places(self) -> dict[int, tuple[str, str]]:
        """The global names under which outside objects were found, by identity: the module and the name."""
        found: dict[int, tuple[str, str]] = {}
        for guard in self.compiled.lowered.environment.guards.values():
            path = guard.path
            if path.kind == "global" and not path.steps:
                found.setdefault(id(guard.expected), (str(path.fn.__globals__.get("__name__")), path.name))
        return found

    def folded(self) -> list[str]:
        """The values from outside that are part of the code, for the header."""
        environment = self.compiled.lowered.environment
        found = []
        for guard in environment.guards.values():
            path, value = guard.path, guard.expected
            if path.kind == "object":
                found += member_text(path, value)
            elif path.kind != "builtin" and is_plain(value):
                found.append(value_text(path, value))
        trees = {p.name: p.tree for p in self.params}
        unread = [p for p, (name, _) in environment.implicits.items() if not any(variables(trees[name]))]
        return found + [value_text(path, path.fetch()) for path in unread]

    def versions(self) -> list[str]:
        """Of which versions of NumPy the code is, where that matters, for the header."""
        return list(self.compiled.lowered.environment.versions)

    def of_class(self, cls: type) -> tuple[str, ...]:
        """What the function took from a class for its instances, or found absent there."""
        guards = self.compiled.lowered.environment.guards.values()
        paths = [g.path for g in guards if g.path.kind == "object" and g.path.fn is cls]
        found = [key for p in paths for kind, key in p.steps[:1] if kind in ("attr", "has")]
        return tuple(dict.fromkeys(found))

    @property
    def narrow(self) -> bool:
        """Whether it computes with numbers narrower than those of Python."""
        return is_narrow(_with_callees(self.compiled.lowered.function))

    @property
    def joint(self) -> bool:
        """Whether gradients are computed by the joint function; one with effects runs once, as the pair."""
        return not self.compiled.has_effects

    def made(self, kind: str) -> tuple[Function, ...]:
        """The gradient functions of a kind."""
        if kind not in self.functions:
            self.functions[kind] = self.compiled.gradient_functions(kind)
        return self.functions[kind]

    @property
    def place(self) -> str:
        """The function, and where it is defined."""
        return f"`{self.compiled.name}` ({self.compiled.lowered.function.loc})"


def compile_entry(entry: Entry) -> Unit:
    """Compile an entry.  Raises what compiling raises; ArgumentError for arguments that have no gradient."""
    target = target_of(entry.fn)
    fn: FunctionType = target.fn
    if target.args or target.kwargs:
        raise ArgumentError(
            f"`{fn.__name__}` is bound to arguments already",
            hint="compile the plain function (of a method: the one in its class), or a def that calls it",
        )
    header = header_of(fn)
    specs = dict(entry.declared.signature.args)
    if tuple(specs) != header.names:
        raise SignatureError(
            f"the signature is of ({', '.join(specs)}), `{fn.__name__}` takes ({', '.join(header.names)})",
            hint="give every parameter a type, in order",
        )
    star = [
        n for n, k in zip(header.names, header.kinds, strict=True) if k is inspect.Parameter.VAR_POSITIONAL
    ]
    items = specs[star[0]] if star else None
    paths = Arguments(header, 0, len(items.items) if isinstance(items, Node) else 0).paths(entry.argnums)
    request = Request(paths, entry.has_aux, is_single(entry.argnums))
    compiled = _compile(fn, header, entry, request)
    if entry.argnums is not None:
        _check_parameters(compiled, request)
    proved = True
    if set(GRADIENTS).intersection(entry.forms):
        proved = check_scalar(fn.__name__, compiled.lowered.function, entry.has_aux)
    return Unit(entry, fn, header, compiled, request, proved)


def _compile(fn: FunctionType, header: Header, entry: Entry, request: Request) -> Compiled:
    static: frozenset[str] = frozenset()
    while True:
        environment = Environment(static, frozenset(header.names))
        try:
            return compile_function(fn, entry.declared.signature, environment, request, Options())
        except NeedStatic as need:
            root = need.name.split("[")[0].split(".")[0]
            if root in header.names or need.name in static:
                raise SignatureError(
                    f"`{fn.__name__}` needs the value of the int `{need.name}` when it is compiled "
                    "(for an axis, a number of axes, a length of a tuple)",
                    hint=f'write the value in the signature: "{root}: 3"',
                ) from None
            static |= {need.name}


def _check_parameters(compiled: Compiled, request: Request) -> None:
    for path in request.wrt:
        param = compiled.lowered.function.params[path[0]]
        check_parameter(param.name + "".join(f"[{i}]" for i in path[1:]), part_of(param.tree, path[1:]))


# ------------------------------------------------------------------------------------------ private functions


@dataclass(slots=True)
class Private:
    """The private functions of a module, each once.

    unique  gives a name that nothing else in the module has
    """

    unique: Callable[[str], str]
    parts: list[Part] = field(default_factory=list)
    _known: dict[tuple[Any, bool], str] = field(default_factory=dict)

    def add(self, unit: Unit, kind: str) -> tuple[str, ...]:
        """The gradient functions of a unit; their names."""
        functions = unit.made(kind)
        names = [
            self._add(f, f"_{unit.label}{f.name.removeprefix(unit.compiled.name)}", kind) for f in functions
        ]
        return tuple(names)

    def add_guarded(self, unit: Unit, kind: str) -> str | None:
        """The reverse sweep of a unit with strong zeros spelled out; None where it has no product."""
        function = unit.made(kind)[-1]
        if not _products(function):
            return None
        stem = f"_{unit.label}{function.name.removeprefix(unit.compiled.name)}"
        return self._add(function, f"{stem}_guarded", kind, guarded=True)

    def _add(self, function: Function, stem: str, kind: str, guarded: bool = False) -> str:
        """A function, those that it calls first in line for names; one that is there already is not made again."""
        key = (_identity(function, stem, kind), guarded)
        if key in self._known:
            return self._known[key]
        name = self._known[key] = self.unique(stem)
        at = len(self.parts)
        callees: dict[Callee, str] = {}
        params = tuple(Param(p.name, p.tree) for p in function.params)
        plain = replace(function, params=params, doc=_doc(function.doc, guarded))
        self.parts.insert(at, Part(plain, name, callees, guarded, kind == "pair"))
        for callee in _called(function):
            spelled = guarded and _products(callee.body())
            below = f"_{callee.name}_guarded" if spelled else f"_{callee.name}"
            callees[callee] = self._add(callee.body(), below, kind, spelled)
        return name


_GUARDED = (
    "Run where a cotangent was not finite: `scale` multiplies, and what is zero stays zero whatever it is "
    "multiplied by."
)


def _doc(doc: str, guarded: bool) -> str:
    """The docstring of a private function, in lines that fit."""
    lines = paragraph(doc) if doc else []
    lines += ["", *paragraph(_GUARDED)] if guarded and doc else []
    text = "\n".join([*lines[:1], *[f"{INDENT}{line}".rstrip() for line in lines[1:]]])
    return f"{text}\n{INDENT}" if len(lines) > 1 else text


def _called(function: Function) -> list[Callee]:
    """The functions that a function calls itself, each once."""
    calls = [s for s in statements(function.body) if isinstance(s, Call)]
    return list(dict.fromkeys(c for c in map(callee_of, calls) if c is not None))


def _products(function: Function) -> bool:
    """Whether a function, or one that it calls, has products that a guarded one spells otherwise."""
    return any(map(has_products, _with_callees(function)))


def _with_callees(function: Function) -> Sequence[Function]:
    return [function, *(c.body() for c in reachable([function]))]


def _identity(function: Function, stem: str, kind: str) -> tuple[Any, ...]:
    """A key that is the same for functions that are the same, with all that they call."""
    found: list[Any] = [stem, kind]
    for each in _with_callees(function):
        found.append(pretty(each))
        for stmt in statements(each.body):
            found.append(str(stmt.loc))
            if isinstance(stmt, Call) and not isinstance(stmt.op.fn, Callee):
                found.append(id(stmt.op.fn) if stmt.op.fn is not None else stmt.op.name)
        found += [id(c) for c in _objects(each)]
    return tuple(found)


def _objects(function: Function) -> list[Any]:
    """The compile-time objects in a function of which their text does not say all."""
    operands: list[Operand] = list(function.results)
    for stmt in statements(function.body):
        operands += own_operands(stmt)
        operands += [x for _, _, ends in block_ends(stmt) for x in ends]
    found = []
    while operands:
        operand = operands.pop()
        if isinstance(operand, Pack):
            operands += operand.items
        elif isinstance(operand, Const) and not isinstance(operand.value, int | float | complex | str | None):
            found.append(operand.value)
    return found
