"""Rule texts lowered into a builder: functions and expressions of NumPy code on IR operands.

The statements they emit keep the place that the builder has: a gradient's lines belong to the user's line.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import FunctionType
from typing import Any

from pullback.frontend.bodies import Body, body_of
from pullback.frontend.calls import UserFunction
from pullback.frontend.interpreter import Machine
from pullback.frontend.source import FunctionSource
from pullback.frontend.values import GrowingCell, Known, ListCell, Num, SliceValue, TupleValue, Value
from pullback.ir.builder import Builder
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Const, Operand, Pack
from pullback.ir.walk import variables
from pullback.styles.style import Array, ListOf


def inline_function(
    builder: Builder,
    fn: FunctionType,
    args: Sequence[Operand],
    kwargs: Mapping[str, Operand],
    *,
    safe: bool = True,
) -> tuple[Operand, ...]:
    """Lower a function's body on operands; its result, or the items of the tuple that it returns."""
    machine = _machine(builder, safe)
    body = body_of(fn)

    def default(name: str) -> Value:
        return Known(_default(fn, name))

    given = [as_value(machine, x) for x in args]
    named = {k: as_value(machine, x) for k, x in kwargs.items()}
    names = machine.bind_arguments(body, given, named, default, fn)
    value = machine.inline(body, UserFunction(fn), names)
    if isinstance(value, TupleValue) and value.cls is None:
        return tuple(machine.operand(v) for v in value.items)
    return (machine.operand(value),)


def inline_expression(
    builder: Builder,
    text: str,
    names: Mapping[str, Operand],
    globals: Mapping[str, Any],
    *,
    safe: bool = True,
) -> Operand:
    """Lower an expression over named operands; other names come from `globals`, then from NumPy."""
    body = _expression(text, tuple(sorted(names)))
    machine = _machine(builder, safe)
    values = {name: as_value(machine, x) for name, x in names.items()}
    return machine.operand(machine.inline(body, UserFunction(None), values, globals))


def _machine(builder: Builder, safe: bool) -> Machine:
    machine = Machine(None, safe=safe)
    machine.builder = builder
    return machine


@lru_cache(maxsize=4096)
def _expression(text: str, names: tuple[str, ...]) -> Body:
    node = ast.parse(f"lambda {', '.join(names)}: ({text})", mode="eval").body
    assert isinstance(node, ast.Lambda)
    return Body(node, FunctionSource(node, "<rule>", (text,), 1, "rule"), "rule")


def as_value(machine: Machine, operand: Operand) -> Value:
    """An IR operand as a value of a machine."""
    machine.claimed.update(variables(operand))  # it keeps the name that it has
    if isinstance(operand, Const):
        return Known(operand.value)
    if isinstance(operand, Pack):
        return _structure(machine, operand)
    style = style_of(operand)
    if isinstance(style, ListOf):
        return machine.new_cell(GrowingCell(operand))
    if isinstance(style, Array):
        return machine.wrap(operand)
    return Num(operand)


def _structure(machine: Machine, operand: Pack) -> Value:
    items = tuple(as_value(machine, x) for x in operand.items)
    match operand.kind:
        case "slice":
            return SliceValue(*items)
        case "list":
            return machine.new_cell(ListCell(items))
        case "new" if operand.meta[1] is None:
            return TupleValue(items, operand.meta[0])
    return TupleValue(items)


def _default(fn: FunctionType, name: str) -> Any:
    if fn.__kwdefaults__ and name in fn.__kwdefaults__:
        return fn.__kwdefaults__[name]
    code = fn.__code__
    positional = code.co_varnames[: code.co_argcount]
    assert fn.__defaults__ is not None
    return fn.__defaults__[positional.index(name) - len(positional)]
