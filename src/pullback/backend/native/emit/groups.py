"""A call of a kernel: its C functions are made once, here they are called."""

from __future__ import annotations

from pullback.backend.native.emit.access import view_of
from pullback.backend.native.emit.emitter import Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import leaves_of
from pullback.ir import core_ops as core
from pullback.ir.kernel import Kernel, kernel_of
from pullback.ir.nodes import Call, Const, Operand, Pack, Var
from pullback.ir.walk import map_operands, substitute


def call(e: Emitter, stmt: Call) -> None:
    """Call a kernel: arrays by address, numbers by value, places to store by view."""
    kernel = kernel_of(stmt)
    assert kernel is not None
    name, parts, makes_shape = e.module.kernel(kernel, e.loc)
    given: dict[Var, Operand] = {
        p.tree: x for p, x in zip(kernel.function.params, stmt.args, strict=True) if isinstance(p.tree, Var)
    }
    arguments = ["host"]
    arguments += [f"&{e.array(given[v]).name}" for v in parts.arrays]
    arguments += [e.number(given[v], parts.numbers[c].dtype) for v, c in parts.names.items()]
    if makes_shape and parts.shape is not None:
        shape = e.temporary("shape")
        lengths = _lengths(e, kernel, parts.shape, given)
        e.line(f"const int64_t {shape}[] = {{{', '.join(lengths) or '1'}}};")
        arguments.append(shape)
    latest = dict(given)
    for sink in parts.sinks:
        made = map_operands(sink.call, lambda x: substitute(x, given), lambda b: b)
        assert isinstance(made, Call)
        arguments.append(f"&{view_of(e, e.array(_base(sink.call, latest)), made.args[2:]).name}")
        latest[sink.call.targets[0]] = _base(sink.call, latest)
    targets = {r: t for r, t in zip(kernel.function.results, stmt.targets, strict=True) if isinstance(r, Var)}
    arguments += [_result(e, targets[v]) for v in parts.made]
    for r in parts.reductions:
        arguments.append(_reduced(e, targets.get(r.target), r.declared()))
    e.attempt(f"{name}({', '.join(arguments)})")
    for inner, base in latest.items():
        if inner in targets and inner not in given:
            e.set_array(e.array(targets[inner]).name, e.array(base).name)


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


def _base(store: Call, latest: dict[Var, Operand]) -> Operand:
    base = store.args[0]
    assert isinstance(base, Var)
    return latest[base]


def _result(e: Emitter, target: Var) -> str:
    return f"&{e.array(target).name}"


def _reduced(e: Emitter, target: Var | None, ctype: str) -> str:
    if target is None:
        raise AssertionError("a reduction that nothing reads")
    leaves_of(target.style)
    (name,) = e.leaves(target)
    return f"&{name}"
