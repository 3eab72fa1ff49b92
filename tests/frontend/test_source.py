"""Source is believed only where it compiles to the function's code."""

from __future__ import annotations

import ast
import importlib.util
import linecache
import os
import sys
import time
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

from pullback.errors import SourceError
from pullback.frontend.source import source_of


def load(path: Path, text: str) -> ModuleType:
    """A module of the text."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def body_of(fn: FunctionType) -> str:
    """The text of a function's body."""
    node = source_of(fn).node
    return ast.unparse(node.body if isinstance(node, ast.Lambda) else node.body[-1])


def test_function_method_and_closure(tmp_path: Path) -> None:
    module = load(
        tmp_path / "plain.py",
        "import functools\ndef deco(f):\n    @functools.wraps(f)\n    def g(*a):\n        return f(*a)\n    return g\n"
        "@deco\ndef h(x):\n    return x + 1\nclass C:\n    def m(self):\n        return self.__y\n"
        "def outer(k):\n    def inner(x):\n        return x * k\n    return inner\n",
    )
    assert body_of(module.h.__wrapped__) == "return x + 1"
    assert body_of(module.h) == "return f(*a)"
    assert body_of(module.C.m) == "return self._C__y"  # as Python stores it
    assert body_of(module.outer(2)) == "return x * k"
    source = source_of(module.outer(2))
    loc = source.loc(source.node.body[0])  # type: ignore[union-attr, index]
    assert (loc.line, loc.text.strip(), loc.col) == (15, "return x * k", 8)


def test_two_lambdas_on_one_line(tmp_path: Path) -> None:
    module = load(tmp_path / "two.py", "f, g, h = lambda x: x + 1, lambda x: x - 1, lambda x: x + 1.0\n")
    assert [body_of(k) for k in (module.f, module.g, module.h)] == ["x + 1", "x - 1", "x + 1.0"]


def test_lambda_in_lambda_and_equal_lambdas(tmp_path: Path) -> None:
    module = load(
        tmp_path / "nest.py", "f = lambda x: (lambda y: x * y)\na, b = (lambda x: x), (lambda x: x)\n"
    )
    assert body_of(module.f) == "lambda y: x * y"
    assert body_of(module.f(3)) == "x * y"
    assert body_of(module.a) == body_of(module.b) == "x"


def test_lambdas_that_return_constants_or_span_lines(tmp_path: Path) -> None:
    text = (
        "import numpy as np\n"
        "fs = [lambda x: None, lambda x: 'text', lambda x: 3.0, lambda: None, lambda x: x if x else None, lambda x: (\n"
        "    x +\n"
        "    1 if x else\n"
        "    2), lambda x: 2]\n"
        "g = lambda x: (lambda: None) if x else (lambda: 1), lambda x, f=(lambda: 4): f\n"
    )
    module = load(tmp_path / "constants.py", text)
    bodies = ["None", "'text'", "3.0", "None", "x if x else None", "x + 1 if x else 2", "2"]
    assert [body_of(f) for f in module.fs] == bodies
    outer, other = module.g
    assert [body_of(f) for f in (outer(1), outer(0), other, other(0))] == ["None", "1", "f", "4"]
    assert "if x else" in body_of(outer)


def test_changed_file(tmp_path: Path) -> None:
    path = tmp_path / "changing.py"
    module = load(path, "def f(x):\n    return x + 1\n")
    assert body_of(module.f) == "return x + 1"
    for changed in ("def f(x):\n    return x + 2.0\n", "\ndef f(x):\n    return x + 1\n", "def f(x:\n"):
        path.write_text(changed)
        os.utime(path, (time.time() + 5, time.time() + 5))
        with pytest.raises(SourceError, match="the file changed since it was imported"):
            source_of(module.f)


def test_a_constant_of_another_type_is_a_change(tmp_path: Path) -> None:
    path = tmp_path / "typed.py"
    module = load(path, "def f(x):\n    return x + 1, -0.0\n")
    path.write_text("def f(x):\n    return x + 1, 0.00\n")
    with pytest.raises(SourceError, match="changed"):
        source_of(module.f)


def test_no_source() -> None:
    namespace: dict[str, FunctionType] = {}
    exec("def f(x):\n    return x\n", namespace)
    with pytest.raises(SourceError, match="no source"):
        source_of(namespace["f"])
    with pytest.raises(SourceError, match="no Python source"):
        source_of(len)  # type: ignore[arg-type]


def test_notebook_cell() -> None:
    text = "k = 2\ndef f(x):\n    return x * k\n"
    linecache.cache["<ipython-input-1-abc>"] = (
        len(text),
        None,
        text.splitlines(True),
        "<ipython-input-1-abc>",
    )
    namespace: dict[str, FunctionType] = {}
    exec(compile(text, "<ipython-input-1-abc>", "exec"), namespace)
    assert body_of(namespace["f"]) == "return x * k"


def test_future_annotations(tmp_path: Path) -> None:
    module = load(
        tmp_path / "future.py", "from __future__ import annotations\ndef f(x: int) -> int:\n    return x\n"
    )
    assert body_of(module.f) == "return x"


def asserting(x: float) -> float:
    assert x > 0, "pytest rewrites this"
    return x * x


def test_under_pytest_s_rewriting() -> None:
    assert body_of(asserting) == "return x * x"
    assert source_of(asserting).first_line == asserting.__code__.co_firstlineno


def test_rewritten_but_younger_than_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["pullback.frontend.source"], "_STARTED", 0.0)
    with pytest.raises(SourceError, match="changed"):
        source_of(asserting)
