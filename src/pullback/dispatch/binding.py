"""The user's arguments as one value a parameter.

A *binder* is a function with the user's own name and parameters, so that wrong arguments raise Python's own TypeError.
A *front* is what the user calls: one function for good, whose code becomes that of the entry that served last.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from pullback.dispatch.tracebacks import shortened
from pullback.errors import PullbackError

P = inspect.Parameter
_NAME = "_pb_function"


class _Absent:
    """Stands for an argument that was not given."""

    def __repr__(self) -> str:
        return "<not given>"


ABSENT = _Absent()


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

    @property
    def positional(self) -> tuple[str, ...]:
        """The names of the parameters that may be given by position."""
        by_position = (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD)
        return tuple(n for n, k in zip(self.names, self.kinds, strict=True) if k in by_position)

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
    return Header(fn.__name__, text, tuple(p.name for p in parameters), tuple(p.kind for p in parameters))


class _Default:
    """A default value in the text of a header; the real ones are set on the function."""

    def __repr__(self) -> str:
        return "None"


def _code(name: str, parameters: str, body: list[str], what: str) -> CodeType:
    """The code of a function of some name."""
    text = "\n    ".join([f"def {_NAME}{parameters}:", *body])
    namespace: dict[str, Any] = {}
    exec(compile(text, f"<pullback {what} of {name}>", "exec"), namespace)
    code: CodeType = namespace[_NAME].__code__
    return code.replace(co_name=name)


def entry_code(header: Header, body: list[str]) -> CodeType:
    """The code of a function that takes the parameters by position, and in `_pb_rest`, `_pb_keywords` whatever else."""
    names = [*header.names, "/"] if header.names else []
    return _code(header.name, f"({', '.join([*names, '*_pb_rest', '**_pb_keywords'])})", body, "entry")


def make_binder(fn: FunctionType, header: Header) -> Callable[..., tuple[Any, ...]]:
    """A function with the parameters and the defaults of `fn` that returns their values."""
    code = _code(header.name, header.text, [f"return {header.values()}"], "binder")
    made = FunctionType(code, {}, header.name, fn.__defaults__)
    made.__kwdefaults__ = fn.__kwdefaults__
    made.__qualname__ = fn.__qualname__
    return made


_LONG = _code(
    "front",
    "(*args, **keywords)",
    [
        "try:",
        "    return _pb_call(args, keywords)",
        "except _pb_refusal as error:",
        "    raise _pb_shortened(error)",
    ],
    "front",
)


class Front:
    """What the user calls: a function that is the same one for good.

    Its code is that of an entry, so that a call by position is checked and served at once.  Where there is none, or
    where it may not be used, `call(args, keywords)` serves.
    """

    def __init__(self, name: str, call: Callable[[tuple[Any, ...], dict[str, Any]], Any]) -> None:
        self.names: dict[str, Any] = {  # the global names of all entries
            "_pb_call": call,
            "_pb_refusal": PullbackError,
            "_pb_shortened": shortened,
        }
        self._long = _LONG.replace(co_name=name, co_filename=f"<pullback front of {name}>")
        self.function = FunctionType(self._long, self.names, name)
        self.function.__qualname__ = name

    def reset(self, header: Header) -> None:
        """Serve the long way; the parameters may be others by now."""
        self.function.__code__ = self._long
        self.function.__defaults__ = (ABSENT,) * len(header.positional)

    def use(self, code: CodeType) -> None:
        """Serve by an entry."""
        self.function.__code__ = code

    def entry(self, code: CodeType) -> Callable[..., Any]:
        """A function that is the entry alone, for values of all parameters."""
        return FunctionType(code, self.names, code.co_name)
