"""The reverse of one call: from the cotangents of its results to those of its operands, by the rule that was chosen.

Rules say what depends on the operation.  Multiplying by the cotangent, unbroadcasting, projecting and accumulating is
done here, once.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from types import FunctionType
from typing import Any, Protocol

import numpy as np

from pullback.errors import NoRuleError, UnsupportedError
from pullback.frontend.inline import inline_expression, inline_function
from pullback.ir import core_ops as core
from pullback.ir.builder import Builder
from pullback.ir.callee import callee_of
from pullback.ir.core_ops import style_of
from pullback.ir.mapped import mapped_of
from pullback.ir.nodes import Call, Const, Operand, Pack, Stmt, Var
from pullback.ir.walk import variables, variables_in
from pullback.rules.kinds import BuilderRule, NonDifferentiable, Opaque, Row, Structured
from pullback.styles.style import ListOf, kind
from pullback.transform.bars import Bars
from pullback.transform.callees import pull_back_callee
from pullback.transform.choose import Choices, scalar_call
from pullback.transform.cotangents import as_list, distribute, fit, numpy_op
from pullback.transform.mapped import pull_back_mapped
from pullback.transform.opaque import opaque_call
from pullback.transform.reverse_access import ACCESS_RULES


class Sweeping(Protocol):
    """The reverse sweep, as far as a call needs it."""

    builder: Builder
    bars: Bars
    chosen: Choices

    def is_active(self, operand: Operand) -> bool: ...

    def zero(self, var: Var) -> Operand: ...

    def accumulate(self, operand: Operand, bar: Operand | None) -> None: ...


def pull_back(sweep: Sweeping, call: Call, bars: Sequence[Operand | None]) -> list[Stmt]:
    """Emit the reverse of a call and accumulate into its operands; returns the forward statements that replace it."""
    if call.op in ACCESS_RULES:
        ACCESS_RULES[call.op](sweep, call, bars[0])
        return [call]
    callee = callee_of(call)
    if callee is not None:
        return pull_back_callee(sweep, call, callee, bars)
    mapped = mapped_of(call)
    if mapped is not None:
        assert bars[0] is not None
        pull_back_mapped(sweep, call, mapped, bars[0], lambda x, bar: _contribute(sweep, x, bar))
        return [call]
    rule = sweep.chosen.rule(call)
    whole, call = call, scalar_call(call)
    match rule:
        case NonDifferentiable():
            return [whole]
        case Row():
            _row(sweep, call, rule, bars[0])
        case Structured():
            _structured(sweep, call, rule, bars)
        case BuilderRule():
            _builder(sweep, call, rule, bars)
        case Opaque():
            assert bars[0] is not None
            return opaque_call(sweep, call, rule, bars[0])
        case _:
            raise NoRuleError(f"`{call.op.name}` has no rule that can be compiled", loc=call.loc)
    return [whole]


# --------------------------------------------------------------------------------------------------- rows


def _row(sweep: Sweeping, call: Call, rule: Row, out_bar: Operand | None) -> None:
    """Scale the cotangent by each partial."""
    assert out_bar is not None
    operands = {name: _operand(x) for name, x in rule.bind(call.args, dict(call.kwargs)).items()}
    names = {name: _as_array(sweep.builder, x) for name, x in operands.items()}
    names["out"] = call.targets[0]
    complex_call = any(kind(style_of(x)) == "c" for x in names.values())
    if complex_call and not rule.holomorphic:
        raise UnsupportedError(
            f"`{call.op.name}` has no complex derivative",
            loc=call.loc,
            hint="split the computation into real and imaginary parts",
        )
    for param in rule.params:
        operand = operands[param]
        if rule.partials.get(param, "0") != "0" and any(sweep.is_active(v) for v in variables(operand)):
            contribution = _scaled(sweep.builder, rule, param, names, out_bar)
            _contribute(sweep, operand, contribution)
    _check_covered(sweep, call, [operands[param] for param in rule.partials])


def _scaled(builder: Builder, rule: Row, param: str, names: dict[str, Operand], out_bar: Operand) -> Operand:
    text = rule.partials[param].strip()
    if text in ("1", "1.0"):
        return out_bar
    if text in ("-1", "-1.0"):
        return builder.call(core.OPERATORS["u-"], out_bar, hint="t_bar")
    partial = inline_expression(builder, text, names, rule.namespace)
    if kind(style_of(partial)) == "c":
        partial = builder.call(numpy_op(np.conj), partial, hint="partial")
    selects = {"selects": Const(True)} if rule.selects else {}
    return builder.call(core.scale, out_bar, partial, hint="t_bar", **selects)


def _as_array(builder: Builder, operand: Operand) -> Operand:
    """A list or tuple as the array that NumPy takes it for."""
    displayed = isinstance(operand, Pack) and operand.kind in ("list", "tuple")
    if displayed or (isinstance(operand, Const) and isinstance(operand.value, list | tuple)):
        return builder.call(numpy_op(np.array), operand, hint="t")
    return operand


def _operand(value: Any) -> Operand:
    """A bound argument: an operand, or a default given as a Python value."""
    if isinstance(value, Var | Const | Pack):
        return value
    if isinstance(value, tuple):
        return Pack("tuple", tuple(_operand(x) for x in value))
    return Const(value)


def _contribute(sweep: Sweeping, operand: Operand, bar: Operand, shaped: bool = False) -> None:
    """Fit a contribution to the operand's leaves and accumulate it; `shaped`: it has the operand's shape."""
    for var, part in distribute(sweep.builder, operand, bar):
        if sweep.is_active(var):
            sweep.accumulate(var, fit(sweep.builder, part, var, shaped))


# ------------------------------------------------------------------------------------ structured and builder rules


def _results(sweep: Sweeping, call: Call, bars: Sequence[Operand | None]) -> tuple[Operand, Operand]:
    """`out` and `out_bar` as a rule gets them: tuples where the call has several results."""
    if len(call.targets) == 1:
        assert bars[0] is not None
        return call.targets[0], bars[0]
    full = tuple(Const(None) if bar is None else bar for bar in bars)
    return Pack("tuple", call.targets), Pack("tuple", full)


def _structured(sweep: Sweeping, call: Call, rule: Structured, bars: Sequence[Operand | None]) -> None:
    out, out_bar = _results(sweep, call, bars)
    args = (Const(call.op.fn), *call.args) if rule.generic else call.args
    bound = {name: _operand(x) for name, x in rule.bind(args, dict(call.kwargs)).items()}
    assert isinstance(rule.pullback, FunctionType)
    positions = _positional(rule, bound)
    kwargs = {name: x for name, x in bound.items() if name not in positions}
    cotangents = inline_function(
        sweep.builder,
        rule.pullback,
        [bound[n] for n in positions],
        {**kwargs, "out": out, "out_bar": out_bar},
    )
    wrt = rule.wrt or tuple(bound)[:1]
    for name, bar in zip(wrt, cotangents, strict=True):
        _into(sweep, bound[name], bar, rule.shaped)
    _check_covered(sweep, call, [bound[name] for name in wrt])


def _positional(rule: Structured, bound: dict[str, Operand]) -> list[str]:
    simple = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY
    return [n for n, p in rule.signature.parameters.items() if p.kind in simple and n in bound]


def _builder(sweep: Sweeping, call: Call, rule: BuilderRule, bars: Sequence[Operand | None]) -> None:
    out, out_bar = _results(sweep, call, bars)
    args, kwargs = _by_position(call)
    cotangents = rule.build(sweep.builder, args, kwargs, out, out_bar)
    for operand, bar in zip(args, cotangents, strict=False):
        if bar is not None:
            _into(sweep, operand, bar)
    _check_covered(sweep, call, args[: len(cotangents)])


def _by_position(call: Call) -> tuple[tuple[Operand, ...], dict[str, Operand]]:
    """A call's operands with those that were named put where they stand by position, as far as they follow on."""
    kwargs = dict(call.kwargs)
    args = list(call.args)
    try:
        parameters = inspect.signature(call.op.fn).parameters
    except (TypeError, ValueError):
        return call.args, kwargs
    if any(p.kind is p.VAR_POSITIONAL for p in parameters.values()):
        return call.args, kwargs
    names = list(parameters)
    while len(args) < len(names) and names[len(args)] in kwargs:
        args.append(kwargs.pop(names[len(args)]))
    return tuple(args), kwargs


def _check_covered(sweep: Sweeping, call: Call, covered: Iterable[Operand]) -> None:
    """Every operand that carries a derivative must have been given its cotangent: no silent zero."""
    known = set(variables_in(covered))
    for var in variables_in((*call.args, *(x for _, x in call.kwargs))):
        if sweep.is_active(var) and var not in known:
            raise NoRuleError(
                f"the rule of `{call.op.numpy_path or call.op.name}` gives no derivative for an operand used here",
                loc=call.loc,
                hint="pass that operand through pb.stop_gradient, or register a rule that serves it",
            )


def _into(sweep: Sweeping, operand: Operand, bar: Operand, shaped: bool = False) -> None:
    if isinstance(bar, Const) and bar.value is None:
        return
    # of the shape that NumPy makes of the list
    if isinstance(operand, Var) and isinstance(operand.style, ListOf):
        bar = as_list(sweep.builder, bar, operand.style)
    if any(sweep.is_active(v) for v in variables(operand)):
        _contribute(sweep, operand, bar, shaped)
