"""The interpreter: what IR means.

Every pass is tested as "the interpreter gives the same before and after".  Nothing that goes in is ever changed:
operations that write return a changed copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pullback.ir.nodes import UNDEF, Block, Call, Const, For, Function, If, Iter, Operand, Pack, Seq, Stmt, Var, While


def run(function: Function, args: Sequence[Any]) -> tuple[Any, ...]:
    """The results of a function for arguments, one per parameter (structures where the parameter is one).

    Raises what the operations raise; UnboundLocalError where a name that is not bound is read.
    """
    frame = _Frame()
    for param, arg in zip(function.params, args, strict=True):
        frame.bind(param.tree, arg)
    frame.block(function.body)
    return tuple(frame.value(r) for r in function.results)


class _Frame:
    """The values of one activation."""

    def __init__(self) -> None:
        self.values: dict[Var, Any] = {}

    def bind(self, tree: Operand, arg: Any) -> None:
        """Bind the leaves of a parameter."""
        if isinstance(tree, Var):
            self.values[tree] = arg
        elif isinstance(tree, Pack):
            for item, part in zip(tree.items, parts(tree, arg), strict=True):
                self.bind(item, part)

    # ------------------------------------------------------------------------------------------------ operands

    def value(self, operand: Operand) -> Any:
        """The value of an operand; reading an unbound one is an error."""
        found = self.carried(operand)
        if found is UNDEF:
            name = operand.hint if isinstance(operand, Var) else "?"
            raise UnboundLocalError(f"cannot access local variable {name!r} where it is not associated with a value")
        return found

    def carried(self, operand: Operand) -> Any:
        """The value of an operand that is only passed on: it may be unbound."""
        if isinstance(operand, Var):
            return self.values[operand]
        if isinstance(operand, Const):
            return operand.value
        return _PACKS[operand.kind](operand, [self.value(item) for item in operand.items])

    # ---------------------------------------------------------------------------------------------- statements

    def block(self, block: Block) -> None:
        """Run statements in order."""
        for stmt in block.stmts:
            self.statement(stmt)

    def statement(self, stmt: Stmt) -> None:
        """Run one statement."""
        match stmt:
            case Call():
                self._call(stmt)
            case If():
                side = (stmt.then, stmt.then_yields) if self.value(stmt.test) else (stmt.orelse, stmt.else_yields)
                self.block(side[0])
                self.values.update(zip(stmt.results, [self.carried(y) for y in side[1]], strict=True))
            case For():
                self._for(stmt)
            case While():
                self._while(stmt)

    def _call(self, stmt: Call) -> None:
        result = self._apply(stmt)
        if len(stmt.targets) == 1:
            self.values[stmt.targets[0]] = result
        elif stmt.targets:
            self.values.update(zip(stmt.targets, result, strict=True))

    def _apply(self, stmt: Call) -> Any:
        args = [self.value(a) for a in stmt.args]
        kwargs = {name: self.value(x) for name, x in stmt.kwargs}
        if isinstance(stmt.op.fn, Function):
            results = run(stmt.op.fn, args)
            return results[0] if len(results) == 1 else results
        return stmt.op.impl(*args, **kwargs)

    def _for(self, stmt: For) -> None:
        carried = [self.carried(x) for x in stmt.inits]
        for items in zip(*[self._items(it) for it in stmt.iters], strict=True):
            self.values.update(zip(stmt.params, carried, strict=True))
            self.values.update(zip(stmt.index, items, strict=True))
            self.block(stmt.body)
            carried = [self.carried(y) for y in stmt.yields]
            if stmt.go is not None and not self.value(stmt.go):
                break
        self.values.update(zip(stmt.results, carried, strict=True))

    def _items(self, it: Iter) -> Sequence[Any]:
        if isinstance(it, Seq):
            items = list(self.value(it.value))
            return items[::-1] if it.reverse else items
        numbers = range(self.value(it.start), self.value(it.stop), self.value(it.step))
        if it.count is not None:
            numbers = numbers[: self.value(it.count)]
        return numbers[::-1] if it.reverse else numbers

    def _while(self, stmt: While) -> None:
        carried = [self.carried(x) for x in stmt.inits]
        while True:
            self.values.update(zip(stmt.params, carried, strict=True))
            self.block(stmt.cond)
            if not self.value(stmt.test):
                break
            self.block(stmt.body)
            carried = [self.carried(y) for y in stmt.yields]
            if stmt.go is not None and not self.value(stmt.go):
                break
        self.values.update(zip(stmt.results, carried, strict=True))


def parts(tree: Pack, value: Any) -> list[Any]:
    """The items of a run-time structure, in the order of the tree's."""
    if tree.kind == "dict":
        return [value[k] for k in tree.meta]
    if tree.kind == "new" and tree.meta[1] is not None:
        return [getattr(value, name) for name in tree.meta[1]]
    return list(value)


def _new(pack: Pack, items: list[Any]) -> Any:
    constructor, names = pack.meta
    return constructor(*items) if names is None else build(constructor, dict(zip(names, items, strict=True)))


def build(cls: type, fields: dict[str, Any]) -> Any:
    """An instance with the given attributes, made without its `__init__` (which may do anything)."""
    out = object.__new__(cls)
    for name, value in fields.items():
        object.__setattr__(out, name, value)
    return out


_PACKS: dict[str, Callable[[Pack, list[Any]], Any]] = {
    "tuple": lambda pack, items: tuple(items),
    "list": lambda pack, items: items,
    "slice": lambda pack, items: slice(*items),
    "dict": lambda pack, items: dict(zip(pack.meta, items, strict=True)),
    "index": lambda pack, items: ("index", tuple(items) if pack.meta == "tuple" else items[0]),
    "view": lambda pack, items: ("view", pack.meta.impl, items),
    "new": _new,
}
