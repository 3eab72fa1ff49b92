"""The compiled signatures of one function for one request.

A call's key says what the compiler specialises on.  Under one key there are several variants where what is found
outside the function has been of different kinds.  Only compiling takes the lock.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from pullback.dispatch.checks import check_parameter, part_of
from pullback.dispatch.collector import paused
from pullback.dispatch.kept import kept_by
from pullback.dispatch.keys import key_of, outside_key
from pullback.dispatch.outside import Outside, Root, Watch, callables_of
from pullback.dispatch.pairs import PairPromotion
from pullback.dispatch.promotion import Promotion
from pullback.dispatch.tracebacks import PACKAGE
from pullback.dispatch.variants import Variant
from pullback.errors import ArgumentError
from pullback.frontend.environment import Environment, Guard, NeedStatic
from pullback.frontend.environment import Path as OutsidePath
from pullback.frontend.signature import Node, Signature, Spec, signature_of, step_name, steps_of, take_step
from pullback.ir.nodes import Const, Operand, Pack
from pullback.ir.walk import block_ends, own_operands, statements
from pullback.pipeline import Compiled, Options, compile_function
from pullback.rules.registry import generation
from pullback.styles.style import Scalar
from pullback.transform.gradient import Request

MAX_SIGNATURES = 64
MAX_OUTSIDE = 16  # variants under one key
MAX_INTEGERS = 16  # values of one integer that is needed when compiling: beyond, a warning


class Dispatcher:
    """The compiled signatures of `fn` for one request."""

    def __init__(
        self, fn: FunctionType, names: tuple[str, ...], request: Request, options: Options, strict: bool
    ) -> None:
        self.fn = fn
        self.names = names
        self.request = request
        self.options = options
        self.strict = strict  # every parameter asked for must have a gradient
        self._variants: dict[Any, list[Variant]] = {}
        self._static: tuple[str, ...] = ()  # integers taken by value: `n`, `axes[0]`, implicit ones too
        self._lock = threading.RLock()
        self._values_of: dict[str, set[int]] = {}  # the values of those integers so far
        self._warned: set[str] = set()
        self.latest: Variant | None = None  # the last one compiled

    def find(self, values: tuple[Any, ...]) -> tuple[Variant, tuple[Any, ...]]:
        """The compiled signature for arguments (one a parameter), and all values that its functions take."""
        found = self._look_up(values)
        if found is not None:
            return found
        with self._lock, paused():
            return self._look_up(values) or self._compile(values)

    def _look_up(self, values: tuple[Any, ...]) -> tuple[Variant, tuple[Any, ...]] | None:
        for variant in self._variants.get(self._key(values), ()):
            if variant.fresh():
                extended = variant.extend(values)
                if extended is not None:
                    return variant, extended
        return None

    def _key(self, values: tuple[Any, ...]) -> Any:
        try:
            key = tuple([key_of(v) for v in values])
        except ArgumentError:
            signature_of(
                dict(zip(self.names, values, strict=True))
            )  # the same error, with the argument's name
            raise
        if not self._static:
            return key
        arguments = dict(zip(self.names, values, strict=True))
        return (key, *[_integer(name, arguments) for name in self._static])

    # ------------------------------------------------------------------------------------------------ compiling

    def _compile(self, values: tuple[Any, ...]) -> tuple[Variant, tuple[Any, ...]]:
        variant = self.latest = self._lower(values)
        key = self._key(values)
        kept = [v for v in self._variants.pop(key, []) if v.fresh()]
        self._variants[key] = [variant, *kept][:MAX_OUTSIDE]
        if len(kept) >= MAX_OUTSIDE:
            self._warn(
                "outside",
                f"has been compiled for more than {MAX_OUTSIDE} kinds of what it finds outside; the oldest are dropped",
            )
        self._make_room()
        self._count_integers(values)
        return variant, (*values, *[o.fetch(values) for o in variant.outside])

    def _lower(self, values: tuple[Any, ...]) -> Variant:
        arguments = dict(zip(self.names, values, strict=True))
        while True:
            static = frozenset(self._static)
            signature = signature_of(arguments, static)
            environment = Environment(static, frozenset(self.names))
            now = generation()
            try:
                compiled = compile_function(self.fn, signature, environment, self.request, self.options)
            except NeedStatic as need:
                if need.name in static:
                    raise ArgumentError(
                        f"`{need.name}` must be a Python int: it is needed at compile time"
                    ) from None
                self._static = (*self._static, need.name)
                continue
            if self.strict:
                self._check_parameters(compiled)
            return self._variant(compiled, signature, values, now)

    def _check_parameters(self, compiled: Compiled) -> None:
        for path in self.request.wrt:
            param = compiled.lowered.function.params[path[0]]
            name = param.name + "".join(f"[{i}]" for i in path[1:])
            check_parameter(name, part_of(param.tree, path[1:]))

    def _variant(
        self, compiled: Compiled, signature: Signature, values: tuple[Any, ...], now: int
    ) -> Variant:
        environment = compiled.lowered.environment
        specs = [spec for _, spec in signature.args]
        callables = callables_of(specs)
        watches = [
            Watch(g, root)
            for g in environment.guards.values()
            for root in [_root(g.path, callables)]
            if root is None
            or g.path.kind != "object"
            or g.path.steps  # an argument's own code is part of the key
        ]
        outside = tuple(Outside(path, _root(path, callables)) for path in environment.implicits)
        watches += _static_watches(environment, outside, callables)
        watches += _pinned(compiled, callables)
        params = [p.name for p in compiled.lowered.function.params]
        written = tuple(i for i, name in enumerate(params) if name in compiled.lowered.written)
        keys = tuple(outside_key(o.fetch(values)) for o in outside)
        targets = Promotion(compiled), PairPromotion(compiled)
        return Variant(compiled, outside, keys, tuple(watches), now, written, compiled.has_effects, *targets)

    def _make_room(self) -> None:
        if len(self._variants) <= MAX_SIGNATURES:
            return
        del self._variants[next(iter(self._variants))]
        text = f"has been compiled for more than {MAX_SIGNATURES} kinds of arguments; the oldest are dropped"
        self._warn("signatures", text)

    def _count_integers(self, values: tuple[Any, ...]) -> None:
        """Tell of an integer whose every value means another compilation."""
        arguments = dict(zip(self.names, values, strict=True))
        for name in self._static:
            value = _integer(name, arguments)
            seen = self._values_of.setdefault(name, set())
            if value is not None and len(seen) <= MAX_INTEGERS:
                seen.add(value)
            if len(seen) > MAX_INTEGERS:
                self._warn(
                    name,
                    f"has been compiled for more than {MAX_INTEGERS} values of `{name}`, an integer that it needs when "
                    "compiling (an axis, a number of axes, a length of a tuple); each new value is compiled anew",
                )

    def _warn(self, kind: str, text: str) -> None:
        """One warning of each kind, at the user's call."""
        if kind not in self._warned:
            self._warned.add(kind)
            warnings.warn(f"pullback: `{self.fn.__name__}` {text}", stacklevel=_users_level())


_KEPT = "__pullback_signatures__"  # where a function keeps its dispatchers


def dispatcher_for(
    fn: FunctionType, names: tuple[str, ...], request: Request, options: Options, strict: bool
) -> Dispatcher:
    """The dispatcher for a request: one for all that is made from a function (its methods, its partials).

    A function whose code or defaults have been replaced starts anew.
    """
    kept = kept_by(fn, _KEPT, fn.__code__, fn.__defaults__, fn.__kwdefaults__)
    key = (request, options, strict)
    found: Dispatcher | None = kept.get(key)
    if found is None:
        found = kept.setdefault(key, Dispatcher(fn, names, request, options, strict))
    return found


def _users_level() -> int:
    """The stack level of the call that came from outside this package, seen from the caller."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith((PACKAGE, "<pullback")):
        frame, level = frame.f_back, level + 1
    return level


def _root(path: OutsidePath, callables: Mapping[int, tuple[Any, Root]]) -> Root | None:
    found = callables.get(id(path.fn))
    return None if found is None else found[1]


def _integer(name: str, arguments: Mapping[str, Any]) -> Any:
    """The integer of a static name, if the arguments have one there."""
    value = arguments.get(name, _find(name, arguments))
    return value if type(value) is int else None


def _find(name: str, arguments: Mapping[str, Any]) -> Any:
    """The leaf that `spec_of` calls `name`."""
    for root, value in arguments.items():
        if name.startswith((f"{root}[", f"{root}.")):
            spec = dict(signature_of({root: value}).args)[root]
            return _descend(spec, value, root, name)
    return None


def _descend(spec: Spec, value: Any, at: str, name: str) -> Any:
    if at == name:
        return value
    if isinstance(spec, Node):
        for item, step in zip(spec.items, steps_of(spec), strict=True):
            below = step_name(at, step)
            if name == below or name.startswith((f"{below}[", f"{below}.")):
                return _descend(item, take_step(value, step), below, name)
    return None


def _static_watches(
    environment: Environment, outside: tuple[Outside, ...], callables: Mapping[int, tuple[Any, Root]]
) -> list[Watch]:
    """Integers found outside that were taken by value must keep it."""
    watches = []
    for path, (name, spec) in environment.implicits.items():
        for step_path, at in _leaf_paths(path, name, spec):
            if at in environment.static_params:
                watches.append(Watch(Guard(step_path, step_path.fetch()), _root(path, callables)))
    return watches


def _leaf_paths(path: OutsidePath, name: str, spec: Spec) -> list[tuple[OutsidePath, str]]:
    if not isinstance(spec, Node):
        return [] if isinstance(spec, Scalar) else [(path, name)]
    found = []
    for item, step in zip(spec.items, steps_of(spec), strict=True):
        below = path.attr(step[1]) if step[0] == "attr" else path.item(step[1])
        found += _leaf_paths(below, step_name(name, step), item)
    return found


def _pinned(compiled: Compiled, callables: Mapping[int, tuple[Any, Root]]) -> list[Watch]:
    """Functions among the arguments that the compiled code holds on to must be the same ones at each call."""
    if not callables:
        return []
    held = {id(x) for x in _constants(compiled)}
    return [
        Watch(Guard(OutsidePath(fn, "object", getattr(fn, "__name__", "function")), fn), root)
        for key, (fn, root) in callables.items()
        if key in held
    ]


def _constants(compiled: Compiled) -> list[Any]:
    """The compile-time objects in a function and in those compiled apart."""
    found: list[Any] = []

    def visit(operand: Operand) -> None:
        if isinstance(operand, Const):
            found.append(operand.value)
        elif isinstance(operand, Pack):
            for item in operand.items:
                visit(item)

    for function in (compiled.lowered.function, *(c.body() for c in compiled.lowered.callees)):
        for stmt in statements(function.body):
            for operand in (*own_operands(stmt), *(x for _, _, ends in block_ends(stmt) for x in ends)):
                visit(operand)
        for operand in function.results:
            visit(operand)
    return found
