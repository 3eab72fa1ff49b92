"""Which arguments are meant: positions (negative ones too) or names, one or several, as paths to parameters.

A path is the position of a parameter, then, for a member of *args, the position in it.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pullback.dispatch.binding import Header
from pullback.errors import ArgumentError

Argnum: TypeAlias = int | str
Argnums: TypeAlias = Argnum | Sequence[Argnum]


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments that a call gives by position, so many; those that carry no derivative get None."""

    count: int


Asked: TypeAlias = Argnums | Given
Path: TypeAlias = tuple[int, ...]

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Arguments:
    """The arguments of a function that argnums can name.

    `bound` are given already (the instance of a method); `extra` is the length of *args in the call.
    """

    def __init__(self, header: Header, bound: int, extra: int) -> None:
        self.header = header
        self.places: list[Path] = []
        for i, kind in enumerate(header.kinds):
            if kind is inspect.Parameter.VAR_POSITIONAL:
                self.places += [(i, j) for j in range(extra)]
            elif kind in _POSITIONAL:
                self.places.append((i,))
        del self.places[:bound]

    def paths(self, argnums: Asked | None) -> tuple[Path, ...]:
        """The paths of argnums; of all positional parameters where it is None."""
        if argnums is None:
            return tuple(self.places)
        if isinstance(argnums, Given):
            return tuple(self.places[: argnums.count])
        asked = self._several(argnums)
        if not asked:
            raise ArgumentError("argnums is empty", hint="name at least one argument")
        paths = tuple(self._path(a) for a in asked)
        if len(set(paths)) < len(paths):
            raise ArgumentError(f"argnums={argnums!r} names an argument twice")
        return paths

    def _several(self, argnums: Argnums) -> tuple[Argnum, ...]:
        if isinstance(argnums, str) or is_single(argnums):
            return (argnums,)  # type: ignore[return-value]
        try:
            return tuple(argnums)  # type: ignore[arg-type]
        except TypeError:
            raise self._wrong(argnums) from None

    def _path(self, argnum: Argnum) -> Path:
        if isinstance(argnum, str):
            kinds = dict(zip(self.header.names, self.header.kinds, strict=True))
            variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
            if kinds.get(argnum, variable[0]) in variable:
                raise self._wrong(argnum)
            return (self.header.names.index(argnum),)
        if isinstance(argnum, bool):
            raise self._wrong(argnum)
        try:
            return self.places[operator.index(argnum)]
        except (IndexError, TypeError):
            raise self._wrong(argnum) from None

    def _wrong(self, argnum: object) -> ArgumentError:
        shown = []
        for i, path in enumerate(self.places):
            shown.append(f"{i}: {self.header.names[path[0]]}" + "".join(f"[{j}]" for j in path[1:]))
        keywords = [
            name
            for name, kind in zip(self.header.names, self.header.kinds, strict=True)
            if kind is inspect.Parameter.KEYWORD_ONLY
        ]
        listed = ", ".join([*shown, *keywords]) or "none"
        return ArgumentError(
            f"argnums={argnum!r} is not an argument of `{self.header.name}`",
            hint=f"its arguments are {listed}",
        )


def is_single(argnums: Asked | None) -> bool:
    """Whether argnums is one argument, whose gradient is returned bare."""
    return isinstance(argnums, str) or hasattr(argnums, "__index__")
