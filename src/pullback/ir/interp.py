"""The interpreter: what the IR means.

In: a function and one object for each parameter (structures allowed).  Out: the tuple of its results.  Every
pass and every target is held against it.  No argument is changed: operations are pure, those that write included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from pullback.ir.callee import callee_of
from pullback.ir.core_ops import begin_reverse
from pullback.ir.kernel import kernel_of
from pullback.ir.nodes import (
    ABSENT,
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
    Range,
    Stmt,
    Var,
    While,
)
from pullback.runtime import build


def run(function: Function, args: Sequence[object]) -> tuple[Any, ...]:
    """The results of a function.  An operation whose `fn` is a Callee is a call of that function.

    Raises what the operations raise, and UnboundLocalError where a name that is not bound is read.
    """
    return Machine().results(function, args)


class Machine:
    """The values of the Vars bound so far."""

    def __init__(self) -> None:
        self.values: dict[Var, Any] = {}
        self.quiet: Callable[[], object] = lambda: None

    def results(self, function: Function, args: Sequence[object]) -> tuple[Any, ...]:
        """Run a function from its first statement to its results."""
        for param, arg in zip(function.params, args, strict=True):
            self.bind(param.tree, arg)
        with np.errstate(), ExitStack() as stack:  # scopes left by an exception end with the run
            self.quiet = lambda: stack.enter_context(np.errstate(all="ignore"))
            if function.kind == "pullback":
                self.quiet()
            self.block(function.body)
            return tuple(self.use(x) for x in function.results)

    # ------------------------------------------------------------------------------------------ operands

    def bind(self, tree: Operand, value: Any) -> None:
        """Give the leaves of a parameter their values."""
        if isinstance(tree, Var):
            self.values[tree] = value
        elif isinstance(tree, Pack):
            for item, part in zip(tree.items, parts(tree, value), strict=True):
                self.bind(item, part)

    def read(self, operand: Operand) -> Any:
        """The value of an operand; UNDEF may be handed on."""
        match operand:
            case Var():
                return self.values[operand]
            case Const():
                return None if operand.value is ABSENT else operand.value
            case Pack():
                return self._pack(operand)

    def use(self, operand: Operand) -> Any:
        """The value of an operand that must be bound."""
        value = self.read(operand)
        if value is UNDEF:
            name = operand.hint if isinstance(operand, Var) else "a name"
            message = f"cannot access local variable '{name}' where it is not associated with a value"
            raise UnboundLocalError(message)
        return value

    def _pack(self, pack: Pack) -> Any:
        items = [self.use(x) for x in pack.items]
        match pack.kind:
            case "tuple":
                return tuple(items)
            case "list":
                return items
            case "slice":
                return slice(*items)
            case "dict":
                return dict(zip(pack.meta, items, strict=True))
            case "index":
                return ("index", items[0] if pack.meta is None else tuple(items))
            case "view":
                return ("view", pack.meta.impl, tuple(items))
            case "new":
                constructor, names = pack.meta
                if names is None:
                    return constructor(*items)
                return build(constructor, **dict(zip(names, items, strict=True)))
        raise ValueError(f"no such kind of pack: {pack.kind}")

    # ---------------------------------------------------------------------------------------- statements

    def block(self, block: Block) -> None:
        """Run a block."""
        for stmt in block.stmts:
            self.statement(stmt)

    def statement(self, stmt: Stmt) -> None:
        """Run a statement."""
        match stmt:
            case Call():
                self._call(stmt)
            case If():
                self._if(stmt)
            case For():
                self._for(stmt)
            case While():
                self._while(stmt)

    def _call(self, stmt: Call) -> None:
        if stmt.op is begin_reverse:
            self.quiet()
            return
        args = [self.use(x) for x in stmt.args]
        kwargs = {name: self.use(x) for name, x in stmt.kwargs}
        callee, kernel = callee_of(stmt), kernel_of(stmt)
        if callee is not None:
            out = self.enter(callee.body(), args)
        elif kernel is not None:
            out = self.enter(kernel.function, args)
        else:
            out = stmt.op.impl(*args, **kwargs)
        if len(stmt.targets) == 1:
            self.values[stmt.targets[0]] = out
        elif stmt.targets:
            self.values.update(zip(stmt.targets, out, strict=True))

    def enter(self, function: Function, args: Sequence[object]) -> Any:
        """Call a function compiled apart; its only result comes bare."""
        results = run(function, args)
        return results[0] if len(results) == 1 else results

    def _if(self, stmt: If) -> None:
        taken = bool(self.use(stmt.test))
        self.block(stmt.then if taken else stmt.orelse)
        self._assign(stmt.results, stmt.then_yields if taken else stmt.else_yields)

    def _for(self, stmt: For) -> None:
        self._assign(stmt.params, stmt.inits)
        for items in zip(*(self._items(it) for it in stmt.iters), strict=True):
            self.values.update(zip(stmt.index, items, strict=True))
            self.block(stmt.body)
            if self._ended(stmt):
                break
        self._assign(stmt.results, stmt.params)

    def _while(self, stmt: While) -> None:
        self._assign(stmt.params, stmt.inits)
        while True:
            self.block(stmt.cond)
            if not self.use(stmt.test):
                break
            self.block(stmt.body)
            if self._ended(stmt):
                break
        self._assign(stmt.results, stmt.params)

    def _ended(self, stmt: For | While) -> bool:
        """Carry the values of an iteration on; whether it was the last."""
        go = stmt.go is None or bool(self.use(stmt.go))
        self._assign(stmt.params, stmt.yields)
        return not go

    def _assign(self, targets: Sequence[Var], operands: Sequence[Operand]) -> None:
        values = [self.read(x) for x in operands]
        self.values.update(zip(targets, values, strict=True))

    def _items(self, it: Iter) -> Sequence[Any]:
        if not isinstance(it, Range):
            items: Sequence[Any] = self.use(it.value)
            return items[::-1] if it.reverse else items
        numbers: Sequence[int] = range(self.use(it.start), self.use(it.stop), self.use(it.step))
        if it.count is not None:
            numbers = numbers[: self.use(it.count)]
        return numbers[::-1] if it.reverse else numbers


def parts(tree: Pack, value: Any) -> list[Any]:
    """The items of a run-time structure, in the order of the tree's."""
    if tree.kind == "dict":
        return [value[key] for key in tree.meta]
    if tree.kind == "new" and tree.meta[1] is not None:
        return [getattr(value, name) for name in tree.meta[1]]
    return list(value)
