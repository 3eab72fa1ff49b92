"""What an entry takes for granted of the lengths of its arguments, beyond what their declared types say.

Lengths that meet in an elementwise operation are taken to be equal when C is made.  Who calls an entry sees to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pullback.aot.units import Unit
from pullback.backend.native.emit.module import Native
from pullback.backend.native.interface import ArraySpec
from pullback.ir.nodes import Operand, Pack, Var
from pullback.styles.style import Array, Axis, not_one, same_length


@dataclass(frozen=True, slots=True)
class Demand:
    """Axis `axis` of argument `at` is as long as `other`, an axis of another argument.

    Without one it is of length one, or (where `one` is false) of another length.
    """

    at: int
    axis: int
    other: tuple[int, int] | None = None
    one: bool = False


def demands(unit: Unit, native: Native) -> list[Demand]:
    """What the entry of a unit takes for granted."""
    declared = {
        var: known
        for param, other in zip(native.function.params, unit.params, strict=True)
        for var, known in _pairs(param.tree, other.tree)
    }
    found: list[Demand] = []
    first: dict[int, tuple[int, int, Axis]] = {}
    for at, (var, spec) in enumerate(zip(native.arguments, native.interface.args, strict=True)):
        if not isinstance(spec, ArraySpec):
            continue
        style = declared[var].style
        assert isinstance(style, Array) and style.axes is not None
        for k, axis in enumerate(style.axes):
            found += _of_one(at, k, axis, spec.ones[k])
            if spec.equal[k] >= 0:
                other = first.setdefault(spec.equal[k], (at, k, axis))
                if other[:2] != (at, k) and not same_length(other[2], axis):
                    found.append(Demand(at, k, other[:2]))
    return found


def _of_one(at: int, k: int, axis: Axis, one: bool | None) -> Iterator[Demand]:
    if one is True and axis != 1:
        yield Demand(at, k, one=True)
    if one is False and not not_one(axis):
        yield Demand(at, k)


def _pairs(tree: Operand, known: Operand) -> Iterator[tuple[Var, Var]]:
    """The leaves of a parameter as C has it, each with that of the parameter as it was declared."""
    if isinstance(tree, Pack) and isinstance(known, Pack):
        for item, other in zip(tree.items, known.items, strict=True):
            yield from _pairs(item, other)
    elif isinstance(tree, Var) and isinstance(known, Var):
        yield tree, known
