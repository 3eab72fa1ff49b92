"""`Gradient`: one request (which arguments, an auxiliary value or not) on one function, compiled as it is called.

What the user calls is a function whose code is the specialised *entry* of the signature called last; where that does
not fit the call, the arguments are bound and the dispatcher finds, or compiles, the signature that does.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from pullback.api.argnums import Arguments, Asked, Given, Path, is_single
from pullback.api.buffers import OUT, Buffers
from pullback.api.callables import target_of
from pullback.backend.native.bridge import MISS
from pullback.dispatch.binding import ABSENT, Front, header_of, make_binder
from pullback.dispatch.checks import arrays_of, check_overlap, check_scalar, check_value
from pullback.dispatch.dispatcher import Dispatcher, dispatcher_for
from pullback.dispatch.entry import NoEntry, make_entry
from pullback.dispatch.finite import finite
from pullback.dispatch.floating import quiet
from pullback.dispatch.variants import Variant
from pullback.errors import ArgumentError
from pullback.pipeline import Options
from pullback.transform.gradient import Request

MAX_ENTRIES = 256  # entries made for one gradient: beyond, signatures alternate too often to be worth one


class Gradient:
    """Value and gradient of one function with respect to some of its arguments."""

    __is_pullback_gradient__ = True

    def __init__(self, f: Any, argnums: Asked, has_aux: bool, options: Options, skip: int = 0) -> None:
        self.target = target_of(f)
        self.fn: FunctionType = self.target.fn
        self._bound = bool(self.target.args or self.target.kwargs)
        self.skip = skip  # leading arguments that argnums do not count: the instance of a method
        self.__name__ = f"value_and_grad_of_{self.fn.__name__}"
        self.argnums = argnums
        self.has_aux = has_aux
        self.options = options
        self._front = Front(self.__name__, self._call)
        self.function = self._front.function  # what a call of the user's comes to
        self.made: dict[str, Any] = {}  # the objects that the user calls: see `api.functions`
        self._reset()

    def _reset(self) -> None:
        """Start anew: the function's code is another one."""
        self.code, self.defaults, self.kwdefaults = (
            self.fn.__code__,
            self.fn.__defaults__,
            self.fn.__kwdefaults__,
        )
        self.header = header_of(self.fn)
        self._dispatchers: dict[tuple[Path, ...], Dispatcher] = {}
        self._entries: dict[int, CodeType | None] = {}  # None: there is no entry for this variant
        self._entry: Callable[..., Any] | None = None
        self._front.reset(self.header)
        self._binder = make_binder(self.fn, self.header)
        kinds = self.header.kinds
        self._star = kinds.index(_STAR) if _STAR in kinds else None
        self._takes_out = OUT not in self.header.names and inspect.Parameter.VAR_KEYWORD not in kinds
        if self._star is None:
            self._dispatcher_for(())  # argnums are checked at once

    # -------------------------------------------------------------------------------------------------- lookup

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """The values of all parameters.  Raises Python's own TypeError."""
        if self._is_stale():
            self._reset()
        target = self.target
        return self._binder(*target.args, *args, **{**target.kwargs, **kwargs})

    def _is_stale(self) -> bool:
        """Whether the function's code or defaults have been replaced."""
        fn = self.fn
        return (
            fn.__code__ is not self.code
            or fn.__defaults__ is not self.defaults
            or fn.__kwdefaults__ is not self.kwdefaults
        )

    def _dispatcher_for(self, values: tuple[Any, ...]) -> Dispatcher:
        extra = len(values[self._star]) if self._star is not None else 0
        paths = Arguments(self.header, len(self.target.args) + self.skip, extra).paths(self.argnums)
        if paths not in self._dispatchers:
            request = Request(paths, self.has_aux, is_single(self.argnums))
            strict = not isinstance(self.argnums, Given)
            made = dispatcher_for(self.fn, self.header.names, request, self.options, strict)
            self._dispatchers.setdefault(paths, made)
        return self._dispatchers[paths]

    def find(self, values: tuple[Any, ...]) -> tuple[Variant, tuple[Any, ...]]:
        """The compiled signature for the values of the parameters, and the values that its functions take."""
        if self._star is None:
            (dispatcher,) = self._dispatchers.values()
        else:
            dispatcher = self._dispatcher_for(values)
        variant, extended = dispatcher.find(values)
        if variant.written:
            check_overlap(self.header.name, variant, extended)
        return variant, extended

    def latest(self) -> Variant | None:
        """The signature that was compiled last."""
        made = [d.latest for d in self._dispatchers.values() if d.latest is not None]
        return max(made, key=lambda v: v.number, default=None)

    # --------------------------------------------------------------------------------------------------- calls

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The value (with the auxiliary one where has_aux) and the gradient."""
        return self.function(*args, **kwargs)  # type: ignore[no-any-return]

    def _call(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, Any]:
        """A call that no entry took as it is: by keywords, of other parameters, or the first one."""
        if OUT in keywords and self._takes_out:
            return self._into(args, {k: v for k, v in keywords.items() if k != OUT}, keywords[OUT])
        values = self.bind(args, keywords)
        entry = self._entry
        return entry(*values) if entry is not None else self._slow(values)

    def _into(self, args: tuple[Any, ...], keywords: dict[str, Any], out: Any) -> tuple[Any, Any]:
        """A call whose cotangents go into the caller's arrays."""
        values = self.bind(args, keywords)
        if out is None:
            return self._slow(values)
        variant, extended = self.find(values)
        self._prepare(variant)
        request, names = self._dispatcher_for(values).request, self.header.names
        arguments = [(names[path[0]], _at(values, path)) for path in request.wrt]
        buffers = Buffers(out, arguments, request.single and len(arguments) == 1)
        buffers.keep_apart([(name, array) for name, _, array in arrays_of(variant, extended)])
        result: Any = MISS
        if not self.has_aux and quiet():  # what else is returned must not be in an array of the caller's
            result = variant.promotion.served(extended, buffers.arrays)
        if result is MISS:
            result = self._run(variant, extended)
        else:
            self._check(result[0])
        return result[0], buffers.take(result[1])

    def _miss(
        self, values: tuple[Any, ...], rest: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[Any, Any]:
        """A call that the entry does not serve."""
        given = tuple([v for v in values if v is not ABSENT])
        if rest or keywords or len(given) != len(values) or self._is_stale():
            return self._call((*given, *rest), keywords)
        return self._slow(values)

    def _slow(self, values: tuple[Any, ...]) -> tuple[Any, Any]:
        """Find or compile the variant, run it, and make it the one that is tried first."""
        variant, extended = self.find(values)
        self._prepare(variant)
        if id(variant) not in self._entries and variant.scalar and not variant.effects:
            self._specialise(variant)
        code = self._entries.get(id(variant))
        if code is not None:
            self._use(code)
        return self._run(variant, extended)

    def _prepare(self, variant: Variant) -> None:
        """What is done before a variant's first call, and checked again before others."""
        if variant.scalar is None:
            function = variant.compiled.lowered.function
            variant.scalar = check_scalar(self.header.name, function, self.has_aux)
        (variant.pair if variant.effects else variant.promotion).insist()

    def _specialise(self, variant: Variant) -> None:
        """Make the entry of a variant."""
        if len(self._entries) >= MAX_ENTRIES or self._star is not None:
            return
        (dispatcher,) = self._dispatchers.values()
        request, names = dispatcher.request, self._front.names
        try:
            code = make_entry(self.fn, self.header, variant, request, self._miss, self._strong, names)
        except NoEntry:
            code = None
        self._entries[id(variant)] = code

    def _use(self, code: CodeType) -> None:
        """Have an entry tried first."""
        self._entry = self._front.entry(code)
        if not self._bound and len(self.header.positional) == len(self.header.names):
            self._front.use(code)

    def _run(self, variant: Variant, values: tuple[Any, ...]) -> tuple[Any, Any]:
        if variant.effects:
            # Effects happen once: the primal runs once, the pullback again if it must.
            value, residuals, puller = variant.forward(values)
            self._check(value)
            return value, puller.pull(residuals, _one(value[0] if self.has_aux else value))
        if variant.promotion.run is not None and quiet():
            result: Any = variant.promotion.served(values)
            if result is not MISS:
                self._check(result[0])
                return result  # type: ignore[no-any-return]
        value, grads = variant.run("value_and_grad", values)
        self._check(value)
        return (value, grads) if finite(grads) else self._again(variant, values)

    def _strong(self, variant: Variant, values: tuple[Any, ...], result: tuple[Any, Any]) -> tuple[Any, Any]:
        """A call whose cotangents did not pass the quick test."""
        return result if finite(result[1]) else self._again(variant, values)

    def _again(self, variant: Variant, values: tuple[Any, ...]) -> tuple[Any, Any]:
        with np.errstate(all="ignore"):
            result: tuple[Any, Any] = variant.function("value_and_grad", guarded=True)(*values)
        return result

    def __repr__(self) -> str:
        return f"<value and gradient of {self.fn.__qualname__} with respect to {self.argnums!r}>"

    def _check(self, value: Any) -> None:
        check_value(self.header.name, value[0] if self.has_aux else value)


class BoundGradient:
    """The gradient of a method of one instance; what is compiled is shared by all instances."""

    __is_pullback_gradient__ = True

    def __init__(self, gradient: Gradient, owner: Any) -> None:
        self.gradient = gradient
        self.owner = owner
        self.__name__ = gradient.__name__
        self.function = MethodType(gradient.function, owner)
        self.made: dict[str, Any] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The value and the gradient."""
        return self.function(*args, **kwargs)  # type: ignore[no-any-return]

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """The values of all parameters, the instance first."""
        return self.gradient.bind((self.owner, *args), kwargs)

    def find(self, values: tuple[Any, ...]) -> tuple[Variant, tuple[Any, ...]]:
        """See `Gradient.find`."""
        return self.gradient.find(values)

    def latest(self) -> Variant | None:
        """See `Gradient.latest`."""
        return self.gradient.latest()


_STAR = inspect.Parameter.VAR_POSITIONAL


def _at(values: tuple[Any, ...], path: Path) -> Any:
    """The argument that a path leads to."""
    value = values[path[0]]
    for i in path[1:]:
        value = value[i]
    return value


def _one(value: Any) -> Any:
    """The seed of a gradient: 1 of the value's own dtype."""
    if isinstance(value, np.generic | np.ndarray):
        if value.dtype.kind not in "fc":
            raise ArgumentError("the value is an integer: it has no derivative")
        return value.dtype.type(1)
    return 1.0
