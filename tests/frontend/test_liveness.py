"""Live names, against the paths of small programs."""

from __future__ import annotations

import ast

from pullback.frontend.liveness import Liveness

from .executor import desugar_text


def at_line(text: str) -> tuple[Liveness, dict[int, ast.stmt]]:
    """The liveness, and the user's statements by line (not those made at the same place)."""
    node = desugar_text(text)
    found: dict[int, ast.stmt] = {}
    for stmt in ast.walk(node):
        if (
            isinstance(stmt, ast.stmt)
            and stmt is not node
            and not isinstance(found.get(stmt.lineno), ast.For | ast.While)
        ):
            made = (
                isinstance(stmt, ast.Assign)
                and isinstance(stmt.targets[0], ast.Name)
                and "." in stmt.targets[0].id
            )
            if not made:
                found[stmt.lineno] = stmt
    return Liveness(node), found


def test_straight() -> None:
    live, line = at_line("def f(a, b):\n c = a\n d = c * b\n return d")
    assert live.before(line[2]) == {"a", "b"}
    assert live.after(line[2]) == {"c", "b"}
    assert live.after(line[3]) == {"d"}


def test_branch() -> None:
    live, line = at_line("def f(a, b):\n if a:\n  c = b\n else:\n  c = 1\n return c")
    assert live.before(line[2]) == {"a", "b"}
    assert live.after(line[2]) == {"c"}
    assert live.before(line[5]) == set()


def test_loop_head() -> None:
    live, line = at_line("def f(a, n):\n t = 0\n for i in n:\n  u = t + a\n  t = u\n return t")
    assert live.before(line[3]) == {"a", "n", "t"}
    assert live.loop_head(line[3]) == {"a", "t"}
    assert live.after(line[4]) == {"a", "u"}


def test_while_reads_its_test() -> None:
    live, line = at_line("def f(a):\n k = 0\n while k < a:\n  k = k + 1\n return a")
    assert live.loop_head(line[3]) == {"a", "k"}
    assert live.after(line[3]) == {"a"}


def test_break_flag_is_live_at_the_end_of_the_body() -> None:
    live, line = at_line("def f(a, n):\n for i in n:\n  if a > i: break\n  a = a + 1\n return a")
    assert ".going1" in live.after(line[4])
    assert ".going1" not in live.loop_head(line[2])


def test_a_rebound_name_is_dead_before() -> None:
    live, line = at_line("def f(a, b):\n x = a\n x = b\n return x")
    assert live.after(line[2]) == {"b"}


def test_stores_and_augmented_assignment_read_the_array() -> None:
    live, line = at_line("def f(a, b):\n a[0] = b\n b += 1\n return b")
    assert live.before(line[2]) == {"a", "b"}
    assert live.before(line[3]) == {"b"}


def test_captured_names_stay_live() -> None:
    live, line = at_line("def f(a, b):\n x = a\n g = lambda v: v * x\n y = b\n z = g(y)\n return z")
    assert live.before(line[2]) == {"a", "b"}
    assert "x" in live.after(line[5])


def test_captured_in_a_loop_are_live_in_the_next_iteration() -> None:
    live, line = at_line("def f(a, n):\n for i in n:\n  b = a\n  def g():\n   return b\n  a = g()\n return a")
    assert "b" in live.loop_head(line[2])


def test_comprehension_names_are_its_own() -> None:
    live, line = at_line("def f(i, xs, k):\n y = [i * k for i in xs for j in i]\n return y")
    assert live.before(line[2]) == {"xs", "k"}


def test_recursive_function_is_not_read_before_its_definition() -> None:
    live, line = at_line("def f(a):\n b = a\n def g(n):\n  return g(n - 1) if n else b\n return g(3)")
    assert live.before(line[2]) == {"a"}


def test_conditional_walrus_does_not_kill() -> None:
    live, line = at_line("def f(a, b):\n x = a\n y = b or (x := 2)\n return x")
    assert "x" in live.after(line[2])


def test_many_statements() -> None:
    text = "def f(x):\n" + "".join(f" y{i} = x\n x = x + y{i}\n" for i in range(5000)) + " return x"
    live, line = at_line(text)
    assert live.before(line[10002]) == {"x"}
