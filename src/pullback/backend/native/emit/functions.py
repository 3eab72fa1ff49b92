"""Functions compiled apart: each is a C function of the module, with its leaves as parameters and pointers for results.

What a primal saves for its pullback is boxed: a list of one item, whose struct has the leaves.  The caller carries the
box, and knows nothing of it; so a recursive function may have its own in what it saves.
"""

from __future__ import annotations

from collections.abc import Callable

from pullback.backend.native.emit.emitter import TYPE_ERROR, Emitter
from pullback.backend.native.emit.leaves import (
    BOX,
    Leaf,
    ListLeaf,
    Number,
    declared,
    leaves_of,
    operand_style,
    plain,
)
from pullback.backend.native.emit.values import Held, item_struct, parts
from pullback.ir.callee import callee_of
from pullback.ir.nodes import Call, Function, Operand, Pack, Var
from pullback.ir.walk import variables
from pullback.styles.style import Anything, Style

STACK = 400_000  # bytes that calls of functions may take: then the entry is left


def call(e: Emitter, stmt: Call) -> None:
    """Call a function compiled apart."""
    callee = callee_of(stmt)
    assert callee is not None
    function, name = e.module.callee(callee)
    mark = len(e.scratch)
    given = [
        text
        for param, arg in zip(function.params, stmt.args, strict=True)
        for text in parts(e, arg, _signature(param.tree))
    ]
    made = []
    for result in _given_back(function):
        style = _signature(result)
        names = tuple(e.declare("result", leaf) for leaf in leaves_of(style))
        made.append(Held(style, names))
    pointers = [f"&{name}" for held in made for name in held.texts]
    e.attempt(f"{name}({', '.join(['host', *given, *pointers])})")
    for target, held in zip(stmt.targets, made, strict=True):
        if e.used(target):
            for to, text, leaf in zip(
                e.leaves(target), parts(e, held, target.style), leaves_of(target.style), strict=True
            ):
                e.assign(to, text, leaf)
        for name, leaf in zip(held.texts, leaves_of(held.style), strict=True):
            if not isinstance(leaf, Number):
                e.scratch.append((name, leaf))
    e.settle(mark)


def _given_back(function: Function) -> tuple[Operand, ...]:
    """The results of a function; several cotangents come one by one."""
    results = function.results
    if function.kind == "pullback" and len(results) == 1:
        (tree,) = results
        return tree.items if isinstance(tree, Pack) and tree.kind == "tuple" else results
    return results


def _signature(tree: Operand) -> Style:
    """The style of a parameter or a result in C: what is saved is a box."""
    return Anything() if isinstance(tree, Pack) else operand_style(tree)


def prototype(function: Function, name: str) -> str:
    """The head of the C function."""
    given = [f"{declared(x)} pb_a{k}" for k, x in enumerate(_leaves([p.tree for p in function.params]))]
    made = [f"{declared(x)} *pb_r{k}" for k, x in enumerate(_leaves(_given_back(function)))]
    return f"static int32_t {name}({', '.join(['pb_host *host', *given, *made])})"


def _leaves(trees: list[Operand] | tuple[Operand, ...]) -> list[Leaf]:
    return [leaf for tree in trees for leaf in leaves_of(_signature(tree))]


def body(e: Emitter, function: Function, statements: Callable[[], None], recursive: bool = True) -> None:
    """The lines of the C function.  `recursive`: it may be called by itself, and so is stopped in time."""
    if recursive:
        _stop_in_time(e)
    at = 0
    for param in function.params:
        at = _take(e, param.tree, at)
    statements()
    e.require(function.results)
    at = 0
    mark = len(e.scratch)
    for result in _given_back(function):
        style = _signature(result)
        texts = [_boxed(e, result)] if isinstance(result, Pack) else parts(e, result, style)
        for text, leaf in zip(texts, leaves_of(style), strict=True):
            e.assign(f"(*pb_r{at})", text, leaf)
            at += 1
    e.settle(mark)


def _stop_in_time(e: Emitter) -> None:
    """Leave where the stack is deep."""
    e.line("const char *const pb_here = __builtin_frame_address(0);")
    far = f"(pb_here > pb_base ? pb_here - pb_base : pb_base - pb_here) > {STACK}"
    e.check(f"!({far})", TYPE_ERROR, "recursion too deep")


def _take(e: Emitter, tree: Operand, at: int) -> int:
    """Bind a parameter; the number of the next leaf."""
    if isinstance(tree, Pack):
        _unboxed(e, tree, f"pb_a{at}")
        return at + 1
    leaves = leaves_of(operand_style(tree))
    if isinstance(tree, Var) and e.used(tree):
        for k, (name, leaf) in enumerate(zip(e.leaves(tree), leaves, strict=True)):
            e.assign(name, f"pb_a{at + k}", leaf)
    return at + len(leaves)


def _kept(tree: Pack) -> ListLeaf:
    return ListLeaf(tuple(plain(x) for v in variables(tree) for x in leaves_of(v.style)))


def _boxed(e: Emitter, tree: Pack) -> str:
    """A box of what is saved."""
    leaf = _kept(tree)
    texts = [text for v in variables(tree) for text in parts(e, v, v.style)]
    made = e.declare_list(BOX)
    drop = e.module.dropper(leaf)
    with e.block(""):
        item = item_struct(e, leaf, texts)
        e.attempt(f"pb_append(host, &{made}, sizeof({item}), &{item}, {drop}, {e.module.place(e.loc)})")
    e.line(f"{made}->kind = {e.module.number_of(leaf)};")
    return made


def _unboxed(e: Emitter, tree: Pack, box: str) -> None:
    """What was saved; a box of another kind is none of this function's."""
    leaf = _kept(tree)
    kind = e.module.item_type(leaf)
    e.check(f"{box} && {box}->kind == {e.module.number_of(leaf)}", TYPE_ERROR, "saved by another function")
    e.line(f"const {kind} *pb_saved = pb_list_item({box}, 0);")
    e.line("(void)pb_saved;")
    at = 0
    for var in variables(tree):
        leaves = leaves_of(var.style)
        if e.used(var):
            for k, (name, inner) in enumerate(zip(e.leaves(var), leaves, strict=True)):
                e.assign(name, f"pb_saved->f{at + k}", inner)
        at += len(leaves)
