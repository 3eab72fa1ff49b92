"""The user's arguments as one value a parameter.

A *binder* is a function with the user's own name and parameters, so that wrong arguments raise Python's own TypeError,
and binding costs what a call costs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

P = inspect.Parameter


@dataclass(frozen=True, slots=True)
class Header:
    """A function's parameters, as text: `text` declares them, `names` are in the order of the code object."""

    name: str
    text: str
    names: tuple[str, ...]
    kinds: tuple[Any, ...]

    @property
    def plain(self) -> bool:
        """Whether there is neither *args nor **kwargs."""
        return not {P.VAR_POSITIONAL, P.VAR_KEYWORD} & set(self.kinds)

    def values(self) -> str:
        """The values of all parameters, as a tuple display."""
        return f"({', '.join(self.names)},)" if self.names else "()"


def header_of(fn: FunctionType) -> Header:
    """The header of a function."""
    parameters = list(inspect.signature(fn, follow_wrapped=False).parameters.values())
    bare = [
        p.replace(annotation=P.empty, default=P.empty if p.default is P.empty else _Default())
        for p in parameters
    ]
    text = str(inspect.Signature(bare))
    name = fn.__name__ if fn.__name__.isidentifier() else "function"
    return Header(name, text, tuple(p.name for p in parameters), tuple(p.kind for p in parameters))


class _Default:
    """A default value in the text of a header; the real ones are set on the function."""

    def __repr__(self) -> str:
        return "None"


def define(
    fn: FunctionType, header: Header, body: list[str], names: dict[str, Any], file: str
) -> Callable[..., Any]:
    """A function with the parameters, the defaults and the name of `fn`, and a body of our own."""
    text = "\n    ".join([f"def {header.name}{header.text}:", *body])
    namespace: dict[str, Any] = dict(names)
    exec(compile(text, file, "exec"), namespace)
    made: FunctionType = namespace[header.name]
    made.__defaults__, made.__kwdefaults__ = fn.__defaults__, fn.__kwdefaults__
    if fn.__name__ != header.name:
        made = FunctionType(
            made.__code__.replace(co_name=fn.__name__), namespace, fn.__name__, fn.__defaults__
        )
        made.__kwdefaults__ = fn.__kwdefaults__
    made.__qualname__ = fn.__qualname__
    return made


def make_binder(fn: FunctionType, use: Callable[[tuple[Any, ...]], Any]) -> Callable[..., Any]:
    """A function with the parameters of `fn` that hands their values to `use`."""
    header = header_of(fn)
    body = [f"return _pb_use({header.values()})"]
    return define(fn, header, body, {"_pb_use": use}, "<pullback binder>")
