"""From a call to the compiled functions that serve it.

`Dispatcher` keeps, for one function and one request, the compiled signatures.  A call's key says what the compiler
specialises on; guards say that what it resolved outside the function is still there; data from outside are fetched at
each call and are part of the key.
"""

from __future__ import annotations

import inspect
import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np

from pullback.errors import ArgumentError, OverlapError
from pullback.frontend.environment import Environment, Guard, NeedStatic, Path
from pullback.frontend.signature import bind, signature_of
from pullback.ir.nodes import Operand, Pack, Var
from pullback.pipeline import Compiled, Options, compile_function
from pullback.rules.registry import generation
from pullback.styles.style import Array, Scalar, kind, numeric
from pullback.transform.gradient import Request

MAX_SIGNATURES = 64
MAX_STATIC_VALUES = 16


@dataclass(slots=True)
class Variant:
    """One compiled signature: the compilation, and the outside data it takes as further arguments."""

    compiled: Compiled
    implicits: tuple[Path, ...]
    implicit_keys: tuple[Any, ...]
    guards: tuple[Guard, ...]
    generation: int
    written: tuple[int, ...]
    functions: dict[tuple[str, bool], Callable[..., Any]] = field(default_factory=dict)

    def function(self, form: str, guarded: bool = False) -> Callable[..., Any]:
        """A generated function."""
        key = (form, guarded)
        found = self.functions.get(key)
        if found is None:
            found = self.functions[key] = self.compiled.function(form, guarded)
        return found

    def fresh(self) -> bool:
        """Whether what was resolved at compile time still holds."""
        if self.generation != generation():
            return False
        return all(g.holds() for g in self.guards)


def key_of(value: Any) -> Any:
    """What the compiler specialises on in an argument."""
    cls = type(value)
    if cls is np.ndarray:
        shape = value.shape
        ones = tuple([n == 1 for n in shape]) if 1 in shape else len(shape)
        return (value.dtype, ones, value.flags.c_contiguous)
    if cls is float or cls is int or cls is complex:
        return cls
    if isinstance(value, np.generic):
        return value.dtype
    return _structure_key(value, cls)


def _structure_key(value: Any, cls: type) -> Any:
    if isinstance(value, tuple | list):
        return (cls, *map(key_of, value))
    if cls is dict:
        return (cls, *value, *map(key_of, value.values()))
    try:
        hash(value)
    except TypeError:
        pass
    else:
        if not hasattr(value, "__dict__") or callable(value) or isinstance(value, type):
            return (cls, value)
    fields = getattr(value, "__dict__", None)
    if fields is None:
        names = getattr(cls, "__slots__", ())
        fields = {n: getattr(value, n) for n in names}
    return (cls, *fields, *map(key_of, fields.values()))


class Dispatcher:
    """The compiled signatures of one function for one request."""

    def __init__(self, fn: FunctionType, request: Request, options: Options, asked: str) -> None:
        self.fn = fn
        self.request = request
        self.options = options
        self.asked = asked  # "grad" (a scalar result is needed) or "vjp"
        self._variants: dict[Any, list[Variant]] = {}
        self._lock = threading.RLock()
        self._code = fn.__code__
        self._plain = _takes_plain_positionals(fn)
        self._static: dict[str, set[Any]] = {}
        self._warned = False

    # ------------------------------------------------------------------------------------------------- lookup

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """The arguments in the order of the parameters, defaults filled in."""
        if not kwargs and self._plain == len(args):
            return args
        return tuple(bind(self.fn, args, kwargs).values())

    def find(self, values: tuple[Any, ...]) -> tuple[Variant, tuple[Any, ...]]:
        """The compiled signature for arguments, and all values that its functions take."""
        if self.fn.__code__ is not self._code:
            self._forget()
        key = tuple([key_of(v) for v in values]) if not self._static else self._static_key(values)
        for variant in self._variants.get(key, ()):
            if not variant.implicits:
                if variant.fresh():
                    return variant, values
                continue
            outside = [p.fetch() for p in variant.implicits]
            if tuple([key_of(v) for v in outside]) == variant.implicit_keys and variant.fresh():
                return variant, (*values, *outside)
        return self._compile(values)

    def _static_key(self, values: tuple[Any, ...]) -> Any:
        names = self._names()
        return tuple([(v if n in self._static else key_of(v)) for n, v in zip(names, values, strict=True)])

    def _names(self) -> list[str]:
        return list(_parameters(self.fn))

    def _forget(self) -> None:
        with self._lock:
            self._variants.clear()
            self._code = self.fn.__code__
            self._plain = _takes_plain_positionals(self.fn)

    # ------------------------------------------------------------------------------------------------ compiling

    def _compile(self, values: tuple[Any, ...]) -> tuple[Variant, tuple[Any, ...]]:
        with self._lock:
            variant = self._lower(values)
            key = tuple([key_of(v) for v in values]) if not self._static else self._static_key(values)
            kept = [v for v in self._variants.get(key, []) if v.fresh() and v.implicit_keys != variant.implicit_keys]
            self._variants[key] = [*kept, variant]
            self._make_room()
        return variant, (*values, *[p.fetch() for p in variant.implicits])

    def _lower(self, values: tuple[Any, ...]) -> Variant:
        names = self._names()
        arguments = dict(zip(names, values, strict=True))
        implicit_static: set[str] = set()
        while True:
            static = frozenset(self._static) | implicit_static
            signature = signature_of(arguments, static & frozenset(names))
            environment = Environment(static, frozenset(names))
            now = generation()
            try:
                compiled = compile_function(self.fn, signature, environment, self.request, self.options)
            except NeedStatic as need:
                if need.name in static:
                    raise
                if need.name in arguments:
                    self._note_static(need.name, arguments[need.name])
                else:
                    implicit_static.add(need.name)
                continue
            self._check(compiled)
            return self._variant(compiled, environment, static, now)

    def _variant(self, compiled: Compiled, environment: Environment, static: frozenset[str], now: int) -> Variant:
        runtime, guards = [], list(environment.guards.values())
        for path, (name, _) in environment.implicits.items():
            if name in static:
                guards.append(Guard(path, path.fetch()))
            else:
                runtime.append(path)
        names = [p.name for p in compiled.lowered.function.params]
        written = tuple(names.index(n) for n in compiled.lowered.written if n in names)
        keys = tuple(key_of(p.fetch()) for p in runtime)
        return Variant(compiled, tuple(runtime), keys, tuple(guards), now, written)

    def _note_static(self, name: str, value: Any) -> None:
        if type(value) is not int:
            raise ArgumentError(f"`{name}` must be known when the function is compiled: pass a Python int")
        self._static.setdefault(name, set()).add(value)
        self._variants.clear()  # keys have another form from now on

    def _make_room(self) -> None:
        if len(self._variants) <= MAX_SIGNATURES:
            return
        del self._variants[next(iter(self._variants))]
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"pullback: `{self.fn.__name__}` has been compiled for more than {MAX_SIGNATURES} kinds of arguments; "
                "the oldest are dropped",
                stacklevel=6,
            )

    # ---------------------------------------------------------------------------------------------------- checks

    def _check(self, compiled: Compiled) -> None:
        """What can be said of a request once styles are known."""
        function = compiled.lowered.function
        for path in self.request.wrt:
            param = function.params[path[0]]
            _check_parameter(param.name, _at(param.tree, path[1:]))
        if self.asked == "grad":
            _check_scalar(function.name, function.results[0], self.request.has_aux)

    def check_overlap(self, variant: Variant, values: tuple[Any, ...]) -> None:
        """An argument whose storage the function writes may share memory with no other array that it reads."""
        names = [p.name for p in variant.compiled.lowered.function.params]
        for i in variant.written:
            for j, other in enumerate(values):
                if j == i:
                    continue
                for a in _arrays(values[i]):
                    for b in _arrays(other):
                        if _shares(a, b):
                            raise OverlapError(
                                f"`{self.fn.__name__}` writes into `{names[i]}`, which shares memory with `{names[j]}`",
                                hint="pass a copy of one of them",
                            )


def _arrays(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, tuple | list):
        return [a for x in value for a in _arrays(x)]
    if isinstance(value, dict):
        return [a for x in value.values() for a in _arrays(x)]
    return []


def _shares(a: Any, b: Any) -> bool:
    if not np.may_share_memory(a, b):
        return False
    try:
        return bool(np.shares_memory(a, b, max_work=10_000))
    except np.exceptions.TooHardError:
        return True


def _parameters(fn: FunctionType) -> tuple[str, ...]:
    return tuple(inspect.signature(fn, follow_wrapped=False).parameters)


def _takes_plain_positionals(fn: FunctionType) -> int:
    """The number of parameters of a function that has only positional ones, else -1."""
    code = fn.__code__
    has_more = code.co_flags & 0x0C or code.co_kwonlyargcount
    return -1 if has_more else code.co_argcount


def _at(tree: Operand, path: tuple[int, ...]) -> Operand:
    for i in path:
        assert isinstance(tree, Pack)
        tree = tree.items[i]
    return tree


def _check_parameter(name: str, tree: Operand) -> None:
    """A parameter asked for must carry a derivative somewhere."""
    if isinstance(tree, Var):
        what = kind(tree.style)
        if what in ("i", "b"):
            word = "an integer (int)" if what == "i" else "a boolean"
            raise ArgumentError(
                f"`{name}` is {word} value and has no gradient",
                hint="pass a float (3.0 instead of 3, or x.astype(float)), or leave it out of argnums",
            )
    elif not isinstance(tree, Pack):
        raise ArgumentError(f"`{name}` is not a number or array and has no gradient", hint="leave it out of argnums")


def _check_scalar(name: str, result: Operand, has_aux: bool) -> None:
    """The gradient needs a real scalar result."""
    if has_aux:
        if not (isinstance(result, Pack) and result.kind == "tuple" and len(result.items) == 2):
            raise ArgumentError(f"has_aux=True: `{name}` must return a tuple (value, aux)")
        result = result.items[0]
    if isinstance(result, Pack):
        raise ArgumentError(
            f"`{name}` returns a {result.kind}; a gradient is of a scalar",
            hint="return one number, use has_aux=True for (value, aux), or use vjp",
        )
    if not isinstance(result, Var):
        return
    style = numeric(result.style)
    if isinstance(style, Array) and style.axes is not None and style.axes != ():
        raise ArgumentError(
            f"`{name}` returns an array of rank {len(style.axes)}; a gradient is of a scalar",
            hint="reduce it to one number (np.sum(...), x[0]), or use vjp with a seed",
        )
    if isinstance(style, Scalar | Array) and style.kind == "c":
        raise ArgumentError(
            f"`{name}` returns a complex number; a gradient is of a real scalar",
            hint="return its real part or its absolute value",
        )
