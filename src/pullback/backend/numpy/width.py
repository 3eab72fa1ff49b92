"""How many columns an expression or a simple statement takes: an upper bound, cheap to have."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any


def width(node: ast.AST | None) -> int:
    """The columns that a node takes when printed, parentheses included."""
    if node is None:
        return 0
    return _WIDTHS[type(node)](node)


def _several(nodes: list[Any]) -> int:
    return sum(width(n) + 2 for n in nodes)


def _constant(node: ast.Constant) -> int:
    return 3 if node.value is Ellipsis else len(repr(node.value))


def _slice(node: ast.Slice) -> int:
    return width(node.lower) + width(node.upper) + (1 + width(node.step) if node.step else 0) + 1


def _inner(node: ast.expr) -> int:
    """An operand of an operator, with the parentheses it may need."""
    return width(node) + (2 if isinstance(node, ast.BinOp | ast.Compare | ast.UnaryOp | ast.IfExp) else 0)


_WIDTHS: dict[type, Callable[[Any], int]] = {
    ast.Name: lambda n: len(n.id),
    ast.Constant: _constant,
    ast.Attribute: lambda n: _inner(n.value) + 1 + len(n.attr),
    ast.Subscript: lambda n: _inner(n.value) + 2 + width(n.slice),
    ast.Slice: _slice,
    ast.Tuple: lambda n: _several(n.elts) + 1,
    ast.List: lambda n: _several(n.elts) + 2,
    ast.Dict: lambda n: _several(n.keys) + _several(n.values) + 2,
    ast.Call: lambda n: width(n.func) + 2 + _several(n.args) + _several(n.keywords),
    ast.keyword: lambda n: len(n.arg) + 1 + width(n.value),
    ast.BinOp: lambda n: _inner(n.left) + 4 + _inner(n.right),
    ast.UnaryOp: lambda n: (4 if isinstance(n.op, ast.Not) else 1) + _inner(n.operand),
    ast.Compare: lambda n: _inner(n.left) + 8 + _inner(n.comparators[0]),
    ast.IfExp: lambda n: width(n.body) + 10 + width(n.test) + width(n.orelse),
    ast.Assign: lambda n: width(n.targets[0]) + 3 + width(n.value),
    ast.AugAssign: lambda n: width(n.target) + 5 + width(n.value),
    ast.Expr: lambda n: width(n.value),
    ast.Return: lambda n: 7 + width(n.value),
    ast.Raise: lambda n: 6 + width(n.exc),
    ast.Assert: lambda n: 9 + width(n.test) + width(n.msg),
    ast.Delete: lambda n: 4 + _several(n.targets),
    ast.Pass: lambda n: 4,
    ast.Break: lambda n: 5,
}
