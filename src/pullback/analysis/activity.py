"""Activity: which values carry a derivative.

A value is *varied* when it depends differentiably on a parameter asked for, *useful* when the result depends
differentiably on it, and *active* when it is both.  Results of the analysis are sets of Vars; nothing is hung on nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pullback.ir.nodes import Block, Call, For, Function, If, Operand, Seq, Stmt, Var, While
from pullback.ir.walk import own_operands, variables, variables_in
from pullback.styles.style import differentiable

IsConstant = Callable[[Call], bool]


def active_variables(
    function: Function, wrt: Iterable[Var], useful: Iterable[Operand], is_constant: IsConstant
) -> set[Var]:
    """The active values of a function.

    `wrt` are the parameters' leaves asked for, `useful` the operands whose derivative is wanted; `is_constant(call)`
    says that a call's results carry no derivative (comparisons, floor, shapes, effects).
    """
    varied = _Varied(is_constant)
    varied.found.update(v for v in wrt if differentiable(v.style))
    varied.block(function.body)
    wanted = _Useful(varied.found)
    wanted.mark(useful)
    wanted.block(function.body)
    return wanted.found


class _Varied:
    """Forward: what depends on the parameters asked for."""

    def __init__(self, is_constant: IsConstant) -> None:
        self.found: set[Var] = set()
        self.is_constant = is_constant

    def _any(self, operands: Iterable[Operand]) -> bool:
        return any(v in self.found for v in variables_in(operands))

    def _mark(self, targets: Iterable[Var], operand_sets: Iterable[Iterable[Operand]]) -> bool:
        changed = False
        for target, operands in zip(targets, operand_sets, strict=False):
            if target not in self.found and differentiable(target.style) and self._any(operands):
                self.found.add(target)
                changed = True
        return changed

    def block(self, block: Block) -> None:
        for stmt in block.stmts:
            self.statement(stmt)

    def statement(self, stmt: Stmt) -> None:
        match stmt:
            case Call():
                if self._any(own_operands(stmt)) and not self.is_constant(stmt):
                    self.found.update(t for t in stmt.targets if differentiable(t.style))
            case If():
                self.block(stmt.then)
                self.block(stmt.orelse)
                self._mark(stmt.results, zip(stmt.then_yields, stmt.else_yields, strict=True))
            case For() | While():
                self._loop(stmt)

    def _loop(self, stmt: For | While) -> None:
        if isinstance(stmt, For):
            for index, it in zip(stmt.index, stmt.iters, strict=True):
                if isinstance(it, Seq):
                    self._mark((index,), ((it.value,),))
        self._mark(stmt.params, ((x,) for x in stmt.inits))
        while True:
            if isinstance(stmt, While):
                self.block(stmt.cond)
            self.block(stmt.body)
            if not self._mark(stmt.params, ((y,) for y in stmt.yields)):
                break
        self._mark(stmt.results, zip(stmt.inits, stmt.yields, strict=True))


class _Useful:
    """Backward over the varied values: what the result depends on."""

    def __init__(self, varied: set[Var]) -> None:
        self.varied = varied
        self.found: set[Var] = set()

    def mark(self, operands: Iterable[Operand]) -> bool:
        changed = False
        for operand in operands:
            for var in variables(operand):
                if var in self.varied and var not in self.found:
                    self.found.add(var)
                    changed = True
        return changed

    def block(self, block: Block) -> bool:
        changed = False
        for stmt in reversed(block.stmts):
            changed |= self.statement(stmt)
        return changed

    def statement(self, stmt: Stmt) -> bool:
        match stmt:
            case Call():
                wanted = any(t in self.found for t in stmt.targets)
                return self.mark(own_operands(stmt)) if wanted else False
            case If():
                changed = False
                for result, a, b in zip(stmt.results, stmt.then_yields, stmt.else_yields, strict=True):
                    if result in self.found:
                        changed |= self.mark((a, b))
                return self.block(stmt.then) | self.block(stmt.orelse) | changed
            case For() | While():
                return self._loop(stmt)

    def _loop(self, stmt: For | While) -> bool:
        any_change = False
        while True:
            changed = False
            for result, param, end in zip(stmt.results, stmt.params, stmt.yields, strict=True):
                if result in self.found or param in self.found:
                    changed |= self.mark((end,))
            changed |= self.block(stmt.body)
            any_change |= changed
            if not changed:
                break
        for param, result, init in zip(stmt.params, stmt.results, stmt.inits, strict=True):
            if param in self.found or result in self.found:
                any_change |= self.mark((init,))
        if isinstance(stmt, For):
            for index, it in zip(stmt.index, stmt.iters, strict=True):
                if index in self.found and isinstance(it, Seq):
                    any_change |= self.mark((it.value,))
        return any_change
