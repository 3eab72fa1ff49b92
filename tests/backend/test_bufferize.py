"""Which writes are in place, and which copies are inserted."""

from __future__ import annotations

import numpy as np
from tests.backend.programs import (
    MATRIX,
    NUMBER,
    PY_INT,
    VECTOR,
    at,
    branch,
    count_loop,
    function,
    op,
    vector,
)

from pullback.backend.numpy.load import load
from pullback.backend.numpy.module import emit_module
from pullback.ir import core_ops as core
from pullback.ir.builder import Builder, const, index_step, slice_
from pullback.ir.core_ops import OPERATORS
from pullback.ir.nodes import Block, Pack, Var
from pullback.styles.style import ListOf

INNER = index_step(slice_(const(1), const(-1)))
ZERO = index_step(const(0))


def test_a_parameter_is_copied_once() -> None:
    b, x = Builder(), vector("x")
    y = b.call(core.store, x, const(1.0), ZERO, hint="x")
    y = b.call(core.store, y, const(2.0), index_step(const(1)), hint="x")
    generated = emit_module([function(b, [x], y)])
    assert generated.source == "def f(x):\n    x = x.copy()\n    x[0] = 1.0\n    x[1] = 2.0\n    return x\n"
    (copy,) = generated.copies
    assert (copy.name, copy.reason) == ("x", "it may be the caller's array")


def test_what_is_read_later_is_copied() -> None:
    b, x = Builder(), vector("x")
    y = b.call(op(np.sin), x, hint="y")
    z = b.call(core.store, y, const(1.0), ZERO, hint="z")
    w = b.call(core.store, z, const(2.0), ZERO, hint="z")
    generated = emit_module([function(b, [x], y, w)])
    assert [c.reason for c in generated.copies] == ["the value before the write is read later"]
    out = load(generated, "f")(np.zeros(3))
    assert [a[0] for a in out] == [0.0, 2.0]


def test_a_live_view_is_copied_for() -> None:
    b, x = Builder(), vector("x")
    y = b.call(op(np.sin), x, hint="y")
    view = b.call(core.load, y, INNER, hint="view")
    z = b.call(core.store, y, const(1.0), hint="y")
    assert len(emit_module([function(b, [x], z, view)]).copies) == 1


def test_a_dead_view_costs_nothing() -> None:
    b, x = Builder(), vector("x")
    y = b.call(op(np.sin), x, hint="y")
    total = b.call(op(np.sum), b.call(core.load, y, INNER, hint="view"), hint="s")
    z = b.call(core.store, y, total, ZERO, hint="y")
    assert emit_module([function(b, [x], z)]).copies == ()


def test_buffers_that_swap_are_not_copied() -> None:
    b, x, n = Builder(), vector("x"), Var("n", PY_INT)
    u0 = b.call(op(np.sin), x, hint="u")
    v0 = b.call(op(np.zeros_like), x, hint="v")
    u, v = vector("u"), vector("v")
    with b.block() as body:
        at(b, 5, "v[1:-1] = 0.5 * u[1:-1]")
        half = b.call(OPERATORS["*"], const(0.5), b.call(core.load, u, INNER))
        v1 = b.call(core.store, v, half, INNER, hint="v")
    u2, _ = count_loop(b, n, [u, v], [u0, v0], Block(tuple(body)), [v1, u])
    generated = emit_module([function(b, [x, n], u2)])
    assert generated.copies == ()
    assert generated.source == (
        "import numpy as np\n\n\n"
        "def f(x, n):\n"
        "    u = np.sin(x)\n"
        "    v = np.zeros_like(x)\n"
        "    for _ in range(n):\n"
        "        v[1:-1] = 0.5 * u[1:-1]\n"
        "        u, v = v, u\n"
        "    return u\n"
    )


def test_a_carried_parameter_is_copied_once_before_the_loop() -> None:
    b, x, n = Builder(), vector("x"), Var("n", PY_INT)
    h = vector("x")
    with b.block() as body:
        h1 = b.call(core.store, h, const(1.0), ZERO, hint="x")
    (out,) = count_loop(b, n, [h], [x], Block(tuple(body)), [h1])
    generated = emit_module([function(b, [x, n], out)])
    assert len(generated.copies) == 1
    assert generated.source == (
        "def f(x, n):\n    x = x.copy()\n    for _ in range(n):\n        x[0] = 1.0\n    return x\n"
    )


def test_a_carried_parameter_of_nested_loops_is_copied_once_outside() -> None:
    b, x, n = Builder(), vector("x"), Var("n", PY_INT)
    outer, inner = vector("x"), vector("x")
    with b.block() as outer_body:
        with b.block() as inner_body:
            h1 = b.call(core.store, inner, const(1.0), ZERO, hint="x")
        (h2,) = count_loop(b, n, [inner], [outer], Block(tuple(inner_body)), [h1])
    (out,) = count_loop(b, n, [outer], [x], Block(tuple(outer_body)), [h2])
    source = emit_module([function(b, [x, n], out)]).source
    assert source.count("copy()") == 1
    assert source.index("copy()") < source.index("for")


def test_slots_that_start_in_one_buffer_are_told_apart() -> None:
    b, x, n = Builder(), vector("x"), Var("n", PY_INT)
    zeros = b.call(op(np.zeros_like), x, hint="a")
    a, c = vector("a"), vector("c")
    with b.block() as body:
        a1 = b.call(core.add_at, a, const(1.0), ZERO, hint="a")
        c1 = b.call(core.add_at, c, const(2.0), ZERO, hint="c")
    out = count_loop(b, n, [a, c], [zeros, zeros], Block(tuple(body)), [a1, c1])
    generated = emit_module([function(b, [x, n], *out)])
    assert len(generated.copies) == 1
    assert [r[0] for r in load(generated, "f")(np.zeros(2), 3)] == [3.0, 6.0]


def test_a_saved_list_grows_in_place() -> None:
    b, x, n = Builder(), vector("x"), Var("n", PY_INT)
    h, saved = vector("h"), Var("h_saved", ListOf(VECTOR))
    with b.block() as body:
        saved1 = b.call(core.list_append, saved, h, hint="h_saved")
        h1 = b.call(op(np.sin), h, hint="h")
    out = count_loop(b, n, [h, saved], [x, Pack("list", ())], Block(tuple(body)), [h1, saved1])
    generated = emit_module([function(b, [x, n], *out)])
    assert generated.copies == ()
    assert "h_saved.append(h)" in generated.source


def test_a_saved_value_that_is_written_later_is_copied() -> None:
    b, x, n = Builder(), vector("x"), Var("n", PY_INT)
    h, saved = vector("h"), Var("h_saved", ListOf(VECTOR))
    with b.block() as body:
        saved1 = b.call(core.list_append, saved, h, hint="h_saved")
        h1 = b.call(core.add_at, h, const(1.0), ZERO, hint="h")
    out = count_loop(b, n, [h, saved], [x, Pack("list", ())], Block(tuple(body)), [h1, saved1])
    generated = emit_module([function(b, [x, n], *out)])
    final, history = load(generated, "f")(np.zeros(1), 3)
    assert final[0] == 3.0
    assert [a[0] for a in history] == [0.0, 1.0, 2.0]
    assert generated.source.count("copy()") == 1


def test_branches_that_keep_their_buffers_apart_stay_in_place() -> None:
    b, x, c = Builder(), vector("x"), Var("c", NUMBER)
    y0 = b.call(op(np.sin), x, hint="y")
    with b.block() as then:
        y1 = b.call(core.store, y0, const(1.0), ZERO, hint="y")
    with b.block() as orelse:
        y2 = b.call(op(np.cos), y0, hint="y")
    y3 = branch(
        b,
        b.call(OPERATORS[">"], c, const(0.0)),
        Block(tuple(then)),
        y1,
        Block(tuple(orelse)),
        y2,
        "y",
        VECTOR,
    )
    y4 = b.call(core.store, y3, const(2.0), index_step(const(-1)), hint="y")
    generated = emit_module([function(b, [x, c], y4)])
    assert generated.copies == ()
    assert generated.source == (
        "import numpy as np\n\n\n"
        "def f(x, c):\n"
        "    y = np.sin(x)\n"
        "    if c > 0.0:\n"
        "        y[0] = 1.0\n"
        "    else:\n"
        "        y = np.cos(y)\n"
        "    y[-1] = 2.0\n"
        "    return y\n"
    )


def test_a_broadcast_view_is_never_written() -> None:
    b, x = Builder(), Var("x", NUMBER)
    y = b.call(op(np.broadcast_to), x, const((3,)), hint="y")
    z = b.call(core.add_at, y, const(1.0), ZERO, hint="y")
    out = load(emit_module([function(b, [x], z)]), "f")(np.float64(2.0))
    assert out.tolist() == [3.0, 2.0, 2.0]


def test_accumulation_into_what_is_not_ours_is_a_sum() -> None:
    b, x = Builder(), vector("x")
    first = b.call(core.accumulate, x, x, hint="x_bar")
    second = b.call(core.accumulate, first, x, hint="x_bar")
    generated = emit_module([function(b, [x], second)])
    assert generated.copies == ()
    assert generated.source == "def f(x):\n    x_bar = x + x\n    x_bar += x\n    return x_bar\n"


def test_returned_cotangents_share_nothing() -> None:
    b, x, bar = Builder(), vector("x"), vector("value_bar")
    scaled = b.call(OPERATORS["*"], bar, x, hint="x_bar")
    results = Pack("tuple", (bar, scaled, scaled, x))
    generated = emit_module([function(b, [x, bar], results, kind="pullback")])
    assert [c.name for c in generated.copies] == ["value_bar", "x_bar", "x"]
    args = np.ones(2), np.ones(2)
    out = load(generated, "f")(*args)
    arrays = [*out, *args]
    assert not any(np.shares_memory(a, c) for i, a in enumerate(arrays) for c in arrays[:i])


def test_residuals_are_copied_on_request() -> None:
    b, x = Builder(), vector("x")
    y = b.call(op(np.sin), x, hint="y")
    value = b.call(op(np.cos), y, hint="value")
    primal = function(b, [x], value, Pack("tuple", (x, y, value)))
    assert emit_module([primal]).copies == ()
    assert [c.name for c in emit_module([primal], copy_residuals=True).copies] == ["x", "value"]


def test_the_order_of_memory_is_kept_by_copies() -> None:
    b, x = Builder(), Var("A", MATRIX)
    y = b.call(op(np.transpose), x, hint="B")
    z = b.call(core.store, y, const(1.0), index_step(const(0), const(0)), hint="B")
    source = emit_module([function(b, [x], z)]).source
    assert "B = np.copy(A.T)" in source or "B = np.copy(B)" in source


def test_off_means_that_every_write_copies() -> None:
    b, x = Builder(), vector("x")
    y = b.call(op(np.sin), x, hint="y")
    y = b.call(core.store, y, const(1.0), ZERO, hint="y")
    y = b.call(core.accumulate, y, x, hint="y")
    assert emit_module([function(b, [x], y)], bufferize=False).source == (
        "import numpy as np\n\n\ndef f(x):\n    y = np.sin(x).copy()\n    y[0] = 1.0\n    return y + x\n"
    )


def test_a_view_that_is_read_after_a_write_is_copied_itself() -> None:
    b, x, n = Builder(), Var("A", MATRIX), Var("n", PY_INT)
    bar, total = Var("A_bar", MATRIX), vector("x_bar")
    bar0 = b.call(op(np.sin), x, hint="A_bar")
    total0 = b.call(op(np.zeros_like), b.call(core.load, x, ZERO), hint="x_bar")
    with b.block() as body:
        part = b.call(core.load, bar, ZERO, hint="part")
        bar1 = b.call(core.store, bar, const(0.0), ZERO, hint="A_bar")
        total1 = b.call(core.accumulate, total, part, hint="x_bar")
    out = count_loop(b, n, [bar, total], [bar0, total0], Block(tuple(body)), [bar1, total1])
    generated = emit_module([function(b, [x, n], *out)])
    assert [c.name for c in generated.copies] == ["part"]
    assert (
        "    for _ in range(n):\n"
        "        part = A_bar[0].copy()\n"
        "        A_bar[0] = 0.0\n"
        "        x_bar += part\n"
    ) in generated.source


def test_rows_that_are_saved_are_copied_at_the_save() -> None:
    b, x, n = Builder(), Var("A", MATRIX), Var("n", PY_INT)
    a, saved = Var("A", MATRIX), Var("saved", ListOf(VECTOR))
    a0 = b.call(op(np.sin), x, hint="A")
    with b.block() as body:
        row = b.call(core.load, a, ZERO, hint="row")
        saved1 = b.call(core.list_append, saved, row, hint="saved")
        a1 = b.call(core.add_at, a, const(1.0), ZERO, hint="A")
    out = count_loop(b, n, [a, saved], [a0, Pack("list", ())], Block(tuple(body)), [a1, saved1])
    generated = emit_module([function(b, [x, n], *out)])
    assert [c.name for c in generated.copies] == ["row"]
    _, rows = load(generated, "f")(np.zeros((2, 2)), 3)
    assert [r[0] for r in rows] == [0.0, 1.0, 2.0]


def test_rows_saved_of_a_parameter_are_copied_at_the_save_and_it_once_before_the_loop() -> None:
    b, x, n = Builder(), Var("A", MATRIX), Var("n", PY_INT)
    a, saved = Var("A", MATRIX), Var("saved", ListOf(VECTOR))
    with b.block() as body:
        row = b.call(core.load, a, ZERO, hint="row")
        saved1 = b.call(core.list_append, saved, row, hint="saved")
        a1 = b.call(core.add_at, a, const(1.0), ZERO, hint="A")
    out = count_loop(b, n, [a, saved], [x, Pack("list", ())], Block(tuple(body)), [a1, saved1])
    generated = emit_module([function(b, [x, n], *out)])
    assert sorted(c.name for c in generated.copies) == ["A", "row"]
    assert generated.source.index("A = A.copy()") < generated.source.index("for _ in range(n):")
    given = np.zeros((2, 2))
    last, rows = load(generated, "f")(given, 3)
    assert [r[0] for r in rows] == [0.0, 1.0, 2.0]
    assert not given.any() and last[0, 0] == 3.0


def test_a_slot_with_a_live_view_is_copied_before_the_loop_and_the_view_in_it() -> None:
    b, x, n = Builder(), vector("x"), Var("n", PY_INT)
    h, total = vector("h"), Var("s", NUMBER)
    y = b.call(op(np.sin), x, hint="y")  # read after the loop
    with b.block() as body:
        view = b.call(core.load, h, INNER, hint="view")
        h1 = b.call(core.store, h, const(0.0), ZERO, hint="h")
        h1 = b.call(core.add_at, h1, const(1.0), INNER, hint="h")
        more = b.call(OPERATORS["+"], total, b.call(op(np.sum), view), hint="s")
    out = count_loop(b, n, [h, total], [y, const(0.0)], Block(tuple(body)), [h1, more])
    generated = emit_module([function(b, [x, n], y, *out)])
    assert sorted(c.name for c in generated.copies) == ["view", "y"]
    assert generated.source.index("h = y.copy()") < generated.source.index("for _ in range(n):")
    first, last, found = load(generated, "f")(np.zeros(4), 3)
    assert first.tolist() == [0.0] * 4 and last.tolist() == [0.0, 3.0, 3.0, 0.0] and found == 6.0


def test_a_store_of_every_element_into_what_is_not_ours_is_the_value() -> None:
    b, x = Builder(), vector("x")
    y = b.call(core.store, x, b.call(op(np.sin), x, hint="t"), hint="x")
    z = b.call(core.store, y, const(2.0), ZERO, hint="x")
    generated = emit_module([function(b, [x], z)])
    assert generated.copies == ()
    assert "copy" not in generated.source
    given = np.ones(2)
    assert load(generated, "f")(given).tolist() == [2.0, np.sin(1.0)] and given.tolist() == [1.0, 1.0]


def test_a_shape_that_is_asked_for_later_costs_no_copy() -> None:
    b, x = Builder(), vector("x")
    y = b.call(op(np.sin), x, hint="y")
    z = b.call(core.store, y, const(1.0), ZERO, hint="y")
    zeros = b.call(op(np.zeros_like), y, hint="zeros")
    generated = emit_module([function(b, [x], z, zeros, b.call(core.dim, y, const(0)))])
    assert generated.copies == ()
    assert "return y, np.zeros_like(y), y.shape[0]" in generated.source


def test_a_saved_list_is_made_ours_by_one_copy_before_the_loop() -> None:
    b, x, n = Builder(), vector("x"), Var("n", PY_INT)
    h, saved = vector("h"), Var("h_saved", ListOf(VECTOR))
    with b.block() as body:
        saved1 = b.call(core.list_append, saved, h, hint="h_saved")
        h1 = b.call(op(np.sin), h, hint="h")
    h2, saved2 = count_loop(b, n, [h, saved], [x, Pack("list", ())], Block(tuple(body)), [h1, saved1])
    value = b.call(op(np.sum), h2, hint="value")
    generated = emit_module([function(b, [x, n], value, Pack("tuple", (saved2, h2)))], copy_residuals=True)
    assert [c.name for c in generated.copies] == ["x"]
    assert "    h = x.copy()\n    h_saved = []\n    for _ in range(n):\n" in generated.source
    x0 = np.ones(2)
    _, (history, last) = load(generated, "f")(x0, 2)
    assert not any(np.shares_memory(a, x0) for a in (*history, last))


def test_a_number_where_an_array_of_rank_zero_is_meant_becomes_an_array() -> None:
    b, x = Builder(), Var("x", NUMBER)
    y = b.call(op(np.sin), x, hint="y")
    y = b.call(core.store, y, const(2.0), hint="y")
    z = b.call(core.store, y, b.call(OPERATORS["*"], y, const(3.0)), hint="z")
    unknown = b.call(core.same, x, hint="a")
    c = b.call(core.store, b.call(OPERATORS["*"], unknown, const(2.0), hint="c"), z, hint="c")
    c = b.call(core.store, c, const(5.0), hint="c")
    generated = emit_module([function(b, [x], y, z, c)])
    assert load(generated, "f")(np.float64(1.0)) == (2.0, 6.0, 5.0)
    assert generated.source.count("asarray") == 2  # one of them the program's own
