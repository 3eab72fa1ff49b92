"""The Python function behind a callable."""

from __future__ import annotations

import functools
from types import FunctionType, MethodType
from typing import Any, NamedTuple

from pullback.errors import SourceError
from pullback.frontend.refusals import GRADIENT_MARK, refuse


class Target(NamedTuple):
    """A Python function, and the arguments that are bound already."""

    fn: Any  # a FunctionType; said here, it would be taken for a method
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}  # noqa: RUF012 - never changed

    def then(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Target:
        """With further arguments bound."""
        return Target(self.fn, (*self.args, *args), {**self.kwargs, **kwargs})


def target_of(f: Any) -> Target:
    """The function behind methods, partials, caches, callable objects and what this package returns.

    Raises SourceError for what has no Python source, UnsupportedError for a gradient of a gradient.
    """
    if getattr(f, GRADIENT_MARK, False):
        refuse("gradient", None, name=f.__name__)
    if isinstance(f, FunctionType):
        return Target(f)
    unwrap = getattr(f, "__pullback_target__", None)
    if unwrap is not None:
        function, args = unwrap()
        return target_of(function).then(args, {})
    if isinstance(f, MethodType):
        return target_of(f.__func__).then((f.__self__,), {})
    if isinstance(f, functools.partial):
        return target_of(f.func).then(f.args, f.keywords)
    return _behind(f)


def _behind(f: Any) -> Target:
    if isinstance(f, functools._lru_cache_wrapper):
        return target_of(f.__wrapped__)
    compiled = getattr(f, "py_func", None)
    if isinstance(compiled, FunctionType):
        return Target(compiled)
    call = getattr(type(f), "__call__", None)  # noqa: B004 - the function itself is wanted
    if not isinstance(f, type) and isinstance(call, FunctionType):
        return Target(call, (f,))
    name = getattr(f, "__name__", None) or repr(f)
    if not callable(f):
        raise TypeError(f"a function is needed, not {type(f).__name__}")
    raise SourceError(
        f"`{name}` has no Python source: it is a {type(f).__name__}",
        hint=f"wrap it in a Python function: lambda x: {name}(x)",
    )
