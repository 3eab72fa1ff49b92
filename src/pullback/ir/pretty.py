"""The IR as text, the same every time: names and lengths are numbered by first appearance.

joint f(%x: f64[n], %k: int) -> %value
  %t: f64[n] = np.tanh(%x)
  for %i in range(0, %k, 1) carry %h = %t:
    %h.1: f64[n] = %h * %x
    yield %h.1
  -> %h.2: f64[n]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pullback.ir.nodes import (
    UNDEF,
    Block,
    Call,
    Const,
    For,
    Function,
    If,
    Iter,
    Operand,
    Pack,
    Seq,
    Stmt,
    Var,
    While,
)
from pullback.styles.style import (
    Anything,
    Array,
    Axis,
    Foreign,
    ListOf,
    Scalar,
    Static,
    Style,
    Tup,
    Undef,
)

_LENGTHS = "nmkpqrstuvw"
_INFIX = frozenset(
    [
        "+",
        "-",
        "*",
        "/",
        "//",
        "%",
        "**",
        "@",
        "<<",
        ">>",
        "&",
        "|",
        "^",
        "<",
        "<=",
        ">",
        ">=",
        "==",
        "!=",
        "is",
        "in",
    ]
) | {"is not"}
_PREFIX = {"u-": "-", "u+": "+", "~": "~", "not": "not "}


def pretty(function: Function) -> str:
    """The text of a function."""
    return "\n".join(_Printer().function(function)) + "\n"


def pretty_statement(stmt: Stmt) -> str:
    """The first line of a statement."""
    return next(iter(_Printer().statement(stmt, "")))


class StylePrinter:
    """Styles as text; unknown lengths get letters in the order in which they are met."""

    def __init__(self) -> None:
        self.lengths: dict[int, str] = {}

    def style(self, style: Style) -> str:
        """A style."""
        match style:
            case Static():
                return f"={constant(style.value)}"
            case Scalar():
                return self._scalar(style)
            case Array():
                axes = "..." if style.axes is None else ", ".join(self.axis(a) for a in style.axes)
                return f"{_dtype(style.dtype, style.kind)}[{axes}]"
            case Tup():
                return f"{style.kind}({', '.join(self.style(s) for s in style.items)})"
            case ListOf():
                return f"list[{self.style(style.elem)}]"
            case Foreign():
                return style.cls.__name__
            case Anything():
                return "any"
            case Undef():
                return "undef"

    def _scalar(self, style: Scalar) -> str:
        if style.weak:
            return {"b": "bool", "i": "int", "f": "float", "c": "complex"}[style.kind] + (
                "" if style.dtype else "?"
            )
        return _dtype(style.dtype, style.kind) + ("~" if style.weak is None else "")

    def axis(self, axis: Axis) -> str:
        """A length."""
        if isinstance(axis, int):
            return str(axis)
        if axis.sym not in self.lengths:
            k = len(self.lengths)
            self.lengths[axis.sym] = _LENGTHS[k] if k < len(_LENGTHS) else f"n{k}"
        name = self.lengths[axis.sym]
        return f"{name}-{axis.minus}" if axis.minus > 0 else f"{name}+{-axis.minus}" if axis.minus else name


class _Printer(StylePrinter):
    def __init__(self) -> None:
        super().__init__()
        self.names: dict[Var, str] = {}
        self.counts: dict[str, int] = {}

    def function(self, function: Function) -> Iterator[str]:
        """The lines of a function."""
        params = [self._param(p.name, p.tree) for p in function.params]
        lines = list(self.block(function.body, "  "))
        results = ", ".join(self.operand(x) for x in function.results)
        yield f"{function.kind} {function.name}({', '.join(params)}) -> {results}"
        yield from lines

    def _param(self, name: str, tree: Operand) -> str:
        text = self._tree(tree)
        return text if isinstance(tree, Var) and tree.hint == name else f"{name} = {text}"

    def _tree(self, tree: Operand) -> str:
        if isinstance(tree, Var):
            return self.bound(tree)
        if isinstance(tree, Pack):
            return self._display(tree, [self._tree(item) for item in tree.items])
        return self.operand(tree)

    # ----------------------------------------------------------------------------------------------- statements

    def block(self, block: Block, indent: str) -> Iterator[str]:
        """The lines of a block."""
        for stmt in block.stmts:
            yield from self.statement(stmt, indent)

    def statement(self, stmt: Stmt, indent: str) -> Iterator[str]:
        """The lines of a statement."""
        match stmt:
            case Call():
                yield indent + self._call(stmt)
            case If():
                yield from self._if(stmt, indent)
            case For():
                index = ", ".join(self.name(v) for v in stmt.index)
                iters = ", ".join(self._iter(it) for it in stmt.iters)
                yield f"{indent}for {index} in {iters}{self._carry(stmt)}:"
                yield from self._body(stmt, indent)
            case While():
                yield f"{indent}while{self._carry(stmt)}:"
                yield from self.block(stmt.cond, indent + "  ")
                yield f"{indent}  test {self.operand(stmt.test)}"
                yield f"{indent}do:"
                yield from self._body(stmt, indent)

    def _call(self, stmt: Call) -> str:
        text = self._applied(stmt)
        if not stmt.targets:
            return text
        return f"{', '.join(self.bound(t) for t in stmt.targets)} = {text}"

    def _applied(self, stmt: Call) -> str:
        args = [self.operand(x) for x in stmt.args]
        if stmt.op.name in _INFIX and len(args) == 2:
            return f"{args[0]} {stmt.op.name} {args[1]}"
        if stmt.op.name in _PREFIX and len(args) == 1:
            return _PREFIX[stmt.op.name] + args[0]
        args += [f"{name}={self.operand(x)}" for name, x in stmt.kwargs]
        return f"{stmt.op.numpy_path or stmt.op.name}({', '.join(args)})"

    def _if(self, stmt: If, indent: str) -> Iterator[str]:
        yield f"{indent}if {self.operand(stmt.test)}:"
        yield from self.block(stmt.then, indent + "  ")
        yield from self._yields(stmt.then_yields, indent + "  ")
        yield f"{indent}else:"
        yield from self.block(stmt.orelse, indent + "  ")
        yield from self._yields(stmt.else_yields, indent + "  ")
        yield from self._results(stmt.results, indent)

    def _body(self, stmt: For | While, indent: str) -> Iterator[str]:
        yield from self.block(stmt.body, indent + "  ")
        yield from self._yields(stmt.yields, indent + "  ")
        if stmt.go is not None:
            yield f"{indent}  go {self.operand(stmt.go)}"
        yield from self._results(stmt.results, indent)

    def _yields(self, operands: Sequence[Operand], indent: str) -> Iterator[str]:
        if operands:
            yield f"{indent}yield {', '.join(self.operand(x) for x in operands)}"

    def _results(self, results: Sequence[Var], indent: str) -> Iterator[str]:
        if results:
            yield f"{indent}-> {', '.join(self.bound(v) for v in results)}"

    def _carry(self, stmt: For | While) -> str:
        pairs = zip(stmt.params, stmt.inits, strict=True)
        text = ", ".join(f"{self.bound(p)} = {self.operand(x)}" for p, x in pairs)
        return f" carry {text}" if text else ""

    def _iter(self, it: Iter) -> str:
        if isinstance(it, Seq):
            text = self.operand(it.value)
        else:
            text = f"range({self.operand(it.start)}, {self.operand(it.stop)}, {self.operand(it.step)})"
            if it.count is not None:
                text += f"[:{self.operand(it.count)}]"
        return f"reversed({text})" if it.reverse else text

    # ------------------------------------------------------------------------------------------------- operands

    def name(self, var: Var) -> str:
        """The name of a Var: its hint, numbered from the second on."""
        if var not in self.names:
            count = self.counts.get(var.hint, 0)
            self.counts[var.hint] = count + 1
            self.names[var] = f"%{var.hint}" + (f".{count}" if count else "")
        return self.names[var]

    def bound(self, var: Var) -> str:
        """A Var where it is defined, with its style."""
        return f"{self.name(var)}: {self.style(var.style)}"

    def operand(self, operand: Operand) -> str:
        """An operand."""
        if isinstance(operand, Var):
            return self.name(operand)
        if isinstance(operand, Const):
            known = isinstance(operand.value, Scalar | Array | ListOf | Tup)
            return self.style(operand.value) if known else constant(operand.value)
        return self._display(operand, [self.operand(item) for item in operand.items])

    def _display(self, pack: Pack, items: list[str]) -> str:
        inner = ", ".join(items)
        match pack.kind:
            case "tuple":
                return f"({inner},)" if len(items) == 1 else f"({inner})"
            case "list":
                return f"[{inner}]"
            case "slice":
                start, stop, step = ("" if x == "None" else x for x in items)
                return f"{start}:{stop}" + (f":{step}" if step else "")
            case "dict":
                return "{" + ", ".join(f"{k!r}: {x}" for k, x in zip(pack.meta, items, strict=True)) + "}"
            case "index":
                return f"[{inner},]" if pack.meta == "tuple" and len(items) == 1 else f"[{inner}]"
            case "view":
                return f".{pack.meta}({inner})"
        constructor, names = pack.meta
        fields = items if names is None else [f"{k}={x}" for k, x in zip(names, items, strict=True)]
        return f"{constant(constructor)}({', '.join(fields)})"


def _dtype(dtype: np.dtype[Any] | None, kind: str) -> str:
    if dtype is None:
        return f"{kind}?"
    return "bool_" if dtype.kind == "b" else f"{dtype.kind}{dtype.itemsize * 8}"


def constant(value: Any) -> str:
    """A compile-time object: never an address."""
    if value is UNDEF:
        return "undef"
    if isinstance(value, np.ndarray):
        return f"array({value.dtype}, {value.shape})"
    if isinstance(value, np.dtype):
        return str(value)
    if isinstance(value, np.ufunc):
        return f"np.{value.__name__}"
    if callable(value) and hasattr(value, "__qualname__"):
        return str(value.__qualname__)
    text = repr(value)
    return f"<{type(value).__name__}>" if " at 0x" in text else text
