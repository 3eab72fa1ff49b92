"""The desugared function does what the function does, on hand-written and on random control flow."""

from __future__ import annotations

import ast
import itertools
import random
from typing import Any

import pytest

from pullback.errors import UnsupportedError
from pullback.frontend.desugar import desugar
from pullback.frontend.refusals import REFUSALS

from .executor import desugar_text, run_desugared

PROGRAMS = {
    "early": "def f(a, b, c):\n if a: return 1\n if b: return 2\n return c",
    "implicit": "def f(a, b, c):\n if a:\n  if b: return 1\n  log(0)\n log(1)",
    "partial": "def f(a, b, c):\n if a:\n  if b: return 1\n  log(0)\n else:\n  log(2)\n log(1)\n return 5",
    "break-else": "def f(a, b, c):\n for i in range(a):\n  if i == b: break\n else:\n  return log(9)\n return 3",
    "both": (
        "def f(a, b, c):\n for i in range(a):\n  if i == b: break\n  if i == c: return 7\n  log(i)\n"
        " else:\n  log(8)\n log(9)\n return i"
    ),
    "nested": (
        "def f(a, b, c):\n for i in range(a):\n  for j in range(b):\n   if i * j == c: return i, j\n"
        "   if j > i: break\n   if j == 1: continue\n   log(i, j)\n  else:\n   continue\n  log(i)\n return None"
    ),
    "endless": "def f(a, b, c):\n while True:\n  a += 1\n  if a > 5: return a\n  if a == b: continue\n  log(a)",
    "endless-break": "def f(a, b, c):\n while True:\n  a += 1\n  if a > 5: break\n log(a)\n return c",
    "walrus": "def f(a, b, c):\n while (a := a - 1) > 0:\n  if a == b: break\n  log(a)\n else:\n  log('e')\n return a",
    "with": "def f(a, b, c):\n with ctx():\n  if a: return 1\n  if b: log(2)\n  else: return 3\n log(4)\n return c",
    "raise": "def f(a, b, c):\n if a: raise ValueError(b)\n elif b: x = 1\n else: raise KeyError\n log(x)\n return x",
    "match": (
        "def f(a, b, c):\n match a:\n  case 0: return 'zero'\n  case 1 | 2 if b: log(1)\n  case 1: log(2)\n"
        "  case x if x > c: return x\n  case _: log(3)\n return x if a > 2 else c"
    ),
    "match-shapes": (
        "def f(a, b, c):\n for s in ([a, b], (a, b, c), {'k': a, 'm': 1}, {'k': b}, None, True, 1.0):\n  match s:\n"
        "   case [p, 1]: log('l', p)\n   case (p, q): log('t', p, q)\n   case (p, _, 0 as r): log('u', p, r)\n"
        "   case {'k': v, 'm': 1}: log('d', v)\n   case {'k': 0 | 1}: continue\n   case None: log('none')\n"
        "   case float(): log('float')\n   case complex(real=0): pass\n   case _: break\n return a"
    ),
    "while-else": "def f(a, b, c):\n while a > 0:\n  a -= 1\n  if a == b: break\n else:\n  log(1)\n return a",
    "no-value": "def f(a, b, c):\n for i in range(a):\n  if i == b: return\n  log(i)",
    "pass": "def f(a, b, c):\n if a:\n  pass\n elif b:\n  return\n else:\n  pass\n log(1)",
    "dead": "def f(a, b, c):\n return a\n log(1)\n return b",
    "loop-dead": "def f(a, b, c):\n for i in range(a):\n  continue\n  log(1)\n while b:\n  break\n  log(2)\n return c",
}


class _Context:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *info: object) -> None:
        pass


def outcome(fn: Any, log: list[Any], args: tuple[int, ...]) -> Any:
    """What a call does: its log and its value or error."""
    log.clear()
    try:
        value = fn(*args)
    except Exception as error:
        return [*log], type(error), str(error).replace("dot_", ".")
    return [*log], value


def assert_same(text: str, inputs: Any) -> None:
    """The function and the desugared one agree."""
    log: list[Any] = []
    namespace: dict[str, Any] = {"log": lambda *args: log.append(args), "ctx": _Context}
    exec(text, namespace)
    node = desugar_text(text)
    new = run_desugared(node, namespace)
    for args in inputs:
        assert outcome(namespace["f"], log, args) == outcome(new, log, args), (text, ast.unparse(node), args)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    assert_same(PROGRAMS[name], itertools.product(range(4), repeat=3))


class _Writer:
    """Writes a random function of nested loops and branches that logs where it goes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.marks = 0

    def block(self, depth: int, indent: int, in_loop: bool) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth, indent, in_loop)

    def add(self, indent: int, text: str) -> None:
        self.lines.append(" " * indent + text)

    def statement(self, depth: int, indent: int, in_loop: bool) -> None:
        draw = self.random
        kinds = ["log", "log"] + ["if", "if", "for", "while", "with"] * (depth > 0)
        kinds += ["leave"] + ["leave"] * in_loop
        kind = draw.choice(kinds)
        self.marks += 1
        if kind == "log":
            self.add(indent, f"log({self.marks})")
        elif kind == "leave":
            leaves = [f"return {self.marks}"] + ["break", "continue"] * in_loop
            self.add(indent, draw.choice([*leaves, *leaves[1:], "raise ValueError"]))
        elif kind == "if":
            self.add(indent, f"if {self.test()}:")
            self.block(depth - 1, indent + 1, in_loop)
            self.maybe_else(depth, indent, in_loop)
        elif kind == "for":
            self.add(indent, f"for i in range({draw.choice('abc')}):")
            self.block(depth - 1, indent + 1, True)
            self.maybe_else(depth, indent, in_loop)
        elif kind == "while":
            self.add(indent, f"n{self.marks} = 0")
            walrus = draw.random() < 0.3
            test = f"(n{self.marks} := n{self.marks} + 1) < 3" if walrus else f"n{self.marks} < 3"
            self.add(indent, f"while {test}:")
            if not walrus:
                self.add(indent + 1, f"n{self.marks} += 1")
            self.block(depth - 1, indent + 1, True)
            self.maybe_else(depth, indent, in_loop)
        else:
            self.add(indent, "with ctx():")
            self.block(depth - 1, indent + 1, in_loop)

    def maybe_else(self, depth: int, indent: int, in_loop: bool) -> None:
        if self.random.random() < 0.4:
            self.add(indent, "else:")
            self.block(depth - 1, indent + 1, in_loop)

    def test(self) -> str:
        draw = self.random
        return f"tick() % {draw.randint(2, 4)} == {draw.choice('abc')}"

    def text(self) -> str:
        self.block(4, 1, False)
        return "def f(a, b, c):\n count = [0]\n" + TICK + "\n".join(self.lines) + "\n"


TICK = " def tick():\n  count[0] += 1\n  if count[0] > 300: raise RuntimeError\n  return count[0]\n"


@pytest.mark.parametrize("chunk", range(8))
def test_random(chunk: int) -> None:
    for seed in range(chunk * 100, chunk * 100 + 100):
        assert_same(_Writer(seed).text(), [(0, 1, 2), (2, 0, 1), (1, 3, 0), (3, 2, 2)])


def test_the_rest_moves_into_the_other_branch() -> None:
    node = desugar_text("def f(x, n):\n for i in range(n):\n  if i: continue\n  x = x * i\n return x")
    loop = node.body[0]
    assert isinstance(loop, ast.For) and loop.go is None  # type: ignore[attr-defined]
    assert ast.unparse(loop).splitlines()[1:] == [
        "    if i:",
        "        pass",
        "    else:",
        "        x = x * i",
    ]


def test_a_lambda_is_a_function() -> None:
    node = ast.parse("lambda x, y: x + y").body[0].value  # type: ignore[attr-defined]
    assert run_desugared(desugar(node), {})(2, 3) == 5


def test_places_are_the_user_s() -> None:
    node = desugar_text("def f(x):\n  while True:\n    x = x + 1\n    if x > 3:\n      return x\n")
    lines = {type(s).__name__ + str(s.lineno) for s in ast.walk(node) if isinstance(s, ast.stmt)}
    assert {"While2", "Assign3", "If4", "Assign5"} <= lines


def test_the_user_s_tree_is_untouched() -> None:
    tree = ast.parse("\n".join(PROGRAMS.values()))
    before = ast.dump(tree, include_attributes=True)
    for node in tree.body:
        desugar(node)  # type: ignore[arg-type]
    assert ast.dump(tree, include_attributes=True) == before


def test_twenty_thousand_statements() -> None:
    text = "def f(x):\n" + "\n".join(f" if x > {i}: x = x + 1" for i in range(5000)) + "\n return x"
    assert len(desugar_text(text).body) == 5001


SYNTAX = ["async", "yield", "try", "global", "class", "match-pattern", "del-attribute"]


@pytest.mark.parametrize("code", SYNTAX)
def test_refused(code: str) -> None:
    row = REFUSALS[code]
    node = next(
        n for n in ast.parse(row.example).body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    with pytest.raises(UnsupportedError) as caught:
        desugar(node)
    assert caught.value.reason.split("`")[0] == row.message.split("`")[0]
