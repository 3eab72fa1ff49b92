"""The public functions: `differentiable`, `grad`, `value_and_grad`, `vjp`.

Gradients have the structure of the argument: a Python float for a float, a NumPy scalar for a NumPy scalar, an array of
the same shape and dtype for an array, the same tuple, list, dict, named tuple or object around them; None for leaves
that carry no derivative (integers, booleans, strings, functions).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, overload

from pullback.api.argnums import Argnums
from pullback.api.functions import GradientFunction, gradient_function
from pullback.api.wrapper import BoundDifferentiable, Differentiable, Residuals, of, remembered
from pullback.dispatch.promotion import TARGETS
from pullback.dispatch.tracebacks import brief
from pullback.errors import ArgumentError
from pullback.frontend.refusals import GRADIENT_MARK
from pullback.pipeline import Options

__all__ = [
    "BoundDifferentiable",
    "Differentiable",
    "GradientFunction",
    "Residuals",
    "differentiable",
    "grad",
    "value_and_grad",
    "vjp",
]


@overload
def differentiable(fn: Callable[..., Any], /) -> Differentiable: ...


@overload
def differentiable(
    *,
    optimize: bool = True,
    bufferize: bool = True,
    debug: bool = False,
    resolution: str = "default",
    target: str = "auto",
    threads: int | None = None,
    readable: bool = False,
) -> Callable[[Callable[..., Any]], Differentiable]: ...


def differentiable(fn: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a function differentiable.  Calling it stays calling the function.

    Used bare or with options:

    optimize    run the optimising passes
    bufferize   write in place where nothing can tell
    debug       assert every inferred style at run time, and name the first line whose value is not finite
    resolution  "default", or "chainrules", which shows the rule lookup of the founding bug
    target      "auto": NumPy at once, and compiled C once the function has run long enough to repay compiling it;
                "native": C from the first call on, NativeError where that cannot be; "numpy": NumPy alone.  The
                environment variable PULLBACK_TARGET decides for all functions
    threads     the most that compiled code uses; by default all cores, for arrays that are large enough
    readable    NumPy source with plain expressions only: no work on large arrays in blocks, in functions of its own

    Raises ArgumentError for a target that there is not.  Raises nothing else until the first gradient is asked for:
    then SourceError, UnsupportedError and their kin.
    """
    chosen = _checked(Options(**options))
    if fn is None:
        return lambda f: _with(f, chosen)
    if not callable(fn) and not isinstance(fn, staticmethod | classmethod):
        raise TypeError(f"`differentiable` takes a function, not {type(fn).__name__}")
    return _with(fn, chosen)


def _checked(options: Options) -> Options:
    """The options, if they make sense."""
    if options.target not in TARGETS:
        raise ArgumentError(
            f"target={options.target!r} is no target", hint='the targets are "auto", "native" and "numpy"'
        )
    threads = options.threads
    if threads is not None and not (type(threads) is int and threads > 0):
        raise ArgumentError(
            f"threads={threads!r} is no number of threads", hint="give a positive int, or None"
        )
    return options


def _of(
    f: Callable[..., Any], target: str | None, threads: int | None, readable: bool | None
) -> Differentiable | BoundDifferentiable:
    """The differentiable function of a callable, with options of its own where they are given."""
    made = of(f)
    if target is None and threads is None and readable is None:
        return made
    options = made.options
    chosen = _checked(
        replace(
            options,
            target=options.target if target is None else target,
            threads=options.threads if threads is None else threads,
            readable=options.readable if readable is None else readable,
        )
    )
    return made if chosen == options else made.with_options(chosen)


def _with(f: Any, options: Options) -> Any:
    """A function made differentiable with options."""
    if isinstance(f, staticmethod | classmethod):
        return type(f)(_with(f.__func__, options))
    if isinstance(f, Differentiable):
        f = f.__wrapped__
    return remembered(Differentiable(f, options))


@brief
def value_and_grad(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    target: str | None = None,
    threads: int | None = None,
    readable: bool | None = None,
) -> GradientFunction:
    """A function that returns the value of `f` and its gradient with respect to `argnums`.

    argnums  position (negative ones count from the end) or name of an argument, or a sequence of them: the gradient is
             then a tuple
    has_aux  `f` returns (value, aux), of which only the value is differentiated
    target, threads, readable   as in `differentiable`; by default those of `f`

    The gradient has the structure, shapes and dtypes of the arguments.  `f` must return a real scalar.  Raises
    ArgumentError for argnums that name no argument.

    >>> value_and_grad(lambda x, y: x * y, argnums=(0, "y"))(2.0, 5.0)
    (10.0, (5.0, 2.0))
    """
    return gradient_function(_of(f, target, threads, readable), "value_and_grad", argnums, has_aux)


@brief
def grad(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    target: str | None = None,
    threads: int | None = None,
    readable: bool | None = None,
) -> GradientFunction:
    """A function that returns the gradient of `f` with respect to `argnums` (with has_aux: the gradient and aux).

    Its parameters are those of `value_and_grad`.

    >>> grad(lambda x: x * x)(3.0)
    6.0
    """
    return gradient_function(_of(f, target, threads, readable), "grad", argnums, has_aux)


@brief
def vjp(
    f: Callable[..., Any], *args: Any, argnums: Argnums | None = None, has_aux: bool = False, **kwargs: Any
) -> tuple[Any, Callable[[Any], Any]]:
    """The value of `f(*args)` and its pullback.

    The pullback takes a cotangent of the value (same structure and shape) and returns those of the arguments given by
    position: a tuple of all, None for those that carry no derivative; or of those that `argnums` names (one, bare, if
    it names one).  It may be called any number of times; changing the arguments in between does not change what it
    returns.

    >>> value, pullback = vjp(lambda x: x * x, 3.0)
    >>> value, pullback(1.0)
    (9.0, (6.0,))
    """
    return of(f).vjp(*args, argnums=argnums, has_aux=has_aux, **kwargs)


_methods = (Differentiable.grad, Differentiable.value_and_grad, Differentiable.vjp, Differentiable.primal)
for _function in (grad, value_and_grad, vjp, *_methods):
    setattr(_function, GRADIENT_MARK, True)  # a differentiated function may not call them
