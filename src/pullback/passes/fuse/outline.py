"""Groups as kernels: the call that stands for one, and the function that it runs."""

from __future__ import annotations

from collections.abc import Sequence

from pullback.errors import NOWHERE
from pullback.ir import core_ops as core
from pullback.ir.kernel import Kernel, operation
from pullback.ir.nodes import Block, Call, Function, Operand, Param, Stmt, Var
from pullback.ir.walk import copy_stmt, substitute, variables_in
from pullback.passes.fuse.facts import Facts
from pullback.passes.fuse.members import Role, Space, is_whole_store
from pullback.styles.style import Array


class Outliner:
    """Makes kernels of a function of a kind.  Names tell what they make; `taken` counts how often each is in use."""

    def __init__(self, facts: Facts, kind: str, taken: dict[str, int]) -> None:
        self.facts = facts
        self.suffix = "" if kind == "joint" else f"_{kind}"
        self.taken = taken
        self.made = 0

    def call(self, members: Sequence[Call], space: Space, forward: int, apart: bool) -> Call:
        """The call that stands for members, of which the first `forward` belong to the forward sweep.

        apart  the places of one buffer that they add to are apart
        """
        self.made += 1
        ids = {id(m) for m in members}
        results = [t for m in members for t in m.targets if not self.facts.readers(t) <= ids]
        main = self._main(members, results)
        body = _Body(self.facts, results)
        for i, member in enumerate(members):
            if i == forward > 0:
                body.turn()
            body.add(member)
        function = body.function(self._name(main.targets[0].hint))
        places = [main, *reversed(members)]
        loc = next((m.loc for m in places if m.loc.line), NOWHERE)
        kernel = Kernel(function.name, function, space, apart)
        return Call(tuple(results), operation(kernel), tuple(body.params), loc=loc)

    def _main(self, members: Sequence[Call], results: Sequence[Var]) -> Call:
        """The member that a kernel is named after: the last store, else the last array, else the last number."""
        given = [m for m in members if m.targets[0] in results]
        for role in (Role.STORE, Role.MAP):
            found = [m for m in given if self.facts.role[id(m)] is role]
            if found:
                return found[-1]
        return (given or members)[-1]

    def _name(self, hint: str) -> str:
        stem = f"fused_{hint}{self.suffix}"
        count = self.taken[stem] = self.taken.get(stem, 0) + 1
        return stem if count == 1 else self._name(f"{hint}_{count}")


class _Body:
    """The function of a kernel.

    A store of the whole is what is stored: members read that.  The buffer is written once, if anybody outside reads it,
    and not at all if it is one that the kernel itself would have made.
    """

    def __init__(self, facts: Facts, results: Sequence[Var]) -> None:
        self.facts = facts
        self.results = results
        self.params: dict[Var, Var] = {}
        self.mapping: dict[Var, Operand] = {}
        self.base: dict[Var, Var | None] = {}  # the parameter whose buffer a store of the whole goes to
        self.outs: dict[Var, Operand] = {}
        self.stmts: list[Stmt] = []
        self.copied: set[int] = set()

    def add(self, member: Call) -> None:
        """Add a member, after the free calls that it needs."""
        needs = self.facts.needs(member)
        for var in needs.inputs:
            if var not in self.mapping:
                self.params[var] = Var(var.hint, var.style)
                self.mapping[var] = self.params[var]
        for call in needs.copies.values():
            if id(call) not in self.copied:
                self.copied.add(id(call))
                self.stmts.append(copy_stmt(call, self.mapping))
        if self.facts.role[id(member)] is Role.STORE and is_whole_store(member):
            self._whole(member)
        else:
            if member.op is core.accumulate:
                self._own(member)
            self.stmts.append(copy_stmt(member, self.mapping))
            self.outs.update((t, self.mapping[t]) for t in member.targets)

    def _own(self, member: Call) -> None:
        """A sum in place goes to a copy: who reads its operand outside may come after the kernel by now."""
        base = substitute(member.args[0], self.mapping)
        if isinstance(base, Var) and base in self.params.values():
            copied = Var(base.hint, base.style)
            self.stmts.append(Call((copied,), core.copy, (base,), loc=member.loc))
            assert isinstance(member.args[0], Var)
            self.mapping[member.args[0]] = copied

    def turn(self) -> None:
        """The members that follow are of the reverse sweep."""
        self.stmts.append(Call((), core.begin_reverse, ()))

    def _whole(self, member: Call) -> None:
        (target,), (base, value) = member.targets, member.args
        assert isinstance(base, Var)
        root = self.base.get(base, base if base in self.params else None)
        self.base[target] = root
        self.mapping[target] = substitute(value, self.mapping)
        if target not in self.results:
            return
        out = Var(target.hint, target.style)
        op, args = (core.copy, ()) if root is None else (core.store, (self.params[root],))
        self.stmts.append(Call((out,), op, (*args, self.mapping[target]), loc=member.loc))
        self.outs[target] = out

    def function(self, name: str) -> Function:
        """The finished function; its parameters are arrays, then numbers, those only that it reads."""
        outs = tuple(self.outs[r] for r in self.results)
        read = set(variables_in([*outs, *(x for s in self.stmts if isinstance(s, Call) for x in s.args)]))
        needed = [(var, param) for var, param in self.params.items() if param in read]
        self.params = dict(sorted(needed, key=lambda pair: not isinstance(pair[0].style, Array)))
        names = _distinct([var.hint for var in self.params])
        params = tuple(Param(n, p) for n, p in zip(names, self.params.values(), strict=True))
        loc = next((s.loc for s in self.stmts if s.loc.line), NOWHERE)
        kind = "joint" if any(isinstance(s, Call) and s.op.effect for s in self.stmts) else "primal"
        return Function(name, params, Block(tuple(self.stmts)), outs, loc, kind=kind)


def _distinct(hints: Sequence[str]) -> list[str]:
    seen: dict[str, int] = {}
    out = []
    for hint in hints:
        seen[hint] = seen.get(hint, 0) + 1
        out.append(hint if seen[hint] == 1 else f"{hint}_{seen[hint]}")
    return out
