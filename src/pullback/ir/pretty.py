"""Stable text of IR, for golden tests and `PULLBACK_DUMP`.  Values are numbered in order of appearance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pullback.ir.nodes import Block, Call, Const, For, Function, If, Iter, Operand, Pack, Range, Stmt, Var, While
from pullback.styles.style import Anything, Array, Foreign, ListOf, Scalar, Static, Style, Tup


def pretty(function: Function) -> str:
    """The text of a function."""
    printer = _Printer()
    params = ", ".join(f"{p.name}={printer.operand(p.tree, typed=True)}" for p in function.params)
    lines = [f"def {function.name}({params}):"]
    lines += ["    " + line for line in printer.block(function.body)]
    lines.append(f"    return {printer.operands(function.results)}")
    return "\n".join(lines) + "\n"


def style_text(style: Style) -> str:
    """A style in short: `f64[n,1]`, `f64`, `weak f64`."""
    match style:
        case Scalar():
            return f"{'weak ' if style.weak else ''}{_dtype(style)}"
        case Array():
            axes = "?" if style.axes is None else ",".join(str(a) if isinstance(a, int) else "n" for a in style.axes)
            return f"{_dtype(style)}[{axes}]"
        case Tup():
            return f"{style.kind}({', '.join(style_text(s) for s in style.items)})"
        case ListOf():
            return f"list of {style_text(style.elem)}"
        case Static():
            return f"static {style.value!r}"
        case Foreign():
            return style.cls.__name__
        case Anything():
            return "any"
    return "undef"


def _dtype(style: Scalar | Array) -> str:
    if style.dtype is None:
        return f"{style.kind}?"
    return f"{style.dtype.kind}{style.dtype.itemsize * 8}"


class _Printer:
    def __init__(self) -> None:
        self.names: dict[Var, str] = {}
        self.counts: dict[str, int] = {}

    def var(self, var: Var) -> str:
        if var not in self.names:
            n = self.counts.get(var.hint, 0)
            self.counts[var.hint] = n + 1
            self.names[var] = f"%{var.hint}" if n == 0 else f"%{var.hint}.{n}"
        return self.names[var]

    def operand(self, operand: Operand, typed: bool = False) -> str:
        match operand:
            case Var():
                return self.var(operand) + (f": {style_text(operand.style)}" if typed else "")
            case Const(value):
                return _constant(value)
            case Pack(kind, items, meta):
                inner = ", ".join(self.operand(x, typed) for x in items)
                return f"{kind}{_meta(kind, meta)}({inner})"

    def operands(self, operands: Sequence[Operand]) -> str:
        return ", ".join(self.operand(x) for x in operands)

    def targets(self, targets: Sequence[Var]) -> str:
        return ", ".join(self.operand(t, typed=True) for t in targets)

    def block(self, block: Block) -> Iterator[str]:
        for stmt in block.stmts:
            yield from self.statement(stmt)

    def statement(self, stmt: Stmt) -> Iterator[str]:
        match stmt:
            case Call():
                args = [self.operand(a) for a in stmt.args] + [f"{k}={self.operand(v)}" for k, v in stmt.kwargs]
                head = f"{self.targets(stmt.targets)} = " if stmt.targets else ""
                yield f"{head}{stmt.op.name} {', '.join(args)}".rstrip()
            case If():
                yield f"if {self.operand(stmt.test)}:"
                yield from self._inner(stmt.then, stmt.then_yields)
                yield "else:"
                yield from self._inner(stmt.orelse, stmt.else_yields)
                yield from self._results(stmt.results)
            case For():
                iters = ", ".join(self.iter(it) for it in stmt.iters)
                yield f"for {self.targets(stmt.index)} in {iters}, carrying {self._carried(stmt)}:"
                yield from self._inner(stmt.body, stmt.yields, stmt.go)
                yield from self._results(stmt.results)
            case While():
                yield f"while carrying {self._carried(stmt)}:"
                yield from self._inner(stmt.cond, (stmt.test,), word="test")
                yield "do:"
                yield from self._inner(stmt.body, stmt.yields, stmt.go)
                yield from self._results(stmt.results)

    def _carried(self, stmt: For | While) -> str:
        pairs = zip(stmt.params, stmt.inits, strict=True)
        return ", ".join(f"{self.operand(p, typed=True)} = {self.operand(x)}" for p, x in pairs) or "nothing"

    def _inner(
        self, block: Block, ends: Sequence[Operand], go: Operand | None = None, word: str = "yield"
    ) -> Iterator[str]:
        for line in self.block(block):
            yield "    " + line
        if ends:
            yield f"    {word} {self.operands(ends)}"
        if go is not None:
            yield f"    go {self.operand(go)}"

    def _results(self, results: Sequence[Var]) -> Iterator[str]:
        if results:
            yield f"-> {self.targets(results)}"

    def iter(self, it: Iter) -> str:
        if isinstance(it, Range):
            count = "" if it.count is None else f"[:{self.operand(it.count)}]"
            text = f"range({self.operands((it.start, it.stop, it.step))}){count}"
        else:
            text = self.operand(it.value)
        return f"reversed({text})" if it.reverse else text


def _constant(value: Any) -> str:
    if isinstance(value, int | float | complex | str | bytes | bool | tuple | list | type(None) | slice):
        return repr(value)
    return getattr(value, "__name__", None) or str(value)


def _meta(kind: str, meta: Any) -> str:
    if kind == "view":
        return f" {meta.name}"
    if kind == "dict":
        return f" {list(meta)}"
    return f" {meta[0].__name__}" if kind == "new" else ""
