"""Functions of numbers inside the loop of a kernel: each is a C function that the loop calls for its element.

Where a kernel has the value of a function and cotangents of it, for the same operands, the pair's primal is called once
and gives the value and what it saves, which lives until the element is done.  Where the value is in another loop (a
reduction stands between the two), the pair's primal is called again beside its pullback: that costs no memory, and at
most as much time as the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pullback.backend.native.emit.element import Term, literal
from pullback.backend.native.emit.errors import Untaken
from pullback.backend.native.emit.leaves import ListLeaf, Number, declared, leaves_of, operand_style
from pullback.ir.callee import Callee
from pullback.ir.mapped import MappedPullback, mapped_of, mapped_pullback_of, taken_apart
from pullback.ir.nodes import Call, Const, For, Function, Operand, While
from pullback.ir.walk import block_ends
from pullback.passes.cse import operand_key

if TYPE_CHECKING:
    from pullback.backend.native.emit.module import ModuleEmitter

_TURNS = 10  # that a loop is taken to have, where its cost is estimated
_STATEMENT = 3  # what a statement costs, where a sum of arrays costs one an element
Texts = Callable[[Operand, np.dtype[Any]], str]


@dataclass(frozen=True, slots=True)
class _Made:
    """A C function, and what it is of."""

    name: str
    function: Function

    def leaves(self) -> list[Number]:
        """The numbers and lists that it takes."""
        return [leaf for p in self.function.params for leaf in leaves_of(operand_style(p.tree))]  # type: ignore[misc]


@dataclass(slots=True)
class Mapped:
    """The functions of numbers of one kernel.

    pairs   what serves a function for certain operands, where the kernel has cotangents of it
    """

    module: ModuleEmitter
    calls: list[Call]
    pairs: dict[Any, MappedPullback] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for call in self.calls:
            made = mapped_pullback_of(call)
            if made is not None:
                self.pairs[_key(made.value, call.args[:-1])] = made

    def cost(self) -> int:
        """What they cost an element, about."""
        functions = {id(f): f for call in self.calls for f in _functions(call)}
        return sum(_cost_of(f) for f in functions.values())

    def primal(self, callee: Callee, args: Iterable[Operand]) -> _Made:
        """The C function that gives the value for certain operands, and what is saved."""
        pair = self.pairs.get(_key(callee, args))
        if pair is None:
            return _Made(*self.module.mapped(callee, callee.body()))
        return _Made(*self.module.mapped(pair.primal, taken_apart(pair)[0]))

    def pullback(self, pair: MappedPullback) -> _Made:
        """The C function that gives cotangents."""
        return _Made(*self.module.mapped(pair.pullback, taken_apart(pair)[1]))


@dataclass(slots=True)
class Evaluation:
    """The lines that evaluate a kernel's functions of numbers for one element."""

    mapped: Mapped
    texts: Texts
    lines: list[str]
    made: dict[Any, list[Term | str]] = field(default_factory=dict)
    lists: list[str] = field(default_factory=list)

    def term(self, call: Call) -> Term:
        """What a call gives."""
        value = mapped_of(call)
        if value is not None:
            return self._number(self._primal(value.callee, call.args)[0])
        pair = mapped_pullback_of(call)
        assert pair is not None
        key = ("cotangents", id(pair.pullback), tuple(map(operand_key, call.args)))
        if key not in self.made:
            _, *saved = self._primal(pair.value, call.args[:-1])
            made = self.mapped.pullback(pair)
            (bar,) = made.leaves()[len(saved) :]
            given = [x.text if isinstance(x, Term) else x for x in saved]
            self.made[key] = self._run(made, [*given, self.texts(call.args[-1], bar.dtype)])
        return self._number(self.made[key][pair.result])

    def _primal(self, callee: Callee, args: tuple[Operand, ...]) -> list[Term | str]:
        """The value, and what is saved."""
        key = _key(callee, args)
        if key not in self.made:
            made = self.mapped.primal(callee, args)
            given = [self.texts(x, leaf.dtype) for x, leaf in zip(args, made.leaves(), strict=True)]
            self.made[key] = self._run(made, given)
        return self.made[key]

    def _run(self, made: _Made, given: list[str]) -> list[Term | str]:
        """Call a C function; its results, numbers as terms and lists by name."""
        out: list[Term | str] = []
        pointers = []
        for k, result in enumerate(made.function.results):
            leaves = leaves_of(operand_style(result))
            if not leaves:
                assert isinstance(result, Const)
                out.append(Term(literal(result.value, np.dtype(float)), np.dtype(float)))
                continue
            if len(leaves) != 1:
                raise Untaken("a number of several kinds at each element")
            name = f"pb_e{len(self.made)}_{k}"
            self.lines.append(f"{declared(leaves[0])} {name} = 0;")
            pointers.append(f"&{name}")
            if isinstance(leaves[0], ListLeaf):
                self.lists.append(name)
            out.append(Term(name, leaves[0].dtype) if isinstance(leaves[0], Number) else name)
        run = f"{made.name}({', '.join(['host', *given, *pointers])})"
        self.lines.append(
            f"if (PB_RARE({run})) {{ {' '.join(self.released())} pb_stopped = 1; goto pb_left; }}"
        )
        return out

    def released(self) -> list[str]:
        """What gives back the lists that are there."""
        return [f"PB_RELEASE_LIST({name});" for name in self.lists]

    def _number(self, made: Term | str) -> Term:
        assert isinstance(made, Term)
        return made


def _key(callee: Callee, args: Iterable[Operand]) -> Any:
    return id(callee), tuple(map(operand_key, args))


def _functions(call: Call) -> list[Function]:
    value, pair = mapped_of(call), mapped_pullback_of(call)
    if value is not None:
        return [value.callee.body()]
    return [] if pair is None else [pair.primal.body(), pair.pullback.body()]


def _cost_of(function: Function) -> int:
    """What a function costs, about."""
    total = 0
    pending = [(function.body, _STATEMENT)]
    while pending:
        block, weight = pending.pop()
        for stmt in block.stmts:
            total += weight
            more = weight * _TURNS if isinstance(stmt, For | While) else weight
            pending += [(inner, more) for _, inner, _ in block_ends(stmt)]
    return total


def is_mapped(call: Call) -> bool:
    """Whether a call evaluates a function of numbers at each element."""
    return mapped_of(call) is not None or mapped_pullback_of(call) is not None
