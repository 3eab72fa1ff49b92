"""What the result of an operation shares with its operands: the alias table (B1) as regions."""

from __future__ import annotations

from collections.abc import Mapping, Set

import numpy as np

from pullback.ir import core_ops as core
from pullback.ir.callee import callee_of
from pullback.ir.core_ops import style_of
from pullback.ir.nodes import Alias, Call, Const, Op, Operand, Var
from pullback.passes.buffers.regions import FOREIGN, NOTHING, READ_ONLY, Regions, Shares, common_cuts
from pullback.styles.style import Array, ListOf, Scalar, Static, Style, Tup, Undef, numeric

# Views that may be written and in which no element appears twice; other views are taken to be read-only.
_WRITABLE_NAMES = (
    *("transpose", "matrix_transpose", "permute_dims", "swapaxes", "moveaxis", "rollaxis"),
    *("reshape", "ravel", "squeeze", "expand_dims", "atleast_1d", "atleast_2d", "atleast_3d"),
    *("asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "real"),
    *("flip", "fliplr", "flipud", "rot90", "split", "array_split", "hsplit", "vsplit", "dsplit"),
)
_WRITABLE = frozenset(getattr(np, name) for name in _WRITABLE_NAMES if hasattr(np, name))
_WRITABLE_CORE = frozenset(
    {
        core.load,
        core.unbroadcast,
        core.project,
        core.cast,
        core.same,
        core.add_lists,
        core.spread_list,
        core.list_rows,
        core.nested_rows,
    }
)


def immutable(style: Style) -> bool:
    """Whether values of a style can never be written, so that sharing them means nothing."""
    return isinstance(numeric(style), Scalar | Static | Undef)


class Sharing:
    """The regions of operands and results."""

    def __init__(self, regions: Regions, shares: Mapping[Var, Shares], copied_loads: Set[int]) -> None:
        self.regions = regions
        self.shares = shares
        self.copied_loads = copied_loads

    def operand(self, operand: Operand) -> Shares:
        """The regions of an operand."""
        if isinstance(operand, Var):
            return self.shares.get(operand, NOTHING)
        if isinstance(operand, Const):
            mutable = isinstance(operand.value, np.ndarray | list | dict)
            return Shares(frozenset((FOREIGN,)), frozenset((FOREIGN,))) if mutable else NOTHING
        items = [self.operand(x) for x in operand.items]
        content = self.union(*(s.all() for s in items))
        is_object = operand.kind in ("list", "dict", "new")
        own = frozenset((self.regions.fresh(id(operand)),)) if is_object else frozenset()
        return Shares(own, content, common_cuts(content, items))

    def union(self, *sets: frozenset[int]) -> frozenset[int]:
        """A union, kept small."""
        return self.regions.small(frozenset().union(*sets))

    def results(self, call: Call) -> list[Shares]:
        """The regions of the results of a call that writes nothing."""
        return [self._result(call, i, target.style) for i, target in enumerate(call.targets)]

    def _result(self, call: Call, i: int, style: Style) -> Shares:
        if immutable(style):
            return NOTHING
        if call.op is core.call_effect:
            return Shares(frozenset((FOREIGN,)), frozenset((FOREIGN,)))
        fresh = frozenset((self.regions.fresh(id(call), i),))
        inner = frozenset((self.regions.fresh(id(call), i, "content"),))
        if callee_of(call) is not None:
            return self._of_callee(call, style, fresh)
        special = _LISTS.get(call.op)
        if special is not None:
            return special(self, call, fresh)
        alias = alias_of(call)
        if alias.kind == "fresh":
            return Shares(fresh, inner) if not isinstance(style, Array) else Shares(fresh)
        sources = [self.operand(call.args[k]) for k in alias.operands if k < len(call.args)]
        shared = self.union(*(s.all() for s in sources))
        if not _writable(call.op):
            shared |= {READ_ONLY}
        own = shared if alias.kind == "view" else shared | fresh
        if not isinstance(style, Array):
            return Shares(own | fresh, shared | inner)
        if call.op is not core.load:
            return Shares(own, frozenset(), common_cuts(own, sources))
        if id(call) in self.copied_loads:
            return Shares(frozenset((self.regions.fresh(id(call), "copy"),)))
        return Shares(own, frozenset(), dict.fromkeys(own, frozenset((id(call),))))

    def _of_callee(self, call: Call, style: Style, fresh: frozenset[int]) -> Shares:
        """The results of a function share with one another; what it saves shares with its operands too."""
        common = frozenset((self.regions.fresh(id(call), "results"),))
        operands = self.union(*(self.operand(x).all() for x in call.args)) | {READ_ONLY}
        if not isinstance(style, Array):
            return Shares(fresh, common | operands)
        return Shares(common if alias_of(call).kind == "fresh" else common | operands)

    def _make_list(self, call: Call, fresh: frozenset[int]) -> Shares:
        items = self.operand(call.args[0])
        style = style_of(call.args[0])
        content = items.content if isinstance(style, ListOf | Tup) else self.union(items.all())
        return Shares(fresh, content, common_cuts(content, (items,)))

    def _item(self, call: Call, fresh: frozenset[int]) -> Shares:
        items = self.operand(call.args[0])
        inner = frozenset() if isinstance(call.targets[0].style, Array) else items.content
        return Shares(items.content, inner, common_cuts(items.content, (items,)))

    def written(self, call: Call, in_place: bool) -> Shares:
        """The regions of the result of a write."""
        base = self.operand(call.args[0])
        own = base.own if in_place else frozenset((self.regions.fresh(id(call), "copy"),))
        if call.op not in LIST_WRITES:
            return Shares(own, frozenset(), common_cuts(own, (base,)))
        sources = [base, self.operand(call.args[1])] if call.op is not core.list_drop else [base]
        content = self.union(base.content, *(s.all() for s in sources[1:]))
        return Shares(own, content, common_cuts(content, sources))


LIST_WRITES = frozenset({core.list_append, core.list_set, core.list_drop, core.list_join})
_LISTS = {
    core.make_list: Sharing._make_list,
    core.list_slice: Sharing._make_list,
    core.list_get: Sharing._item,
}


def alias_of(call: Call) -> Alias:
    """The alias class of a call."""
    alias = call.op.alias
    return alias(call) if callable(alias) else alias


def _writable(op: Op) -> bool:
    try:
        return op in _WRITABLE_CORE or op.fn in _WRITABLE
    except TypeError:  # a function that cannot be hashed
        return False
