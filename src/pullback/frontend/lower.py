"""From a Python function and the specs of its arguments to IR: the entry of the front end.

In: a function object, a `Signature`, an `Environment`.  Out: `Lowered`: one pure Function whose parameters are the user's
and then the implicit ones, with what was guarded and which parameters' storage the function writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import FunctionType

from pullback.errors import Loc
from pullback.frontend.bodies import Frame, body_of
from pullback.frontend.environment import Environment
from pullback.frontend.interpreter import Machine
from pullback.frontend.signature import Signature
from pullback.ir.nodes import Function, Param


@dataclass(frozen=True, slots=True)
class Lowered:
    """A function as IR.  `written`: the parameters whose storage it writes; `callees`: functions compiled apart."""

    function: Function
    environment: Environment
    written: frozenset[str]
    callees: tuple[Function, ...] = ()


def lower_function(fn: FunctionType, signature: Signature, environment: Environment) -> Lowered:
    """Lower a function for one signature.  Raises NeedStatic where an int parameter is needed at compile time."""
    body = body_of(fn)
    machine = Machine(environment)
    frame = Frame(body, 0, None, fn)
    machine.frame = frame
    machine.frames.append(frame)
    loc = body.loc(body.node)
    machine.builder.loc = loc
    params = []
    for name, spec in signature.args:
        tree, value = machine.parameter(name, spec)
        machine.claim(tree)
        machine.state.names[name] = value
        params.append(Param(name, tree))
    value = machine.run(body)
    result = machine.operand(value)
    block = machine.builder.finish()
    implicit = [Param(name, tree) for name, (tree, _) in machine.implicits.items()]
    function = Function(_identifier(body.name), (*params, *implicit), block, (result,), _place(loc))
    return Lowered(function, environment, frozenset(machine.written))


def _identifier(name: str) -> str:
    return name if name.isidentifier() else "function"


def _place(loc: Loc) -> Loc:
    return loc
