"""Runs a desugared function: dotted names renamed, `go` flags turned back into `break`."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import Any

from pullback.frontend.desugar import desugar


class _Plain(ast.NodeTransformer):
    """Python that `compile` accepts."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name(node.id.replace(".", "dot_"), node.ctx), node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if not callable(node.value):
            return node
        name = f"object_{len(self.objects)}"
        self.objects[name] = node.value
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def _loop(self, node: Any) -> ast.AST:
        self.generic_visit(node)
        if node.go is not None:
            flag = ast.Name(node.go.replace(".", "dot_"), ast.Load())
            node.body.append(ast.If(ast.UnaryOp(ast.Not(), flag), [ast.Break()], []))
        return node

    visit_For = visit_While = _loop


def run_desugared(node: ast.FunctionDef, namespace: dict[str, Any]) -> Callable[..., Any]:
    """The desugared function, as a function."""
    check_shapes(node)
    plain = _Plain()
    new = plain.visit(copy.deepcopy(node))
    new.name = "desugared"
    module = ast.fix_missing_locations(ast.Module([new], []))
    scope = {**namespace, **plain.objects}
    exec(compile(module, "<desugared>", "exec"), scope)
    return scope["desugared"]


def check_shapes(node: ast.FunctionDef) -> None:
    """What the desugared form promises."""
    *_, last = node.body
    assert isinstance(last, ast.Return) and isinstance(last.value, ast.Name | ast.Constant)
    pending: list[ast.stmt] = list(node.body[:-1])
    seen: set[int] = set()
    while pending:
        stmt = pending.pop()
        assert id(stmt) not in seen, "a statement stands in two places"
        seen.add(id(stmt))
        assert not isinstance(stmt, ast.Break | ast.Continue | ast.Return | ast.Match), ast.dump(stmt)
        assert stmt.lineno > 0
        if isinstance(stmt, ast.For | ast.While):
            assert stmt.orelse == []
            assert hasattr(stmt, "go")
        if isinstance(stmt, ast.If | ast.For | ast.While | ast.With):
            assert stmt.body
            pending += [*stmt.body, *getattr(stmt, "orelse", [])]


def desugar_text(text: str) -> ast.FunctionDef:
    """The first function of a text, desugared."""
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    return desugar(node)
