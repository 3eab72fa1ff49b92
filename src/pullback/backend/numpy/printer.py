"""Syntax trees as text, through `astor` behind one function.

`source` prints and breaks what is longer than a line; the text is parsed back and must give the same tree, so
that a fault of the printer is an error here and never another program.
"""

from __future__ import annotations

import ast
import warnings
from typing import Any, TypeAlias

from pullback.backend.numpy.wrap import FORMATTED, INDENT, quoted, wrapped
from pullback.errors import Loc, PullbackError

with warnings.catch_warnings():
    warnings.simplefilter(
        "ignore", DeprecationWarning
    )  # astor asks for node classes that Python is about to drop
    import astor
    from astor.code_gen import set_precedence
    from astor.op_util import Precedence, get_op_symbol

_IGNORED = frozenset({"ctx", "kind", "type_comment", "type_params", "type_ignores", "returns", "annotation"})


Places: TypeAlias = dict[ast.stmt, Loc]  # statements, and the user's lines that they are made from


class Comment(ast.stmt):
    """A comment on a line of its own; it stands in a block like a statement."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class _Generator(astor.SourceGenerator):  # type: ignore[misc]
    """astor's generator, which also knows comments, and spaces operators as formatters do."""

    def visit_Comment(self, node: Comment) -> None:  # noqa: N802 - astor's name
        """On one line; what does not fit is cut."""
        width = FORMATTED - INDENT * self.indentation
        text = f"# {node.text}"
        self.statement(node, text if len(text) <= width else f"{text[: width - 2].rstrip()} …")

    def visit_BinOp(self, node: ast.BinOp) -> None:  # noqa: N802
        """`x**2`, but `x[0] ** 2`."""
        if not (isinstance(node.op, ast.Pow) and _is_base(node.left) and _is_plain(node.right)):
            super().visit_BinOp(node)
            return
        with self.delimit(node, node.op):
            set_precedence(Precedence.Pow + 1, node.left)
            set_precedence(Precedence.PowRHS, node.right)
            self.write(node.left, "**", node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:  # noqa: N802
        """`-(x**2)`: what the minus is of."""
        power = isinstance(node.operand, ast.BinOp) and isinstance(node.operand.op, ast.Pow)
        if not power or isinstance(node.op, ast.Not):
            super().visit_UnaryOp(node)
            return
        with self.delimit(node, node.op):
            set_precedence(Precedence.highest, node.operand)
            self.write(get_op_symbol(node.op), node.operand)

    def visit_Slice(self, node: ast.Slice) -> None:  # noqa: N802
        """`x[a:b]`, but `x[a : b + 1]`."""
        parts = [part for part in (node.lower, node.upper, node.step) if part is not None]
        space = "" if all(map(_is_name_or_literal, parts)) else " "
        set_precedence(node, node.lower, node.upper, node.step)
        self.conditional_write(node.lower, space if node.lower else "")
        self.write(":")
        self.conditional_write(space if node.upper else "", node.upper)
        if node.step is not None:
            self.write(space if node.upper else "", ":", space, node.step)

    def visit_Tuple(self, node: ast.Tuple) -> None:  # noqa: N802
        """A tuple of one keeps its brackets."""
        if len(node.elts) != 1:
            super().visit_Tuple(node)
            return
        set_precedence(Precedence.Comma, *node.elts)
        self.write("(", node.elts[0], ",)")

    def visit_Constant(self, node: ast.Constant) -> None:  # noqa: N802
        """Bytes in double quotes; floats without the plus of their exponent."""
        if isinstance(node.value, bytes):
            self.write(quoted(node.value))
        elif isinstance(node.value, float | complex) and "e+" in repr(node.value):
            with self.delimit(node):
                self.write(repr(node.value).replace("e+", "e"))
        else:
            super().visit_Constant(node)


def _is_base(node: ast.expr) -> bool:
    return _is_plain(node) and not isinstance(node, ast.UnaryOp)


def _is_plain(node: ast.expr) -> bool:
    """What a formatter writes without blanks beside `**`: a name, a number, attributes of a name."""
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not) and _is_plain(node.operand)
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name | ast.Attribute) and _is_plain(node.value)
    return isinstance(node, ast.Name) or (
        isinstance(node, ast.Constant) and type(node.value) in _PLAIN_CONSTANTS
    )


def _is_name_or_literal(node: ast.expr) -> bool:
    """What a formatter writes without blanks beside the colon of a slice."""
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not) and _is_name_or_literal(node.operand)
    return isinstance(node, ast.Name | ast.Constant)


_PLAIN_CONSTANTS = (int, float, complex, bool, type(None))


def source(module: ast.Module) -> str:
    """The text of a module."""
    return source_and_tree(module)[0]


def source_and_tree(module: ast.Module) -> tuple[str, ast.Module]:
    """The text of a module, and the tree that it reads back as."""
    text = astor.to_source(
        module,
        source_generator_class=_Generator,
        pretty_string=_string,
        pretty_source="".join,
    )
    text = "\n".join(wrapped(text)).strip() + "\n"
    return text, _check(module, text)


def _string(text: str, embedded: int, current_line: str, unicode_literals: bool = False) -> str:
    """A string literal: a docstring in three quotes, else in double quotes where that needs no escape."""
    printable = all(line.isprintable() for line in text.split("\n"))
    if not current_line.strip() and '"' not in text and "\\" not in text and printable:
        return f'"""{text}"""'
    return quoted(text)


# ------------------------------------------------------------------------------------------- the check


def _check(module: ast.Module, text: str) -> ast.Module:
    try:
        again = ast.parse(text)
    except SyntaxError as error:
        raise PullbackError(f"generated source does not parse: {error}\n{text}") from error
    if not _same(module, again):
        raise PullbackError(f"generated source does not read back as it was meant\n{text}")
    return again


def _same(a: Any, b: Any) -> bool:
    """Whether two trees are equal but for comments, places and contexts."""
    if type(a) is not type(b):
        return False
    if isinstance(a, ast.AST):
        return all(_same(getattr(a, f, None), getattr(b, f, None)) for f in a._fields if f not in _IGNORED)
    if isinstance(a, list):
        kept = [x for x in a if not isinstance(x, Comment)]
        return len(kept) == len(b) and all(map(_same, kept, b))
    return a is b or repr(a) == repr(b)
