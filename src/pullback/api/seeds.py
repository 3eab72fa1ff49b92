"""What a value looks like, for checking the cotangents that are given for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pullback.errors import ArgumentError
from pullback.frontend.instances import field_names
from pullback.runtime import build


@dataclass(frozen=True, slots=True)
class Shape:
    """The structure, shapes and dtypes of a value.  A leaf that is no number has neither dtype nor items."""

    cls: type
    shape: tuple[int, ...] = ()
    dtype: np.dtype[Any] | None = None
    items: tuple[tuple[Any, Shape], ...] | None = None  # by key, position or field

    def check(self, seed: Any, where: str = "the cotangent") -> Any:
        """The seed as the pullback takes it.  Raises ArgumentError where it does not fit the value."""
        if self.items is not None:
            return self._structure(seed, where)
        return seed if self.dtype is None else self._number(seed, where)

    def _structure(self, seed: Any, where: str) -> Any:
        assert self.items is not None
        keys = [key for key, _ in self.items]
        given = parts_of(seed)
        like = issubclass(self.cls, tuple | list) and isinstance(seed, tuple | list)
        if given is None or [k for k, _ in given] != keys or not (like or type(seed) is self.cls):
            raise ArgumentError(
                f"{where} is a {_describe(seed)}, the value is a {self.cls.__name__} of {len(keys)}",
                hint="pass a cotangent with the value's own structure",
            )
        found = dict(given)
        items = {key: shape.check(found[key], f"{where}[{key!r}]") for key, shape in self.items}
        return rebuild(self.cls, items)

    def _number(self, seed: Any, where: str) -> Any:
        assert self.dtype is not None
        if seed is None and self.dtype.kind not in "fc":
            return None
        if np.shape(seed) != self.shape:
            raise ArgumentError(
                f"{where} has shape {np.shape(seed)}, the value has shape {self.shape}",
                hint="pass a cotangent of the value's own shape",
            )
        given = np.asarray(seed).dtype
        if given.kind not in "biufc" or (given.kind == "c" and self.dtype.kind != "c"):
            raise ArgumentError(
                f"{where} has dtype {given}, the value has dtype {self.dtype}",
                hint="pass a real floating cotangent",
            )
        if self.dtype.kind not in "fc":
            return seed
        if self.cls is np.ndarray:
            return np.array(seed, dtype=self.dtype)
        return self.cls(np.asarray(seed)[()])


def shape_of(value: Any) -> Shape:
    """The shape of a value."""
    items = parts_of(value)
    if items is not None:
        return Shape(type(value), items=tuple((key, shape_of(item)) for key, item in items))
    if isinstance(value, np.ndarray | np.generic):
        return Shape(type(value), value.shape, value.dtype)
    if isinstance(value, float | int | complex) and not isinstance(value, bool):
        return Shape(type(value), (), np.asarray(value).dtype)
    return Shape(type(value))


def parts_of(value: Any) -> list[tuple[Any, Any]] | None:
    """The items of a structure by key, position or field; None for a leaf."""
    if isinstance(value, tuple | list):
        return list(enumerate(value))
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, np.ndarray | np.generic | float | int | complex | str | bytes | type) or callable(
        value
    ):
        return None
    names = field_names(value)
    return None if names is None else [(name, getattr(value, name)) for name in names]


def rebuild(cls: type, items: dict[Any, Any]) -> Any:
    """A structure of a class from its items."""
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return cls(*items.values())
    if issubclass(cls, tuple | list):
        return cls(items.values())
    return items if issubclass(cls, dict) else build(cls, **items)


def leaves_of(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a structure, with names that say where they are."""
    items = parts_of(value)
    if items is None:
        yield name, value
        return
    for key, item in items:
        inner = f"{name}.{key}" if not isinstance(value, tuple | list | dict) else f"{name}[{key!r}]"
        yield from leaves_of(item, inner)


def _describe(seed: Any) -> str:
    items = parts_of(seed)
    return type(seed).__name__ if items is None else f"{type(seed).__name__} of {len(items)}"
