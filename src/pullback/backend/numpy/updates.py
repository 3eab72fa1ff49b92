"""`A[i] = A[i] + v` as `A[i] += v`: where a store of an operation on what it overwrites is an augmented
assignment.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from pullback.backend.numpy.expressions import BINARY
from pullback.ir import core_ops as core
from pullback.ir.nodes import Call, Operand, Var
from pullback.ir.paths import same_path
from pullback.styles.style import Array, Scalar, Style, numeric, same_length


@dataclass(frozen=True, slots=True)
class Update:
    """`place operator= more`."""

    operator: type[ast.operator]
    more: Operand


def update_of(store: Call, folded: Mapping[Var, Call], hoisted: Mapping[Var, str]) -> Update | None:
    """The augmented assignment that a store means, if it is one: same place, same shape, same dtype."""
    base, value, steps = store.args[0], store.args[1], store.args[2:]
    if not isinstance(value, Var) or value not in folded or value in hoisted:
        return None
    operation = folded[value]
    if operation.op is not core.OPERATORS.get(operation.op.name) or operation.op.name not in BINARY:
        return None
    left, right = operation.args
    here = _place_read(left, folded, hoisted)
    if here is None or here[0] is not base or not same_path(here[1], steps):
        return None
    assert isinstance(left, Var) or left is base
    if not _keeps(_style(left), value.style):
        return None
    return Update(BINARY[operation.op.name], right)


def _style(operand: Operand) -> Style:
    return core.style_of(operand)


def _place_read(
    operand: Operand, folded: Mapping[Var, Call], hoisted: Mapping[Var, str]
) -> tuple[Operand, tuple[Operand, ...]] | None:
    """The array and path that an operand reads."""
    if not isinstance(operand, Var) or operand in hoisted:
        return None
    if operand not in folded:
        return operand, ()
    call = folded[operand]
    return (call.args[0], call.args[1:]) if call.op is core.load else None


def _keeps(old: Style, new: Style) -> bool:
    """Whether the operation's result has the dtype and shape of the place, so that NumPy may write into
    it.
    """
    old, new = numeric(old), numeric(new)
    if isinstance(old, Scalar):
        return isinstance(new, Scalar)
    if not isinstance(old, Array) or not isinstance(new, Array | Scalar):
        return False
    if old.dtype is None or old.dtype != new.dtype or old.axes is None:
        return False
    if isinstance(new, Scalar) or new.axes is None or len(new.axes) != len(old.axes):
        return False
    return all(same_length(x, y) for x, y in zip(old.axes, new.axes, strict=True))
