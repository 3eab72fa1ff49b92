"""What the reverse sweep knew of its values, taken out again: the backend has no need of it.

%h_bar.1: f64[3] = known(%h_bar, f64[3])        every read of %h_bar.1 reads %h_bar
"""

from __future__ import annotations

from pullback.ir import core_ops as core
from pullback.ir.nodes import Call, Function
from pullback.passes.rewrite import Rewriter


def drop_known(function: Function) -> Function:
    """The function without `known`."""
    return _DropKnown().function(function)


class _DropKnown(Rewriter):
    def call(self, call: Call) -> Call | None:
        """A value is what it was before more was known of it."""
        if call.op is not core.known:
            return call
        self.mapping[call.targets[0]] = call.args[0]
        return None
