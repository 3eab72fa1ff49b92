"""`out=`: a caller's arrays that take the gradient, so that none need be made at each call.

There is one for each cotangent, or a structure of them as the argument has; None has one made.  They are checked before
anything runs: they must be as the cotangents will be, and share nothing with the arguments or with one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.api.seeds import parts_of, rebuild
from pullback.dispatch.checks import shares
from pullback.errors import ArgumentError

OUT = "out"  # the keyword; a function with a parameter of that name gets it as its own


class Buffers:
    """The arrays of one call."""

    def __init__(self, out: Any, arguments: Sequence[tuple[str, Any]], single: bool) -> None:
        """`arguments` are those with a cotangent: name and value.  Raises ArgumentError."""
        if not single and (not isinstance(out, tuple | list) or len(out) != len(arguments)):
            raise ArgumentError(
                f"{OUT} is a {type(out).__name__}; there are {len(arguments)} gradients",
                hint=f"pass a tuple of {len(arguments)} arrays; None for what is to be made",
            )
        self.single = single
        self.trees: tuple[Any, ...] = (out,) if single else tuple(out)
        self.named: list[tuple[str, Any]] = []
        for (name, value), tree in zip(arguments, self.trees, strict=True):
            self._add(value, tree, name)
        for i, (name, array) in enumerate(self.named):
            for other, earlier in self.named[:i]:
                if shares(array, earlier):
                    raise ArgumentError(
                        f"the arrays for `{other}` and `{name}` share memory", hint="pass two"
                    )

    @property
    def arrays(self) -> tuple[Any, ...]:
        """All of them."""
        return tuple(array for _, array in self.named)

    def _add(self, value: Any, tree: Any, name: str) -> None:
        if tree is None:
            return
        items = parts_of(value)
        if items is not None:
            given = dict(parts_of(tree) or ())
            if list(given) != [key for key, _ in items]:
                raise ArgumentError(
                    f"{OUT} for `{name}` is a {type(tree).__name__}, not as the argument is",
                    hint="pass a structure of arrays as that of the argument, or None",
                )
            for key, item in items:
                self._add(item, given[key], f"{name}[{key!r}]")
        elif type(value) is not np.ndarray or value.dtype.kind not in "fc":
            raise ArgumentError(f"the gradient of `{name}` is no array", hint=f"pass None for it in {OUT}")
        else:
            self._check(value, tree, name)
            self.named.append((name, tree))

    def _check(self, value: Any, array: Any, name: str) -> None:
        """Whether an array can take the cotangent of a value."""
        said = f"{OUT} for `{name}`"
        if type(array) is not np.ndarray:
            raise ArgumentError(f"{said} is a {type(array).__name__}", hint="pass an array, or None")
        if array.shape != value.shape or array.dtype != value.dtype:
            raise ArgumentError(
                f"{said} has shape {array.shape} and dtype {array.dtype}, the gradient {value.shape} and {value.dtype}",
                hint="pass np.empty_like of the argument",
            )
        flags = array.flags
        if not (flags.c_contiguous and flags.writeable and flags.aligned):
            wrong = "read-only" if not flags.writeable else "not in C order, or not aligned"
            raise ArgumentError(f"{said} is {wrong}", hint="pass np.empty of the gradient's shape")

    def keep_apart(self, arguments: Sequence[tuple[str, Any]]) -> None:
        """Raise ArgumentError where one of them shares memory with an array that the call reads."""
        for name, array in self.named:
            for other, given in arguments:
                if shares(array, given):
                    raise ArgumentError(
                        f"{OUT} for `{name}` shares memory with the argument `{other}`",
                        hint="pass an array of its own",
                    )

    def take(self, bars: Any) -> Any:
        """The cotangents, in the arrays.  Some of them may be there already, and not each in its own."""
        given = (bars,) if self.single else bars
        pairs = list(zip(given, self.trees, strict=True))
        apart = [self._apart(bar, tree) for bar, tree in pairs]
        placed = [_placed(bar, tree) for bar, tree in zip(apart, self.trees, strict=True)]
        return placed[0] if self.single else tuple(placed)

    def _apart(self, bar: Any, tree: Any) -> Any:
        """A cotangent that is in no array but its own."""
        if isinstance(bar, np.ndarray):
            return bar.copy() if bar is not tree and any(bar is x for x in self.arrays) else bar
        items = parts_of(bar)
        if items is None:
            return bar
        trees = dict(parts_of(tree) or ())
        return rebuild(type(bar), {key: self._apart(item, trees.get(key)) for key, item in items})


def _placed(bar: Any, tree: Any) -> Any:
    """A cotangent in its array, or in a structure with its arrays."""
    if tree is None or bar is tree:
        return bar
    if isinstance(tree, np.ndarray):
        np.copyto(tree, bar)
        return tree
    items, trees = parts_of(bar), dict(parts_of(tree) or ())
    return rebuild(type(bar), {key: _placed(item, trees[key]) for key, item in items or ()})
