"""What a gradient takes and gives as parameters of a C function, under the user's names.

In: a unit, its entry.  Out: `Signature`: lengths, arguments, results, and constants from outside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pullback.aot.hints import Axes, describe
from pullback.aot.units import Unit
from pullback.backend.native.emit.leaves import ArrayLeaf, Number, leaves_of
from pullback.backend.native.emit.module import RESERVED, Native
from pullback.backend.native.interface import ArraySpec
from pullback.frontend.signature import steps_of, take_step
from pullback.ir.nodes import ABSENT, Const, Operand, Pack, Var
from pullback.styles.style import Array, Static, not_one

_C = {
    "bool": "bool", "int8": "int8_t", "uint8": "uint8_t", "int16": "int16_t", "uint16": "uint16_t",
    "int32": "int32_t", "uint32": "uint32_t", "int64": "int64_t", "uint64": "uint64_t",
    "float32": "float", "float64": "double", "complex64": "pb_complex64", "complex128": "pb_complex128",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Argument:
    """A number or an array that a function takes.

    lengths  of an array, the expression of each axis
    said     what it is, for the header
    """

    name: str
    dtype: np.dtype[Any]
    lengths: tuple[str, ...] | None
    not_ones: tuple[int, ...] = ()
    said: str = ""

    @property
    def ctype(self) -> str:
        """The C type of its items."""
        return _C[self.dtype.name]

    @property
    def declared(self) -> str:
        """How it is declared."""
        return f"{self.ctype} {self.name}" if self.lengths is None else f"const {self.ctype} *{self.name}"


@dataclass(frozen=True, slots=True)
class Result:
    """A number or an array that a function gives.

    at       which result of the entry it is; None where it is `value`
    lengths  of an array whose lengths the caller knows; "made": of one that the function makes
    """

    name: str
    dtype: np.dtype[Any]
    at: int | None
    lengths: tuple[str, ...] | str | None
    array: bool
    rank: int = 0
    value: Any = None
    said: str = ""

    @property
    def ctype(self) -> str:
        """The C type of its items."""
        return _C[self.dtype.name]

    @property
    def declared(self) -> tuple[str, ...]:
        """How it is declared."""
        if self.lengths == "made":
            return (f"{self.ctype} **{self.name}", f"int64_t *{self.name}_lengths")
        return (f"{self.ctype} *{self.name}",)


@dataclass(slots=True)
class Signature:
    """The parameters of a unit's C functions.

    given  what stands for each argument of the entry: an Argument, or the value of a constant
    """

    unit: Unit
    native: Native
    lengths: dict[str, str] = field(default_factory=dict)  # name: what it is the length of
    named: set[str] = field(default_factory=set)  # those that the user has named
    arguments: list[Argument] = field(default_factory=list)
    values: list[Result] = field(default_factory=list)
    gradients: list[Result] = field(default_factory=list)
    given: list[Argument | Any] = field(default_factory=list)

    @property
    def results(self) -> list[Result]:
        """All results."""
        return [*self.values, *self.gradients]


def signature_of(unit: Unit, native: Native) -> Signature:
    """The parameters of the C functions of a unit."""
    return _Reader(unit, native).signature


class _Reader:
    def __init__(self, unit: Unit, native: Native) -> None:
        self.unit, self.native = unit, native
        self.axes = Axes(unit.entry.declared)
        self.taken = {*RESERVED, "error"} - {"x", "n", "in", "out", "host", "fail", "done"}
        self.named: dict[str, str] = {}  # of axes
        self.signature = Signature(unit, native)
        self.by_var: dict[Var, Argument | Any] = {}
        self.by_path: dict[tuple[int, ...], Argument] = {}
        users = len(unit.specs)
        for k, param in enumerate(native.function.params):
            if k < users:
                self._take(param.tree, unit.params[k].tree, (k,), unit.specs[k][0])
        implicits = unit.compiled.lowered.environment.implicits
        for param, (path, (_, spec)) in zip(native.function.params[users:], implicits.items(), strict=True):
            self._constants(param.tree, spec, path.fetch)
        self.signature.given = [self.by_var[v] for v in native.arguments]
        self._results()

    def unique(self, name: str) -> str:
        """A name that no other parameter has, and that C has no use for."""
        made, n = name, 1
        while made in self.taken:
            n += 1
            made = f"{name}_" if n == 2 else f"{name}_{n}"
        self.taken.add(made)
        return made

    # ------------------------------------------------------------------------------------------------ arguments

    def _take(self, tree: Operand, known: Operand, path: tuple[int, ...], at: str) -> None:
        """A parameter of the user's, part by part.  `known` is the tree as it was declared."""
        if isinstance(tree, Pack) and isinstance(known, Pack):
            for i, (item, other) in enumerate(zip(tree.items, known.items, strict=True)):
                self._take(item, other, (*path, i), f"{at}_{_part(tree, i)}")
        elif isinstance(tree, Var) and isinstance(known, Var) and not isinstance(tree.style, Static):
            made = self._argument(known, at)
            self.by_var[tree] = self.by_path[path] = made
            self.signature.arguments.append(made)

    def _argument(self, var: Var, at: str) -> Argument:
        (leaf,) = leaves_of(var.style)
        name, said = self.unique(at), describe(var.style, self.axes)
        if isinstance(leaf, Number):
            return Argument(name, leaf.dtype, None, said=said)
        assert isinstance(leaf, ArrayLeaf) and isinstance(var.style, Array)
        axes = var.style.axes or ()
        lengths = tuple(self._length(axis, at, k, len(axes)) for k, axis in enumerate(axes))
        others = tuple(k for k, axis in enumerate(axes) if not isinstance(axis, int) and not_one(axis))
        return Argument(name, leaf.dtype, lengths, others, said)

    def _length(self, axis: Any, at: str, k: int, rank: int) -> str:
        """The expression of an axis' length: a number, or the name of a parameter."""
        if isinstance(axis, int):
            return str(axis)
        given = self.axes.of.get(axis)
        key = given or f"{at} {k}"
        if key not in self.named:
            own = f"{at}_length" if rank == 1 else f"{at}_length{k}"
            name = self.named[key] = self.unique(given or own)
            which = "" if rank == 1 else f", axis {k}"
            self.signature.lengths[name] = f"of {at}{which}"
            self.signature.named.update([name] if given else [])
        elif given:
            self.signature.lengths[self.named[key]] += f", {at}" if rank == 1 else f", {at} (axis {k})"
        return self.named[key]

    def _constants(self, tree: Operand, spec: Any, fetch: Any) -> None:
        """What is found outside has the value that it has now."""
        for var, value in _values(tree, spec, fetch):
            self.by_var[var] = value

    # -------------------------------------------------------------------------------------------------- results

    def _results(self) -> None:
        at = iter(range(len(self.native.interface.results)))
        whole, bars = self.native.results
        if self.unit.entry.has_aux and isinstance(whole, Pack):
            value, aux = whole.items
            self.signature.values += self._result(value, "value", (), at, known=True)
            self.signature.values += self._result(aux, "aux", (), at)
        else:
            self.signature.values += self._result(whole, "value", (), at, known=True)
        wrt = self.unit.request.wrt
        single = self.unit.request.single
        trees = (bars,) if single else bars.items  # type: ignore[union-attr]
        for path, tree in zip(wrt, trees, strict=True):
            self.signature.gradients += self._result(tree, "", path, at)

    def _result(
        self, tree: Operand, name: str, path: tuple[int, ...], at: Iterator[int], known: bool = False
    ) -> list[Result]:
        """The results in a tree: a cotangent (of the argument at `path`), or what is called `name`."""
        if isinstance(tree, Pack):
            parts = enumerate(tree.items)
            return [
                result
                for i, item in parts
                for result in self._result(
                    item, name and f"{name}_{_part(tree, i)}", (*path, i) if path else (), at
                )
            ]
        argument = self.by_path.get(path)
        if isinstance(tree, Const):
            return self._known(tree, name, argument)
        k = next(at)
        spec = self.native.interface.results[k]
        array = isinstance(spec, ArraySpec)
        (leaf,) = leaves_of(tree.style)
        assert isinstance(leaf, ArrayLeaf | Number)
        rank = leaf.rank if isinstance(leaf, ArrayLeaf) else 0
        if argument is not None:
            said = f"of {argument.name}, in its shape" if argument.lengths else f"of {argument.name}"
            own = self.unique(f"{argument.name}_bar")
            return [Result(own, leaf.dtype, k, argument.lengths or (), array, rank, said=said)]
        lengths: Any = "made" if array and not known and rank else ()
        axes = f"{rank} axes" if rank > 1 else "one axis"
        said = f"an array of {axes}; give it back with {self.unit.label}_free" if lengths else ""
        return [Result(self.unique(name), leaf.dtype, k, lengths, array, rank, said=said)]

    def _known(self, const: Const, name: str, argument: Argument | None) -> list[Result]:
        """A result that is known when compiling."""
        if argument is not None and const.value is not None and const.value is not ABSENT:
            own = self.unique(f"{argument.name}_bar")
            return [
                Result(own, argument.dtype, None, argument.lengths or (), False, 0, const.value, "always so")
            ]
        if argument is None and isinstance(const.value, bool | int | float | complex | np.generic):
            dtype = np.asarray(const.value).dtype
            return [Result(self.unique(name), dtype, None, (), False, 0, const.value, "always so")]
        return []


def _part(pack: Pack, i: int) -> str:
    """What a part of a structure is called in C."""
    key: Any = i
    if pack.kind == "dict":
        key = pack.meta[i]
    elif pack.kind == "new":
        constructor, names = pack.meta
        key = names[i] if names is not None else getattr(constructor, "_fields", range(i + 1))[i]
    return re.sub(r"\W", "_", str(key))


def _values(tree: Operand, spec: Any, fetch: Any) -> Iterator[tuple[Var, Any]]:
    """The leaves of a tree with their values."""
    if isinstance(tree, Var):
        if not isinstance(tree.style, Static):
            yield tree, fetch()
    elif isinstance(tree, Pack):
        for step, item, part in zip(steps_of(spec), spec.items, tree.items, strict=True):
            yield from _values(part, item, lambda step=step: take_step(fetch(), step))
