"""A C module: the entry of a function, its kernels, the structs of its lists.

In: an optimised function.  Out: `Native`: the C text, the interface of its entry, the tree of its results.  Stages:
bufferise, fuse, emit.  Raises Untaken, with the reason and the place, where C cannot take the function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pullback.analysis.binding import maybe_unbound
from pullback.backend.native.emit import functions
from pullback.backend.native.emit.borrowing import borrowed_views
from pullback.backend.native.emit.control import statement
from pullback.backend.native.emit.dtypes import Loose, settle_dtypes
from pullback.backend.native.emit.element import literal
from pullback.backend.native.emit.emitter import TYPE_ERROR, ArrayRef, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.kernels import KernelEmitter
from pullback.backend.native.emit.leaves import (
    DTYPES,
    MAX_RANK,
    ArrayLeaf,
    ListLeaf,
    Number,
    c_type,
    code_of,
    declared,
    leaves_of,
)
from pullback.backend.native.emit.lists import declared_items
from pullback.backend.native.emit.values import release, retain
from pullback.backend.native.interface import (
    ArgSpec,
    ArraySpec,
    Interface,
    Operation,
    ResultSpec,
    ScalarSpec,
    kind_of,
)
from pullback.backend.numpy.naming import Names, assign_names
from pullback.errors import Loc
from pullback.ir.callee import Callee
from pullback.ir.kernel import Kernel, kernel_of
from pullback.ir.nodes import Block, Call, For, Function, Operand, Stmt, Var, While
from pullback.ir.walk import block_ends, definitions, statements, uses, variables, variables_in
from pullback.passes.bufferize import bufferize
from pullback.passes.fuse import fuse
from pullback.passes.known import drop_known
from pullback.passes.lengths import settle_assumed
from pullback.styles.style import Anything, Array, Dim, Foreign, Scalar, Static

HEADERS = ("pullback.h", "arrays.h", "kernels.h", "lists.h", "maths.h", "products.h", "selection.h")
FEW = 16  # kernels in loops that run where they stand
MAX_CONSTANT = 1000  # items of an array that is written into the C text
RESERVED = [
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "bool",
    "complex",
    "imaginary",
    "true",
    "false",
    "NULL",
    "I",
    "linux",
    "unix",
    "asm",
    "typeof",
    "host",
    "in",
    "out",
    "fail",
    "done",
    "errno",
    "stdin",
    "stdout",
    "stderr",
    "INFINITY",
    "NAN",
    "EOF",
    "main",
    "x",
    "n",
]


@dataclass(frozen=True, slots=True)
class Native:
    """A C module and how to call it.

    arguments  which leaf of which parameter each argument of the entry is
    results    the tree of results; each Var in it is a result of the entry, in order
    hosted     the operations that NumPy does inside, each with its place
    calls      these operations as calls of the IR
    needs      those of them that C cannot do without NumPy
    """

    source: str
    interface: Interface
    arguments: tuple[Var, ...]
    results: tuple[Operand, ...]
    function: Function
    hosted: tuple[tuple[str, Loc], ...] = ()
    calls: tuple[Call, ...] = ()
    needs: tuple[tuple[str, Loc], ...] = ()


@dataclass(slots=True)
class ModuleEmitter:
    """What the functions of a module share.  `alone`: there is no host that does operations."""

    places: list[Loc] = field(default_factory=list)
    _places: dict[Loc, int] = field(default_factory=dict)
    _kernels: dict[Kernel, KernelEmitter] = field(default_factory=dict)
    operations: list[Operation] = field(default_factory=list)
    calls: list[tuple[Call, Loc, bool]] = field(default_factory=list)  # whether C could do it too
    alone: bool = False
    helpers: set[str] = field(default_factory=set)  # names of the C functions that are there already
    constants: dict[int, tuple[ArrayRef, Any]] = field(default_factory=dict)
    quiet: bool = False  # in the reverse sweep, which warns of nothing
    _structs: dict[ListLeaf, str] = field(default_factory=dict)
    definitions: list[str] = field(default_factory=list)
    in_place: bool = True
    _callees: dict[Callee, tuple[Function, str]] = field(default_factory=dict)
    _mapped: dict[Callee, tuple[str, Function]] = field(default_factory=dict)
    mixes_ranks: bool = False  # some number is held as an array of no axes

    def place(self, loc: Loc) -> int:
        """The number of a place in the user's source."""
        if not loc.line:
            return -1
        if loc not in self._places:
            self._places[loc] = len(self.places)
            self.places.append(loc)
        return self._places[loc]

    def operation(self, operation: Operation, call: Call, loc: Loc, optional: bool = False) -> int:
        """The number of an operation that NumPy does; `optional`: C would do it where there is no NumPy."""
        self.operations.append(operation)
        self.calls.append((call, loc, optional))
        return len(self.operations) - 1

    def constant(self, value: np.ndarray[Any, Any]) -> ArrayRef:
        """An array that is known when compiling, as data of the module."""
        if id(value) not in self.constants:
            if value.dtype.name not in DTYPES or value.size > MAX_CONSTANT or value.ndim > MAX_RANK:
                raise Untaken("a large constant")
            name, items = f"pb_constant{len(self.constants)}", np.ascontiguousarray(value)
            texts = ", ".join(literal(x, value.dtype) for x in items.ravel()) or "0"
            self.definitions.append(f"static const {c_type(value.dtype)} {name}_items[] = {{{texts}}};")
            lengths = ", ".join(map(str, value.shape)) or "1"
            strides = ", ".join(map(str, items.strides)) or "0"
            self.definitions.append(
                f"static pb_array{value.ndim} {name} = {{(char *){name}_items, NULL, {{{lengths}}}, {{{strides}}}}};"
            )
            self.constants[id(value)] = ArrayRef(name, value.dtype, value.ndim), value
        return self.constants[id(value)][0]

    def kernel(self, kernel: Kernel, loc: Loc, often: bool) -> KernelEmitter:
        """The C functions of a kernel.  `often`: it runs where it stands, in a loop."""
        if kernel not in self._kernels:
            name = (
                f"pb_{kernel.name}_{len(self._kernels)}"
                if not kernel.name.isascii()
                else f"pb_k{len(self._kernels)}_{kernel.name}"
            )
            emitter = KernelEmitter(self, kernel, name, self.place(loc), often)
            lines = emitter.text()
            if loc.line:
                self.definitions.append(f"/* {loc}  {_comment(loc.text)} */")
            self.definitions += [*lines, ""]
            self._kernels[kernel] = emitter
        return self._kernels[kernel]

    def callee(self, callee: Callee) -> tuple[Function, str]:
        """A function compiled apart, as it is emitted, and its name in C."""
        if callee not in self._callees:
            if callee.function is None:
                raise Untaken("a function that has not been made")
            made = _fused(callee.function, self.in_place)
            self._callees[callee] = made, f"pb_f{len(self._callees)}_{callee.name}"
        return self._callees[callee]

    def mapped(self, callee: Callee, function: Function) -> tuple[str, Function]:
        """The C function of a function of numbers, which several threads may run at once, and what it is of."""
        if callee not in self._mapped:
            fused, name = _fused(function, self.in_place), f"pb_m{len(self._mapped)}_{callee.name}"
            before, quiet = (len(self.operations), len(self._callees)), self.quiet
            self.definitions += _function_text(self, fused, name, mapped=True)
            self.quiet = quiet
            if before != (len(self.operations), len(self._callees)):
                raise Untaken("a function that is not C alone, at each element")
            self._mapped[callee] = name, fused
        return self._mapped[callee]

    def callees(self) -> list[str]:
        """The C functions of all that are called; emitting one may find others."""
        out: list[str] = []
        heads: list[str] = []
        while len(heads) < len(self._callees):
            function, name = list(self._callees.values())[len(heads)]
            heads.append(functions.prototype(function, name) + ";")
            out += _function_text(self, function, name)
        return [*heads, *out]

    def number_of(self, leaf: ListLeaf) -> int:
        """A number for the struct of a list's items; none is 0."""
        self.item_type(leaf)
        return list(self._structs).index(leaf) + 1

    def item_type(self, leaf: ListLeaf) -> str:
        """The struct of a list's items."""
        if leaf not in self._structs:
            name = f"pb_item{len(self._structs)}_t"  # temporaries end in a number
            self._structs[leaf] = name
            fields = " ".join(declared_items(leaf)) or "char f0;"
            self.definitions.append(f"typedef struct {name} {{ {fields} }} {name};")
            self._dropper(name, leaf)
        return self._structs[leaf]

    def _dropper(self, name: str, leaf: ListLeaf) -> None:
        """The functions that give back, and hold once more, what an item of a list holds."""
        inner = [(k, x) for k, x in enumerate(leaf.items) if not isinstance(x, Number)]
        if not inner:
            return
        lines = [f"PB_ONCE void {name}_drop(pb_host *host, void *item) {{", f"    {name} *x = item;"]
        lines += [f"    {release(x)}(x->f{k});" for k, x in inner]
        lines += ["}", f"PB_ONCE void {name}_keep(void *item) {{", f"    {name} *x = item;"]
        lines += [f"    {retain(x)}(x->f{k});" for k, x in inner]
        self.definitions += [*lines, "}", ""]

    def dropper(self, leaf: ListLeaf) -> str:
        """The function that gives back what an item of a list holds."""
        return self._of_items(leaf, "drop")

    def keeper(self, leaf: ListLeaf) -> str:
        """The function that makes another name of what an item of a list holds."""
        return self._of_items(leaf, "keep")

    def _of_items(self, leaf: ListLeaf, what: str) -> str:
        name = self.item_type(leaf)
        return f"{name}_{what}" if any(not isinstance(x, Number) for x in leaf.items) else "NULL"


def emit_native(function: Function, *, in_place: bool = True, copy_residuals: bool = False) -> Native:
    """The C module of one function.  copy_residuals: see `bufferize`."""
    named = [(function, function.name)]
    source, (made,) = emit_entries(named, in_place=in_place, copy_residuals=copy_residuals)
    return replace(made, source="\n".join([*(f'#include "{h}"' for h in HEADERS), "", source]))


def emit_entries(
    functions: Sequence[tuple[Function, str]],
    *,
    in_place: bool = True,
    copy_residuals: bool = False,
    alone: bool = False,
) -> tuple[str, list[Native]]:
    """Functions as entries of one C module, without its includes: the text, and each entry under its name.

    copy_residuals  see `bufferize`
    alone           no operation is left to a host
    """
    module = ModuleEmitter(in_place=in_place, alone=alone)
    made = []
    for function, name in functions:
        first = len(module.calls)
        made.append((*_entry(module, function, name, copy_residuals), slice(first, len(module.calls))))
    own = len(module.calls)
    called = module.callees()
    lines = [*module.definitions, *called]
    for e, native, _ in made:
        lines += _entry_text(e, native, bool(called))
    return "\n".join(lines), [_with_calls(module, native, mine, own) for _, native, mine in made]


def _with_calls(module: ModuleEmitter, native: Native, mine: slice, own: int) -> Native:
    """An entry with what all of a module tell: its calls are `mine`, and those of callees, from `own` on."""
    interface = replace(native.interface, places=tuple(module.places), operations=tuple(module.operations))
    shown = [(call.op.numpy_path or call.op.name, loc, optional) for call, loc, optional in module.calls]
    theirs = [*shown[mine], *shown[own:]]
    return replace(
        native,
        interface=interface,
        hosted=tuple((name, loc) for name, loc, _ in theirs),
        calls=tuple(call for call, _, _ in module.calls),
        needs=tuple((name, loc) for name, loc, optional in theirs if not optional),
    )


def _entry(
    module: ModuleEmitter, function: Function, name: str, copy_residuals: bool
) -> tuple[Emitter, Native]:
    """What an entry does, and what it is; callees that it calls are not emitted yet."""
    fused = _fused(function, module.in_place, copy_residuals)
    module.quiet = fused.kind == "pullback"
    e = _emitter(module, fused)
    arguments = _arguments(fused)
    _unpack(e, arguments)
    results = [v for tree in fused.results for v in variables(tree)]
    _body(e, fused.body, results)
    e.require(fused.results)
    _results(e, results)
    interface = Interface(name, _specs(arguments), tuple(_result_spec(v) for v in results))
    return e, Native("", interface, arguments, fused.results, fused)


def _emitter(module: ModuleEmitter, function: Function) -> Emitter:
    names, unbound = _names(function), maybe_unbound(function)
    borrowed = borrowed_views(function, names.of, unbound)
    return Emitter(module, names, unbound=unbound, borrowed=borrowed, near=_few_kernels(function.body))


def _names(function: Function) -> Names:
    """Names for C: a parameter has the user's name, unless C has another use for it."""
    names = assign_names(function, {}, RESERVED, reread=True)
    taken = set(RESERVED) - {"x", "n"}  # which only temporaries avoid
    renamed = {name: names.unique(f"{name}_") for name in sorted(taken.intersection(names.of.values()))}
    names.of.update([(v, renamed[name]) for v, name in names.of.items() if name in renamed])
    return names


def _fused(function: Function, in_place: bool, copy_residuals: bool = False) -> Function:
    settled = settle_dtypes(settle_assumed(drop_known(function)))
    done = bufferize(settled, in_place=in_place, copy_residuals=copy_residuals).function
    return fuse(done, single=True, sums_overlap=True)


def _function_text(module: ModuleEmitter, function: Function, name: str, mapped: bool = False) -> list[str]:
    """The C function of one that is called.  Raises Untaken for arrays in one that is `mapped`."""
    module.quiet = function.kind == "pullback"
    e = _emitter(module, function)
    results = [v for tree in function.results for v in variables(tree)]
    functions.body(e, function, lambda: _body(e, function.body, results), recursive=not mapped)
    if mapped and any(isinstance(leaf, ArrayLeaf) for leaf in e.locals.values()):
        raise Untaken("arrays at each element")
    return [
        f"{functions.prototype(function, name)} {{",
        "    int32_t failed = 0;",
        *_framed(e),
        "    return failed;",
        "}",
        "",
    ]


def _framed(e: Emitter) -> list[str]:
    """The lines of a function with its locals before and what gives them back after."""
    lines = []
    for local, leaf in e.locals.items():
        start = {Number: "0", ArrayLeaf: "{0}", ListLeaf: "NULL"}[type(leaf)]
        lines.append(f"    {declared(leaf)} {local} = {start};")
    lines += e.lines
    if e.fails:
        lines += ["    goto done;", "fail:", "    failed = 1;", "done:"]
    for local, leaf in e.locals.items():
        if isinstance(leaf, ArrayLeaf):
            lines.append(f"    PB_LET_GO({local});")
        elif isinstance(leaf, ListLeaf):
            lines.append(f"    PB_RELEASE_LIST({local});")
    return lines


def _body(e: Emitter, body: Block, results: list[Var]) -> None:
    """The statements of the entry.  An array whose name nothing reads any more is given up at once, so that the next
    new one has its memory; in loops names get new values instead."""
    live = {e.names.of.get(v) for v in results}
    dying: list[list[Var]] = []
    for stmt in reversed(body.stmts):
        seen = [*uses(stmt), *definitions(Block((stmt,)))]
        dying.append([v for v in seen if e.names.of.get(v) not in live])
        if isinstance(stmt, Call):
            live -= {e.names.of.get(t) for t in stmt.targets}
            seen = list(variables_in([*stmt.args, *(x for _, x in stmt.kwargs)]))
        live |= {e.names.of.get(v) for v in seen}
    for stmt, dead in zip(body.stmts, reversed(dying), strict=True):
        statement(e, stmt)
        dead = [
            v
            for v in dead
            if e.used(v) and v not in e.borrowed and not isinstance(v.style, Anything | Foreign)
        ]
        gone = {n: x for v in dead for n, x in zip(e.leaves(v), leaves_of(v.style), strict=True)}
        for name, leaf in gone.items():
            if isinstance(leaf, ArrayLeaf):
                e.line(f"PB_LET_GO({name});")


def _arguments(function: Function) -> tuple[Var, ...]:
    """The leaves of parameters that C needs to see."""
    return tuple(v for p in function.params for v in variables(p.tree) if not isinstance(v.style, Static))


def _unpack(e: Emitter, arguments: tuple[Var, ...]) -> None:
    for k, var in enumerate(arguments):
        leaf = leaves_of(var.style)[0]
        if isinstance(leaf, ListLeaf):
            raise Untaken("a list as an argument")
        if not e.used(var):
            continue
        (name,) = e.leaves(var)
        if isinstance(leaf, ArrayLeaf):
            lengths = ", ".join(f"in[{k}].a.shape[{j}]" for j in range(leaf.rank)) or "1"
            strides = ", ".join(f"in[{k}].a.strides[{j}]" for j in range(leaf.rank)) or "0"
            e.line(f"{name} = (pb_array{leaf.rank}){{in[{k}].a.data, NULL, {{{lengths}}}, {{{strides}}}}};")
        elif isinstance(leaf, Number):
            e.line(f"{name} = {e.passed(leaf, f'in[{k}]')};")
        else:
            raise Untaken("a list as an argument")


def _results(e: Emitter, results: list[Var]) -> None:
    """Numbers, then arrays: an array that cannot be made leaves those made before to be given back."""
    arrays = []
    for k, var in enumerate(results):
        if isinstance(var.style, Loose):
            value, whole = e.leaves(var)
            e.check(f"!{whole}", TYPE_ERROR, "an integer where a float was to be")
            e.line(f"out[{k}].f = {value};")
            continue
        (leaf,) = leaves_of(var.style)
        (name,) = e.leaves(var)
        if isinstance(leaf, ArrayLeaf):
            if leaf.loose:
                raise Untaken("a result that may be zero without a shape")
            if leaf.rank == 0 and e.module.mixes_ranks:
                raise Untaken("a result that may be a number or an array")
            arrays.append((k, name, leaf))
        elif isinstance(leaf, Number):
            if (
                leaf.weak is None and leaf.dtype.name != "float64"
            ):  # NumPy's float64 is a float of Python's too
                raise Untaken("a result that may be a number of Python's or of NumPy's")
            if leaf.dtype.kind == "c":
                e.line(f"out[{k}].c[0] = __real__ {name}; out[{k}].c[1] = __imag__ {name};")
            else:
                e.line(f"out[{k}].{'f' if leaf.dtype.kind == 'f' else 'i'} = {name};")
        else:
            raise Untaken("a list as a result")
    for at, (k, name, leaf) in enumerate(arrays):
        give = f"pb_give(host, {code_of(leaf.dtype)}, {leaf.dtype.itemsize}, {leaf.rank}, {name}.data, {name}.owner, {name}.n, {name}.s, &out[{k}])"
        back = "".join(f"host->drop_array(host, out[{j}].a.data); " for j, _, _ in arrays[:at])
        e.line(f"if (PB_RARE(!{give})) {{ {back}goto fail; }}")
        e.fails = True


def _effort(body: Block) -> str:
    """How much an entry is optimised: loops of single items fully, those of a few kernels nearly so, and long ones,
    which call their kernels, little: the compiler's time counts."""
    loops = [Block((s,)) for s in statements(body) if isinstance(s, For | While)]
    kernels = [any(isinstance(s, Call) and kernel_of(s) for s in statements(loop)) for loop in loops]
    if loops and not all(kernels):
        return ""
    return "PB_SHORT " if loops and _few_kernels(body) else "PB_BRIEF "


def _few_kernels(body: Block) -> bool:
    """Whether there are so few kernels in loops that they may run where they stand."""
    return sum(map(_kernels_in_loops, body.stmts)) <= FEW


def _kernels_in_loops(stmt: Stmt) -> int:
    """How many calls of kernels stand in a loop of a statement."""
    whole = isinstance(stmt, For | While)
    inner = statements(Block((stmt,))) if whole else (s for _, b, _ in block_ends(stmt) for s in b.stmts)
    if whole:
        return sum(isinstance(s, Call) and kernel_of(s) is not None for s in inner)
    return sum(map(_kernels_in_loops, inner))


def _entry_text(e: Emitter, native: Native, calls: bool) -> list[str]:
    """The C function of an entry; `calls`: it may call others, which look how deep they are."""
    kind = _effort(native.function.body)
    lines = [
        f"{kind}PB_EXPORT int32_t {native.interface.name}(pb_host *host, const pb_arg *in, pb_arg *out) {{"
    ]
    lines.append("    int32_t failed = 0;")
    lines.append("    (void)in; (void)out;")
    lines.append("    const pb_pool pb_outer = pb_begin();")
    if calls:
        lines += [
            "    const char *const pb_outer_base = pb_base;",
            "    pb_base = __builtin_frame_address(0);",
        ]
    lines += _framed(e)
    if calls:
        lines.append("    pb_base = pb_outer_base;")
    lines += ["    pb_end_lists();", "    pb_end(host, pb_outer);"]
    return [*lines, "    return failed;", "}", ""]


def _specs(arguments: tuple[Var, ...]) -> tuple[ArgSpec, ...]:
    """What each argument must be; axes of one symbol have one length."""
    symbols: dict[Any, int] = {}
    out: list[ArgSpec] = []
    for var in arguments:
        style = var.style
        if isinstance(style, Scalar):
            assert style.dtype is not None
            out.append(ScalarSpec(kind_of(style.dtype), None if style.weak else style.dtype))
            continue
        assert isinstance(style, Array) and style.axes is not None and style.dtype is not None
        ones = tuple(a == 1 if isinstance(a, int) else (False if a.not_one else None) for a in style.axes)
        equal = tuple(
            symbols.setdefault((a.sym, a.minus), len(symbols)) if isinstance(a, Dim) else -1
            for a in style.axes
        )
        out.append(ArraySpec(style.dtype, len(style.axes), ones, equal))
    return tuple(out)


def _result_spec(var: Var) -> ResultSpec:
    leaf = leaves_of(var.style)[0]
    if isinstance(leaf, ArrayLeaf):
        return ArraySpec(leaf.dtype, leaf.rank)
    assert isinstance(leaf, Number)
    return ScalarSpec(kind_of(leaf.dtype), None if leaf.weak else leaf.dtype)


def _comment(text: str) -> str:
    return text.strip().replace("*/", "* /")
