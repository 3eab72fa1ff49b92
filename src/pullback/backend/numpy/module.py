"""A module of Python source from IR functions.

In: optimised functions.  Out: `Generated`: the source, the objects it refers to by name, the array copies
inserted. The stages of each function: bufferise (passes/bufferize.py), choose what folds, name, emit.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pullback.backend.numpy.constants import Globals, call, name
from pullback.backend.numpy.control import Emitter
from pullback.backend.numpy.expressions import Expressions
from pullback.backend.numpy.folding import folds
from pullback.backend.numpy.kernels import kernels_in
from pullback.backend.numpy.loops import deciding_last
from pullback.backend.numpy.naming import Names, assign_names
from pullback.backend.numpy.places import lines_of
from pullback.backend.numpy.printer import Places, source_and_tree
from pullback.backend.numpy.wrap import INDENT
from pullback.errors import Loc
from pullback.ir import core_ops as core
from pullback.ir.callee import Callee
from pullback.ir.nodes import UNDEF, Call, Function, Operand, Pack, Param, Stmt, Var
from pullback.ir.walk import definitions, statements
from pullback.passes.bufferize import Copy, bufferize
from pullback.passes.fuse import fuse
from pullback.passes.known import drop_known

__all__ = ["Copy", "Generated", "Part", "emit_module", "emit_parts", "has_products"]


@dataclass(frozen=True, slots=True)
class Generated:
    """A generated module: its text, the objects to be bound in its namespace, the copies that were
    inserted.
    """

    source: str
    namespace: dict[str, Any]
    copies: tuple[Copy, ...] = ()
    names: tuple[str, ...] = field(default=())  # of its functions
    results: tuple[Operand, ...] = ()  # of its first function
    has_products: bool = False  # products that `guarded` spells otherwise
    places: Mapping[int, Loc] = field(default_factory=dict)  # the user's place by line of the source
    functions: tuple[Function, ...] = ()  # as they are printed
    texts: tuple[str, ...] = ()  # the text of each function
    runtime: tuple[str, ...] = ()  # the functions of the runtime that the source imports


@dataclass(frozen=True, slots=True)
class Part:
    """One function of a module.

    name            how it is called there
    callees         how the functions that it calls are called there, where not by their own names
    guarded         print `scale` as the strong-zero product
    copy_residuals  a primal's residuals share nothing with its arguments or its value
    """

    function: Function
    name: str
    callees: Mapping[Callee, str] = field(default_factory=dict)
    guarded: bool = False
    copy_residuals: bool = False


def has_products(function: Function) -> bool:
    """Whether a function has products that a guarded one spells otherwise."""
    return any(isinstance(s, Call) and s.op is core.scale for s in statements(function.body))


def emit_module(
    functions: Sequence[Function],
    *,
    guarded: bool = False,
    bufferize: bool = True,
    copy_residuals: bool = False,
    blocks: bool = False,
) -> Generated:
    """Print functions as a module.

    guarded         print `scale` as the strong-zero product
    bufferize       do writes in place where nothing can tell; otherwise every write copies first
    copy_residuals  a primal's residuals share nothing with its arguments or its value
    blocks          elementwise work on large arrays in blocks that fit the cache, in functions of its own
    """
    parts = [Part(f, f.name, {}, guarded, copy_residuals) for f in functions]
    return emit_parts(parts, bufferize=bufferize, blocks=blocks)


def emit_parts(
    parts: Sequence[Part], *, bufferize: bool = True, taken: Iterable[str] = (), blocks: bool = False
) -> Generated:
    """Print functions as a module.  `taken` are names that objects in its namespace must not get."""
    return _Module(parts, bufferize, taken, blocks).generate()


class _Module:
    def __init__(self, parts: Sequence[Part], in_place: bool, taken: Iterable[str], blocks: bool) -> None:
        self.copies: list[Copy] = []
        self.parts: list[Part] = []
        taken = set(taken)
        names = dict.fromkeys([*taken, *(p.name for p in parts), *_names(p.function for p in parts)], 1)
        for part in parts:
            done = bufferize(drop_known(part.function), in_place=in_place, copy_residuals=part.copy_residuals)
            function = fuse(done.function, taken=names) if blocks else done.function
            self.parts.append(replace(part, function=replace(function, name=part.name)))
            for kernel in kernels_in((function,)):
                made = replace(kernel.function, doc=f"Elementwise work of `{part.name}`.")
                self.parts.append(replace(part, function=made, name=kernel.name))
            self.copies += done.copies
        self.places: Places = {}
        self.functions = [p.function for p in self.parts]
        self.globals = Globals(self.functions, taken)

    def generate(self) -> Generated:
        """Print every function, then the imports they need."""
        made = [self._function(p) for p in self.parts]
        module = ast.Module([*self._imports(), *made], [])
        text, printed = source_and_tree(module)
        names = tuple(f.name for f in self.functions)
        products = any(map(has_products, self.functions))
        results = self.functions[0].results
        lines = lines_of(module, printed, text, self.places)
        return Generated(
            text,
            self.globals.namespace,
            tuple(self.copies),
            names,
            results,
            products,
            lines,
            tuple(self.functions),
            tuple(_texts(printed, text)),
            tuple(sorted(self.globals.runtime)),
        )

    def _imports(self) -> Iterator[ast.stmt]:
        if "math" in self.globals.modules:
            yield ast.Import([ast.alias("math", None)])
        if "np" in self.globals.modules:
            yield ast.Import([ast.alias("numpy", "np")])
        if self.globals.runtime:
            yield ast.ImportFrom(
                "pullback.runtime", [ast.alias(n, None) for n in sorted(self.globals.runtime)], 0
            )

    def _function(self, part: Part) -> ast.FunctionDef:
        function = replace(part.function, body=deciding_last(part.function.body))
        folded = folds(function)
        taken = self.globals.reserved() | {f.name for f in self.functions}
        names = assign_names(function, folded, taken)
        expressions = Expressions(names.of, folded, self.globals, part.guarded, part.callees)
        body: list[ast.stmt] = [ast.Expr(ast.Constant(function.doc))] if function.doc else []
        body += self._unpacked(function.params, names)
        body += self._body(function, Emitter(expressions, names, False, self.places))
        value = _result(function.results)
        emitter = Emitter(expressions, names, False)
        body += emitter.fit(lambda: ast.Return(expressions.operand(value)), (value,), INDENT)
        last = folded.get(function.results[0]) if isinstance(function.results[0], Var) else None
        if last is not None and last.loc.line:
            self.places[body[-1]] = last.loc
        return ast.FunctionDef(function.name, self._arguments(function.params), body, [])

    def _body(self, function: Function, emitter: Emitter) -> list[ast.stmt]:
        """The forward statements, then the reverse sweep under a setting that keeps it from warning."""
        stmts = function.body.stmts
        start = _reverse_start(function)
        out = emitter.block(stmts[:start], INDENT)
        emitter.reverse = True
        reverse = emitter.block(stmts[start:], 2 * INDENT)
        if not reverse:
            return out
        quiet = call(self.globals.numpy("errstate"), all=ast.Constant("ignore"))
        return [*out, ast.With([ast.withitem(quiet, None)], reverse)]

    def _arguments(self, params: Sequence[Param]) -> ast.arguments:
        defaults = [self.globals.constant(p.default) for p in params if p.default is not UNDEF]
        args = [ast.arg(p.name, None) for p in params]
        none: list[Any] = []
        return ast.arguments(none, args, None, none, none, None, defaults)

    # ------------------------------------------------------------------------------------ unpacked parameters

    def _unpacked(self, params: Sequence[Param], names: Names) -> Iterator[ast.stmt]:
        for param in params:
            if isinstance(param.tree, Pack):
                yield from self._unpack(param.tree, name(param.name), names)

    def _unpack(self, pack: Pack, base: ast.expr, names: Names) -> Iterator[ast.stmt]:
        """`W = params["W"]`, or all of a flat tuple at once."""
        flat = [x for x in pack.items if isinstance(x, Var)]
        used = names.used.intersection(flat)
        if pack.kind in ("tuple", "list") and len(flat) == len(pack.items) and len(used) > 1:
            items: list[ast.expr] = [name(names.of[v] if v in used else "_") for v in flat]
            yield ast.Assign([ast.Tuple(items, ast.Load())], base)
            return
        for i, item in enumerate(pack.items):
            part = _part(self.globals, pack, i, base)
            if isinstance(item, Var):
                if item in names.used:
                    yield ast.Assign([name(names.of[item])], part)
            elif isinstance(item, Pack):
                yield from self._unpack(item, part, names)


def _part(module: Globals, pack: Pack, i: int, base: ast.expr) -> ast.expr:
    """One item of a structure."""
    if pack.kind == "dict":
        return ast.Subscript(base, module.constant(pack.meta[i]), ast.Load())
    if pack.kind == "new" and pack.meta[1] is not None:
        return ast.Attribute(base, pack.meta[1][i], ast.Load())
    return ast.Subscript(base, ast.Constant(i), ast.Load())


def _names(functions: Iterable[Function]) -> Iterator[str]:
    """The names that functions' parameters and values have or would like to have."""
    for function in functions:
        yield from (p.name for p in function.params)
        yield from (v.hint for v in definitions(function.body))


def _texts(printed: ast.Module, text: str) -> Iterator[str]:
    """The text of each function of a module."""
    lines = text.split("\n")
    for stmt in printed.body:
        if isinstance(stmt, ast.FunctionDef):
            yield "\n".join(lines[stmt.lineno - 1 : stmt.end_lineno])


def _result(results: Sequence[Operand]) -> Operand:
    return results[0] if len(results) == 1 else Pack("tuple", tuple(results))


def _reverse_start(function: Function) -> int:
    """Where the reverse sweep begins among a function's statements."""
    stmts: tuple[Stmt, ...] = function.body.stmts
    if function.kind == "pullback":
        return 0
    for i, stmt in enumerate(stmts):
        if isinstance(stmt, Call) and stmt.op is core.begin_reverse:
            return i
    return len(stmts)
