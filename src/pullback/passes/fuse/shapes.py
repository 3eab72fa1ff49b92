"""Questions for shapes, asked of values that stay: what is asked for nothing but its shape need not be made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pullback.analysis.binding import maybe_unbound
from pullback.ir import core_ops as core
from pullback.ir.nodes import Block, Call, Const, For, Function, If, Stmt, Var, While
from pullback.ir.walk import param_variables, statements, targets
from pullback.passes.buffers.deaths import asks_shape
from pullback.passes.fuse.members import Role, is_dense, role_of
from pullback.passes.rewrite import Rewriter
from pullback.styles.style import Array, Axis, Dim, is_varying


def ask_elsewhere(function: Function) -> Function:
    """The function with questions for the shape of computed values asked of values of the same shape, where there are.

    Those are values that every path has, that no loop of a kernel makes and nobody writes, so that none is kept
    for its shape.
    """
    return _AskElsewhere(function).function(function)


class _AskElsewhere(Rewriter):
    def __init__(self, function: Function) -> None:
        super().__init__()
        self.hidden = _written(function) | maybe_unbound(function, absent=True)
        self.maps: set[Var] = set()
        self.scopes: list[dict[Any, tuple[Var, int]]] = [{}]
        if function.kind != "pullback":  # a residual is None where the path that saves it was not taken
            self.know(param_variables(function.params))

    def know(self, variables: Iterable[Var]) -> None:
        """Values come into scope."""
        for var in variables:
            if not is_dense(var) or var in self.hidden:
                continue
            axes = _axes(var)
            self._first((axes, _dtype(var)), var, 0)
            self._first(axes, var, 0)
            for k, axis in enumerate(axes or ()):
                self._first(axis, var, k)

    def _first(self, key: Any, var: Var, k: int) -> None:
        if key is not None and all(key not in scope for scope in self.scopes):
            self.scopes[-1][key] = (var, k)

    def block(self, block: Block) -> Block:
        """A block; what it makes is known only in it."""
        self.scopes.append({})
        try:
            return super().block(block)
        finally:
            self.scopes.pop()

    def control(self, stmt: If | For | While) -> Stmt | None:
        """A control statement, and what it makes."""
        made = super().control(stmt)
        self.know(targets(stmt))
        return made

    def call(self, call: Call) -> Call | None:
        """A call; a question is asked elsewhere."""
        role = role_of(call)
        if role is Role.MAP:
            self.maps.update(call.targets)
        elif role is not Role.FREE:
            self.know(call.targets)
        asked = call.args[0] if call.args else None
        if not (isinstance(asked, Var) and asked in self.maps and asks_shape(call)):
            return call
        if call.op is core.dim and isinstance(call.args[1], Const):
            axis = (_axes(asked) or ())[call.args[1].value]
            found = self._find(axis)
            return call if found is None else _asking(call, found[0], Const(found[1]))
        like = call.op.numpy_path.endswith("_like")
        found = self._find((_axes(asked), _dtype(asked)) if like else _axes(asked))
        return call if found is None else _asking(call, found[0], *call.args[1:])

    def _find(self, key: Any) -> tuple[Var, int] | None:
        return next((scope[key] for scope in self.scopes if key in scope), None)


def _asking(call: Call, *args: Any) -> Call:
    return Call(call.targets, call.op, args, call.kwargs, call.loc)


def _axes(var: Var) -> tuple[Any, ...] | None:
    """A key that is equal for equal shapes."""
    assert isinstance(var.style, Array) and var.style.axes is not None
    keys = tuple(map(_axis, var.style.axes))
    return None if None in keys else keys


def _axis(axis: Axis) -> Any:
    if isinstance(axis, Dim):
        return None if is_varying(axis) else (axis.sym, axis.minus)
    return axis


def _dtype(var: Var) -> Any:
    return var.style.dtype if isinstance(var.style, Array) else None


def _written(function: Function) -> set[Var]:
    """The arrays that are changed in place, or carried into a loop that may."""
    found: set[Var] = set()
    for stmt in statements(function.body):
        if isinstance(stmt, Call) and stmt.op.writes:
            found.update(x for x in stmt.args[:1] if isinstance(x, Var))
        elif isinstance(stmt, For | While):
            found.update(x for x in stmt.inits if isinstance(x, Var))
            found.update(stmt.params)
    return found
