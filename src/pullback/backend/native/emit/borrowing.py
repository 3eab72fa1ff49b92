"""Views in loops that need not count as names of their buffer.

A view that is only used in the block that makes it, while the name it was made from keeps its value, is a local struct:
that name keeps the buffer alive.  So no count changes in each iteration, and the view does not share a C name with
values that own their memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pullback.backend.native.emit.dtypes import MaybeZero
from pullback.backend.native.emit.leaves import operand_style
from pullback.backend.native.emit.selection import is_selection
from pullback.ir import core_ops as core
from pullback.ir.kernel import kernel_of
from pullback.ir.nodes import Block, Call, For, Function, If, Operand, Pack, Seq, Stmt, Var, While
from pullback.ir.walk import block_ends, uses, variables, variables_in
from pullback.styles.style import Array, ListOf

_VIEWS = frozenset(
    ("np.transpose", "np.permute_dims", "np.swapaxes", "np.matrix_transpose", "np.moveaxis", "np.expand_dims",
     "np.squeeze", "np.flip")
)  # fmt: skip


def borrowed_views(function: Function, names: Mapping[Var, str], unbound: Collection[Var]) -> set[Var]:
    """The views of a function that need not hold what they show."""
    all_uses = Counter(v for stmt in function.body.stmts for v in uses(stmt))
    all_uses.update(v for tree in function.results for v in variables(tree))
    search = _Search(names, all_uses, frozenset(unbound))
    for stmt in function.body.stmts:
        search.inside(stmt, False)
    return set(search.roots)


@dataclass(slots=True)
class _Search:
    """What is found so far.  `roots`: of each view, the name that keeps its buffer."""

    names: Mapping[Var, str]
    uses: Counter[Var]
    unbound: frozenset[Var]
    roots: dict[Var, str] = field(default_factory=dict)

    def inside(self, stmt: Stmt, repeated: bool) -> None:
        """The blocks of a statement."""
        repeated = repeated or isinstance(stmt, For | While)
        if isinstance(stmt, For):
            self.items(stmt)
        for _, block, _ in block_ends(stmt):
            if repeated:
                self._block(block)
            else:
                for inner in block.stmts:
                    self.inside(inner, False)

    def items(self, loop: For) -> None:
        """The items of lists that a loop runs over: the list, which the loop holds, holds them."""
        ends = Counter(variables_in((*loop.yields, *(x for x in (loop.go,) if x is not None))))
        for var, it in zip(loop.index, loop.iters, strict=True):
            held = isinstance(it, Seq) and isinstance(operand_style(it.value), ListOf)
            if held and _is_array(var) and var not in self.unbound and not ends[var]:
                self.roots[var] = ""

    def _block(self, block: Block) -> None:
        for k, stmt in enumerate(block.stmts):
            if isinstance(stmt, Call):
                self._view(stmt, block.stmts[k + 1 :])
            else:
                self.inside(stmt, True)

    def _view(self, call: Call, later: Sequence[Stmt]) -> None:
        base = call.args[0] if call.args else None
        if not isinstance(base, Var) or not _is_view(call) or base in self.unbound:
            return
        (target,) = call.targets
        root = self.roots[base] if base in self.roots else self.names.get(base)
        if root is None or target in self.unbound:
            return
        left = self.uses[target]
        for stmt in later:
            if not left:
                break
            found = sum(v is target for v in uses(stmt))
            left -= found
            if (left or found) and root in set(self.rebound(stmt)):
                return
        if not left:
            self.roots[target] = root

    def rebound(self, stmt: Stmt) -> Iterator[str]:
        """The names that get another value in a statement, inner ones included."""
        match stmt:
            case Call():
                kept = dict(_written(stmt))
                for target in stmt.targets:
                    yield from self._moved([target], [kept.get(target, target)], target not in kept)
            case If():
                yield from self._moved(stmt.results, stmt.then_yields)
                yield from self._moved(stmt.results, stmt.else_yields)
            case For() | While():
                yield from self._moved(stmt.params, stmt.inits)
                yield from self._moved(stmt.params, stmt.yields)
                yield from self._moved(stmt.results, stmt.params)
                if isinstance(stmt, For):
                    yield from self._moved(stmt.index, stmt.index, True)
        for _, block, _ in block_ends(stmt):
            for inner in block.stmts:
                yield from self.rebound(inner)

    def _moved(
        self, targets: Sequence[Var], sources: Sequence[Operand], always: bool = False
    ) -> Iterator[str]:
        for target, source in zip(targets, sources, strict=True):
            name = self.names.get(target)
            if name is not None and (always or not isinstance(source, Var) or self.names.get(source) != name):
                yield name


def _is_view(call: Call) -> bool:
    """Whether a call makes a view, and nothing else, of its first operand, an array."""
    base = call.args[0]
    if len(call.targets) != 1 or not isinstance(base, Var):
        return False
    if not (_is_array(base) and _is_array(call.targets[0])):
        return False
    if call.op is not core.load:
        return call.op.name in _VIEWS
    steps = call.args[1:]
    return all(
        isinstance(s, Pack)
        and (not is_selection(s) if s.kind == "index" else getattr(s.meta, "name", "") in _VIEWS)
        for s in steps
    )


def _is_array(var: Var) -> bool:
    return isinstance(var.style, Array) and not isinstance(var.style, MaybeZero)


def _written(call: Call) -> Iterator[tuple[Var, Operand]]:
    """The targets of a call that are an operand with a change in place, each with that operand."""
    kernel = kernel_of(call)
    if kernel is None:
        if call.op in (core.store, core.add_at):
            yield call.targets[0], call.args[0]
        return
    params = [p.tree for p in kernel.function.params]
    root: dict[Operand, Operand] = dict(zip(params, call.args, strict=True))
    for stmt in kernel.function.body.stmts:
        if isinstance(stmt, Call) and stmt.op in (core.store, core.add_at) and stmt.args[0] in root:
            root[stmt.targets[0]] = root[stmt.args[0]]
    for result, target in zip(kernel.function.results, call.targets, strict=True):
        if result in root:
            yield target, root[result]
