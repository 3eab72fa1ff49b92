"""What `grad` and `value_and_grad` return: a callable that can be asked what it is, and pickled."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import MethodType
from typing import Any

from pullback.api.argnums import Argnums
from pullback.api.pickling import by_name
from pullback.api.representation import html_of
from pullback.api.wrapper import Calls
from pullback.dispatch.tracebacks import brief, shortened
from pullback.errors import PullbackError
from pullback.explain import Explanation
from pullback.frontend.refusals import GRADIENT_MARK

TITLES = {"grad": "Gradient", "value_and_grad": "Value and gradient"}


class GradientFunction(functools.partial[Any]):
    """The gradient of `f`, or its value and gradient, with respect to `argnums`.

    To Python it is a function of f's module with f's parameters.  It is a `partial` of nothing because a class with a
    `__call__` written in Python would make every call dearer by a frame and two copies of the arguments.
    """

    __wrapped__: Callable[..., Any]
    __name__: str
    __qualname__: str

    def __new__(
        cls, call: Callable[..., Any], of: Calls, kind: str, argnums: Argnums, has_aux: bool
    ) -> GradientFunction:
        """`call` computes it; `of` is the differentiable function, `kind` "grad" or "value_and_grad"."""
        made = super().__new__(cls, call)
        made.of, made.kind, made.argnums, made.has_aux = of, kind, argnums, has_aux
        f = of.__wrapped__
        functools.update_wrapper(made, f, updated=())
        plain = getattr(f, "__name__", type(f).__name__)
        made.__name__ = made.__qualname__ = f"{kind}_of_{plain}"
        made.__doc__ = _doc(made, plain, getattr(f, "__doc__", None))
        setattr(made, GRADIENT_MARK, True)
        return made

    of: Calls
    kind: str
    argnums: Argnums
    has_aux: bool

    def __get__(self, owner: Any, cls: type | None = None) -> Any:
        """As a method, as functions do: the instance is the first argument."""
        return self if owner is None else MethodType(self, owner)

    def __repr__(self) -> str:
        f = self.of.__wrapped__
        name = getattr(f, "__qualname__", None) or repr(f)
        aux = ", has_aux" if self.has_aux else ""
        return f"<{TITLES[self.kind].lower()} of {name} with respect to {self.argnums!r}{aux}>"

    def _repr_html_(self) -> str:
        """For notebooks: the source beside the generated source of the signature that was compiled last."""
        return html_of(self.of.__wrapped__, [self.of._gradient(self.argnums, self.has_aux).latest()])

    def __reduce__(self) -> Any:
        """Made anew from its function, which is pickled; by name where only its module has it."""
        anew = (gradient_function, (self.of, self.kind, self.argnums, self.has_aux))
        return by_name(self, self.of.__wrapped__) or anew

    @brief
    def source(self, *args: Any, form: str = "joint", **kwargs: Any) -> str:
        """The generated source for such arguments.

        form  "joint" (value and gradient in one function, which is what a call runs) or "pair" (primal and pullback)

        With target="native" it is the C source, with readable=True it has plain expressions only (see
        `Differentiable.source`).
        """
        return self.of.source(*args, argnums=self.argnums, has_aux=self.has_aux, form=form, **kwargs)

    @brief
    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """What the compiler decided for such arguments (see `Differentiable.explain`)."""
        return self.of.explain(*args, argnums=self.argnums, has_aux=self.has_aux, **kwargs)


def gradient_function(of: Calls, kind: str, argnums: Argnums, has_aux: bool) -> GradientFunction:
    """The gradient function of a differentiable function for a request; one object for each."""
    request = of._gradient(argnums, has_aux)
    found = request.made.get(kind)
    if found is None:
        call = request.function if kind == "value_and_grad" else _without_value(request.function, has_aux)
        found = request.made.setdefault(kind, GradientFunction(call, of, kind, argnums, has_aux))
    assert isinstance(found, GradientFunction)
    return found


def _without_value(both: Callable[..., Any], has_aux: bool) -> Callable[..., Any]:
    def gradient(*args: Any, **kwargs: Any) -> Any:
        try:
            return both(*args, **kwargs)[1]
        except PullbackError as error:
            raise shortened(error)  # noqa: B904 - it is the same error

    def gradient_and_aux(*args: Any, **kwargs: Any) -> Any:
        try:
            (_, aux), bars = both(*args, **kwargs)
        except PullbackError as error:
            raise shortened(error)  # noqa: B904
        return bars, aux

    return gradient_and_aux if has_aux else gradient


def _doc(made: GradientFunction, plain: str, doc: str | None) -> str:
    """What it computes, then what the function says of itself."""
    wrt = repr(made.argnums)
    head = f"{TITLES[made.kind]} of `{plain}` with respect to {wrt}."
    return head if doc is None else f"{head}\n\nOf `{plain}`:\n\n{inspect.cleandoc(doc)}"
