"""Small IR programs put together by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pullback.errors import Loc
from pullback.ir.builder import Builder
from pullback.ir.nodes import Block, Const, For, Function, If, Op, Operand, Param, Range, Var
from pullback.rules.registry import op_of
from pullback.styles.style import FLOAT64, PY_FLOAT, PY_INT, Array, Dim, Scalar, Style

N = Dim(-1, 0, True)
VECTOR = Array(FLOAT64, (N,), True)
MATRIX = Array(FLOAT64, (N, N), True)
NUMBER = Scalar(FLOAT64, False)


def op(fn: object) -> Op:
    """The operation of a NumPy function."""
    found = op_of(fn)
    assert found is not None
    return found


def at(builder: Builder, line: int, text: str) -> None:
    """What follows comes from this line of the user's."""
    builder.loc = Loc("/src/model.py", line, 0, 0, text, "f")


def vector(name: str) -> Var:
    """A vector."""
    return Var(name, VECTOR)


def function(builder: Builder, params: Sequence[Var], *results: Operand, kind: str = "primal") -> Function:
    """A function named `f`."""
    return Function("f", tuple(Param(p.hint, p) for p in params), builder.finish(), results, kind=kind)


def count_loop(
    builder: Builder,
    n: Operand,
    params: Sequence[Var],
    inits: Sequence[Operand],
    body: Block,
    yields: Sequence[Operand],
    go: Operand | None = None,
) -> tuple[Var, ...]:
    """`for i in range(n)`; returns its results."""
    results = tuple(Var(p.hint, p.style) for p in params)
    iters = (Range(Const(0), n, Const(1)),)
    builder.add(
        For(
            (Var("i", PY_INT),),
            iters,
            tuple(params),
            tuple(inits),
            body,
            tuple(yields),
            results,
            go,
            builder.loc,
        )
    )
    return results


def branch(
    builder: Builder,
    test: Operand,
    then: Block,
    then_yield: Operand,
    orelse: Block,
    else_yield: Operand,
    hint: str,
    style: Style,
) -> Var:
    """An `if` with one result."""
    result = Var(hint, style)
    builder.add(If(test, then, (then_yield,), orelse, (else_yield,), (result,), builder.loc))
    return result


__all__ = [
    "MATRIX",
    "NUMBER",
    "PY_FLOAT",
    "PY_INT",
    "VECTOR",
    "N",
    "at",
    "branch",
    "count_loop",
    "function",
    "np",
    "op",
    "vector",
]
