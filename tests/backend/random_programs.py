"""Random IR programs: arrays, views, writes, lists, branches, loops that swap and break.

A program is made from a seed, so that a failure can be looked at again.  Every value is small and finite.
"""

from __future__ import annotations

import random

import numpy as np

from pullback.errors import Loc
from pullback.ir import core_ops as core
from pullback.ir.builder import Builder, const, index_step, slice_
from pullback.ir.core_ops import OPERATORS, style_of
from pullback.ir.nodes import (
    Block,
    Call,
    Const,
    For,
    Function,
    If,
    Op,
    Operand,
    Pack,
    Param,
    Range,
    Seq,
    Var,
    While,
)
from pullback.rules.registry import op_of
from pullback.styles.join import join
from pullback.styles.style import FLOAT64, PY_BOOL, PY_INT, Array, Dim, ListOf, Scalar

N = 4
VECTOR = Array(FLOAT64, (Dim(-1, 0, True),))
MATRIX = Array(FLOAT64, (Dim(-1, 0, True), Dim(-1, 0, True)))
NUMBER = Scalar(FLOAT64, False)
LIST = ListOf(VECTOR)
STYLES = {"v": VECTOR, "m": MATRIX, "s": NUMBER, "l": LIST}
HINTS = ("a", "u", "v", "u_2", "x", "t")


def op(fn: object) -> Op:
    """The operation of a NumPy function."""
    found = op_of(fn)
    assert found is not None
    return found


class Maker:
    """Makes one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.builder = Builder()
        self.line = 0

    def function(self, kind: str) -> Function:
        """A function of a vector, a matrix, a number and a list of vectors."""
        scope = {k: [Var(h, STYLES[k])] for k, h in (("v", "x"), ("m", "A"), ("s", "c"), ("l", "xs"))}
        params = tuple(Param(vs[0].hint, vs[0]) for vs in scope.values())
        scope["v"].append(self.builder.call(core.copy, scope["v"][0], hint="u"))
        self.block(scope, self.random.randint(2, 7), 0)
        if kind == "joint":
            self.builder.add(Call((), core.begin_reverse, ()))
        self.block(scope, self.random.randint(2, 7), 0)
        results = Pack("tuple", tuple(self.pick(scope, k) for k in "vmvsv"))
        return Function("program", params, self.builder.finish(), (self.pick(scope, "v"), results), kind=kind)

    def pick(self, scope: dict[str, list[Var]], kind: str) -> Var:
        """A value of a kind, late ones more often."""
        values = scope[kind]
        return values[max(self.random.randrange(len(values)) for _ in range(2))]

    def hint(self) -> str:
        """A name; half the time one that the statement's line assigns."""
        self.line += 1
        name = self.random.choice(HINTS)
        text = f"{name} = ..." if self.random.random() < 0.5 else "..."
        self.builder.loc = Loc("random.py", self.line, 0, 0, text, "program")
        return name

    def block(self, scope: dict[str, list[Var]], count: int, depth: int) -> None:
        """Add statements; what they define is put into the scope."""
        makers = [
            self.vector,
            self.vector,
            self.vector,
            self.matrix,
            self.number,
            self.write,
            self.write,
            self.write,
            self.lists,
            self.lists,
        ]
        if depth < 3:
            makers += [self.branch, self.loop, self.loop]
        for _ in range(count):
            maker = self.random.choice(makers)
            if maker in (self.branch, self.loop):
                maker(scope, depth)  # type: ignore[call-arg]
            else:
                maker(scope)  # type: ignore[call-arg]

    # -------------------------------------------------------------------------------------- statements

    def index(self, scope: dict[str, list[Var]]) -> Operand:
        """An index entry of a vector that gives a number."""
        return const(self.random.randrange(-N, N))

    def step(self) -> Pack:
        """A path step from a vector to a vector of half its length."""
        start = self.random.randrange(2)
        return self.random.choice(
            [
                index_step(slice_(const(start), None, const(2))),
                index_step(slice_(const(start), const(start + 2))),
                index_step(Const([1, start])),
                index_step(Const([2, 2])),
            ]
        )

    def vector(self, scope: dict[str, list[Var]]) -> None:
        """A new vector, or a view of one."""
        call, hint = self.builder.call, self.hint()
        match self.random.randrange(7):
            case 0:
                out = call(op(np.tanh), self.pick(scope, "v"), hint=hint)
            case 1:
                out = call(OPERATORS["+"], self.pick(scope, "v"), self.pick(scope, "s"), hint=hint)
                out = call(op(np.sin), out, hint=hint)
            case 2:
                out = call(core.load, self.pick(scope, "m"), index_step(self.index(scope)), hint=hint)
            case 3:
                out = call(
                    core.load, self.pick(scope, "v"), index_step(slice_(None, None, const(-1))), hint=hint
                )
            case 4:
                out = call(core.copy, self.pick(scope, "v"), hint=hint)
            case 5:
                out = call(op(np.reshape), self.pick(scope, "v"), const((N,)), hint=hint)
            case _:
                product = call(OPERATORS["*"], self.pick(scope, "v"), const(0.5), hint="t")
                out = call(OPERATORS["-"], product, self.pick(scope, "v"), hint=hint)
                out = call(op(np.tanh), out, hint=hint)
        scope["v"].append(out)

    def matrix(self, scope: dict[str, list[Var]]) -> None:
        """A new matrix, or a transpose."""
        call, hint = self.builder.call, self.hint()
        match self.random.randrange(3):
            case 0:
                out = call(op(np.transpose), self.pick(scope, "m"), hint=hint)
            case 1:
                out = call(op(np.sin), self.pick(scope, "m"), hint=hint)
            case _:
                out = call(OPERATORS["+"], self.pick(scope, "m"), self.pick(scope, "v"), hint=hint)
                out = call(op(np.tanh), out, hint=hint)
        scope["m"].append(out)

    def number(self, scope: dict[str, list[Var]]) -> None:
        """A new number."""
        call, hint = self.builder.call, self.hint()
        if self.random.random() < 0.5:
            out = call(core.load, self.pick(scope, "v"), index_step(self.index(scope)), hint=hint)
        else:
            product = call(OPERATORS["*"], self.pick(scope, "s"), self.pick(scope, "s"), hint="t")
            out = call(op(np.sin), product, hint=hint)
        scope["s"].append(out)

    def write(self, scope: dict[str, list[Var]]) -> None:
        """A write to a vector or a matrix."""
        call, hint = self.builder.call, self.hint()
        vector, number = self.pick(scope, "v"), self.pick(scope, "s")
        match self.random.randrange(8):
            case 0:
                out = call(core.store, vector, number, index_step(self.index(scope)), hint=hint)
            case 1:
                step = self.step()
                value = call(core.load, self.pick(scope, "v"), step)
                out = call(core.store, vector, value, step, hint=hint)
            case 2:
                out = call(core.add_at, vector, number, self.step(), hint=hint)
            case 3:
                more = call(op(np.sin), self.pick(scope, "v"))
                out = call(core.accumulate, call(op(np.tanh), vector), more, hint=hint)
            case 4:
                step = index_step(self.index(scope))
                value = call(OPERATORS["*"], call(core.load, vector, step), const(0.5))
                out = call(core.store, vector, value, step, hint=hint)
            case 5:
                matrix = self.pick(scope, "m")
                steps = (Pack("view", (), op(np.transpose)), index_step(self.index(scope)))
                out = call(core.store, matrix, vector, *steps, hint=hint)
                scope["m"].append(out)
                return
            case 6:
                step = index_step(slice_(const(1), None))
                value = call(core.load, vector, index_step(slice_(None, const(-1))))
                out = call(core.store, vector, value, step, hint=hint)
            case _:
                out = call(core.store, vector, self.pick(scope, "v"), hint=hint)
        scope["v"].append(out)

    def lists(self, scope: dict[str, list[Var]]) -> None:
        """An operation on run-time lists."""
        call, hint = self.builder.call, self.hint()
        items = self.pick(scope, "l")
        match self.random.randrange(5):
            case 0 | 1:
                out = call(core.list_append, items, self.pick(scope, "v"), hint=hint)
            case 2:
                out = call(
                    core.list_set, items, self.pick(scope, "v"), const(self.random.choice([0, -1])), hint=hint
                )
            case 3:
                out = call(
                    core.make_list, Pack("list", (self.pick(scope, "v"), self.pick(scope, "v"))), hint=hint
                )
            case _:
                scope["v"].append(call(core.list_get, items, const(-1), hint=hint))
                return
        scope["l"].append(out)

    # -------------------------------------------------------------------------------------- structures

    def branch(self, scope: dict[str, list[Var]], depth: int) -> None:
        """A branch that joins a few values."""
        test = self.builder.call(OPERATORS[">"], self.pick(scope, "s"), const(0.1), hint="t")
        kinds = [self.random.choice("vvmsl") for _ in range(self.random.randint(1, 3))]
        sides = []
        for _ in range(2):
            inner = {k: list(vs) for k, vs in scope.items()}
            with self.builder.block() as stmts:
                self.block(inner, self.random.randint(0, 4), depth + 1)
            sides.append((Block(tuple(stmts)), tuple(self.pick(inner, k) for k in kinds)))
        (then, then_yields), (orelse, else_yields) = sides
        hint = self.hint()
        results = tuple(
            Var(hint, join(style_of(a), style_of(b))) for a, b in zip(then_yields, else_yields, strict=True)
        )
        self.builder.add(If(test, then, then_yields, orelse, else_yields, results, self.builder.loc))
        self.enter(scope, kinds, results)

    def enter(self, scope: dict[str, list[Var]], kinds: list[str], values: tuple[Var, ...]) -> None:
        """Put results into the scope."""
        for kind, value in zip(kinds, values, strict=True):
            scope[kind].append(value)

    def loop(self, scope: dict[str, list[Var]], depth: int) -> None:
        """A `for` over a range or a list, or a `while`, with carried values that may change places."""
        kinds = [self.random.choice("vvvmsl") for _ in range(self.random.randint(1, 4))]
        inits = tuple(self.pick(scope, k) for k in kinds)
        hints = [self.hint() for _ in kinds]
        params = tuple(Var(h, STYLES[k]) for h, k in zip(hints, kinds, strict=True))
        results = tuple(Var(h, STYLES[k]) for h, k in zip(hints, kinds, strict=True))
        inner = {k: list(vs) for k, vs in scope.items()}
        self.enter(inner, kinds, params)
        loc = self.builder.loc
        if self.random.random() < 0.3:
            self._while(scope, inner, kinds, inits, params, results, depth, loc)
            return
        index, iters = self._iterators(scope, inner)
        go: Operand | None = None
        with self.builder.block() as stmts:
            self.block(inner, self.random.randint(1, 5), depth + 1)
            yields = tuple(self.pick(inner, k) for k in kinds)
            if self.random.random() < 0.3:
                go = self._go(inner)
        self.builder.add(For(index, iters, params, inits, Block(tuple(stmts)), yields, results, go, loc))
        self.enter(scope, kinds, results)

    def _go(self, inner: dict[str, list[Var]]) -> Operand:
        test = self.builder.call(OPERATORS["<"], self.pick(inner, "s"), const(0.3), hint="going")
        if self.random.random() < 0.5:
            return test
        go = Var("going", PY_BOOL)
        yields = ((Const(True),), (Const(False),))
        first = self.random.randrange(2)
        self.builder.add(
            If(test, Block(), yields[first], Block(), yields[1 - first], (go,), self.builder.loc)
        )
        return go

    def _iterators(
        self, scope: dict[str, list[Var]], inner: dict[str, list[Var]]
    ) -> tuple[tuple[Var, ...], tuple[Range | Seq, ...]]:
        reverse = self.random.random() < 0.4
        if self.random.random() < 0.3:
            item = Var("item", VECTOR)
            inner["v"].append(item)
            return (item,), (Seq(self.pick(scope, "l"), reverse),)
        count = const(self.random.randrange(3)) if self.random.random() < 0.3 else None
        return (Var("i", PY_INT),), (Range(const(0), const(3), const(1), count, reverse),)

    def _while(
        self,
        scope: dict[str, list[Var]],
        inner: dict[str, list[Var]],
        kinds: list[str],
        inits: tuple[Var, ...],
        params: tuple[Var, ...],
        results: tuple[Var, ...],
        depth: int,
        loc: Loc,
    ) -> None:
        k, k2, after = Var("k", PY_INT), Var("k", PY_INT), Var("k", PY_INT)
        with self.builder.block() as cond:
            if self.random.random() < 0.3:
                self.number(inner)
            test = self.builder.call(OPERATORS["<"], k, const(3), hint="t")
        inner = {
            kind: [v for v in vs if not any(v in getattr(s, "targets", ()) for s in cond)]
            for kind, vs in inner.items()
        }
        with self.builder.block() as stmts:
            self.block(inner, self.random.randint(1, 4), depth + 1)
            yields = tuple(self.pick(inner, kind) for kind in kinds)
            k2 = self.builder.call(OPERATORS["+"], k, const(1), hint="k")
        self.builder.add(
            While(
                (*params, k),
                (*inits, const(0)),
                Block(tuple(cond)),
                test,
                Block(tuple(stmts)),
                (*yields, k2),
                (*results, after),
                None,
                loc,
            )
        )
        self.enter(scope, kinds, results)


def arguments(seed: int) -> tuple[object, ...]:
    """Arguments for a program."""
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=N),
        rng.normal(size=(N, N)),
        np.float64(0.3),
        [rng.normal(size=N) for _ in range(3)],
    )
