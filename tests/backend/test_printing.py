"""What small programs look like, and that they mean what they say."""

from __future__ import annotations

import linecache
import re
from collections import namedtuple
from typing import Any

import numpy as np
import pytest
from tests.backend.programs import (
    MATRIX,
    NUMBER,
    PY_FLOAT,
    PY_INT,
    VECTOR,
    at,
    branch,
    count_loop,
    function,
    op,
    vector,
)

import pullback as pb
from pullback.backend.numpy.load import load
from pullback.backend.numpy.module import emit_module
from pullback.ir import core_ops as core
from pullback.ir.builder import Builder, const, index_step, slice_
from pullback.ir.core_ops import OPERATORS
from pullback.ir.nodes import (
    UNDEF,
    Block,
    Call,
    Const,
    For,
    Function,
    If,
    Pack,
    Param,
    Range,
    Seq,
    Var,
    While,
)
from pullback.styles.style import PY_BOOL, Anything, Array, Dim, ListOf

Point = namedtuple("Point", "x, y")


def body_of(source: str) -> str:
    """The lines of the first function after its head, unindented."""
    lines = source[source.index("def ") :].split("\n")[1:]
    return "\n".join(line[4:] for line in lines).rstrip()


def printed(builder: Builder, params: list[Var], *results: Any, **options: Any) -> str:
    """The printed body of a function."""
    return body_of(emit_module([function(builder, params, *results)], **options).source)


# ----------------------------------------------------------------------------------------- expressions


def test_temporaries_are_folded_and_the_users_lines_kept() -> None:
    b, x, w = Builder(), vector("x"), Var("W", MATRIX)
    at(b, 3, "h = np.tanh(W @ x + 1.0)")
    h = b.call(op(np.tanh), b.call(OPERATORS["+"], b.call(OPERATORS["@"], w, x), const(1.0)), hint="h")
    at(b, 4, "return np.sum(h) ** -2")
    total = b.call(OPERATORS["**"], b.call(op(np.sum), h), const(-2), hint="value")
    assert printed(b, [w, x], total) == "h = np.tanh(W @ x + 1.0)\nreturn np.sum(h) ** -2"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-1.5, "-1.5"),
        (float("nan"), "np.nan"),
        (float("-inf"), "-np.inf"),
        (2j, "2.0j"),
        (1 + 2j, "1.0 + 2.0j"),
        (complex(1, -2), "complex(1.0, -2.0)"),
        (np.float32(0.5), "np.float32(0.5)"),
        (np.dtype(np.float32), "np.float32"),
        (np.dtype(bool), "np.bool_"),
        (np.int64, "np.int64"),
        (float, "float"),
        ("it's", '"it\'s"'),
        ((1, -2), "1, -2"),
        ((3,), "(3,)"),
        ([None, True], "[None, True]"),
        ({"a": 1}, '{"a": 1}'),
        (np.sin, "np.sin"),
        (abs, "abs"),
        (10**30, str(10**30)),
    ],
)
def test_constants(value: Any, text: str) -> None:
    generated = emit_module([function(Builder(), [], Const(value))])
    assert body_of(generated.source) == f"return {text}"
    again = load(generated, "f")()
    assert again is value or again == value or again != again


def test_objects_without_a_literal_are_bound_by_name() -> None:
    def helper() -> None: ...

    b = Builder()
    b.call(core.call_effect, Const(helper), hint="t")
    generated = emit_module([function(b, [Var("helper", PY_FLOAT)], Const(None))])
    assert generated.namespace == {"helper_2": helper}
    assert body_of(generated.source) == "helper_2()\nreturn None"


def test_an_operator_in_a_power_keeps_its_parentheses() -> None:
    b, x = Builder(), Var("x", NUMBER)
    a = b.call(OPERATORS["**"], const(-2.0), x)
    c = b.call(OPERATORS["u-"], b.call(OPERATORS["**"], b.call(OPERATORS["u-"], x), const(2)))
    assert printed(b, [x], b.call(OPERATORS["-"], a, c)) == "return (-2.0) ** x - -((-x) ** 2)"


def test_indices_and_paths() -> None:
    b, a, i = Builder(), Var("A", MATRIX), Var("i", PY_INT)
    row = b.call(core.load, a, index_step(i, slice_(None, const(-1))), hint="row")
    column = b.call(core.load, a, Pack("view", (), op(np.transpose)), index_step(const(0)), hint="column")
    new = b.call(core.load, row, index_step(Const(None), Const(...), as_tuple=True), hint="new")
    source = printed(b, [a, i], column, new)
    assert source == "return A.T[0], A[i, :-1][None, ...]"


def test_shapes() -> None:
    b, x, y = Builder(), Var("A", MATRIX), Var("y", Anything())
    parts = (
        b.call(core.shape, x),
        b.call(core.dim, x, const(0)),
        b.call(core.shape, y),
        b.call(core.dim, y, const(1)),
    )
    assert printed(b, [x, y], *parts) == "return A.shape, A.shape[0], np.shape(y), np.shape(y)[1]"


def test_scale_is_a_product_unless_guarded() -> None:
    b, x = Builder(), vector("x")
    f = function(b, [x], b.call(core.scale, x, b.call(op(np.cos), x)))
    assert body_of(emit_module([f]).source) == "return x * np.cos(x)"
    guarded = emit_module([f], guarded=True)
    assert guarded.source.startswith("import numpy as np\nfrom pullback.runtime import scale\n\n\ndef f(x):")
    assert body_of(guarded.source) == "return scale(x, np.cos(x))"


# ---------------------------------------------------------------------------------------------- writes


def test_a_store_of_an_update_is_augmented() -> None:
    b, x, i = Builder(), vector("x"), Var("i", PY_INT)
    y = b.call(op(np.sin), x, hint="y")
    step = index_step(i)
    y = b.call(core.store, y, b.call(OPERATORS["*"], b.call(core.load, y, step), const(2.0)), step, hint="y")
    y = b.call(core.store, y, b.call(OPERATORS["+"], y, const(1.0)), hint="y")
    y = b.call(core.store, y, const(0.0), hint="y")
    assert printed(b, [x, i], y) == "y = np.sin(x)\ny[i] *= 2.0\ny += 1.0\ny[...] = 0.0\nreturn y"


def test_an_update_in_another_dtype_is_not_augmented() -> None:
    b = Builder()
    x = Var("x", Array(np.dtype(np.int64), (Dim(-1),), True))
    y = b.call(core.copy, x, hint="y")
    step = index_step(slice_(const(1), None))
    y = b.call(core.store, y, b.call(OPERATORS["*"], b.call(core.load, y, step), const(0.5)), step, hint="y")
    assert printed(b, [x], y) == "y = x.copy()\ny[1:] = y[1:] * 0.5\nreturn y"


def test_scattered_sums() -> None:
    b, x, k = Builder(), vector("x"), Var("k", Array(np.dtype(np.int64), (Dim(-2),), True))
    mask = Var("mask", Array(np.dtype(bool), (Dim(-1),), True))
    y = b.call(op(np.sin), x, hint="y")
    y = b.call(core.add_at, y, const(1.0), index_step(slice_(const(1), None)), hint="y")
    y = b.call(core.add_at, y, const(2.0), index_step(mask), hint="y")
    y = b.call(core.add_at, y, const(3.0), index_step(k), hint="y")
    y = b.call(core.add_at, y, const(4.0), hint="y")
    assert printed(b, [x, k, mask], y) == (
        "y = np.sin(x)\ny[1:] += 1.0\ny[mask] += 2.0\nnp.add.at(y, k, 3.0)\ny += 4.0\nreturn y"
    )


def test_stores_through_views() -> None:
    b, a, x = Builder(), Var("A", MATRIX), vector("x")
    y = b.call(op(np.sin), a, hint="B")
    transpose = Pack("view", (), op(np.transpose))
    y = b.call(core.store, y, x, transpose, index_step(const(0)), hint="B")
    y = b.call(core.store, y, const(0.0), transpose, hint="B")
    y = b.call(core.store, y, const(1.0), index_step(slice_(const(1), None)), index_step(const(0)), hint="B")
    assert printed(b, [a, x], y) == "B = np.sin(A)\nB.T[0] = x\nB.T[...] = 0.0\nB[1:][0] = 1.0\nreturn B"


def test_lists() -> None:
    b, x = Builder(), vector("x")
    items = b.call(core.make_list, Pack("list", (x,)), hint="items")
    items = b.call(core.list_append, items, x, hint="items")
    items = b.call(core.list_set, items, x, const(0), hint="items")
    items = b.call(core.list_join, items, Pack("list", (x, x)), hint="items")
    items = b.call(core.list_drop, items, hint="items")
    parts = (b.call(core.list_get, items, const(-1)), b.call(core.list_len, items))
    assert printed(b, [x], *parts) == (
        "items = [x]\nitems.append(x)\nitems[0] = x\nitems.extend([x, x])\n"
        "del items[-1]\nreturn items[-1], len(items)"
    )


# ------------------------------------------------------------------------------------------ structures


def test_an_unbound_name_is_unbound() -> None:
    b, c = Builder(), Var("c", NUMBER)
    test = b.call(OPERATORS[">"], c, const(0.0))
    y = branch(b, test, Block(), Const(1.0), Block(), Const(UNDEF), "y", PY_FLOAT)
    generated = emit_module([function(b, [c], y)])
    assert body_of(generated.source) == "if c > 0.0:\n    y = 1.0\nreturn y"
    assert load(generated, "f")(1.0) == 1.0
    with pytest.raises(UnboundLocalError):
        load(generated, "f")(-1.0)


def test_an_empty_branch_is_turned_round() -> None:
    b, c = Builder(), Var("c", NUMBER)
    y = branch(b, c, Block(), c, Block(), Const(1.0), "c", NUMBER)
    assert printed(b, [c], y) == "if not c:\n    c = 1.0\nreturn c"


def test_a_break() -> None:
    b, x, n = Builder(), Var("x", NUMBER), Var("n", PY_INT)
    h = Var("x", NUMBER)
    go = Var("going", PY_BOOL)
    with b.block() as body:
        at(b, 3, "x = x * 0.5")
        h1 = b.call(OPERATORS["*"], h, const(0.5), hint="x")
        test = b.call(OPERATORS["<"], h1, const(0.1))
        with b.block() as rest:
            h2 = b.call(OPERATORS["+"], h1, const(0.01), hint="x")
        joined = Var("x", NUMBER)
        b.add(If(test, Block(), (h1, Const(False)), Block(tuple(rest)), (h2, Const(True)), (joined, go)))
    (out,) = count_loop(b, n, [h], [x], Block(tuple(body)), [joined], go)
    assert printed(b, [x, n], out) == (
        "for _ in range(n):\n    x = x * 0.5\n    if x < 0.1:\n        break\n    x = x + 0.01\nreturn x"
    )


def test_a_test_that_is_not_a_branch_ends_the_loop() -> None:
    b, x, n = Builder(), Var("x", NUMBER), Var("n", PY_INT)
    h = Var("x", NUMBER)
    with b.block() as body:
        go = b.call(OPERATORS["<"], h, const(5.0))  # of the value before the step
        h1 = b.call(OPERATORS["+"], h, const(1.0), hint="x")
    (out,) = count_loop(b, n, [h], [x], Block(tuple(body)), [h1], go)
    generated = emit_module([function(b, [x, n], out)])
    assert load(generated, "f")(4.5, 10) == 6.5


def test_whiles() -> None:
    b, x = Builder(), Var("x", NUMBER)
    h, result = Var("x", NUMBER), Var("x", NUMBER)
    with b.block() as cond:
        test = b.call(OPERATORS[">"], h, const(1.0))
    with b.block() as body:
        at(b, 3, "x = x / 2")
        h1 = b.call(OPERATORS["/"], h, const(2), hint="x")
    b.add(While((h,), (x,), Block(tuple(cond)), test, Block(tuple(body)), (h1,), (result,)))
    assert printed(b, [x], result) == "while x > 1.0:\n    x = x / 2\nreturn x"


def test_a_while_whose_test_takes_statements() -> None:
    b, x = Builder(), Var("x", NUMBER)
    h, result = Var("x", NUMBER), Var("x", NUMBER)
    with b.block() as cond:
        at(b, 3, "while (y := np.sin(x)) * y > 0.1:")
        y = b.call(op(np.sin), h, hint="y")
        test = b.call(OPERATORS[">"], b.call(OPERATORS["*"], y, y), const(0.1))
    with b.block() as body:
        h1 = b.call(OPERATORS["/"], h, const(2), hint="x")
    b.add(While((h,), (x,), Block(tuple(cond)), test, Block(tuple(body)), (h1,), (result,)))
    assert printed(b, [x], result) == (
        "while True:\n    y = np.sin(x)\n    if not y * y > 0.1:\n        break\n    x = x / 2\nreturn x"
    )


def test_loop_heads() -> None:
    b, n = Builder(), Var("n", PY_INT)
    xs, ys, k = Var("xs", ListOf(VECTOR)), Var("ys", ListOf(VECTOR)), Var("k", PY_INT)

    def loop(*iters: Any) -> None:
        total, out = Var("total", PY_INT), Var("total", PY_INT)
        index = tuple(Var("i", PY_INT) for _ in iters)
        with b.block() as body:
            b.call(core.call_effect, Const(print), *index)
        b.add(For(index, iters, (total,), (Const(0),), Block(tuple(body)), (total,), (out,)))

    zero, one = const(0), const(1)
    loop(Range(zero, n, one, reverse=True))
    loop(Range(zero, n, one, count=k, reverse=True))
    loop(Range(one, n, const(2), count=k))
    loop(Seq(xs), Seq(ys, True))
    assert [
        line for line in printed(b, [n, xs, ys, k], Const(None)).split("\n") if line.startswith("for")
    ] == [
        "for i in reversed(range(n)):",
        "for i in reversed(range(k)):",
        "for i in range(1, n, 2)[:k]:",
        "for i, i_2 in zip(xs, reversed(ys)):",
    ]


# ----------------------------------------------------------------------------------------------- names


def test_a_name_is_reused_for_the_next_version_and_split_for_two_at_once() -> None:
    b, x = Builder(), vector("x")
    at(b, 1, "y = np.sin(x)")
    y1 = b.call(op(np.sin), x, hint="y")
    at(b, 2, "y = np.cos(y)")
    y2 = b.call(op(np.cos), y1, hint="y")
    at(b, 3, "y = np.cos(y)")
    y3 = b.call(op(np.cos), y2, hint="y")
    assert printed(b, [x], y3, y1) == "y = np.sin(x)\ny_2 = np.cos(y)\ny_2 = np.cos(y_2)\nreturn y_2, y"


def test_names_of_builtins_and_keywords_are_not_taken() -> None:
    b, x = Builder(), vector("x")
    at(b, 1, "np = range = x + 1")
    first = b.call(OPERATORS["+"], x, const(1.0), hint="np")
    second = b.call(OPERATORS["+"], first, const(1.0), hint="lambda")
    assert printed(b, [x], first, second) == "np_2 = x + 1.0\nreturn np_2, np_2 + 1.0"


def test_a_value_that_a_branch_changes_keeps_its_name() -> None:
    b, x, c = Builder(), vector("x"), Var("c", NUMBER)
    with b.block() as then:
        y1 = b.call(op(np.sin), x, hint="x")
    with b.block() as orelse:
        y2 = b.call(op(np.cos), x, hint="x")
    y = branch(b, c, Block(tuple(then)), y1, Block(tuple(orelse)), y2, "x", VECTOR)
    assert printed(b, [x, c], y) == "if c:\n    x = np.sin(x)\nelse:\n    x = np.cos(x)\nreturn x"


# ------------------------------------------------------------------------------------ functions, lines


def test_structures_are_taken_apart_and_put_together() -> None:
    w, v, p = vector("W"), vector("b"), vector("p")
    params = (
        Param("params", Pack("dict", (w, Pack("tuple", (v, Const(None)))), ("W", "rest"))),
        Param("point", Pack("new", (p, Const(2)), (Point, ("x", "y")))),
        Param("scale", Const(2.0), default=2.0),
    )
    results = Pack("new", (w, Pack("tuple", (v, p))), (Point, ("x", "y")))
    generated = emit_module([Function("f", params, Block(), (results,), doc="Doc.")])
    assert generated.source == (
        "def f(params, point, scale=2.0):\n"
        '    """Doc."""\n'
        '    W = params["W"]\n'
        '    b = params["rest"][0]\n'
        "    p = point.x\n"
        "    return Point(x=W, y=(b, p))\n"
    )
    assert load(generated, "f")({"W": 1, "rest": (2, None)}, Point(3, 4)) == Point(1, (2, 3))


def test_residuals_are_taken_apart_in_one_line() -> None:
    a, b = vector("a"), vector("b")
    f = Function("f", (Param("residuals", Pack("tuple", (a, b))),), Block(), (b, a))
    assert body_of(emit_module([f]).source) == "a, b = residuals\nreturn b, a"


def test_the_reverse_sweep_is_quiet_and_names_the_users_lines() -> None:
    b, x = Builder(), vector("x")
    at(b, 7, "y = np.sin(x)")
    y = b.call(op(np.sin), x, hint="y")
    b.add(Call((), core.begin_reverse, ()))
    at(b, 9, "return np.sum(y * y)")
    y_bar = b.call(OPERATORS["*"], const(2.0), y, hint="y_bar")
    at(b, 7, "y = np.sin(x)")
    x_bar = b.call(core.scale, y_bar, b.call(op(np.cos), x), hint="x_bar")
    f = function(b, [x], y, x_bar, kind="joint")
    assert emit_module([f]).source == (
        "import numpy as np\n\n\n"
        "def f(x):\n"
        "    y = np.sin(x)\n"
        '    with np.errstate(all="ignore"):\n'
        "        # model.py:9  return np.sum(y * y)\n"
        "        y_bar = 2.0 * y\n"
        "        # model.py:7  y = np.sin(x)\n"
        "        x_bar = y_bar * np.cos(x)\n"
        "    return y, x_bar\n"
    )


def test_long_lines_are_split_into_temporaries() -> None:
    b = Builder()
    names = [vector(f"a_rather_long_name_{i}") for i in range(6)]
    out = names[0]
    for x in names[1:]:
        out = b.call(OPERATORS["+"], b.call(op(np.sin), out), x)
    generated = emit_module([function(b, names, out)])
    assert max(map(len, generated.source.split("\n"))) <= 79
    x = np.arange(3.0)
    want = x
    for _ in range(5):
        want = np.sin(want) + x
    assert np.array_equal(load(generated, "f")(*[x] * 6), want)


def test_two_functions_stand_apart() -> None:
    first, second = (function(Builder(), [], Const(i)) for i in (1, 2))
    source = emit_module([first, Function("g", (), Block(), second.results)]).source
    assert source == "def f():\n    return 1\n\n\ndef g():\n    return 2\n"


def test_tracebacks_show_generated_lines() -> None:
    b, x = Builder(), vector("x")
    y = b.call(core.load, x, index_step(const(99)), hint="y")
    fn = load(emit_module([function(b, [x], y)]), "f")
    assert fn.__code__.co_filename.startswith("<pullback f #")
    assert linecache.getline(fn.__code__.co_filename, 2) == "    return x[99]\n"


def test_effects_stay_in_order() -> None:
    b, x = Builder(), Var("x", NUMBER)
    seen: list[str] = []
    draw = b.call(core.call_effect, Const(seen.append), Const("first"), hint="t")
    y = b.call(OPERATORS["/"], const(1.0), x)
    b.call_many(core.assert_, (b.call(OPERATORS[">"], x, const(0.0)), Const("negative")), {}, ())
    b.call_many(core.raise_, (Pack("new", (Const("no"),), (ValueError, None)),), {}, ())
    fn = load(emit_module([function(b, [x], y, draw)]), "f")
    with pytest.raises(AssertionError, match="negative"):
        fn(-1.0)
    with pytest.raises(ValueError, match="no"):
        fn(1.0)
    assert seen == ["first", "first"]


def test_breaks_in_nested_branches() -> None:
    b, x, n = Builder(), Var("x", NUMBER), Var("n", PY_INT)
    h, go, inner_go = Var("x", NUMBER), Var("going", PY_BOOL), Var("going", PY_BOOL)
    with b.block() as body:
        outer = b.call(OPERATORS[">"], h, const(1.0))
        with b.block() as then:
            at(b, 5, "x = x * 0.25")
            h1 = b.call(OPERATORS["*"], h, const(0.25), hint="x")
            inner = b.call(OPERATORS["<"], h1, const(2.0))
            b.add(If(inner, Block(), (Const(False),), Block(), (Const(True),), (inner_go,)))
        joined = Var("x", NUMBER)
        b.add(If(outer, Block(tuple(then)), (h1, inner_go), Block(), (h, Const(True)), (joined, go)))
    (out,) = count_loop(b, n, [h], [x], Block(tuple(body)), [joined], go)
    generated = emit_module([function(b, [x, n], out)])
    assert body_of(generated.source) == (
        "for _ in range(n):\n"
        "    if x > 1.0:\n"
        "        x = x * 0.25\n"
        "        if x < 2.0:\n"
        "            break\n"
        "return x"
    )
    assert load(generated, "f")(100.0, 9) == 1.5625


def test_a_conditional_expression() -> None:
    b, x = Builder(), Var("x", NUMBER)
    test = b.call(OPERATORS[">"], x, const(0.0))
    with b.block() as then:
        root = b.call(op(np.sqrt), x)
    at(b, 4, "y = np.sqrt(x) if x > 0 else 0.0")
    y = branch(b, test, Block(tuple(then)), root, Block(), Const(0.0), "y", NUMBER)
    assert printed(b, [x], y) == "y = np.sqrt(x) if x > 0.0 else 0.0\nreturn y"


def test_numbers_are_added_in_place_where_the_user_does() -> None:
    b, x, n = Builder(), Var("x", NUMBER), Var("n", PY_INT)
    s = Var("s", NUMBER)
    with b.block() as body:
        at(b, 4, "s += x * 2")
        s1 = b.call(OPERATORS["+"], s, b.call(OPERATORS["*"], x, const(2)), hint="s")
        s1 = b.call(core.accumulate, s1, x, hint="s")
    (out,) = count_loop(b, n, [s], [Const(0.0)], Block(tuple(body)), [s1])
    assert printed(b, [x, n], out) == ("s = 0.0\nfor _ in range(n):\n    s += x * 2\n    s += x\nreturn s")


def test_what_follows_a_deciding_branch_comes_before_it() -> None:
    b, x, n = Builder(), Var("x", NUMBER), Var("n", PY_INT)
    count, go = Var("count", PY_INT), Var("going", PY_BOOL)
    with b.block() as body:
        test = b.call(OPERATORS["<"], x, const(0.1))
        b.add(If(test, Block(), (Const(False),), Block(), (Const(True),), (go,)))
        after = b.call(OPERATORS["+"], count, const(1), hint="count")
    (out,) = count_loop(b, n, [count], [Const(0)], Block(tuple(body)), [after], go)
    source = printed(b, [x, n], out)
    assert source == (
        "count = 0\nfor _ in range(n):\n    count = count + 1\n    if x < 0.1:\n        break\nreturn count"
    )


def test_long_targets_are_broken_in_parentheses() -> None:
    names = [vector(f"a_rather_long_name_{i}") for i in range(6)]
    f = Function("f", (Param("residuals", Pack("tuple", tuple(names))),), Block(), tuple(names))
    source = emit_module([f]).source
    assert max(map(len, source.split("\n"))) <= 79
    assert load(emit_module([f]), "f")(range(6)) == (0, 1, 2, 3, 4, 5)


@pytest.mark.parametrize("name", ["scale", "np", "unbroadcast", "math"])
def test_a_parameter_may_have_the_name_of_what_generated_code_calls(name: str) -> None:
    text = f"import numpy as xp\ndef f(x, {name}):\n    return xp.sum(xp.sqrt(x) * {name})\n"
    namespace: dict[str, Any] = {}
    file = f"<named {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), namespace)
    x = np.array([[0.0], [4.0]])
    value, x_bar = pb.value_and_grad(namespace["f"])(x, np.array([[0.0, 0.0], [2.0, 3.0]]))
    assert value == 10.0
    np.testing.assert_array_equal(x_bar, [[0.0], [1.25]])  # where the factor is 0, no slope counts


# ------------------------------------------------------------------------------------- the user's names first


def t_loop(theta: Any, n: Any) -> Any:
    out = np.exp(theta) + np.sum(np.exp(theta))
    for t in range(1, n):
        for i in range(t):
            out = np.sin(out * i) + theta
            if out[0] > 0.5:
                out = out * 2
    return np.sum(out * np.exp(theta))


def test_a_temporary_does_not_take_a_name_of_the_users() -> None:
    text = pb.value_and_grad(t_loop).source(np.array([0.1, 0.2]), 3)
    assert "for t in range(1, n):" in text
    assert "for i in range(t):" in text
    assert "\n    t = " not in text
    assert text == pb.value_and_grad(t_loop).source(np.array([0.1, 0.2]), 3)


def test_lists_of_saved_values_are_named_after_what_they_hold() -> None:
    text = pb.value_and_grad(t_loop).source(np.array([0.1, 0.2]), 3)
    lists = re.findall(r"(\w+)_saved_all\.append\((\w+)_saved\)", text)
    values = re.findall(r"(\w+)_saved\.append\((\w+)\)", text)
    assert len(lists) == len(values) >= 2
    assert all(a == b for a, b in (*lists, *values))
    heads = "".join(text.split())
    assert all(f"reversed({a}_saved_all)" in heads for a, _ in lists)


class State:
    def __init__(self, s: Any, i: Any) -> None:
        self.s, self.i = s, i


def stepped(theta: Any, n: Any) -> Any:
    st = State(theta[0], 0.01)
    for t in range(n):
        st.s = st.s * 0.5 + theta[1]
        for _ in range(t):
            st.i = np.sin(st.i * st.s)
    return st.i * st.s


def test_attributes_of_a_local_object_are_named_after_it() -> None:
    text = pb.value_and_grad(stepped).source(np.array([0.1, 0.2]), 3)
    assert "st_s = st_s * 0.5 + theta[1]" in text
    assert "st_i = np.sin(st_i * st_s)" in text
    assert "for t in range(n):" in text
    assert "st_i_saved_all.append(st_i_saved)" in text
