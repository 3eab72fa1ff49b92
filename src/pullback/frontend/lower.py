"""From a Python function and the specs of its arguments to IR: the entry of the front end.

In: a function object, a `Signature`, an `Environment`.  Out: `Lowered`: one pure Function whose parameters are the
user's and then the implicit ones, with what was guarded and which parameters' storage the function writes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType

from pullback.errors import failing_at
from pullback.frontend.bodies import body_of
from pullback.frontend.environment import Environment
from pullback.frontend.interpreter import Machine
from pullback.frontend.program import CallApart, Program
from pullback.frontend.signature import Signature
from pullback.ir.callee import Callee, reachable
from pullback.ir.nodes import Function, Param


@dataclass(frozen=True, slots=True)
class Lowered:
    """A function as IR.  `written`: the parameters whose storage it writes; `callees`: functions compiled apart."""

    function: Function
    environment: Environment
    written: frozenset[str]
    callees: tuple[Callee, ...] = ()


def lower_function(fn: FunctionType, signature: Signature, environment: Environment) -> Lowered:
    """Lower a function for one signature.  Raises NeedStatic where an int parameter is needed at compile time."""
    body, name = body_of(fn), _identifier(fn.__name__)
    program = Program()
    with _deep_stack():
        while True:
            machine = Machine(environment)
            machine.program = program
            program.again(name)
            environment.implicits.clear()
            try:
                with failing_at(lambda: machine.builder.loc):  # noqa: B023 (called at once)
                    params, value = machine.enter(body, fn, signature)
                break
            except CallApart:  # from the start, this time
                continue
    result = machine.operand(value)
    block = machine.builder.finish()
    environment.keep(machine.implicits)
    implicit = [Param(name, machine.implicits[name][0]) for name, _ in environment.implicits.values()]
    function = Function(name, (*params, *implicit), block, (result,), body.loc(body.node))
    return Lowered(function, environment, frozenset(machine.written), tuple(reachable([function])))


def _identifier(name: str) -> str:
    return name if name.isidentifier() else "function"


@contextmanager
def _deep_stack() -> Iterator[None]:
    """Nested calls of the user's are nested calls here, several for each."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 10_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
