"""Rules chosen: one lookup per call site, remembered, so that analysis, reverse sweep and `explain` agree."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from pullback.errors import NoRuleError
from pullback.ir import core_ops as core
from pullback.ir.callee import Callee, callee_of
from pullback.ir.core_ops import UFUNC_OF_OPERATOR, style_of
from pullback.ir.mapped import mapped_of
from pullback.ir.nodes import Call, Const
from pullback.markers import broadcast
from pullback.rules.kinds import NonDifferentiable, Rule
from pullback.rules.lookup import Decision, Site, resolve
from pullback.rules.registry import is_nondifferentiable, op_of
from pullback.styles.style import Anything
from pullback.transform.reverse_access import ACCESS_RULES

_CONSTANT_CORE = frozenset(
    {
        core.shape,
        core.dim,
        core.list_len,
        core.not_,
        core.is_,
        core.is_not,
        core.contains,
        core.truth,
        core.format_,
    }
)


@dataclass(frozen=True, eq=False, slots=True)
class Pair:
    """What serves a function compiled apart; the functions themselves are made after those that call them."""

    primal: Callee
    pullback: Callee


@dataclass(slots=True)
class Choices:
    """The decisions of one compilation, by call; the pairs that serve functions compiled apart."""

    resolution: str = "default"
    decisions: dict[Call, Decision] = field(default_factory=dict)
    alike: dict[Any, Decision] = field(default_factory=dict)  # by all that rules may ask of a site
    pairs: dict[tuple[Callee, tuple[int, ...]], Pair] = field(default_factory=dict)

    def pair(self, callee: Callee, wrt: tuple[int, ...]) -> Pair:
        """The primal and the pullback that serve calls of a function whose operands at positions `wrt` are active."""
        key = (callee, wrt)
        if key not in self.pairs:
            others = sum(1 for known, _ in self.pairs if known is callee)
            name = f"{callee.name}_{others + 1}" if others else callee.name
            self.pairs[key] = Pair(Callee(f"{name}_primal"), Callee(f"{name}_pullback"))
        return self.pairs[key]

    def decision(self, call: Call) -> Decision:
        """The decision at a call site; raises NoRuleError where there is none."""
        if call not in self.decisions:
            self.decisions[call] = self._decide(_site(call))
        return self.decisions[call]

    def _decide(self, site: Site) -> Decision:
        """Sites that differ in their place alone are served alike."""
        key = (site.fn, site.form, site.operands, site.kwargs)
        known = self.alike.get(key)
        if known is None:
            known = self.alike[key] = resolve(site, resolution=self.resolution)
        return known if known.site is site else replace(known, site=site)

    def rule(self, call: Call) -> Rule:
        """The rule that serves a call."""
        rule = self.decision(call).rule
        if rule is None:
            name = call.op.numpy_path or call.op.name
            origin = next((x.origin for x in map(style_of, call.args) if isinstance(x, Anything)), "")
            if origin:  # the rules may be there, and need to know what they are of
                name = origin
            raise NoRuleError(
                f"`{name}` has no rule, and a derivative passes through it",
                loc=call.loc,
                hint=f"register one with pb.row or pb.rule, or pass the operand through pb.stop_gradient ({name})",
            )
        return rule

    def is_constant(self, call: Call) -> bool:
        """Whether a call's results carry no derivative."""
        if call.op in ACCESS_RULES or callee_of(call) is not None or mapped_of(call) is not None:
            return False
        if call.op in _CONSTANT_CORE or call.op.effect:
            return True
        if call.op.fn is not None and is_nondifferentiable(call.op.fn):
            return True
        return isinstance(self.decision(call).rule, NonDifferentiable)


def scalar_call(call: Call) -> Call:
    """`broadcast(f, *operands)` as the call of `f` on the operands that its rules are written for."""
    if call.op.fn is not broadcast:
        return call
    assert isinstance(call.args[0], Const)
    op = op_of(call.args[0].value)
    assert op is not None
    return replace(call, op=op, args=call.args[1:])


def _form(call: Call) -> str:
    if call.op in UFUNC_OF_OPERATOR:
        return "operator"
    if call.op.fn is broadcast:
        return "broadcast"
    return "ufunc" if call.op.elementwise else "call"


def _site(call: Call) -> Site:
    form, call = _form(call), scalar_call(call)
    fn = UFUNC_OF_OPERATOR.get(call.op, call.op.fn)
    return Site(
        fn=fn,
        form=form,
        operands=tuple(style_of(x) for x in call.args),
        kwargs=tuple((name, style_of(x)) for name, x in call.kwargs),
        loc=call.loc,
    )
