"""`Differentiable`: the user's function, with its gradient functions.  What the decorator returns."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from types import FunctionType, MethodType
from typing import Any

from pullback.api.argnums import Argnums, Asked, Given
from pullback.api.gradient import BoundGradient, Gradient
from pullback.api.pickling import by_name
from pullback.api.representation import html_of
from pullback.api.seeds import Shape, shape_of
from pullback.dispatch.kept import kept_by
from pullback.dispatch.pairs import NativePullback
from pullback.dispatch.promotion import c_source
from pullback.dispatch.shipped import Shipped, shipped
from pullback.dispatch.tracebacks import brief, shortened
from pullback.dispatch.variants import Variant
from pullback.errors import ArgumentError, PullbackError
from pullback.explain import Explanation, explanation
from pullback.pipeline import Options


class Residuals:
    """What a primal hands to its pullback.  Opaque; may be pulled back through any number of times.

    Pickled with the source of its pullback, so that it is pulled back by the code that belongs to it, wherever that is.
    """

    __slots__ = ("shape", "values", "variant")

    def __init__(self, variant: Variant | NativePullback | Shipped, values: Any, shape: Shape) -> None:
        self.variant = variant
        self.values = values
        self.shape = shape

    def __repr__(self) -> str:
        return f"<residuals of {self.variant.name}>"

    def __reduce__(self) -> Any:
        """The generated source, the values and what the cotangent must look like."""
        return Residuals, (*shipped(self.variant, self.values), self.shape)

    def __copy__(self) -> Residuals:
        """Residuals with the same values."""
        return Residuals(self.variant, self.values, self.shape)

    def __deepcopy__(self, memo: dict[int, Any]) -> Residuals:
        """Residuals with copies of the values."""
        return Residuals(self.variant, deepcopy(self.values, memo), self.shape)

    @brief
    def pull(self, value_bar: Any) -> Any:
        """The cotangents of the arguments, for the cotangent of the value."""
        return self.variant.pull(self.values, self.shape.check(value_bar))


class Calls:
    """The ways to differentiate a function; `_gradient` says which one for given options."""

    __wrapped__: Callable[..., Any]
    options: Options

    def _gradient(self, argnums: Asked, has_aux: bool = False, copy: bool = True) -> Gradient | BoundGradient:
        raise NotImplementedError

    def value_and_grad(
        self, *args: Any, argnums: Argnums = 0, has_aux: bool = False, **kwargs: Any
    ) -> tuple[Any, Any]:
        """The value, and the gradient with respect to `argnums` in the structure, shape and dtype of the arguments.

        argnums  position or name of an argument, or a sequence of them (the gradient is then a tuple)
        has_aux  the function returns (value, aux), of which only the value is differentiated

        Raises ArgumentError where the value is no real scalar or an argument is an integer.
        """
        try:
            return self._gradient(argnums, has_aux).function(*args, **kwargs)  # type: ignore[no-any-return]
        except PullbackError as error:
            raise shortened(error)  # noqa: B904 - it is the same error

    def grad(self, *args: Any, argnums: Argnums = 0, has_aux: bool = False, **kwargs: Any) -> Any:
        """The gradient with respect to `argnums` (with has_aux: the gradient and aux)."""
        try:
            value, bars = self._gradient(argnums, has_aux).function(*args, **kwargs)
        except PullbackError as error:
            raise shortened(error)  # noqa: B904 - it is the same error
        return (bars, value[1]) if has_aux else bars

    @brief
    def vjp(
        self,
        *args: Any,
        argnums: Argnums | None = None,
        has_aux: bool = False,
        copy: bool = True,
        **kwargs: Any,
    ) -> tuple[Any, Callable[[Any], Any]]:
        """The value and its pullback (see `pullback.vjp`)."""
        value, residuals = self.primal(*args, argnums=argnums, has_aux=has_aux, copy=copy, **kwargs)
        return value, residuals.pull

    @brief
    def primal(
        self,
        *args: Any,
        argnums: Argnums | None = None,
        has_aux: bool = False,
        copy: bool = True,
        **kwargs: Any,
    ) -> tuple[Any, Residuals]:
        """The value, and the residuals that `.pullback` takes.

        What the pullback needs of the arguments and of the value is copied, so that both may be changed before pulling
        back; `copy=False` trusts the caller not to.
        """
        if argnums is None and not args:
            raise ArgumentError(
                "no argument is given by position, so there is nothing to differentiate with respect to",
                hint="name the arguments: argnums=...",
            )
        gradient = self._gradient(Given(len(args)) if argnums is None else argnums, has_aux, copy)
        variant, values = gradient.find(gradient.bind(args, kwargs))
        value, residuals, puller = variant.forward(values)
        return value, Residuals(puller, residuals, shape_of(value[0] if has_aux else value))

    @brief
    def pullback(self, residuals: Residuals, value_bar: Any) -> Any:
        """The cotangents of the arguments, for the cotangent of the value.

        `value_bar` has the structure and shape of the value; a tuple of cotangents is returned, one for each argument
        given by position (or those of `argnums`: one, bare, if it names one).
        """
        if not isinstance(residuals, Residuals):
            raise ArgumentError("`pullback` takes the residuals that `primal` returned")
        return residuals.pull(value_bar)

    @brief
    def source(
        self, *args: Any, argnums: Argnums = 0, has_aux: bool = False, form: str = "pair", **kwargs: Any
    ) -> str:
        """The generated source for such arguments.

        form      "pair" (primal and pullback) or "joint" (value and gradient in one function)
        target    "numpy", or "native" (or "c") for the C of value and gradient
        readable  plain expressions only, as with `differentiable(readable=True)`

        A function with a parameter `target` or `readable` gets it as its own.

        Raises NativeError where C does not take the function.
        """
        own = inspect.signature(self.__wrapped__).parameters
        target = "numpy" if "target" in own else kwargs.pop("target", "numpy")
        readable = "readable" not in own and kwargs.pop("readable", False)
        if target not in ("numpy", "native", "c"):
            raise ArgumentError(f'target={target!r} is neither "numpy" nor "native"')
        if form not in ("pair", "joint"):
            raise ArgumentError(f'form={form!r} is neither "pair" nor "joint"')
        gradient = self._gradient(argnums, has_aux)
        variant, _ = gradient.find(gradient.bind(args, kwargs))
        if target != "numpy":
            return c_source(variant.compiled)
        compiled = variant.compiled.readable() if readable else variant.compiled
        return compiled.generated("value_and_grad" if form == "joint" else "pullback").source

    @brief
    def explain(self, *args: Any, argnums: Argnums = 0, has_aux: bool = False, **kwargs: Any) -> Explanation:
        """What the compiler decided, as data (`as_dict()` for JSON); `str` of it is the report.

        Which rule served which call and why, which target serves and why, what runs as one loop, which copies were
        inserted, what is saved for the pullback.  For the sizes of what is saved the function is run once, unless it
        has effects.
        """
        gradient = self._gradient(argnums, has_aux)
        variant, values = gradient.find(gradient.bind(args, kwargs))
        target = (variant.pair if variant.effects else variant.promotion).report()
        return explanation(variant.compiled, values, variant.residuals_of(values), target)


class Differentiable(Calls):
    """A function with its gradient functions.  Calling it is calling the user's function, unchanged."""

    def __init__(self, fn: Callable[..., Any], options: Options) -> None:
        functools.update_wrapper(self, fn)
        self.options = options
        self._gradients: dict[Any, Gradient] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The user's function."""
        return self.__wrapped__(*args, **kwargs)

    def __get__(self, owner: Any, cls: type | None = None) -> Any:
        """As a method: the instance is the first argument."""
        return self if owner is None else BoundDifferentiable(self, owner)

    def with_options(self, options: Options) -> Differentiable:
        """The same function with other options."""
        made = of(self.__wrapped__, options)
        assert isinstance(made, Differentiable)
        return made

    def __repr__(self) -> str:
        return f"<differentiable {getattr(self.__wrapped__, '__qualname__', self.__wrapped__)}>"

    def _repr_html_(self) -> str:
        """For notebooks: the source beside the generated source of the signature that was compiled last."""
        return html_of(self.__wrapped__, [g.latest() for g in self._gradients.values()])

    def __reduce__(self) -> Any:
        """Made anew from its function, which is pickled; by name where only its module has it."""
        return by_name(self, self.__wrapped__) or (of, (self.__wrapped__, self.options))

    def __copy__(self) -> Differentiable:
        """Itself, as a function is."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Differentiable:
        """Itself, unless it is an object that can be called: then of a copy of that."""
        fn = deepcopy(self.__wrapped__, memo)
        return self if fn is self.__wrapped__ else Differentiable(fn, self.options)

    def __pullback_target__(self) -> tuple[Any, tuple[Any, ...]]:
        """The function behind, and the arguments bound to it."""
        return self.__wrapped__, ()

    def gradient(
        self, argnums: Asked = 0, has_aux: bool = False, copy: bool = True, skip: int = 0
    ) -> Gradient:
        """The compiled gradient for a request; one object for each.

        skip  how many leading arguments argnums do not count
        """
        key = (type(argnums), tuple(argnums) if isinstance(argnums, list) else argnums, has_aux, copy, skip)
        found = self._gradients.get(key)
        if found is None:
            options = self.options if copy else replace(self.options, copy_residuals=False)
            found = self._gradients.setdefault(
                key, Gradient(self.__wrapped__, argnums, has_aux, options, skip)
            )
        return found

    def _gradient(self, argnums: Asked, has_aux: bool = False, copy: bool = True) -> Gradient:
        return self.gradient(argnums, has_aux, copy)


class BoundDifferentiable(Calls):
    """A differentiable method of one instance; argnums count from the first argument after it."""

    def __init__(self, function: Differentiable, owner: Any) -> None:
        self.function = function
        self.options = function.options
        self.owner = owner
        functools.update_wrapper(self, function.__wrapped__)
        self.__wrapped__ = MethodType(function.__wrapped__, owner)

    def with_options(self, options: Options) -> BoundDifferentiable:
        """The same method with other options."""
        return BoundDifferentiable(self.function.with_options(options), self.owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The user's method."""
        return self.__wrapped__(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<differentiable method {self.function.__wrapped__.__qualname__} of {self.owner!r}>"

    def _repr_html_(self) -> str:
        """As that of the function."""
        return self.function._repr_html_()

    def __reduce__(self) -> Any:
        """The differentiable function and the instance, which are pickled."""
        return BoundDifferentiable, (self.function, self.owner)

    def __pullback_target__(self) -> tuple[Any, tuple[Any, ...]]:
        """The function behind, and the arguments bound to it."""
        return self.function.__wrapped__, (self.owner,)

    def _gradient(self, argnums: Asked, has_aux: bool = False, copy: bool = True) -> BoundGradient:
        return BoundGradient(self.function.gradient(argnums, has_aux, copy, skip=1), self.owner)


_MADE = "__pullback_made__"  # where a plain function keeps what has been compiled for it, by options


def of(f: Callable[..., Any], options: Options | None = None) -> Differentiable | BoundDifferentiable:
    """The differentiable function of a callable: always the same one for a plain function and options."""
    if isinstance(f, Differentiable | BoundDifferentiable):
        return f
    options = options or Options()
    if not isinstance(f, FunctionType):
        return Differentiable(f, options)
    made = kept_by(f, _MADE)
    found: Differentiable | None = made.get(options)
    return found if found is not None else made.setdefault(options, Differentiable(f, options))


def remembered(made: Differentiable) -> Differentiable:
    """A differentiable function, which `of` gives from now on if it is the first for its function and options."""
    if isinstance(made.__wrapped__, FunctionType):
        kept_by(made.__wrapped__, _MADE).setdefault(made.options, made)
    return made
