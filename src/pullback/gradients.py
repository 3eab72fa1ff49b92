"""A differentiable function: the user's function, and its gradient functions compiled on first call.

`Gradient` is one request (which arguments, auxiliary value or not) on one function; `Differentiable` is what the
decorator returns.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from pullback.dispatch import Dispatcher, Variant
from pullback.errors import ArgumentError, SourceError
from pullback.explain import Explanation, explanation
from pullback.pipeline import Options
from pullback.transform.gradient import Request

Argnum = int | str
Argnums = Argnum | Sequence[Argnum]


def function_of(f: Any) -> tuple[FunctionType, tuple[Any, ...], dict[str, Any]]:
    """The Python function behind a callable, and the arguments that are bound already.

    Raises SourceError for what has no Python source.
    """
    if isinstance(f, Differentiable):
        return function_of(f.__wrapped__)
    if isinstance(f, BoundDifferentiable):
        fn, args, kwargs = function_of(f.function)
        return fn, (*args, f.owner), kwargs
    if isinstance(f, FunctionType):
        return f, (), {}
    if isinstance(f, MethodType):
        fn, args, kwargs = function_of(f.__func__)
        return fn, (*args, f.__self__), kwargs
    if isinstance(f, functools.partial):
        fn, args, kwargs = function_of(f.func)
        return fn, (*args, *f.args), {**kwargs, **f.keywords}
    if isinstance(getattr(f, "__wrapped__", None), FunctionType) and hasattr(f, "cache_info"):
        return f.__wrapped__, (), {}  # functools.lru_cache
    if isinstance(getattr(f, "py_func", None), FunctionType):
        return f.py_func, (), {}
    call = getattr(type(f), "__call__", None)
    if not isinstance(f, type) and isinstance(call, FunctionType):
        return call, (f,), {}
    raise SourceError(
        f"`{getattr(f, '__name__', f)}` has no Python source: it is a {type(f).__name__}",
        hint="wrap it in a Python function: lambda x: f(x)",
    )


class Gradient:
    """Value and gradient of one function with respect to some of its arguments."""

    def __init__(self, f: Any, argnums: Argnums, has_aux: bool, options: Options, asked: str = "grad") -> None:
        self.fn, self.bound, self.bound_kwargs = function_of(f)
        self.argnums = argnums
        self.has_aux = has_aux
        self.options = options
        self.asked = asked
        self._by_wrt: dict[tuple[tuple[int, ...], ...], Dispatcher] = {}
        self._fixed = self._fixed_dispatcher()

    # ------------------------------------------------------------------------------------------------ argnums

    @property
    def _single(self) -> bool:
        return isinstance(self.argnums, int | str)

    def _fixed_dispatcher(self) -> Dispatcher | None:
        """The dispatcher, where argnums need no call to be resolved."""
        parameters = list(inspect.signature(self.fn, follow_wrapped=False).parameters.values())
        if any(p.kind is p.VAR_POSITIONAL for p in parameters):
            return None
        return self._dispatcher(self._paths(parameters, 0))

    def _dispatcher(self, wrt: tuple[tuple[int, ...], ...]) -> Dispatcher:
        if wrt not in self._by_wrt:
            request = Request(wrt, self.has_aux, self._single)
            self._by_wrt[wrt] = Dispatcher(self.fn, request, self.options, self.asked)
        return self._by_wrt[wrt]

    def _paths(self, parameters: Sequence[inspect.Parameter], extra: int) -> tuple[tuple[int, ...], ...]:
        """argnums as paths: a parameter's position, or a member of *args (of which there are `extra`)."""
        if self.argnums is None:
            return _all_paths(parameters, len(self.bound), extra)
        asked: Sequence[Argnum] = (self.argnums,) if isinstance(self.argnums, int | str) else tuple(self.argnums)
        if not asked:
            raise ArgumentError("argnums is empty", hint="name at least one argument")
        return tuple(self._path(a, parameters, extra) for a in asked)

    def _path(self, argnum: Argnum, parameters: Sequence[inspect.Parameter], extra: int) -> tuple[int, ...]:
        names = [p.name for p in parameters]
        if isinstance(argnum, str):
            if argnum not in names:
                raise self._wrong(argnum, names)
            return (names.index(argnum),)
        if isinstance(argnum, bool) or not isinstance(argnum, int):
            raise self._wrong(argnum, names)
        places = _positional_places(parameters, extra)[len(self.bound) :]
        if not -len(places) <= argnum < len(places):
            raise self._wrong(argnum, names)
        return places[argnum]

    def _wrong(self, argnum: object, names: list[str]) -> ArgumentError:
        shown = ", ".join(f"{i}: {n}" for i, n in enumerate(names[len(self.bound) :]))
        return ArgumentError(
            f"argnums={argnum!r} is not an argument of `{self.fn.__name__}`", hint=f"its arguments are {shown or 'none'}"
        )

    def dispatcher(self, args: tuple[Any, ...]) -> Dispatcher:
        """The dispatcher for a call with these positional arguments."""
        if self._fixed is not None:
            return self._fixed
        parameters = list(inspect.signature(self.fn, follow_wrapped=False).parameters.values())
        positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        return self._dispatcher(self._paths(parameters, max(len(args) - len(positional), 0)))

    # -------------------------------------------------------------------------------------------------- calls

    def prepare(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Dispatcher, Variant, tuple[Any, ...]]:
        """The compiled signature for a call, and the values that its functions take."""
        if self.bound:
            args = (*self.bound, *args)
        if self.bound_kwargs:
            kwargs = {**self.bound_kwargs, **kwargs}
        dispatcher = self.dispatcher(args)
        variant, values = dispatcher.find(dispatcher.arguments(args, kwargs))
        if variant.written:
            dispatcher.check_overlap(variant, values)
        return dispatcher, variant, values

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The value (with the auxiliary one where has_aux) and the gradient."""
        _, variant, values = self.prepare(args, kwargs)
        if variant.compiled.has_effects:
            value, grads = self._in_two(variant, values)
        else:
            value, grads = variant.function("value_and_grad")(*values)
            if not finite(grads):
                with np.errstate(all="ignore"):
                    value, grads = variant.function("value_and_grad", guarded=True)(*values)
        self._check_value(value)
        return value, grads

    def _in_two(self, variant: Variant, values: tuple[Any, ...]) -> tuple[Any, Any]:
        """Effects happen once: the primal runs once, the pullback again if it must."""
        value, residuals = variant.function("primal")(*values)
        seed = _one(value[0] if self.has_aux else value)
        return value, pull(variant, residuals, seed)

    def _check_value(self, value: Any) -> None:
        result = value[0] if self.has_aux else value
        if np.ndim(result) != 0:
            raise ArgumentError(
                f"`{self.fn.__name__}` returned an array of shape {np.shape(result)}; a gradient is of a scalar",
                hint="reduce it to one number, or use vjp with a seed",
            )


def _positional_places(parameters: Sequence[inspect.Parameter], extra: int) -> list[tuple[int, ...]]:
    places: list[tuple[int, ...]] = []
    for i, p in enumerate(parameters):
        if p.kind is p.VAR_POSITIONAL:
            places += [(i, j) for j in range(extra)]
        elif p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            places.append((i,))
    return places


def _all_paths(parameters: Sequence[inspect.Parameter], skip: int, extra: int) -> tuple[tuple[int, ...], ...]:
    return tuple(_positional_places(parameters, extra)[skip:])


def _one(value: Any) -> Any:
    """The seed of a gradient: 1 of the value's own dtype."""
    return value.dtype.type(1) if isinstance(value, np.generic | np.ndarray) else 1.0


def pull(variant: Variant, residuals: Any, seed: Any) -> Any:
    """Run a pullback; again with strong zeros spelled out where a cotangent is not finite."""
    bars = variant.function("pullback")(residuals, seed)
    if not finite(bars):
        bars = variant.function("pullback", guarded=True)(residuals, seed)
    return bars


def finite(bars: Any) -> bool:
    """Whether every cotangent is finite."""
    if type(bars) is np.ndarray:
        return _finite_array(bars)
    if isinstance(bars, float):
        return math.isfinite(bars)
    if isinstance(bars, tuple | list):
        return all([finite(b) for b in bars])
    if isinstance(bars, dict):
        return all([finite(b) for b in bars.values()])
    if bars is None:
        return True
    if isinstance(bars, complex | np.generic | int):
        return bool(np.isfinite(bars))
    return all([finite(b) for b in vars(bars).values()]) if hasattr(bars, "__dict__") else True


def _finite_array(array: np.ndarray[Any, Any]) -> bool:
    """A dot product is the cheapest test; it may overflow where the array is finite."""
    if math.isfinite(np.vdot(array, array).real):
        return True
    return bool(np.isfinite(array).all())


class Differentiable:
    """A function with its gradient functions.  Calling it is calling the user's function, unchanged."""

    def __init__(self, fn: Callable[..., Any], options: Options) -> None:
        self.__wrapped__ = fn
        self.options = options
        self._gradients: dict[Any, Gradient] = {}
        functools.update_wrapper(self, fn)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The user's function."""
        return self.__wrapped__(*args, **kwargs)

    def __get__(self, owner: Any, cls: type | None = None) -> Any:
        """As a method: the instance is the first argument."""
        return self if owner is None else BoundDifferentiable(self, owner)

    def __repr__(self) -> str:
        return f"<differentiable {getattr(self.__wrapped__, '__qualname__', self.__wrapped__)}>"

    def gradient(self, argnums: Argnums | None = 0, has_aux: bool = False, asked: str = "grad") -> Gradient:
        """The compiled gradient for a request."""
        key = (tuple(argnums) if isinstance(argnums, list) else argnums, has_aux, asked)
        if key not in self._gradients:
            self._gradients[key] = Gradient(self, argnums, has_aux, self.options, asked)  # type: ignore[arg-type]
        return self._gradients[key]

    def value_and_grad(self, *args: Any, argnums: Argnums = 0, has_aux: bool = False, **kwargs: Any) -> tuple[Any, Any]:
        """The value and the gradient with respect to `argnums`, of the structure, dtype and shape of the arguments."""
        return self.gradient(argnums, has_aux)(*args, **kwargs)

    def grad(self, *args: Any, argnums: Argnums = 0, **kwargs: Any) -> Any:
        """The gradient with respect to `argnums`."""
        return self.gradient(argnums)(*args, **kwargs)[1]

    def vjp(
        self, *args: Any, argnums: Argnums | None = None, has_aux: bool = False, copy: bool = True, **kwargs: Any
    ) -> tuple[Any, Callable[[Any], Any]]:
        """The value and its pullback (see `pullback.vjp`)."""
        value, residuals = self.primal(*args, argnums=argnums, has_aux=has_aux, copy=copy, **kwargs)
        result = value[0] if has_aux else value
        return value, functools.partial(_pull_checked, residuals, Shape.of(result))

    def primal(
        self, *args: Any, argnums: Argnums | None = None, has_aux: bool = False, copy: bool = True, **kwargs: Any
    ) -> tuple[Any, Any]:
        """The value and the residuals that `.pullback` takes.

        `copy=False` trusts the caller not to change the arguments or the value before pulling back.
        """
        gradient = self.gradient(argnums, has_aux, "vjp" if copy else "vjp without copies")
        _, variant, values = gradient.prepare(args, kwargs)
        value, residuals = variant.function("primal")(*values)
        return value, Residuals(variant, residuals)

    def pullback(self, residuals: Residuals, value_bar: Any) -> Any:
        """The cotangents of the arguments, from the residuals and the cotangent of the value."""
        return pull(residuals.variant, residuals.values, value_bar)

    def source(self, *args: Any, argnums: Argnums = 0, form: str = "pair", **kwargs: Any) -> str:
        """The generated source: form "pair" (primal and pullback) or "joint" (value and gradient in one)."""
        _, variant, _ = self.gradient(argnums, asked="vjp").prepare(args, kwargs)
        name = "value_and_grad" if form == "joint" else "pullback"
        return variant.compiled.generated(name).source

    def explain(self, *args: Any, argnums: Argnums = 0, **kwargs: Any) -> Explanation:
        """Which rule served which call and why, and which copies were inserted."""
        _, variant, _ = self.gradient(argnums, asked="vjp").prepare(args, kwargs)
        return explanation(variant.compiled)


class Residuals:
    """What a primal hands to its pullback."""

    __slots__ = ("values", "variant")

    def __init__(self, variant: Variant, values: Any) -> None:
        self.variant = variant
        self.values = values


class Shape:
    """The structure, shapes and dtypes of a value, for checking seeds."""

    __slots__ = ("dtype", "items", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: Any, items: Any) -> None:
        self.shape = shape
        self.dtype = dtype
        self.items = items

    @classmethod
    def of(cls, value: Any) -> Shape:
        """The shape of a value."""
        if isinstance(value, tuple | list):
            return cls((), None, [cls.of(v) for v in value])
        if isinstance(value, dict):
            return cls((), None, {k: cls.of(v) for k, v in value.items()})
        if isinstance(value, np.ndarray | np.generic | float | int | complex):
            return cls(np.shape(value), np.asarray(value).dtype, None)
        return cls((), None, None)

    def check(self, seed: Any, where: str = "the seed") -> Any:
        """The seed, of the value's dtype.  Raises ArgumentError where it does not fit."""
        if isinstance(self.items, list):
            if not isinstance(seed, tuple | list) or len(seed) != len(self.items):
                raise ArgumentError(f"{where} must be a sequence of {len(self.items)} cotangents, as the value is")
            return type(seed)(s.check(x, f"{where}[{i}]") for i, (s, x) in enumerate(zip(self.items, seed, strict=True)))
        if isinstance(self.items, dict):
            if not isinstance(seed, dict) or list(seed) != list(self.items):
                raise ArgumentError(f"{where} must be a dict with keys {list(self.items)}, as the value is")
            return {k: s.check(seed[k], f"{where}[{k!r}]") for k, s in self.items.items()}
        if self.dtype is None:
            return seed
        return self._number(seed, where)

    def _number(self, seed: Any, where: str) -> Any:
        if np.shape(seed) != self.shape:
            raise ArgumentError(f"{where} has shape {np.shape(seed)}, the value has shape {self.shape}",
                                hint="pass a cotangent of the value's own shape")
        given = np.asarray(seed).dtype
        if given.kind not in "biufc" or (given.kind == "c" and self.dtype.kind != "c"):
            raise ArgumentError(f"{where} has dtype {given}, the value has dtype {self.dtype}")
        if self.shape == () and not isinstance(seed, np.ndarray):
            return self.dtype.type(seed) if self.dtype.kind in "fc" else seed
        return np.array(seed, dtype=self.dtype if self.dtype.kind in "fc" else None)


def _pull_checked(residuals: Residuals, shape: Shape, value_bar: Any) -> Any:
    return pull(residuals.variant, residuals.values, shape.check(value_bar))


class BoundDifferentiable:
    """A differentiable method of one instance; argnums count from the first argument after it."""

    def __init__(self, function: Differentiable, owner: Any) -> None:
        self.function = function
        self.owner = owner
        functools.update_wrapper(self, function.__wrapped__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The user's method."""
        return self.function.__wrapped__(self.owner, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(Differentiable(MethodType(self.function.__wrapped__, self.owner), self.function.options), name)
