"""What linters would say of the shape of the user's code, which a generated module keeps.

Two `if` where one would do, `str.format`: a module names the few such rules that it breaks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_SEQUENCES = ("list", "tuple", "reversed", "sorted")


def exempted(tree: ast.Module) -> list[str]:
    """The codes of the rules that a module breaks."""
    return sorted({code for node in ast.walk(tree) for code in _codes(node)})


def _codes(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call):
        yield from _call(node)
    elif isinstance(node, ast.If):
        yield from _branch(node)
    elif isinstance(node, ast.ExceptHandler) and isinstance(node.type, ast.Name):
        yield from ["BLE001"] * (node.type.id == "BaseException")  # no exception may leave a callback


def _call(node: ast.Call) -> Iterator[str]:
    fn = node.func
    if isinstance(fn, ast.Attribute) and fn.attr == "format" and isinstance(fn.value, ast.Constant):
        yield from ["UP032"] * _fits_f_string(str(fn.value.value), node)
    inner = node.args[0] if len(node.args) == 1 else None
    if isinstance(fn, ast.Name) and fn.id == "list" and isinstance(inner, ast.Call):
        yield from ["C414"] * (isinstance(inner.func, ast.Name) and inner.func.id in _SEQUENCES)


def _fits_f_string(text: str, node: ast.Call) -> bool:
    """Whether a linter takes it that an f-string would do: no text in it, nor a width that is computed."""
    values = [*node.args, *(k.value for k in node.keywords)]
    inner = [n for value in values for n in ast.walk(value)]
    plain = not any(isinstance(n, ast.Starred) or _is_text(n) for n in inner)
    return plain and not re.search(r"\{[^{}]*\{", text.replace("{{", ""))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def _branch(node: ast.If) -> Iterator[str]:
    (first, *others) = node.body
    if not others and not node.orelse and isinstance(first, ast.If) and not first.orelse:
        yield "SIM102"
    test = node.test
    if isinstance(first, ast.Assign) and not others and isinstance(test, ast.Compare):
        target = ast.dump(first.targets[0]).replace("Store()", "Load()")
        if target in (ast.dump(test.left), ast.dump(test.comparators[0])):
            yield "PLR1730"
