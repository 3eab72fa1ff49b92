"""Groups as kernels: the call that stands for one, and the function that it runs."""

from __future__ import annotations

from collections.abc import Sequence

from pullback.errors import NOWHERE, Loc
from pullback.ir.kernel import Kernel, operation
from pullback.ir.nodes import Block, Call, Function, Operand, Param, Stmt, Var
from pullback.ir.walk import copy_stmt, substitute
from pullback.passes.fuse.facts import Facts
from pullback.passes.fuse.members import Role, Space


class Outliner:
    """Makes kernels; their names tell what they make."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.taken: dict[str, int] = {}

    def call(self, members: Sequence[Call], space: Space) -> Call:
        """The call that stands for members."""
        ids = {id(m) for m in members}
        results = [t for m in members for t in m.targets if not self.facts.readers(t) <= ids]
        inputs: dict[Var, None] = {}
        made = {t for m in members for t in m.targets}
        for member in members:
            inputs.update(dict.fromkeys(v for v in self.facts.needs(member).inputs if v not in made))
        main = self._main(members, results)
        function = self._function(main.targets[0].hint, members, tuple(inputs), results)
        kernel = Kernel(function.name, function, space)
        loc = main.loc if main.loc.line else next((m.loc for m in reversed(members) if m.loc.line), NOWHERE)
        return Call(tuple(results), operation(kernel), tuple(inputs), loc=loc)

    def _main(self, members: Sequence[Call], results: Sequence[Var]) -> Call:
        """The member that a kernel is named after: the last store, else the last array, else the last number."""
        given = [m for m in members if m.targets[0] in results]
        for role in (Role.STORE, Role.MAP):
            found = [m for m in given if self.facts.role[id(m)] is role]
            if found:
                return found[-1]
        return (given or members)[-1]

    def _function(
        self, hint: str, members: Sequence[Call], inputs: Sequence[Var], results: Sequence[Var]
    ) -> Function:
        mapping: dict[Var, Operand] = {}
        params = [Var(v.hint, v.style) for v in inputs]
        mapping.update(zip(inputs, params, strict=True))
        body: list[Stmt] = []
        copied: set[int] = set()
        for member in members:
            for copy in self.facts.needs(member).copies.values():
                if id(copy) not in copied:
                    copied.add(id(copy))
                    body.append(copy_stmt(copy, mapping))
            body.append(copy_stmt(member, mapping))
        outs = tuple(substitute(r, mapping) for r in results)
        names = _distinct([v.hint for v in inputs])
        listed = tuple(Param(n, v) for n, v in zip(names, params, strict=True))
        return Function(self._name(hint), listed, Block(tuple(body)), outs, _loc(members))

    def _name(self, hint: str) -> str:
        count = self.taken[hint] = self.taken.get(hint, 0) + 1
        return f"fused_{hint}" if count == 1 else f"fused_{hint}_{count}"


def _distinct(hints: Sequence[str]) -> list[str]:
    seen: dict[str, int] = {}
    out = []
    for hint in hints:
        seen[hint] = seen.get(hint, 0) + 1
        out.append(hint if seen[hint] == 1 else f"{hint}_{seen[hint]}")
    return out


def _loc(members: Sequence[Call]) -> Loc:
    return next((m.loc for m in members if m.loc.line), NOWHERE)
