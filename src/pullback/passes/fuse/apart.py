"""Stores of what may overlap the place that is stored to: the value is copied first, as NumPy does.

%a.1 = store(%a, %v, [1:])      %v = load(%a, [:-1])   =>   %t = copy(%v); %a.1 = store(%a, %t, [1:])
"""

from __future__ import annotations

from pullback.ir import core_ops as core
from pullback.ir.nodes import Call, Function, Var
from pullback.passes.fuse.members import Role, role_of
from pullback.passes.fuse.memory import Memory
from pullback.passes.rewrite import Rewriter
from pullback.styles.style import Array


def copy_apart(function: Function) -> Function:
    """The function in which no store of a kernel reads the buffer that it changes, but at the same place."""
    return _CopyApart(Memory(function)).function(function)


class _CopyApart(Rewriter):
    def __init__(self, memory: Memory) -> None:
        super().__init__()
        self.memory = memory

    def call(self, call: Call) -> Call | None:
        """A store, after a copy of its value where that may overlap."""
        if role_of(call) is not Role.STORE:
            return call
        base, value, *steps = call.args
        assert isinstance(base, Var)
        if not isinstance(value, Var) or not self.memory.own(base) & self.memory.of(value):
            return call
        read, written = self.memory.place(value), self.memory.place(base, *steps)
        if self.memory.same_place(read, written) or self.memory.apart(read, written):
            return call
        assert isinstance(value.style, Array)
        copied = Var(value.hint, Array(value.style.dtype, value.style.axes, False, value.style.kind))
        self.emitted.append(Call((copied,), core.copy, (value,), loc=call.loc))
        return Call(call.targets, call.op, (base, copied, *steps), call.kwargs, call.loc)
