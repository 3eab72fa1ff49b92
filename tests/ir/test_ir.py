"""The interpreter, the verifier, the printer and the walks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.backend.random_programs import Maker, arguments

from pullback.ir import core_ops as core
from pullback.ir.builder import Builder, index_step, slice_
from pullback.ir.callee import Callee, operation
from pullback.ir.core_ops import OPERATORS
from pullback.ir.interp import run
from pullback.ir.nodes import (
    UNDEF,
    Block,
    Call,
    Const,
    For,
    Function,
    If,
    Operand,
    Pack,
    Param,
    Range,
    Seq,
    Var,
    While,
)
from pullback.ir.pretty import pretty
from pullback.ir.verify import VerifyError, verify
from pullback.ir.walk import copy_block, definitions, map_block, map_operands, substitute
from pullback.rules.registry import op_of
from pullback.styles.style import FLOAT64, PY_BOOL, PY_FLOAT, PY_INT, Array, Dim, ListOf, Scalar, Static

VECTOR = Array(FLOAT64, (Dim(-1),), True)
X, K = Var("x", VECTOR), Var("k", PY_INT)
PARAMS = (Param("x", X), Param("k", K))


def function(body: list[Any], *results: Operand) -> Function:
    return Function("f", PARAMS, Block(tuple(body)), results)


def give(operand: Operand) -> Any:
    return run(function([], operand), (np.arange(3.0), 2))[0]


class Point(NamedTuple):
    x: Any
    y: Any


class Plain:
    def __init__(self) -> None:
        raise AssertionError("not run")


def test_packs() -> None:
    assert give(Pack("tuple", (K, Const(1)))) == (2, 1)
    assert give(Pack("list", (K,))) == [2]
    assert give(Pack("dict", (K,), ("a",))) == {"a": 2}
    assert give(Pack("slice", (K, Const(None), Const(-1)))) == slice(2, None, -1)
    assert give(Pack("new", (K, Const(3)), (Point, None))) == Point(2, 3)
    assert vars(give(Pack("new", (K,), (Plain, ("a",))))) == {"a": 2}


def test_parameters_come_apart() -> None:
    a, b, c = (Var(n, PY_INT) for n in "abc")
    tree = Pack("dict", (Pack("tuple", (a, b)), Pack("new", (c, Const(None)), (Point, None))), ("u", "v"))
    f = Function("f", (Param("p", tree),), Block(), (c, b, a))
    assert run(f, ({"v": Point(3, None), "u": (1, 2)},)) == (3, 2, 1)


def test_nothing_is_changed_by_a_store() -> None:
    b = Builder()
    y = b.call(core.store, X, Const(7.0), index_step(K))
    z = b.call(
        core.store, y, Const(5.0), Pack("view", (), op_of(np.transpose)), index_step(slice_(None, Const(1)))
    )
    x = np.arange(3.0)
    out = run(Function("f", PARAMS, b.finish(), (y, z)), (x, 2))
    assert [list(v) for v in out] == [[0, 1, 7], [5, 1, 7]]
    assert list(x) == [0, 1, 2]


@pytest.mark.parametrize(
    ("it", "seen"),
    [
        (Range(Const(0), Const(5), Const(2)), [0, 2, 4]),
        (Range(Const(5), Const(0), Const(-2)), [5, 3, 1]),
        (Range(Const(0), Const(5), Const(2), K, True), [2, 0]),
        (Range(Const(0), Const(0), Const(1)), []),
        (Seq(Pack("list", (K, Const(9)))), [2, 9]),
        (Seq(Pack("list", (K, Const(9))), True), [9, 2]),
    ],
)
def test_loops_run_over(it: Any, seen: list[int]) -> None:
    b = Builder()
    i, p, r = Var("i", PY_INT), Var("p", ListOf(PY_INT)), Var("r", ListOf(PY_INT))
    with b.block() as body:
        q = b.call(core.list_append, p, i)
    b.add(For((i,), (it,), (p,), (Pack("list", ()),), Block(tuple(body)), (q,), (r,)))
    assert run(Function("f", PARAMS, b.finish(), (r,)), (np.arange(3.0), 2)) == (seen,)


def test_loops_in_step_until_go_is_false() -> None:
    b = Builder()
    i, j, p, r = Var("i", PY_INT), Var("j", PY_INT), Var("p", PY_INT), Var("r", PY_INT)
    with b.block() as body:
        q = b.call(OPERATORS["+"], p, j)
        go = b.call(OPERATORS["<"], i, K)
    iters = (Range(Const(0), Const(9), Const(1)), Range(Const(8), Const(-1), Const(-1)))
    b.add(For((i, j), iters, (p,), (Const(0),), Block(tuple(body)), (q,), (r,), go))
    assert run(Function("f", PARAMS, b.finish(), (r,)), (np.arange(3.0), 2)) == (8 + 7 + 6,)


def test_while_tests_before_each_iteration() -> None:
    b = Builder()
    p, r = Var("p", PY_INT), Var("r", PY_INT)
    with b.block() as cond:
        test = b.call(OPERATORS["<"], p, Const(10))
    with b.block() as body:
        q = b.call(OPERATORS["+"], p, K)
    b.add(While((p,), (Const(3),), Block(tuple(cond)), test, Block(tuple(body)), (q,), (r,)))
    f = Function("f", PARAMS, b.finish(), (r,))
    verify(f)
    assert run(f, (np.arange(3.0), 2)) == (11,)


def test_an_unbound_name_raises_where_it_is_read() -> None:
    b = Builder()
    r = Var("late", PY_INT)
    test = b.call(OPERATORS[">"], K, Const(5))
    b.add(If(test, Block(), (K,), Block(), (Const(UNDEF),), (r,)))
    passed_on = Function("f", PARAMS, b.finish(), (K,))
    assert run(passed_on, (np.arange(3.0), 2)) == (2,)
    with pytest.raises(UnboundLocalError, match="late"):
        run(replace(passed_on, results=(r,)), (np.arange(3.0), 2))
    assert run(replace(passed_on, results=(r,)), (np.arange(3.0), 6)) == (6,)


def test_a_function_is_called_as_an_operation() -> None:
    b = Builder()
    inner = Function("g", PARAMS, Block(), (K, X))
    call = operation(Callee("g", inner), (PY_INT, VECTOR), 2)
    k, _ = b.call_many(call, (X, K), {}, ("k", "x"))
    assert run(Function("f", PARAMS, b.finish(), (k,)), (np.arange(3.0), 2)) == (2,)


# ------------------------------------------------------------------------------------------------- the verifier


def plus(target: Var, *args: Operand) -> Call:
    return Call((target,), OPERATORS["+"], args)


def wrong() -> dict[str, Function]:
    """Functions that break a rule, by what the verifier says."""
    y, z, p, r, i = (Var(n, PY_INT) for n in "yzpri")
    numbers = Range(Const(0), Const(3), Const(1))
    twice = [plus(y, K, K), plus(y, K, K)]
    branch = If(Const(True), Block((plus(y, K, K),)), (y,), Block(), (K,), (z,))
    step = Pack("index", (K,))
    cond = While((p,), (K,), Block((plus(y, p, K),)), Const(False), Block(), (y,), (r,))
    return {
        "assigned twice": function(twice, y),
        "not defined": function([], y),
        "not in scope": function([branch], y),
        "not in scope in": function([cond], r),
        "lengths": function([replace(branch, then_yields=())], z),
        "lengths of": function([For((i,), (numbers,), (p,), (), Block(), (p,), (r,))], r),
        "a path step": function([plus(y, K, step)], y),
        "no path step": function([Call((y,), core.load, (X, K))], y),
        "undef is read": function([plus(y, K, Const(UNDEF))], y),
        "does not cover": function([plus(Var("y", PY_FLOAT), K, K)]),
        "does not cover in": function([If(Const(True), Block(), (X,), Block(), (K,), (z,))], z),
        "results are inferred": function([Call((y, z), OPERATORS["+"], (K, K))], y),
        "a lone index": function([Call((y,), core.load, (X, Pack("index", (K, K))))], y),
        "a slice without": function([], Pack("slice", (K,))),
        "is no operand": function([], 3),  # type: ignore[arg-type]
        "of kind": function([], Pack("set", (K,))),
    }


@pytest.mark.parametrize("says", list(wrong()))
def test_the_verifier_refuses(says: str) -> None:
    with pytest.raises(VerifyError, match=says.split(" in")[0].split(" of")[0] if " " in says else says):
        verify(wrong()[says])


def test_the_verifier_accepts_lengths_that_came_to_be_known() -> None:
    for known, length, accepted in ((4, Dim(-1, 0, True), True), (1, Dim(-1, 0, True), False), (4, 3, False)):
        a = Var("a", Array(FLOAT64, (known,), True))
        n = Var("n", replace(PY_INT, length=length))
        program = Function("f", (Param("a", a),), Block((Call((n,), core.dim, (a, Const(0))),)), (n,))
        if accepted:
            verify(program)
        else:
            with pytest.raises(VerifyError, match="does not cover"):
                verify(program)


def test_the_verifier_accepts_random_programs() -> None:
    for seed in range(60):
        verify(Maker(seed).function("joint"))


# ------------------------------------------------------------------------------------------- printer and walks


def test_text() -> None:
    b = Builder()
    i, p, r = Var("i", PY_INT), Var("h", VECTOR), Var("h", VECTOR)
    with b.block() as body:
        t = b.call(op_of(np.tanh), p)  # type: ignore[arg-type]
        t2 = b.call(core.store, t, Const(-1.5), index_step(i))
        test = b.call(OPERATORS["<"], i, K)
        with b.block() as then:
            u = b.call(OPERATORS["u-"], t2)
        v = Var("v", VECTOR)
        b.add(If(test, Block(tuple(then)), (u,), Block(), (t2,), (v,)))
    b.add(
        For(
            (i,),
            (Range(Const(0), K, Const(1), None, True),),
            (p,),
            (X,),
            Block(tuple(body)),
            (v,),
            (r,),
            test,
        )
    )
    assert pretty(Function("f", PARAMS, b.finish(), (r, Pack("tuple", (K,))))) == (
        """primal f(%x: f64[n], %k: int) -> %h.1, (%k,)
  for %i in reversed(range(0, %k, 1)) carry %h: f64[n] = %x:
    %t: f64[n] = np.tanh(%h)
    %t.1: f64[n] = store(%t, -1.5, [%i])
    %t.2: bool = %i < %k
    if %t.2:
      %t.3: f64[n] = -%t.1
      yield %t.3
    else:
      yield %t.1
    -> %v: f64[n]
    yield %v
    go %t.2
  -> %h.1: f64[n]
"""
    )


def test_text_has_no_addresses() -> None:
    odd = Function(
        "f", (), Block(), (Const(object()), Const(np.sin), Const(len), Const(np.ones(3)), Const(Point))
    )
    assert pretty(odd) == "primal f() -> <object>, np.sin, len, array(float64, (3,)), Point\n"


def test_styles_as_text() -> None:
    styles = [
        Scalar(np.dtype(np.float32)),
        Scalar(FLOAT64, None),
        Scalar(None, True, "f"),
        PY_BOOL,
        Array(None, None),
        Array(FLOAT64, (1, Dim(-5, 2))),
        ListOf(VECTOR),
        Static("a"),
    ]
    params = tuple(Param(f"p{i}", Var(f"p{i}", s)) for i, s in enumerate(styles))
    assert pretty(Function("f", params, Block(), ())) == (
        "primal f(%p0: f32, %p1: f64~, %p2: float?, %p3: bool, %p4: c?[...], %p5: f64[1, n-2], %p6: list[f64[m]], "
        "%p7: ='a') -> \n"
    )


@pytest.mark.parametrize("seed", range(30))
def test_a_copy_means_the_same_and_shares_no_definition(seed: int) -> None:
    f = Maker(seed).function("joint")
    mapping: dict[Var, Operand] = {}
    body = copy_block(f.body, mapping)
    copied = replace(f, body=body, results=tuple(substitute(x, mapping) for x in f.results))
    verify(copied)
    assert not set(definitions(body)) & set(definitions(f.body))
    assert pretty(copied) == pretty(f)
    np.testing.assert_equal(run(copied, arguments(seed)), run(f, arguments(seed)))


def test_walks_keep_what_does_not_change() -> None:
    def same(block: Block) -> Block:
        return map_block(block, lambda stmt: map_operands(stmt, lambda x: x, same))

    for seed in range(20):
        block = Maker(seed).function("joint").body
        assert same(block) is block
