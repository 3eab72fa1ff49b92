"""Every pass: the interpreter gives the same before and after, nothing is rebuilt where nothing changes, and large
functions take linear time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.backend.random_programs import VECTOR, Maker, arguments, op

from pullback.ir import core_ops as core
from pullback.ir.builder import Builder
from pullback.ir.core_ops import OPERATORS
from pullback.ir.interp import run
from pullback.ir.nodes import Block, Const, For, Function, If, Pack, Param, Range, Var
from pullback.ir.pretty import pretty
from pullback.ir.verify import verify
from pullback.ir.walk import count_statements
from pullback.passes import PASSES, optimize
from pullback.passes.cse import cse
from pullback.passes.dce import dce
from pullback.passes.fold import fold
from pullback.passes.simplify import simplify
from pullback.passes.slots import simplify_slots
from pullback.styles.style import FLOAT64, PY_BOOL, PY_FLOAT, PY_INT, Scalar

ALL = (*PASSES, optimize)


class SweepMaker(Maker):
    """Programs with the arithmetic of reverse sweeps, repeated calls and slots that carry nothing."""

    def vector(self, scope: dict[str, list[Var]]) -> None:
        """A vector, now and then made by cotangent arithmetic."""
        if self.random.random() < 0.4:
            super().vector(scope)
            return
        call, bar, more = self.builder.call, self.pick(scope, "v"), self.pick(scope, "v")
        match self.random.randrange(9):
            case 0:
                out = call(core.scale, bar, Const(self.random.choice([1.0, 0.5])), hint="x_bar")
            case 1:
                out = call(core.scale, bar, call(OPERATORS["u-"], more), hint="x_bar")
            case 2:
                parts = [call(core.scale, self.pick(scope, "s"), bar) for _ in range(2)]
                out = call(core.accumulate, *parts, hint="x_bar")
            case 3:
                zeros = call(op(np.zeros_like), bar)
                out = call(core.accumulate, *((zeros, more) if self.random.random() < 0.5 else (more, zeros)))
            case 4:
                chosen = call(op(np.where), call(OPERATORS[">"], bar, Const(0.1)), more, Const(0.0))
                out = call(core.scale, chosen, bar, hint="x_bar")
            case 5:
                out = call(OPERATORS["u-"], call(OPERATORS["u-"], bar, hint="t_bar"), hint="x_bar")
            case 6:
                number = call(core.scale, Const(1.0), self.pick(scope, "s"), hint="s_bar")
                minus = call(OPERATORS["u-"], self.pick(scope, "s"))
                scope["s"].append(call(core.accumulate, number, minus, hint="s_bar"))
                return
            case 7:
                minus = call(OPERATORS["u-"], call(core.scale, bar, more, hint="t_bar"), hint="t_bar")
                scope["s"].append(call(op(np.sum), minus, hint="s_bar"))
                return
            case _:
                size = call(core.dim, bar, Const(0))
                two = call(OPERATORS["+"], Const(1), Const(1))
                out = call(OPERATORS["*"], call(OPERATORS["+"], bar, two), size)
                out = call(op(np.tanh), out)
        scope["v"].append(call(op(np.sin), out, hint="x_bar"))


def close(a: Any, b: Any) -> bool:
    """Equal numbers, structure by structure (the sign of a zero does not count)."""
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(close(x, y) for x, y in zip(a, b, strict=True))
    return np.shape(a) == np.shape(b) and type(a) is type(b) and np.array_equal(a, b, equal_nan=True)


@pytest.mark.parametrize("one", ALL, ids=lambda f: f.__name__)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_interpreter_gives_the_same(one: Callable[[Function], Function], seed: int) -> None:
    function = SweepMaker(seed).function("joint")
    verify(function)
    after = one(function)
    verify(after)
    assert close(run(after, arguments(seed)), run(function, arguments(seed))), pretty(function) + pretty(
        after
    )
    assert one(after) is after or one not in (dce, optimize)


@pytest.mark.parametrize("one", ALL, ids=lambda f: f.__name__)
def test_nothing_is_rebuilt(one: Callable[[Function], Function]) -> None:
    for seed in range(40):
        function = SweepMaker(seed).function("joint")
        for _ in range(10):
            before, function = function, one(function)
            if function is before:
                break
            assert pretty(function) != pretty(before)
        else:
            pytest.fail("no fixed point")


def straight(n: int) -> Function:
    """A function of n statements: half of them dead, some repeated."""
    build, x = Builder(), Var("x", VECTOR)
    last = x
    for k in range(n // 4):
        a = build.call(OPERATORS["+"], last, Const(float(k)), hint="a")
        again = build.call(OPERATORS["+"], last, Const(float(k)), hint="b")
        build.call(op(np.sin), again, hint="dead")
        last = build.call(core.accumulate, a, again, hint="c")
    return Function("f", (Param("x", x),), build.finish(), (last,))


def calls_made(work: Callable[[], object]) -> int:
    """How many functions some work calls: what it costs, on any machine."""
    count = 0

    def seen(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.slow
def test_linear_in_the_number_of_statements() -> None:
    small, large = straight(1_000), straight(4_000)
    for work in (optimize, verify):
        assert calls_made(lambda w=work: w(large)) < 4.5 * calls_made(lambda w=work: w(small))  # type: ignore[misc]


# ------------------------------------------------------------------------------------------- what each one does


def build(results: Callable[[Builder, Var, Var], Any], **styles: Any) -> Function:
    """A function of a vector x and a number s."""
    builder, x, s = Builder(), Var("x", VECTOR), Var("s", Scalar(FLOAT64))
    out = results(builder, x, s)
    params = (Param("x", x), Param("s", s))
    return Function("f", params, builder.finish(), out if isinstance(out, tuple) else (out,), **styles)


def body(function: Function) -> list[str]:
    """The lines of a function's body, without styles of results."""
    return [line.strip() for line in pretty(function).splitlines()[1:]]


def test_a_dead_loop_goes_and_an_effect_in_it_keeps_it() -> None:
    def loop(effect: bool) -> Function:
        def make(b: Builder, x: Var, s: Var) -> Var:
            i, p, r = Var("i", PY_INT), Var("p", VECTOR), Var("r", VECTOR)
            with b.block() as stmts:
                q = b.call(OPERATORS["*"], p, s)
                if effect:
                    b.call_many(core.assert_, (Const(True), Const("m")), {}, ())
            numbers = Range(Const(0), Const(3), Const(1))
            b.add(For((i,), (numbers,), (p,), (x,), Block(tuple(stmts)), (q,), (r,)))
            return s

        return build(make)

    assert count_statements(dce(loop(False))) == 0
    kept = dce(loop(True))
    assert body(kept) == ["for %i in range(0, 3, 1):", "assert(True, 'm')"]


def test_a_branch_keeps_only_the_results_that_are_read() -> None:
    def make(b: Builder, x: Var, s: Var) -> Var:
        test = b.call(OPERATORS[">"], s, Const(0.0))
        with b.block() as stmts:
            y, z = b.call(op(np.sin), x), b.call(op(np.cos), x)
        r, unused = Var("r", VECTOR), Var("unused", VECTOR)
        b.add(If(test, Block(tuple(stmts)), (y, z), Block(), (x, x), (r, unused)))
        return r

    after = dce(build(make))
    assert not any("cos" in line for line in body(after))
    assert count_statements(after) == 3


def test_loads_of_different_versions_are_different() -> None:
    def make(b: Builder, x: Var, s: Var) -> tuple[Var, ...]:
        step = Pack("index", (Const(0),))
        before = b.call(core.load, x, step)
        y = b.call(core.store, x, s, step)
        after, again = b.call(core.load, y, step), b.call(core.load, y, Pack("index", (Const(0),)))
        return before, after, again

    after = cse(build(make))
    assert count_statements(after) == 3
    assert after.results[0] is not after.results[1]
    assert after.results[1] is after.results[2]


def test_constants_differ_by_type_and_sign() -> None:
    values = [0.0, -0.0, 0, False, 1, True, np.float32(1), np.float64(1)]

    def make(b: Builder, x: Var, s: Var) -> tuple[Var, ...]:
        return tuple(b.call(OPERATORS["*"], s, Const(v)) for v in values)

    assert count_statements(cse(build(make))) == len(values)


def test_effects_are_not_merged() -> None:
    def make(b: Builder, x: Var, s: Var) -> Pack:
        draws = [b.call(core.call_effect, Const(np.random.rand), hint="draw") for _ in range(2)]
        return Pack("tuple", tuple(draws))

    assert count_statements(cse(build(make))) == 2
    assert count_statements(dce(cse(build(lambda b, x, s: (make(b, x, s), x)[1])))) == 2


def test_the_branch_that_is_taken() -> None:
    def make(b: Builder, x: Var, s: Var) -> Var:
        test = b.call(OPERATORS["<"], Const(1), Const(2))
        with b.block() as stmts:
            y = b.call(op(np.sin), x, hint="y")
        r = Var("r", VECTOR)
        b.add(If(test, Block(tuple(stmts)), (y,), Block(), (x,), (r,)))
        return r

    assert [line.split(": ")[0] for line in body(fold(build(make)))] == ["%y"]


def test_what_raises_or_warns_is_not_folded() -> None:
    def make(b: Builder, x: Var, s: Var) -> tuple[Var, ...]:
        return (
            b.call(OPERATORS["/"], Const(1), Const(0)),
            b.call(OPERATORS["**"], Const(2.0), Const(10000.0)),
            b.call(OPERATORS["*"], s, Const(1.0)),
        )

    assert count_statements(fold(build(make))) == 3


def test_an_unbound_slot_stays() -> None:
    from pullback.ir.nodes import UNDEF

    def make(b: Builder, x: Var, s: Var) -> Var:
        i, p, r = Var("i", PY_INT), Var("p", PY_FLOAT), Var("r", PY_FLOAT)
        numbers = Range(Const(0), Const(3), Const(1))
        b.add(For((i,), (numbers,), (p,), (Const(UNDEF),), Block(), (p,), (r,)))
        return b.call(OPERATORS["+"], r, Const(1.0))

    after = optimize(build(make))
    with pytest.raises(UnboundLocalError):
        run(after, (np.ones(4), np.float64(1)))


def test_the_square_in_one_product() -> None:
    def make(b: Builder, x: Var, s: Var) -> Var:
        parts = [b.call(core.scale, s, x) for _ in range(2)]
        return b.call(core.accumulate, *parts, hint="x_bar")

    lines = body(optimize(build(make)))
    assert [line.split(" = ")[1] for line in lines] == ["2.0 * %s", "scale(%t_bar, %x)"]


def test_the_users_arithmetic_stays() -> None:
    def make(b: Builder, x: Var, s: Var) -> tuple[Var, ...]:
        zero = b.call(OPERATORS["*"], x, Const(0.0))
        one = b.call(OPERATORS["*"], x, Const(1.0))
        twice = b.call(OPERATORS["u-"], b.call(OPERATORS["u-"], x, hint="y"), hint="z")
        return zero, one, b.call(OPERATORS["+"], x, x), twice

    function = build(make)
    assert simplify(function) is function


def test_slots_that_repeat_each_other() -> None:
    def make(b: Builder, x: Var, s: Var) -> tuple[Var, ...]:
        i = Var("i", PY_INT)
        p, q, r, t = (Var(name, VECTOR) for name in "pqrt")
        with b.block() as stmts:
            y = b.call(OPERATORS["+"], p, q)
        numbers = Range(Const(0), Const(3), Const(1))
        b.add(For((i,), (numbers,), (p, q), (x, x), Block(tuple(stmts)), (y, y), (r, t)))
        return r, t

    function = build(make)
    after = simplify_slots(function)
    verify(after)
    assert after.results[0] is after.results[1]
    args = (np.arange(4.0), np.float64(1))
    assert close(run(after, args), run(function, args))


def programs() -> Iterator[Function]:
    """A few functions."""
    for seed in range(20):
        yield SweepMaker(seed).function("joint")


def test_the_same_text_every_time() -> None:
    for first, second in zip(programs(), programs(), strict=True):
        assert pretty(optimize(first)) == pretty(optimize(second))
        assert "0x" not in pretty(first)


def test_a_test_of_a_result_that_is_known() -> None:
    def make(b: Builder, x: Var, s: Var) -> Var:
        flag, r = Var("flag", PY_BOOL), Var("r", VECTOR)
        test = b.call(OPERATORS[">"], s, Const(0.0))
        b.add(If(test, Block(), (Const(True),), Block(), (Const(True),), (flag,)))
        with b.block() as stmts:
            y = b.call(op(np.sin), x)
        b.add(If(flag, Block(tuple(stmts)), (y,), Block(), (x,), (r,)))
        return r

    assert len(body(optimize(build(make)))) == 1
