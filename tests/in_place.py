"""The interpreter with writes done in place, and kernels run element by element: what a target may do with them.

Pure runs hide what fusion may get wrong: a statement moved over a write to what it reads, a loop that reads what it has
just written.  Here both give other numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.ir import core_ops as core
from pullback.ir.interp import Machine
from pullback.ir.kernel import Kernel, kernel_of
from pullback.ir.nodes import Call, Function, Var
from pullback.passes.fuse.members import Role, role_of

MOST = 64  # elements of a kernel that is run element by element


def run_in_place(function: Function, args: Sequence[object]) -> tuple[Any, ...]:
    """The results of a bufferised function."""
    return InPlace().results(function, args)


class InPlace(Machine):
    """Writes change operand 0."""

    def _call(self, stmt: Call) -> None:
        kernel = kernel_of(stmt)
        if kernel is not None:
            out = run_kernel(kernel, [self.use(x) for x in stmt.args])
            self.values.update(zip(stmt.targets, out, strict=True))
        elif stmt.op.writes:
            args = [self.use(x) for x in stmt.args]
            self.values[stmt.targets[0]] = written(stmt, args)
        else:
            super()._call(stmt)


def written(stmt: Call, args: list[Any]) -> Any:
    """The result of a write, in operand 0 where that can be written."""
    base, *rest = args
    if isinstance(base, np.ndarray):
        if stmt.op is core.store:
            core._write(base, rest[0], rest[1:])
        elif stmt.op is core.accumulate:
            base += rest[0]
        else:
            base[...] = stmt.op.impl(*args)
        return base
    made = stmt.op.impl(*args)
    if isinstance(base, list) and isinstance(made, list):
        base[:] = made
        return base
    return made


def run_kernel(kernel: Kernel, args: list[Any]) -> list[Any]:
    """The results of a kernel."""
    calls = [s for s in kernel.function.body.stmts if isinstance(s, Call) and s.targets]
    pure = Machine()
    pure.results(kernel.function, [np.copy(a) if isinstance(a, np.ndarray) else a for a in args])
    shape = _shape(calls, pure)
    if int(np.prod(shape)) > MOST or not all(
        np.ndim(x) for x in pure.values.values() if isinstance(x, np.ndarray)
    ):
        whole = InPlace()
        return list(whole.results(kernel.function, args))
    loop = _Loop(kernel, calls, args, pure, shape)
    with np.errstate(all="ignore"):
        for at in np.ndindex(*shape):
            loop.at(at)
    return [loop.result(x) for x in kernel.function.results]


def _shape(calls: list[Call], pure: Machine) -> tuple[int, ...]:
    shapes = []
    for call in calls:
        role = role_of(call)
        if role is Role.STORE:
            steps = [pure.read(x) for x in call.args[2:]]
            shapes.append(core._load(pure.read(call.args[0]), *steps).shape)
        elif role is Role.REDUCTION:
            shapes.append(pure.read(call.args[0]).shape)
        elif role is Role.MAP:
            shapes.append(np.shape(pure.read(call.targets[0])))
    return tuple(np.broadcast_shapes(*shapes))


class _Loop:
    def __init__(
        self, kernel: Kernel, calls: list[Call], args: list[Any], pure: Machine, shape: tuple[int, ...]
    ) -> None:
        self.calls, self.pure, self.shape = calls, pure, shape
        self.params = dict(zip((p.tree for p in kernel.function.params), args, strict=True))
        self.whole: dict[Any, Any] = {}  # results and operands of reductions, as they come

    def element(self, operand: Any, at: tuple[int, ...], values: dict[Any, Any]) -> Any:
        if not isinstance(operand, Var):
            return self.pure.read(operand)
        if operand in values:
            return values[operand]
        whole = self.params.get(operand, self.pure.values[operand])
        return np.broadcast_to(whole, self.shape)[at] if isinstance(whole, np.ndarray) else whole

    def at(self, at: tuple[int, ...]) -> None:
        values: dict[Any, Any] = {}
        for call in self.calls:
            self.call(call, role_of(call), at, values)

    def call(self, call: Call, role: Role | None, at: tuple[int, ...], values: dict[Any, Any]) -> None:
        (target,) = call.targets
        if role is Role.FREE:
            whole = self.pure.values[target]
            if isinstance(whole, np.ndarray) and call.op.fn is np.broadcast_to:
                values[target] = self.element(call.args[0], at, values)
                if isinstance(call.args[0], Var) and call.args[0] in self.params:
                    values[target] = np.broadcast_to(self.params[call.args[0]], self.shape)[at]
            return
        if role is Role.STORE:
            base = self.params[call.args[0]] if call.args[0] in self.params else self.whole[call.args[0]]
            region = core._load(base, *[self.pure.read(x) for x in call.args[2:]])
            value = self.element(call.args[1], at, values)
            if call.op is core.store:
                region[at] = value
            else:
                region[at] += value
            self.whole[target] = base
            return
        args = [self.element(x, at, values) for x in call.args]
        if role is Role.REDUCTION:
            self._keep(call.args[0], args[0], at)
            return
        kwargs = {k: self.pure.read(v) for k, v in call.kwargs}
        base = call.args[0]
        made = np.asarray(call.op.impl(*args, **kwargs))[()]
        dtype = target.style.dtype
        if call.op is core.accumulate and base in self.params:
            self.params[base][at] = made
            self.whole[target] = self.params[base]
            made = self.params[base][at]
        else:
            made = np.asarray(made).astype(dtype)[()]
            self._keep(target, made, at)
        values[target] = made

    def _keep(self, var: Any, value: Any, at: tuple[int, ...]) -> None:
        if np.shape(self.pure.values[var]) == self.shape:
            self.whole.setdefault(var, np.empty(self.shape, var.style.dtype))[at] = value

    def result(self, operand: Any) -> Any:
        for call in self.calls:
            if call.targets[0] is operand and role_of(call) is Role.REDUCTION:
                whole = self.whole.get(
                    call.args[0], self.params.get(call.args[0], self.pure.values[call.args[0]])
                )
                rest = [self.pure.read(x) for x in call.args[1:]]
                return call.op.impl(whole, *rest, **{k: self.pure.read(v) for k, v in call.kwargs})
        whole = self.whole.get(operand)
        return self.pure.values[operand] if whole is None else whole
