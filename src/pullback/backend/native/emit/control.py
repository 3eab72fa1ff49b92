"""Branches and loops in C."""

from __future__ import annotations

from pullback.backend.native.emit.emitter import VALUE_ERROR, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.lists import length_of, load_item
from pullback.backend.native.emit.taken import emit_call
from pullback.ir import core_ops as core
from pullback.ir.nodes import Block, Call, Const, For, If, Operand, Range, Seq, Stmt, Var, While


def block(e: Emitter, body: Block) -> None:
    """The statements of a block."""
    for stmt in body.stmts:
        statement(e, stmt)


def statement(e: Emitter, stmt: Stmt) -> None:
    """One statement.  Raises Untaken, with its place, where C cannot take it."""
    outer, e.loc = e.loc, stmt.loc if stmt.loc.line else e.loc
    try:
        match stmt:
            case Call():
                _call(e, stmt)
            case If():
                _if(e, stmt)
            case For():
                _for(e, stmt)
            case While():
                _while(e, stmt)
    except Untaken as reason:
        raise reason.at(e.loc) from None
    finally:
        e.loc = outer


def _call(e: Emitter, call: Call) -> None:
    if call.op is core.begin_reverse:
        e.module.quiet = True
        return
    live = any(e.used(t) for t in call.targets)
    if not live and not call.op.effect and not call.op.writes and not _stores(call):
        return
    emit_call(e, call)


def _stores(call: Call) -> bool:
    kernel = call.op.fn
    body = getattr(getattr(kernel, "function", None), "body", None)
    return body is not None and any(isinstance(s, Call) and s.op.writes for s in body.stmts)


def _truth(e: Emitter, operand: Operand) -> str:
    if isinstance(operand, Const):
        return "1" if operand.value else "0"
    return e.term(operand).text + " != 0"


def _if(e: Emitter, stmt: If) -> None:
    with e.block(f"if ({_truth(e, stmt.test)})"):
        block(e, stmt.then)
        e.moves(stmt.results, stmt.then_yields)
    before = len(e.lines)
    with e.block("else"):
        block(e, stmt.orelse)
        e.moves(stmt.results, stmt.else_yields)
    if len(e.lines) == before + 2:
        del e.lines[before:]


def _for(e: Emitter, stmt: For) -> None:
    e.moves(stmt.params, stmt.inits)
    counts = [_count(e, it) for it in stmt.iters]
    at = e.temporary("k")
    for count in counts[1:]:
        e.check(f"{count} == {counts[0]}", VALUE_ERROR, "iterators of different lengths")
    with e.block(f"for (int64_t {at} = 0; {at} < {counts[0]}; {at}++)"):
        for var, it, count in zip(stmt.index, stmt.iters, counts, strict=True):
            if e.used(var):
                _index(e, var, it, at, count)
        block(e, stmt.body)
        _back(e, stmt, stmt.go)
    e.moves(stmt.results, stmt.params)


def _back(e: Emitter, stmt: For | While, go: Operand | None) -> None:
    """The carried values at the end of an iteration, and the way out."""
    if go is None:
        e.moves(stmt.params, stmt.yields)
        return
    going = e.temporary("go")
    e.line(f"const int {going} = {_truth(e, go)};")
    e.moves(stmt.params, stmt.yields)
    e.line(f"if (!{going}) break;")


def _count(e: Emitter, it: Range | Seq) -> str:
    """How many items an iterator has."""
    count = e.temporary("count")
    if isinstance(it, Seq):
        e.line(f"const int64_t {count} = {length_of(e, it.value)};")
        return count
    start, stop, step = (e.integer(x) for x in (it.start, it.stop, it.step))
    if isinstance(it.step, Const):
        if it.step.value == 0:
            raise Untaken("a range whose step is zero")
    else:
        e.check(f"{step} != 0", VALUE_ERROR, "range() arg 3 must not be zero")
    name = e.temporary("range")
    e.line(f"const int64_t {name} = pb_range({start}, {stop}, {step});")
    if it.count is None:
        e.line(f"const int64_t {count} = {name};")
    else:
        limit = e.integer(it.count)
        e.line(f"const int64_t {count} = {limit} < {name} ? {limit} : {name};")
    if it.reverse or not isinstance(it.start, Const):
        first = e.temporary("first")
        e.line(f"const int64_t {first} = {start};")
        _firsts(e)[id(it)] = first
    return count


def _firsts(e: Emitter) -> dict[int, str]:
    return e.module.firsts


def _index(e: Emitter, var: Var, it: Range | Seq, at: str, count: str) -> None:
    """Bind the item of an iteration."""
    if isinstance(it, Seq):
        place = f"({count} - 1 - {at})" if it.reverse else at
        load_item(e, var, it.value, place)
        return
    (name,) = e.leaves(var)
    first = _firsts(e).get(id(it)) or e.integer(it.start)
    place = f"({count} - 1 - {at})" if it.reverse else at
    step = e.integer(it.step)
    e.line(f"{name} = {first} + {place} * {step};" if step != "1" else f"{name} = {first} + {place};")


def _while(e: Emitter, stmt: While) -> None:
    e.moves(stmt.params, stmt.inits)
    with e.block("for (;;)"):
        block(e, stmt.cond)
        e.line(f"if (!({_truth(e, stmt.test)})) break;")
        block(e, stmt.body)
        _back(e, stmt, stmt.go)
    e.moves(stmt.results, stmt.params)
