"""Branches and loops in C."""

from __future__ import annotations

from dataclasses import dataclass

from pullback.backend.native.emit.dtypes import Loose
from pullback.backend.native.emit.element import Term
from pullback.backend.native.emit.emitter import INT64, VALUE_ERROR, Emitter
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.lists import hold, length_of, load_item
from pullback.backend.native.emit.taken import emit_call
from pullback.backend.native.emit.values import Source
from pullback.ir import core_ops as core
from pullback.ir.nodes import Block, Call, Const, For, If, Operand, Range, Seq, Stmt, Var, While
from pullback.ir.walk import targets

_OF_LOOSE = frozenset((core.list_get, core.same, core.known, core.accumulate, *core.OPERATORS.values()))


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
    if any(isinstance(t.style, Loose) for t in call.targets) and call.op not in _OF_LOOSE:
        raise Untaken("a number that is an integer or a float")
    e.require((*call.args, *(x for _, x in call.kwargs)))
    emit_call(e, call)


def _stores(call: Call) -> bool:
    kernel = call.op.fn
    body = getattr(getattr(kernel, "function", None), "body", None)
    return body is not None and any(isinstance(s, Call) and s.op.writes for s in body.stmts)


def _if(e: Emitter, stmt: If) -> None:
    with e.block(f"if ({e.truth(stmt.test)})"):
        block(e, stmt.then)
        e.moves(stmt.results, stmt.then_yields, _made_in(stmt.then))
    before = len(e.lines)
    with e.block("else"):
        block(e, stmt.orelse)
        e.moves(stmt.results, stmt.else_yields, _made_in(stmt.orelse))
    if len(e.lines) == before + 2:
        del e.lines[before:]


def _for(e: Emitter, stmt: For) -> None:
    mark = len(e.scratch)
    e.moves(stmt.params, stmt.inits)
    walks = [_walk(e, it) for it in stmt.iters]
    at = e.temporary("k")
    count = walks[0].count
    for walk in walks[1:]:
        e.check(f"{walk.count} == {count}", VALUE_ERROR, "iterators of different lengths")
    with e.block(f"for (int64_t {at} = 0; {at} < {count}; {at}++)"):
        for var, walk in zip(stmt.index, walks, strict=True):
            if e.used(var):
                walk.bind(e, var, at)
        _repeated(e, stmt.body)
        _back(e, stmt, stmt.go)
    e.moves(stmt.results, stmt.params, stmt.params)
    e.settle(mark)


def _repeated(e: Emitter, body: Block) -> None:
    """Statements of a loop."""
    e.loops += 1
    block(e, body)
    e.loops -= 1


def _back(e: Emitter, stmt: For | While, go: Operand | None) -> None:
    """The carried values at the end of an iteration, and the way out."""
    if go is None:
        e.moves(stmt.params, stmt.yields, _made_in(stmt.body))
        return
    going = e.temporary("go")
    e.line(f"const int {going} = {e.truth(go)};")
    e.moves(stmt.params, stmt.yields, _made_in(stmt.body))
    e.line(f"if (!{going}) break;")


def _made_in(body: Block) -> frozenset[Var]:
    """The values that are made in a block: nothing reads them after it."""
    return frozenset(t for stmt in body.stmts for t in targets(stmt))


@dataclass(frozen=True, slots=True)
class _Numbers:
    """A range, under names that the body does not bind anew."""

    count: str
    first: str
    step: str
    reverse: bool

    def bind(self, e: Emitter, var: Var, at: str) -> None:
        """The number of an iteration."""
        place = f"({self.count} - 1 - {at})" if self.reverse else at
        times = "" if self.step == "1" else f" * {self.step}"
        e.set_number(var, Term(f"({self.first} + {place}{times})", INT64))


@dataclass(frozen=True, slots=True)
class _Items:
    """The items of a list, or the rows of an array."""

    count: str
    source: Source
    reverse: bool

    def bind(self, e: Emitter, var: Var, at: str) -> None:
        """The item of an iteration."""
        load_item(e, var, self.source, f"({self.count} - 1 - {at})" if self.reverse else at)


def _walk(e: Emitter, it: Range | Seq) -> _Numbers | _Items:
    """What an iterator gives; it is asked before the loop, whose body may bind its names anew."""
    count = e.temporary("count")
    if isinstance(it, Seq):
        e.require([it.value])
        source = hold(e, it.value)
        e.line(f"const int64_t {count} = {length_of(e, source)};")
        return _Items(count, source, it.reverse)
    e.require([it.start, it.stop, it.step])
    first, stop, step = (_number(e, x) for x in (it.start, it.stop, it.step))
    if isinstance(it.step, Const):
        if it.step.value == 0:
            raise Untaken("a range whose step is zero")
    else:
        e.check(f"{step} != 0", VALUE_ERROR, "range() arg 3 must not be zero")
    name = e.temporary("range")
    e.line(f"const int64_t {name} = pb_range({first}, {stop}, {step});")
    limit = name if it.count is None else e.integer(it.count)
    e.line(f"const int64_t {count} = {limit} < {name} ? {limit} : {name};")
    return _Numbers(count, first, step, it.reverse)


def _number(e: Emitter, operand: Operand) -> str:
    if isinstance(operand, Const):
        return e.integer(operand)
    name = e.temporary("bound")
    e.line(f"const int64_t {name} = {e.integer(operand)};")
    return name


def _while(e: Emitter, stmt: While) -> None:
    e.moves(stmt.params, stmt.inits)
    with e.block("for (;;)"):
        _repeated(e, stmt.cond)
        e.line(f"if (!({e.truth(stmt.test)})) break;")
        _repeated(e, stmt.body)
        _back(e, stmt, stmt.go)
    e.moves(stmt.results, stmt.params, stmt.params)
