"""The public functions: `differentiable`, `grad`, `value_and_grad`, `vjp`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from pullback.gradients import Argnums, Differentiable
from pullback.pipeline import Options


@overload
def differentiable(fn: Callable[..., Any], /) -> Differentiable: ...


@overload
def differentiable(
    *, optimize: bool = True, bufferize: bool = True, debug: bool = False, resolution: str = "default"
) -> Callable[[Callable[..., Any]], Differentiable]: ...


def differentiable(fn: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a function differentiable.  Calling it stays calling the function.

    Used bare or with options:

    optimize    run the optimising passes
    bufferize   write in place where nothing can tell
    debug       assert every inferred style at run time, and name the first line whose value is not finite
    resolution  "default", or "chainrules", which shows the rule lookup of the founding bug

    Raises nothing until the first gradient is asked for: then SourceError, UnsupportedError and their kin.
    """
    chosen = Options(**options)
    if fn is None:
        return lambda f: _make(f, chosen)
    return _make(fn, chosen)


def _make(f: Callable[..., Any], options: Options) -> Differentiable:
    if isinstance(f, Differentiable):
        return f if options == Options() else Differentiable(f.__wrapped__, options)
    return Differentiable(f, options)


def value_and_grad(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the value of `f` and its gradient with respect to `argnums`.

    argnums  position or name of an argument, or a sequence of them (the gradient is then a tuple)
    has_aux  `f` returns (value, aux), of which only the value is differentiated

    The gradient has the structure, shapes and dtypes of the arguments.  `f` must return a real scalar.
    """
    return _make(f, Options()).gradient(argnums, has_aux)


def grad(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of `f` with respect to `argnums` (with has_aux: the gradient and aux)."""
    both = value_and_grad(f, argnums, has_aux)
    if has_aux:

        def with_aux(*args: Any, **kwargs: Any) -> Any:
            (_, aux), bars = both(*args, **kwargs)
            return bars, aux

        return with_aux
    return lambda *args, **kwargs: both(*args, **kwargs)[1]


def vjp(
    f: Callable[..., Any], *args: Any, argnums: Argnums | None = None, has_aux: bool = False, **kwargs: Any
) -> tuple[Any, Callable[[Any], Any]]:
    """The value of `f(*args)` and its pullback.

    The pullback takes a cotangent of the value (same structure, shape and dtype) and returns those of the arguments: a
    tuple of all, or of those that `argnums` names (one, bare, if it names one).  It may be called any number of times;
    changing the arguments in between does not change what it returns.
    """
    return _make(f, Options()).vjp(*args, argnums=argnums, has_aux=has_aux, **kwargs)
