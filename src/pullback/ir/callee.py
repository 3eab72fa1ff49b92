"""Functions called by functions: what is compiled apart (recursion, large functions called often).

A `Callee` is the `fn` of the operations that call it.  It is a name first: a recursive function is called while it is
still being made; `function` is set when it is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pullback.ir.nodes import FRESH, Alias, Call, Function, Op
from pullback.ir.walk import statements
from pullback.styles.style import Style


@dataclass(eq=False, slots=True)
class Callee:
    """A function compiled apart.  Its parameters are single values, and so are its results."""

    name: str
    function: Function | None = None

    def body(self) -> Function:
        """The function; it must have been made."""
        assert self.function is not None, self.name
        return self.function


def operation(
    callee: Callee, styles: Sequence[Style], count: int, *, fresh: bool = False, effect: bool = False
) -> Op:
    """The operation of one call with `count` operands.  `fresh`: its arrays share nothing with the operands."""
    results: Any = styles[0] if len(styles) == 1 else tuple(styles)
    alias = FRESH if fresh else Alias("maybe", tuple(range(count)))
    return Op(
        callee.name, _not_by_value, lambda *_: results, alias, effect, numpy_path=callee.name, fn=callee
    )


def _not_by_value(*_: Any) -> Any:
    raise AssertionError("a callee is entered by the interpreter")


def callee_of(call: Call) -> Callee | None:
    """The function that a call enters, if it is one compiled apart."""
    return call.op.fn if isinstance(call.op.fn, Callee) else None


def reachable(functions: Iterable[Function]) -> list[Callee]:
    """The callees of functions and of their callees, each once, in the order in which they are met."""
    found: dict[Callee, None] = {}
    pending = list(functions)
    while pending:
        for stmt in statements(pending.pop(0).body):
            callee = callee_of(stmt) if isinstance(stmt, Call) else None
            if callee is not None and callee not in found:
                found[callee] = None
                if callee.function is not None:
                    pending.append(callee.function)
    return list(found)
