"""A call of a kernel: its C functions are made once, here they are called."""

from __future__ import annotations

from collections.abc import Mapping

from pullback.backend.native.emit import contract
from pullback.backend.native.emit.access import view_of
from pullback.backend.native.emit.elements import REDUCERS, Parts
from pullback.backend.native.emit.emitter import ArrayRef, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import leaves_of, operand_style
from pullback.ir import core_ops as core
from pullback.ir.kernel import Kernel, kernel_of, operation
from pullback.ir.nodes import Block, Call, Const, Function, Operand, Pack, Param, Var
from pullback.ir.walk import copy_stmt, map_operands, substitute, uses, variables
from pullback.styles.broadcast import as_array
from pullback.styles.style import Array, Static


def call(e: Emitter, stmt: Call) -> None:
    """Call a kernel: arrays by address, numbers by value, places to store by view."""
    kernel = kernel_of(stmt)
    assert kernel is not None
    parts = e.module.kernel(kernel, e.loc, e.loops > 0 and e.near).parts
    given: dict[Var, Operand] = {
        p.tree: x for p, x in zip(kernel.function.params, stmt.args, strict=True) if isinstance(p.tree, Var)
    }
    plans = contract.plans_of(kernel, parts)
    if not plans:
        _loop(e, stmt, kernel, given)
        return
    targets = {r: t for r, t in zip(kernel.function.results, stmt.targets, strict=True) if isinstance(r, Var)}
    done = contract.kernel_as_products(e, plans, given, targets)
    with e.block(f"if (PB_RARE(!{done}))"):
        _loop(e, stmt, kernel, given)


def _loop(e: Emitter, stmt: Call, kernel: Kernel, given: dict[Var, Operand]) -> None:
    """Call the kernel's function."""
    made = e.module.kernel(kernel, e.loc, e.loops > 0 and e.near)
    parts, makes_shape = made.parts, made.makes_shape
    arguments = ["host"]
    arguments += [made.passed(e.array(given[v]).name) for v in parts.arrays]
    arguments += [e.number(given[v], parts.numbers[c].dtype) for v, c in parts.names.items()]
    if makes_shape and parts.shape is not None:
        shape = e.temporary("shape")
        lengths = _lengths(e, kernel, parts.shape, given)
        e.line(f"const int64_t {shape}[] = {{{', '.join(lengths) or '1'}}};")
        arguments.append(shape)
    targets = {r: t for r, t in zip(kernel.function.results, stmt.targets, strict=True) if isinstance(r, Var)}
    latest = _bases(e, parts, given, targets)
    for sink in parts.sinks:
        store = map_operands(sink.call, lambda x: substitute(x, given), lambda b: b)
        assert isinstance(store, Call)
        base = latest[_base(sink.call)]
        view = view_of(e, base, store.args[2:], writes=True)
        if (view.dtype, view.rank) != (sink.dtype, sink.rank):
            raise Untaken("a store into a part of complex numbers")
        arguments.append(made.passed(view.name))
        latest[sink.call.targets[0]] = base
    arguments += [f"&{e.array(targets[v]).name}" for v in parts.made]
    for r in parts.reductions:
        arguments.append(_reduced(e, targets.get(r.target), r.declared()))
    e.attempt(f"{made.name}({', '.join(arguments)})")
    for inner, base in latest.items():
        if inner in targets and inner not in given:
            e.set_array(e.array(targets[inner]).name, base.name)


def _bases(
    e: Emitter, parts: Parts, given: Mapping[Var, Operand], targets: Mapping[Var, Var]
) -> dict[Var, ArrayRef]:
    """The arrays that are stored into.  One whose C name gets another value here is held under a name of its own."""
    last = {_root(parts, s.call): s.call.targets[0] for s in parts.sinks}
    out: dict[Var, ArrayRef] = {}
    for base in last:
        array = e.array(given[base])
        others = [t for r, t in targets.items() if r is not last[base] and e.leaves(t)[0] == array.name]
        if others:
            held = e.declare_array("held", array.dtype, array.rank)
            e.set_array(held.name, array.name)
            array = held
        out[base] = array
    return out


def _root(parts: Parts, store: Call) -> Var:
    """The parameter whose buffer a store is done in."""
    made = {s.call.targets[0]: s.call for s in parts.sinks}
    base = _base(store)
    while base in made:
        base = _base(made[base])
    return base


def alone(stmt: Call) -> Call:
    """A call that fusion left by itself as the call of a kernel.  Raises Untaken where it makes no loop."""
    if len(stmt.targets) != 1:
        raise Untaken("a call of several results")
    (target,) = stmt.targets
    looped = stmt.op.elementwise or stmt.op in (core.accumulate, core.cast, core.scale)
    reduced = stmt.op.name in REDUCERS
    spans = as_array(operand_style(stmt.args[0])) if reduced else target.style
    if not (looped or reduced) or not isinstance(spans, Array) or not spans.axes:
        raise Untaken("a call that makes no loop")
    given = dict.fromkeys(v for v in uses(stmt) if not isinstance(v.style, Static))
    function = Function(
        f"alone_{target.hint}", tuple(Param(v.hint, v) for v in given), Block((stmt,)), (target,)
    )
    return Call((target,), operation(Kernel("alone", function, spans.axes)), tuple(given), (), stmt.loc)


def statements(e: Emitter, stmt: Call) -> tuple[list[Call], list[Operand]]:
    """The statements of a kernel that C has no loop for, on the operands of its call, and its results."""
    kernel = kernel_of(stmt)
    assert kernel is not None
    mapping: dict[Var, Operand] = {
        p.tree: x for p, x in zip(kernel.function.params, stmt.args, strict=True) if isinstance(p.tree, Var)
    }
    body = [copy_stmt(s, mapping) for s in kernel.function.body.stmts]
    ends = [substitute(r, mapping) for r in kernel.function.results]
    calls = [s for s in body if isinstance(s, Call)]
    e.names.used.update(v for s in calls for v in uses(s))
    e.names.used.update(v for r in ends for v in variables(r))
    return [s for s in calls if s.op.writes or any(map(e.used, s.targets))], ends


def _lengths(e: Emitter, kernel: Kernel, shape: Operand, given: dict[Var, Operand]) -> list[str]:
    """The lengths of a shape operand of a kernel; one asked for inside it is asked for here."""
    if isinstance(shape, Pack):
        return [text for x in shape.items for text in _lengths(e, kernel, x, given)]
    made = next((s for s in kernel.function.body.stmts if isinstance(s, Call) and shape in s.targets), None)
    if made is None:
        return e.integers(substitute(shape, given))
    asked = made.args[0]
    array = given.get(asked) if isinstance(asked, Var) else None
    if array is None or made.op not in (core.shape, core.dim):
        raise Untaken("a shape that a kernel makes")
    lengths = e.array(array).shape()
    if made.op is core.shape:
        return lengths
    assert isinstance(made.args[1], Const)
    return [lengths[made.args[1].value]]


def _base(store: Call) -> Var:
    base = store.args[0]
    assert isinstance(base, Var)
    return base


def _reduced(e: Emitter, target: Var | None, ctype: str) -> str:
    if target is None:
        raise AssertionError("a reduction that nothing reads")
    leaves_of(target.style)
    (name,) = e.leaves(target)
    return f"&{name}"
