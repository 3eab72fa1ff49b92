"""From a primal function to its gradient functions: the joint form and the pair.

joint   name_value_and_grad(params) -> value, grads           one function, optimised together
pair    name_primal(params) -> value, residuals
        name_pullback(residuals, value_bar) -> grads
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pullback.analysis.activity import active_variables
from pullback.analysis.binding import maybe_unbound
from pullback.analysis.distinct import distinct_indices
from pullback.analysis.kept import kept_reads
from pullback.errors import ArgumentError
from pullback.ir import core_ops as core
from pullback.ir.builder import Builder
from pullback.ir.nodes import Block, Call, Const, Function, Operand, Pack, Param, Stmt, Var
from pullback.ir.slices import slice_lengths
from pullback.ir.walk import definitions, free_variables, param_variables, variables
from pullback.styles.style import Scalar, differentiable, numeric
from pullback.transform.choose import Choices, Pair
from pullback.transform.cotangents import bar_style, to_parameter
from pullback.transform.residuals import lengths_of, resolve
from pullback.transform.reverse import Facts, Sweep


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for.

    wrt is a path for each cotangent: the position of a parameter, then positions inside it (a member of *args).
    """

    wrt: tuple[tuple[int, ...], ...]
    has_aux: bool = False
    single: bool = True  # one cotangent is returned bare, not in a tuple


@dataclass(frozen=True, slots=True)
class _Swept:
    """A function after its reverse sweep."""

    forward: list[Stmt]
    reverse: list[Stmt]
    grads: Operand
    again: list[tuple[Var, Call]]


def always_raises(function: Function) -> bool:
    """Whether a function ends in an exception on every path: what it returns is then of no interest."""
    return any(isinstance(s, Call) and s.op is core.raise_ for s in function.body.stmts)


def differentiated(function: Function, has_aux: bool) -> Operand:
    """The part of the result that is differentiated.  Raises ArgumentError where there is no such part."""
    (result,) = function.results
    if not has_aux or always_raises(function):
        return result
    if not (isinstance(result, Pack) and result.kind == "tuple" and len(result.items) == 2):
        raise ArgumentError(
            f"has_aux=True: `{function.name}` must return a tuple (value, aux)",
            hint="return both in a tuple, or leave has_aux out",
        )
    return result.items[0]


def _sweep(function: Function, request: Request, chosen: Choices, seed: Operand) -> _Swept:
    """Reverse a function, from the cotangent `seed` of its differentiated result."""
    result = differentiated(function, request.has_aux)
    trees = [_at(function, path) for path in request.wrt]
    wrt = [v for tree in trees for v in variables(tree)]
    active = active_variables(function, wrt, [result], chosen.is_constant)
    lengths = lengths_of(param_variables(function.params))
    facts = Facts(active, maybe_unbound(function), distinct_indices(function), kept_reads(function), lengths)
    builder = Builder(slice_lengths(function))
    sweep = Sweep(builder, facts, chosen)
    with builder.block() as reverse:
        _seed(sweep, result, seed)
        forward = sweep.block(function.body.stmts)
        grads = [_cotangent(builder, tree, sweep) for tree in trees]
    tree = grads[0] if request.single and len(grads) == 1 else Pack("tuple", tuple(grads))
    return _Swept(forward, reverse, tree, sweep.again)


def _at(function: Function, path: tuple[int, ...]) -> Operand:
    """The part of a parameter that a path leads to."""
    tree = function.params[path[0]].tree
    for i in path[1:]:
        assert isinstance(tree, Pack)
        tree = tree.items[i]
    return tree


def _seed(sweep: Sweep, result: Operand, seed: Operand) -> None:
    """Give the result's leaves their cotangents."""
    if isinstance(result, Var):
        sweep.accumulate(result, seed)
    elif isinstance(result, Pack) and isinstance(seed, Pack):
        for item, bar in zip(result.items, seed.items, strict=True):
            _seed(sweep, item, bar)


def _cotangent(builder: Builder, tree: Operand, sweep: Sweep) -> Operand:
    """The cotangent of a parameter, in its structure; None for leaves that carry no derivative."""
    if isinstance(tree, Var):
        if not differentiable(tree.style):
            return Const(None)
        return to_parameter(builder, sweep.bars.get(tree), tree)
    if isinstance(tree, Pack):
        return replace(tree, items=tuple(_cotangent(builder, item, sweep) for item in tree.items))
    return Const(None)


def joint(function: Function, request: Request, chosen: Choices) -> Function:
    """`value_and_grad` as one function; the seed is 1."""
    result = differentiated(function, request.has_aux)
    swept = _sweep(function, request, chosen, _one(result))
    return Function(
        f"{function.name}_value_and_grad",
        function.params,
        Block((*swept.forward, Call((), core.begin_reverse, ()), *swept.reverse)),
        (function.results[0], swept.grads),
        function.loc,
        f"Value and gradient of `{function.name}` ({function.loc}).",
        kind="joint",
    )


def _one(result: Operand) -> Operand:
    """The seed of a scalar result: 1 of its own dtype."""
    style = numeric(result.style) if isinstance(result, Var) else None
    dtype = style.dtype if isinstance(style, Scalar) and not style.weak else None
    if dtype is not None and dtype not in (np.dtype(np.float64), np.dtype(np.complex128)):
        return Const(dtype.type(1))
    return Const(1.0)


def pair(function: Function, request: Request, chosen: Choices) -> tuple[Function, Function]:
    """The primal, which also returns the residuals, and the pullback, which takes them."""
    result = differentiated(function, request.has_aux)
    seed = _seed_parameter(result, "value")
    swept = _sweep(function, request, chosen, seed)
    heads = tuple(param_variables(function.params))
    needs = resolve(swept.forward, heads, swept.reverse, (swept.grads,), {})
    bound = set(definitions(needs.reverse)) | set(variables(seed))
    residuals = [v for v in free_variables(needs.reverse, needs.ends) if v not in bound]
    primal = Function(
        f"{function.name}_primal",
        function.params,
        Block(tuple(needs.forward)),
        (function.results[0], Pack("tuple", tuple(residuals))),
        function.loc,
        f"Value of `{function.name}` ({function.loc}) and the residuals of its pullback.",
    )
    fresh = {v: Var(v.hint, v.style) for v in residuals}
    needs.bind(dict(fresh))
    pullback = Function(
        f"{function.name}_pullback",
        (Param("residuals", Pack("tuple", tuple(fresh.values()))), Param("value_bar", seed)),
        needs.reverse,
        needs.ends,
        function.loc,
        f"Cotangent of the value of `{function.name}` -> {_wanted(function, request)}.",
        kind="pullback",
    )
    return primal, pullback


def callee_pair(
    function: Function, wrt: tuple[int, ...], made: Pair, chosen: Choices
) -> tuple[Function, Function]:
    """The pair of a function compiled apart, with single values for parameters and results, under the names of `made`.

    primal(params) -> *results, residuals         pullback(residuals, *bars) -> cotangents of the parameters `wrt`
    """
    primal, pullback = pair(function, Request(tuple((i,) for i in wrt)), chosen)
    value, residuals = primal.results
    seed = pullback.params[1].tree
    results = value.items if isinstance(value, Pack) else (value,)
    bars = seed.items if isinstance(seed, Pack) else (seed,)
    return (
        replace(primal, name=made.primal.name, results=(*results, residuals)),
        replace(
            pullback,
            name=made.pullback.name,
            params=(pullback.params[0], *(Param(x.hint, x) for x in bars if isinstance(x, Var))),
        ),
    )


def recomputed(function: Function, request: Request, chosen: Choices) -> tuple[tuple[Var, Call], ...]:
    """The values that the pullback computes again rather than has saved, each with the call that gives it."""
    swept = _sweep(
        function, request, chosen, _seed_parameter(differentiated(function, request.has_aux), "value")
    )
    heads = tuple(param_variables(function.params))
    needs = resolve(swept.forward, heads, swept.reverse, (swept.grads,), {})
    return (*needs.again, *swept.again)


def _wanted(function: Function, request: Request) -> str:
    names = [function.params[path[0]].name for path in request.wrt]
    return f"cotangent{'s' * (len(names) > 1)} of {', '.join(names)}"


def _seed_parameter(result: Operand, name: str) -> Operand:
    """A parameter for the cotangent of a result, in its structure."""
    if isinstance(result, Var):
        return Var(f"{name}_bar", bar_style(result.style)) if differentiable(result.style) else Const(None)
    if isinstance(result, Pack):
        return replace(
            result, items=tuple(_seed_parameter(x, f"{name}_{i}") for i, x in enumerate(result.items))
        )
    return Const(None)
