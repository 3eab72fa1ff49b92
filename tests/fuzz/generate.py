"""Random programs of users, as source text: made from a seed, smooth where they are, small and finite.

A program is a function `f(x, A, c, n)` of a vector, a matrix, a float and an integer, with its helpers.  Names have a
kind: "v" vectors of length 4, "h" vectors of length 2, "m" 4 by 4 matrices, "s" numbers, "l" lists of vectors.

Plain assignments between vectors make a copy first (`B[i] = v + 0.0`): where a row is assigned a column of the same
matrix, NumPy itself (2.4) reads what it has just written.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

HELPERS = """
def damp(u, s):
    u *= 0.5
    u[0] += s
    return u


def shift(u, i):
    u[i] = np.sin(u[i - 1])


def mix(u, v, w=0.3):
    if np.sum(u) > 0.2:
        return u * w + np.cos(v)
    return v - w * u


def mixed_anew(u, v, w=0.3):
    return np.sin(u) + w * v


def first(u, v):
    return u


def total(rows):
    s = 0.0
    for r in rows:
        s += np.sum(r * r)
    return s


def power(s, k, depth=3):
    out = 1.0
    for _ in range(k):
        out = np.tanh(s * out) + 0.1
        if depth == 0:
            break
        depth -= 1
    return out


def soft(a):
    return a / (1.0 + abs(a)) if a > -0.4 else np.tanh(a)
"""

MAX_DEPTH = 3


@dataclass
class Scope:
    """The names that may be read, by kind; `shared` are those that may name the storage of another."""

    names: dict[str, list[str]]
    shared: set[str] = field(default_factory=set)
    fixed: set[str] = field(default_factory=set)  # shared outside: not to be bound anew in here

    def inner(self) -> Scope:
        """The scope of a block in this one."""
        fixed = self.fixed | self.shared
        return Scope({k: list(v) for k, v in self.names.items()}, set(self.shared), fixed)


class Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.indent = 1
        self.count = 0
        self.loops = 0
        self.index: list[str] = []

    def program(self) -> str:
        """The text of the module."""
        scope = Scope({"v": ["x"], "h": [], "m": ["A"], "s": ["c"], "l": []})
        scope.names["v"].append(self.bind("u", self.choose("x.copy()", "np.sin(x)", "x * c", "A @ x")))
        scope.names["m"].append(
            self.bind("B", self.choose("A.copy()", "np.cos(A)", "A * x", "np.outer(x, x)"))
        )
        if self.chance(0.3):
            scope.names["l"].append(self.bind("rows", self.choose("[]", "[x * 2.0]", "[u.copy(), x + c]")))
        self.block(scope, self.random.randint(2, 7), 0)
        self.line(f"return {self.result(scope)}")
        return "import numpy as np\n\n" + HELPERS + "\n\ndef f(x, A, c, n):\n" + "\n".join(self.lines) + "\n"

    def result(self, scope: Scope) -> str:
        """A number that depends on what was computed."""
        parts = [
            f"np.sum({self.pick(scope, 'v')} * {self.pick(scope, 'v')})",
            f"np.sum({self.pick(scope, 'm')})",
        ]
        if self.chance(0.5):
            parts.append(self.pick(scope, "s"))
        if scope.names["l"]:
            parts.append(f"total({self.pick(scope, 'l')})")
        if scope.names["h"] and self.chance(0.7):
            parts.append(f"np.prod({self.pick(scope, 'h')})")
        return " + ".join(parts)

    # ------------------------------------------------------------------------------------------- choices, lines

    def chance(self, p: float) -> bool:
        """True with probability p."""
        return self.random.random() < p

    def choose(self, *texts: str) -> str:
        """One of several texts."""
        return self.random.choice(texts)

    def pick(self, scope: Scope, kind: str) -> str:
        """A name of a kind, late ones more often."""
        names = scope.names[kind]
        return names[max(self.random.randrange(len(names)) for _ in range(2))]

    def line(self, text: str) -> None:
        """Write a line."""
        self.lines.append("    " * self.indent + text)

    def bind(self, stem: str, text: str) -> str:
        """Assign to a name that is new."""
        self.count += 1
        name = stem if self.count <= 2 else f"{stem}{self.count}"
        self.line(f"{name} = {text}")
        return name

    @contextmanager
    def indented(self) -> Iterator[None]:
        """A block."""
        self.indent += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.line("pass")
        self.indent -= 1

    def assign(self, scope: Scope, kind: str, text: str) -> None:
        """Assign to a name, old or new."""
        old = [n for n in scope.names[kind] if n not in scope.fixed and n not in ("x", "A")]
        if old and (self.chance(0.6) or self.indent > 1):
            name = self.random.choice(old)
            scope.shared.discard(name)
            self.line(f"{name} = {text}")
        else:
            scope.names[kind].append(
                self.bind({"v": "v", "h": "h", "m": "M", "s": "s", "l": "rows"}[kind], text)
            )

    # ---------------------------------------------------------------------------------------------- expressions

    def at(self) -> str:
        """An index of a vector."""
        if self.index and self.chance(0.6):
            i = self.random.choice(self.index)
            return self.choose(i, i, f"3 - {i}", f"({i} + 1) % 4", f"-{i} - 1")
        return str(self.random.randrange(-4, 4))

    def number(self, scope: Scope) -> str:
        """An expression of a number."""
        v, w, m, s, t = (self.pick(scope, k) for k in "vvmss")
        choices = [
            lambda: f"{v}[{self.at()}]",
            lambda: f"{m}[{self.at()}, {self.at()}]",
            lambda: f"np.sum({v} * {w})",
            lambda: f"np.tanh({v} @ {w})",
            lambda: f"np.mean({m})",
            lambda: f"np.sin({s}) * {t}",
            lambda: f"{s} / (2.0 + {t} * {t})",
            lambda: f"np.sin({s} + {v}[{self.at()}])",
            lambda: f"soft({s})",
            lambda: f"np.tanh(power({s}, {self.choose('2', 'n', '3')}))",
            lambda: f"({s} if {self.test(scope)} else {t} * 0.5)",
            lambda: f"np.max({v})",
            lambda: f"np.tanh({v}.sum() - {s})",
            lambda: f"0.5 * np.trace({m} @ {m}.T) / (1.0 + np.sum({m} ** 2))",
            lambda: f"sum([{v}[j] * {w}[j] for j in range(4)]) * 0.2",
            lambda: f"np.linalg.norm({v} + 1.5)",
        ]
        if scope.names["l"]:
            rows = self.pick(scope, "l")
            choices.append(lambda: f"(np.sin({rows}[-1][1]) if len({rows}) > 0 else {s})")
        if scope.names["h"]:
            h = self.pick(scope, "h")
            choices.append(lambda: f"np.sin({h}[0] * {h}[1])")
        return self.random.choice(choices)()

    def vector(self, scope: Scope) -> str:
        """An expression of a fresh vector."""
        v, w, m, s = (self.pick(scope, k) for k in "vvms")
        choices = [
            lambda: f"np.tanh({v} + {s})",
            lambda: f"np.sin({v} * {w})",
            lambda: f"np.tanh({m} @ {v})",
            lambda: f"{v} * {s} - 0.3 * {w}",
            lambda: f"np.cos({m}[{self.at()}]) * {v}",
            lambda: f"{v}[::-1] + {w}",
            lambda: f"np.sin({m}[:, {self.at()}])",
            lambda: f"{v}.copy()",
            lambda: f"np.where({v} > {s}, {w}, 0.5 * {v})",
            lambda: f"np.tanh(np.cumsum({v}))",
            lambda: f"np.tanh(np.sum({m}, axis={self.choose('0', '1', '-1')}))",
            lambda: f"np.concatenate([{v}[2:], {w}[:2]])",
            lambda: f"np.tanh({v}[[{self.choose('0, 0, 1, 3', '3, 2, 2, 2')}]])",
            lambda: f"mix({v}, {w})",
            lambda: f"mix({v}, {w}, w={s})",
            lambda: f"np.array([{s}, {v}[{self.at()}], 0.5, {s} * {s}])",
            lambda: f"np.roll({v}, 1) * 0.9",
            lambda: f"np.sqrt(1.0 + {v} ** 2) - {w}",
            lambda: f"np.exp(-{v} ** 2)",
            lambda: f"np.reshape({v}, (2, 2)).T.ravel() * 1.1",
            lambda: f"(lambda p, q: np.sin(p - q))({v}, {s})",
            lambda: f"np.minimum({v}, {w} + 0.1)",
            lambda: f"np.stack([{v}, {w}]).mean(axis=0)",
            lambda: f"{v} / (1.5 + {w} * {w})",
            lambda: f"np.zeros(4) + {s}",
            lambda: f"np.sin({m}.ravel()[{self.choose('2:6', '::4', '12:')}])",
            lambda: f"np.diagonal({m}) + np.squeeze({m}[1:2], axis=0)",
            lambda: f"np.asarray({v}) * np.reshape({m}, (2, 8))[1, ::2]",
            lambda: f"np.maximum({m}, {s}).T.min(axis=1)",
        ]
        return self.random.choice(choices)()

    def matrix(self, scope: Scope) -> str:
        """An expression of a fresh matrix."""
        v, w, m, k, s = (self.pick(scope, kind) for kind in "vvmms")
        return self.choose(
            f"np.outer({v}, {w})",
            f"np.tanh({m} @ {k})",
            f"{m} * {v}",
            f"{m} - {v}[:, None]",
            f"np.sin({m}.T)",
            f"{m} + {s}",
            f"{m}.copy()",
            "np.zeros((4, 4))",
            f"0.5 * ({m} + {k}.T)",
            f"np.zeros_like({m})",
            f"np.stack([{v}, {w}, {v} * {w}, {m}[0]])",
            f"{m}[::-1] * 0.7",
            f"np.broadcast_to({v}, (4, 4)) * {m}",
            f"{m}.T + {k}",
            f"np.swapaxes({m}, 0, 1) - {k} * {s}",
            f"np.sin({m}.reshape(2, 8)).reshape(4, 4)",
        )

    def test(self, scope: Scope) -> str:
        """A condition."""
        v, s, t = (self.pick(scope, k) for k in "vss")
        if self.index and self.chance(0.3):
            i = self.random.choice(self.index)
            return self.choose(f"{i} == 1", f"{i} > 0", f"{i} % 2 == 0")
        return self.choose(
            f"{s} > 0.1",
            f"{s} < {t} + 0.2",
            f"np.sum({v}) > 0.3",
            "n > 2",
            f"{v}[0] < {v}[1]",
            f"not {s} > 0.7",
            f"0.0 < {s} < 0.9",
            f"{s} > 0.2 and n > 1",
            f"{s} < -0.2 or {t} > 0.4",
            f"np.any({v} > 0.8)",
        )

    # ----------------------------------------------------------------------------------------------- statements

    def block(self, scope: Scope, count: int, depth: int) -> None:
        """Write statements."""
        simple: list[Callable[[Scope], None]] = [
            self.number_statement, self.vector_statement, self.vector_statement, self.matrix_statement, self.write,
            self.write, self.write, self.matrix_write, self.matrix_write, self.alias, self.view, self.lists, self.call,
            self.swap,
        ]  # fmt: skip
        nested: list[Callable[[Scope, int], None]] = [
            self.branch, self.branch, self.loop, self.loop, self.rows_loop, self.while_loop, self.one_branch,
        ]  # fmt: skip
        for _ in range(count):
            if depth < MAX_DEPTH and self.chance(0.3):
                self.random.choice(nested)(scope, depth)
            else:
                self.random.choice(simple)(scope)

    def number_statement(self, scope: Scope) -> None:
        """A number."""
        s = self.pick(scope, "s")
        if s != "c" and self.chance(0.3):
            self.line(f"{s} {self.choose('+=', '-=', '*=')} {self.number(scope)}")
            self.line(f"{s} = np.tanh({s})")
        else:
            self.assign(scope, "s", self.number(scope))

    def vector_statement(self, scope: Scope) -> None:
        """A vector."""
        self.assign(scope, "v", self.vector(scope))

    def matrix_statement(self, scope: Scope) -> None:
        """A matrix."""
        self.assign(scope, "m", self.matrix(scope))

    def write(self, scope: Scope) -> None:
        """A write to a vector."""
        u, v, s = self.pick(scope, "v"), self.pick(scope, "v"), self.pick(scope, "s")
        if u == "x" and self.chance(0.7):
            u = "u"
        i = self.at()
        self.line(
            self.choose(
                f"{u}[{i}] = {self.number(scope)}",
                f"{u}[{i}] += {s}",
                f"{u}[{i}] *= {s}",
                f"{u}[1:] = {u}[:-1]",
                f"{u}[:-1] += 0.5 * {u}[1:]",
                f"{u}[::2] = {v}[:2] + 0.0",
                f"{u}[::-1] = {v} * {s}",
                f"{u}[-1:1:-1] -= {v}[1:3]",
                f"{u} += {v}",
                f"{u} *= 0.7",
                f"{u} -= {s}",
                f"{u}[:] = {self.vector(scope)}",
                f"{u}[[1, 1, 2]] = {v}[:3]",
                f"{u}[[0, 2]] += {s}",
                f"np.add.at({u}, [0, 0, 3], {s})",
                f"{u}[{u} > 0.4] = {s}",
                f"{u}[{v} < 0.0] *= 0.5",
                f"np.add({u}, {v}, out={u})",
                f"np.copyto({u}, {v} * 1.0)",
                f"{u}.fill({s})",
                f"{u}[1:3] = {s}",
                f"np.sin({v}, out={u})",
                f"{u}[{i}], {u}[{self.at()}] = {u}[{self.at()}], {u}[{i}]",
                f"{u}[1:3][::-1][0] = {s}",
            )
        )
        if self.chance(0.3):
            self.line(f"{u}[:] = np.tanh({u})")

    def matrix_write(self, scope: Scope) -> None:
        """A write to a matrix."""
        m, k, v, s = (self.pick(scope, kind) for kind in "mmvs")
        if m == "A" and self.chance(0.7):
            m = "B"
        i, j = self.at(), self.at()
        self.line(
            self.choose(
                f"{m}[{i}, {j}] = {s}",
                f"{m}[{i}] = {v} + 0.0",
                f"{m}[:, {j}] += {v}",
                f"{m}[{i}] *= {s}",
                f"{m}[1:, :-1] = {m}[:-1, 1:]",
                f"{m}.T[{i}] = {v} * 1.0",
                f"{m} += {v}",
                f"{m} *= 0.6",
                f"{m}[{i}, 1:3] -= {v}[:2]",
                f"{m}[::2] = {k}[1::2]",
                f"np.fill_diagonal({m}, {s})",
                f"{m}[[0, 1], [2, 3]] = {v}[2:]",
                f"{m}[:2, :2] = np.outer({v}[:2], {v}[2:])",
                f"{m} -= np.outer({v}, {v})",
                f"{m}[{i}, :], {m}[{j}, :] = {m}[{j}, :].copy(), {m}[{i}, :].copy()",
            )
        )

    def alias(self, scope: Scope) -> None:
        """A second name for a vector."""
        v = self.pick(scope, "v")
        name = self.bind("a", self.choose(v, v, f"first({v}, {self.pick(scope, 'v')})"))
        scope.names["v"].append(name)
        scope.shared |= {v, name}

    def view(self, scope: Scope) -> None:
        """A view, or a part, of a vector or a matrix."""
        v, m = self.pick(scope, "v"), self.pick(scope, "m")
        if self.chance(0.5):
            name = self.bind(
                "h", self.choose(f"{v}[1:3]", f"{v}[::2]", f"{v}[::-2]", f"{m}[{self.at()}, 1:3]")
            )
            scope.names["h"].append(name)
            self.line(
                self.choose(f"{name} *= 0.8", f"{name}[0] = {self.pick(scope, 's')}", f"{name} += {v}[2:]")
            )
        else:
            name = self.bind(
                "r", self.choose(f"{m}[{self.at()}]", f"{v}[::-1]", f"{m}[:, {self.at()}]", f"{m}.T[1]")
            )
            scope.names["v"].append(name)
        scope.shared |= {v, m, name}

    def lists(self, scope: Scope) -> None:
        """Something with a list."""
        if not scope.names["l"]:
            if self.indent == 1:
                scope.names["l"].append(self.bind("rows", self.choose("[]", f"[{self.vector(scope)}]")))
            return
        rows, v = self.pick(scope, "l"), self.pick(scope, "v")
        self.line(
            self.choose(
                f"{rows}.append({self.vector(scope)})",
                f"{rows}.append({v}.copy())",
                f"{rows}.append({v} * {self.pick(scope, 's')})",
                f"{rows} = [r * 0.5 for r in {rows}]",
                f"{rows} = {rows} + [{v} - 1.0]",
            )
        )

    def call(self, scope: Scope) -> None:
        """A call of a helper that changes its argument."""
        u = self.pick(scope, "v")
        if u == "x":
            u = "u"
        s = self.pick(scope, "s")
        match self.random.randrange(3):
            case 0:
                self.line(f"shift({u}, {self.random.randrange(4)})")
            case 1:
                self.line(f"damp({u}, {s})")
            case _:
                name = self.bind("d", f"damp({u}, {s})")
                scope.names["v"].append(name)
                scope.shared |= {u, name}

    def swap(self, scope: Scope) -> None:
        """Two names change places."""
        names = [v for v in scope.names["v"] if v not in scope.shared and v not in scope.fixed and v != "x"]
        if len(names) > 1:
            a, b = self.random.sample(names, 2)
            self.line(f"{a}, {b} = {b}, {a}")

    # --------------------------------------------------------------------------------------------- control flow

    def branch(self, scope: Scope, depth: int) -> None:
        """A branch, with or without its other side."""
        self.line(f"if {self.test(scope)}:")
        with self.indented():
            self.block(scope.inner(), self.random.randint(1, 3), depth + 1)
            self.leave(scope, 0.08)
        if self.chance(0.2):
            self.line(f"elif {self.test(scope)}:")
            with self.indented():
                self.block(scope.inner(), self.random.randint(1, 2), depth + 1)
        if self.chance(0.6):
            self.line("else:")
            with self.indented():
                self.block(scope.inner(), self.random.randint(1, 3), depth + 1)

    def leave(self, scope: Scope, p: float) -> None:
        """An early return, break or continue."""
        if self.chance(p):
            self.line(f"return {self.result(scope)}")
        elif self.loops and self.chance(0.2):
            self.line(self.choose("break", "continue"))

    def one_branch(self, scope: Scope, depth: int) -> None:
        """A value that only one branch binds, read under the same test."""
        flag = self.bind("flag", self.test(scope))
        self.line(f"if {flag}:")
        with self.indented():
            name = self.bind("q", self.choose(self.number(scope), self.vector(scope)))
        self.block(scope, 1, depth + 1)
        self.line(f"if {flag}:")
        with self.indented():
            self.line(
                f"u = u * 0.5 + np.tanh({name})"
                if "u" not in scope.fixed | scope.shared
                else f"B[1] += {name}"
            )

    @contextmanager
    def looping(self, index: str | None) -> Iterator[None]:
        """Inside a loop."""
        self.loops += 1
        if index:
            self.index.append(index)
        with self.indented():
            yield
        if index:
            self.index.pop()
        self.loops -= 1

    def loop(self, scope: Scope, depth: int) -> None:
        """A loop over numbers."""
        i = "ijk"[min(depth, 2)]
        numbers = self.choose(
            "range(n)", "range(3)", "range(1, 4)", "range(3, -1, -1)", "range(n - 1)", "range(0, 4, 2)"
        )
        self.line(f"for {i} in {numbers}:")
        self.body(scope, depth, i)
        if self.chance(0.05):
            self.line("else:")
            with self.indented():
                self.block(scope.inner(), 1, depth + 1)

    def body(self, scope: Scope, depth: int, index: str | None, extra: str = "") -> None:
        """The body of a loop."""
        with self.looping(index):
            inner = scope.inner()
            if extra:
                inner.names["v"].append(extra)
                inner.shared.add(extra)
            if self.chance(0.2):
                self.line(f"if {self.test(inner)}:")
                with self.indented():
                    self.line(self.choose("break", "continue"))
            self.block(inner, self.random.randint(1, 3), depth + 1)
            self.leave(inner, 0.03)

    def rows_loop(self, scope: Scope, depth: int) -> None:
        """A loop over rows."""
        m, v = self.pick(scope, "m"), self.pick(scope, "v")
        self.count += 1
        row = f"row{self.count}"
        match self.random.randrange(4):
            case 0 if scope.names["l"]:
                rows = self.pick(scope, "l")
                self.line(f"for {row} in {rows}:")
                scope = scope.inner()
                scope.names["l"] = []  # a list must not grow while a loop runs over it
            case 1:
                i = f"e{self.count}"
                self.line(f"for {i}, {row} in enumerate({m} * 1.0):")
                self.body(scope, depth, i, row)
                return
            case 2:
                self.line(f"for {row} in zip({v} * 1.0, {m} + 0.0):")
                with self.looping(None):
                    self.assign(scope.inner(), "s", f"np.tanh({row}[0] * {row}[1][0])")
                return
            case _:
                self.line(f"for {row} in {m} * {self.pick(scope, 's')}:")
        self.body(scope, depth, None, row)

    def while_loop(self, scope: Scope, depth: int) -> None:
        """A loop under a test of data."""
        w = self.bind("w", self.choose("0.0", f"{self.pick(scope, 's')} * 0.1"))
        self.count += 1
        steps = f"t{self.count}"
        self.line(f"{steps} = 0")
        self.line(f"while {w} < {self.choose('0.8', '1.1', '0.5')} and {steps} < {self.choose('3', 'n')}:")
        with self.looping(None):
            self.line(f"{steps} += 1")
            self.line(f"{w} = {w} + 0.3 * np.cos({self.pick(scope, 'v')}[{self.random.randrange(4)}])")
            self.block(scope.inner(), self.random.randint(1, 3), depth + 1)
        scope.names["s"].append(w)


def program(seed: int) -> str:
    """The source of the program of a seed."""
    return Writer(seed).program()
