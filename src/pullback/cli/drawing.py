"""Random arguments that fit a signature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
import numpy as np

from pullback.aot.declared import Declared
from pullback.errors import ArgumentError
from pullback.frontend.signature import Node, Spec
from pullback.runtime import build
from pullback.styles.style import Anything, Array, Axis, Dim, Scalar, Static

ANY = ":"  # the size of axes without a name
# Of the numbers: of any sign; in [0.5, 1.5], for logarithms and roots; the same with integers that may be indices.
KINDS = ("normal", "positive", "normal, small integers", "positive, small integers")


class Draw:
    """Draws arguments; axes of one name have one length, and so has an integer of that name."""

    def __init__(self, declared: Declared, sizes: Mapping[str, int], seed: int, kind: str) -> None:
        self.declared = declared
        self.rng = np.random.default_rng(seed)
        self.kind = kind
        self.sizes = {name: 3 + i for i, name in enumerate(declared.dims)} | dict(sizes)
        self.lengths: dict[Axis, int] = {}
        for name, places in declared.dims.items():
            self.lengths[self._axis(*places[0])] = self.sizes[name]

    def _axis(self, place: tuple[Any, ...], axis: int) -> Axis:
        spec = self.declared.signature.of(place[0])
        for _, key in place[1:]:
            assert isinstance(spec, Node)
            spec = spec.items[_position(spec, key)]
        assert isinstance(spec, Array) and spec.axes is not None
        return spec.axes[axis]

    def arguments(self) -> dict[str, Any]:
        """A value for each parameter.  Raises ArgumentError for what cannot be drawn."""
        return {name: self.value(spec, name) for name, spec in self.declared.signature.args}

    def value(self, spec: Spec, name: str) -> Any:
        """A value of a spec."""
        if isinstance(spec, Static):
            return spec.value
        if isinstance(spec, Node):
            return self._structure(spec, name)
        if isinstance(spec, Scalar) and spec.dtype is not None:
            if spec.kind == "i" and name in self.sizes:
                return self.sizes[name] if spec.weak else spec.dtype.type(self.sizes[name])
            drawn = self._numbers((), spec.dtype)
            return drawn.item() if spec.weak else drawn[()]
        if isinstance(spec, Array) and spec.dtype is not None and spec.axes is not None:
            return self._numbers(tuple(self._length(axis) for axis in spec.axes), spec.dtype)
        if isinstance(spec, Anything):
            return None
        raise ArgumentError(f"nothing can be drawn for `{name}`", hint="give example arguments: --example")

    def _length(self, axis: Axis) -> int:
        if isinstance(axis, Dim):
            return self.lengths.get(axis, self.sizes.get(ANY, 4))
        return axis

    def _numbers(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        if dtype.kind == "b":
            return np.asarray(self.rng.random(shape) < 0.5)
        if dtype.kind in "iu":
            low, high = (0, 3) if shape or "small" in self.kind else (3, 8)  # arrays: often indices or labels
            return np.asarray(self.rng.integers(low, high, shape)).astype(dtype)
        drawn = self._reals(shape)
        if dtype.kind == "c":
            drawn = drawn + 1j * self._reals(shape)
        return np.asarray(drawn).astype(dtype)

    def _reals(self, shape: tuple[int, ...]) -> Any:
        return (
            self.rng.normal(size=shape)
            if self.kind.startswith("normal")
            else self.rng.uniform(0.5, 1.5, shape)
        )

    def _structure(self, spec: Node, name: str) -> Any:
        if spec.kind == "new":
            cls, fields = spec.meta
            names = fields if fields is not None else cls._fields
            items = [self.value(item, f"{name}.{n}") for n, item in zip(names, spec.items, strict=True)]
            return cls(*items) if fields is None else build(cls, **dict(zip(names, items, strict=True)))
        if spec.kind == "dict":
            keyed = zip(spec.meta, spec.items, strict=True)
            return {key: self.value(item, f"{name}[{key!r}]") for key, item in keyed}
        values = [self.value(item, f"{name}[{i}]") for i, item in enumerate(spec.items)]
        return values if spec.kind == "list" else tuple(values)


def _position(spec: Node, key: Any) -> int:
    """Where in a structure an item of a place is."""
    names = (
        spec.meta if spec.kind == "dict" else spec.meta[1] if spec.kind == "new" and spec.meta[1] else None
    )
    return int(key) if names is None else list(names).index(key)


def sizes_of(texts: tuple[str, ...], declared: Declared) -> dict[str, int]:
    """The sizes that `--size n=5` gives."""
    known = [*declared.dims, *declared.names, ANY]
    found = {}
    for text in (part for option in texts for part in option.split(",")):
        name, equals, length = (part.strip() for part in text.partition("="))
        if not equals or not length.isdigit():
            raise click.UsageError(f"--size {text!r} is not of the form n=5", click.get_current_context(True))
        if name not in known:
            named = ", ".join(declared.dims) or "none"
            raise ArgumentError(
                f"--size: the signature has no axis `{name}`", hint=f"its named axes are {named}"
            )
        found[name] = int(length)
    return found
