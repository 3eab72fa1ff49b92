"""Which rule serves a call: the descent through the hops, the ranking inside a hop, and the account of both.

In: a `Site`, what is known of a call at compile time.  Out: a `Decision`.  Elementwise calls descend H0,
H1, H2, H3; at
each hop the matching rules are ranked and the first that does not decline is used; none means: descend.
The built-in
generic rule of H2 picks its path from what H3 says of the function itself.  Other calls have the one hop
"call".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from pullback.errors import NOWHERE, AmbiguousRuleError, Loc, PullbackError
from pullback.rules.kinds import (
    ANY,
    DECLINE,
    HOPS,
    Generic,
    NonDifferentiable,
    Opaque,
    OptOut,
    Row,
    Rule,
    Structured,
)
from pullback.rules.patterns import is_number, more_specific
from pullback.rules.registry import op_of, path_of, rules_of
from pullback.styles.broadcast import ufunc_style
from pullback.styles.style import Scalar, Static, Style, kind, numeric

START = {"operator": 0, "ufunc": 0, "broadcast": 0, "broadcasted": 1}
REVERSE = frozenset({"reverse"})


@dataclass(frozen=True, slots=True)
class Site:
    """A call, as far as the choice of a rule depends on it.

    form: "operator" | "ufunc" | "broadcast" | "broadcasted" | "call"; operands: styles by position; kwargs:
    styles by
    name; active: which operands carry a derivative (empty where that is not known); modes at hand.
    """

    fn: Any
    form: str
    operands: tuple[Style, ...]
    kwargs: tuple[tuple[str, Style], ...] = ()
    active: tuple[bool, ...] = ()
    modes: frozenset[str] = REVERSE
    loc: Loc = NOWHERE

    @property
    def elementwise(self) -> bool:
        """Whether the call descends through the hops."""
        return self.form in START

    def option(self, name: str, position: int = 99) -> Style | None:
        """The style of an option, given by name or position."""
        for key, style in self.kwargs:
            if key == name:
                return style
        return self.operands[position] if position < len(self.operands) else None

    def __str__(self) -> str:
        return f"{name_of(self.fn)} ({self.form})"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rule that was looked at, and what became of it: "chosen" or why not."""

    rule: Rule
    verdict: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.verdict}"


@dataclass(frozen=True, slots=True)
class HopTrace:
    """What happened at one hop."""

    hop: str
    candidates: tuple[Candidate, ...]

    @property
    def chosen(self) -> Rule | None:
        """The rule used at this hop, or None: descend."""
        return next((c.rule for c in self.candidates if c.verdict == "chosen"), None)

    def __str__(self) -> str:
        if not self.candidates:
            return f"{self.hop}: no rule"
        return f"{self.hop}: " + "; ".join(str(c) for c in self.candidates)


@dataclass(frozen=True, slots=True)
class Decision:
    """The outcome of a lookup.

    hop    where the search ended; path: "rule" (a rule used as it is), or the generic rule's path:
    "trivial", "scalar",
           "partials", "own source", "opaque"; "" where nothing serves
    rule   what the engine applies; None for "own source" and for no rule
    found  the rule that matched at `hop` (the generic rule, where `rule` is the row it uses)
    """

    site: Site
    hop: str
    path: str
    rule: Rule | None
    found: Rule | None
    trace: tuple[HopTrace, ...]

    def __str__(self) -> str:
        head = f"{self.site}: {self.hop} {self.path}".rstrip()
        served = f" by {self.rule}" if self.rule is not None else ""
        return "\n".join([head + served, *(f"    {t}" for t in self.trace)])


def name_of(fn: Any) -> str:
    """The name of a function for messages."""
    op = op_of(fn)
    return (
        op.name if op is not None else str(getattr(fn, "__qualname__", None) or getattr(fn, "__name__", fn))
    )


def resolve(site: Site, *, resolution: str = "default") -> Decision:
    """The rule for a call.

    `resolution="chainrules"` shows the founding bug: rules that need the compiler come first at a hop,
    whatever they are for, and the style is inserted at once, so that H1 is never asked.
    """
    if resolution not in ("default", "chainrules"):
        raise PullbackError(f"resolution is 'default' or 'chainrules', not {resolution!r}")
    if not site.elementwise:
        return _resolve_call(site)
    trace: list[HopTrace] = []
    for hop in HOPS[START[site.form] :]:
        if hop == "H1" and resolution == "chainrules":
            continue
        if hop == "H3":
            break
        step = _hop(site, hop, resolution == "chainrules")
        trace.append(step)
        chosen = step.chosen
        if isinstance(chosen, Generic):
            return _generic(site, chosen, trace, resolution == "chainrules")
        if chosen is not None:
            return Decision(site, hop, "rule", chosen, chosen, tuple(trace))
    return _generic(site, None, trace, resolution == "chainrules")


def _resolve_call(site: Site) -> Decision:
    step = _hop(site, "call", False)
    chosen = step.chosen
    if chosen is None:  # an elementwise function called in a form that is not: its scalar rules still hold
        below = _hop(site, "H3", False)
        if below.chosen is not None:
            return Decision(site, "H3", "rule", below.chosen, below.chosen, (step, below))
    if chosen is None:
        return Decision(site, "call", "own source" if has_own_source(site.fn) else "", None, None, (step,))
    path = "trivial" if isinstance(chosen, NonDifferentiable) else "rule"
    return Decision(site, "call", path, chosen, chosen, (step,))


@dataclass(frozen=True, slots=True)
class Written:
    """Stands for a function that is defined in the function being compiled: it has no rules."""

    __name__: str


def has_own_source(fn: Any) -> bool:
    """Whether a function that no rule serves is differentiated through its own text."""
    return isinstance(fn, Written) or (isinstance(fn, FunctionType) and not path_of(fn))


# ------------------------------------------------------------------------------------- the generic rule of H2


def _generic(site: Site, found: Rule | None, trace: list[HopTrace], config_first: bool) -> Decision:
    """The path of the broadcast rule: the function's row or rule at H3, else its own source, else a call of
    it.
    """
    below = _hop(site, "H3", config_first)
    trace.append(below)
    hop = "H2" if found is not None else "H3"
    rule = below.chosen
    if isinstance(rule, NonDifferentiable) or (rule is None and _trivial_result(site)):
        return Decision(site, hop, "trivial", rule or _trivial_rule(site), found, tuple(trace))
    if rule is not None:
        path = "opaque" if isinstance(rule, Opaque) else "scalar" if _all_scalars(site) else "partials"
        return Decision(site, hop, path, rule, found, tuple(trace))
    own = has_own_source(site.fn)
    return Decision(site, hop, "own source" if own else "", None, found if own else None, tuple(trace))


def _all_scalars(site: Site) -> bool:
    return all(isinstance(numeric(s), Scalar) for s in site.operands)


def _trivial_result(site: Site) -> bool:
    """Whether a ufunc's results are boolean or integer for these operands."""
    if (
        not isinstance(site.fn, np.ufunc)
        or len(site.operands) != site.fn.nin
        or site.fn.signature is not None
    ):
        return False
    made = ufunc_style(site.fn, *site.operands)
    return all(kind(s) in ("b", "i") for s in (made if isinstance(made, tuple) else (made,)))


def _trivial_rule(site: Site) -> Rule:
    origin = rules_of(ANY)[0].origin
    return NonDifferentiable(site.fn, name_of(site.fn), "H2", origin)


# ---------------------------------------------------------------------------------------------------- one hop


def _hop(site: Site, hop: str, config_first: bool) -> HopTrace:
    """Look at every rule that attaches to a hop and pick one."""
    rejected: list[Candidate] = []
    matching: list[Rule] = []
    for rule in _attached(site, hop):
        why = _mismatch(rule, site, hop)
        if why:
            rejected.append(Candidate(rule, why))
        else:
            matching.append(rule)
    matching = _apply_opt_outs(matching, rejected)
    while matching:
        best = _best(matching, site, config_first)
        verdict = True if best.guard is None else best.guard(site)
        matching.remove(best)
        if verdict is not DECLINE:
            rejected += [Candidate(r, f"outranked by {best}") for r in matching]
            return HopTrace(hop, (Candidate(best, "chosen"), *rejected))
        rejected.append(Candidate(best, "declined"))
    return HopTrace(hop, tuple(rejected))


def _attached(site: Site, hop: str) -> Iterator[Rule]:
    """The rules that may speak at a hop."""
    for rule in rules_of(site.fn):
        if hop in _hops_of(rule):
            yield rule
    if site.elementwise:
        for rule in rules_of(ANY):
            if hop in _hops_of(rule):
                yield rule


def _hops_of(rule: Rule) -> tuple[str, ...]:
    """A row attached early also is the row of the scalar function; opt-outs without a hop hold everywhere."""
    if isinstance(rule, OptOut):
        return (rule.hop,) if rule.hop else ("call", *HOPS)
    if isinstance(rule, NonDifferentiable):
        return ("call", "H3")
    if rule.hop == "call":  # a structured rule of a ufunc (divmod, modf, matmul) serves it in every form
        return ("call", "H3")
    if isinstance(rule, Row) or (isinstance(rule, Structured) and rule.hop == "H1"):
        return (rule.hop, "H3")
    return (rule.hop,)


def _mismatch(rule: Rule, site: Site, hop: str) -> str:
    """Why a rule does not match; "" where it does."""
    if not rule.requires <= site.modes:
        return f"needs {', '.join(sorted(rule.requires - site.modes))} mode"
    if hop == "H1" and not rule.when and not all(is_number(s) for s in site.operands):
        return "is for arrays and scalars"
    for i, pattern in enumerate(rule.when):
        if i >= len(site.operands):
            return f"needs {len(rule.when)} operands"
        if not pattern.matches(site.operands[i]):
            return f"operand {i} is not {pattern}"
    if not _binds(rule, site):
        return "does not take these arguments"
    if rule.guard is not None and rule.guard(site) is False:
        return "its guard says no"
    return ""


def _binds(rule: Rule, site: Site) -> bool:
    if not isinstance(rule, Row | Structured) or rule.generic:
        return True
    try:
        rule.signature.bind(*site.operands, **dict(site.kwargs))
    except TypeError:
        return False
    return True


def _apply_opt_outs(matching: list[Rule], rejected: list[Candidate]) -> list[Rule]:
    """Drop the rules that an opt-out covers: those of the same function that are not more specific."""
    holes = [r for r in matching if isinstance(r, OptOut)]
    kept = []
    for rule in matching:
        if isinstance(rule, OptOut):
            continue
        hole = next(
            (h for h in holes if h.generic == rule.generic and not more_specific(rule.when, h.when)), None
        )
        if hole is None:
            kept.append(rule)
        else:
            rejected.append(Candidate(rule, f"opted out ({hole.origin})"))
    return kept


# ---------------------------------------------------------------------------------------------------- ranking


def _best(rules: Sequence[Rule], site: Site, config_first: bool) -> Rule:
    """The one rule that no other outranks; an error where two are equal."""
    if len(rules) == 1:
        return rules[0]
    top = [r for r in rules if not any(_outranks(o, r, config_first) for o in rules if o is not r)]
    if len(top) == 1:
        return top[0]
    first, second = top[:2]
    raise AmbiguousRuleError(
        f"two rules of equal rank for {site}: {_located(first)} and {_located(second)}",
        loc=site.loc,
        hint="give one a priority=, make its `when` more specific, or opt out of the other",
    )


def _located(rule: Rule) -> str:
    return f"{type(rule).__name__.lower()} at {rule.origin.file}:{rule.origin.line}"


def _outranks(a: Rule, b: Rule, config_first: bool) -> bool:
    """Exact before generic, specific before general, priority, layer; needing the compiler is only a tie-
    break.
    """
    if config_first and a.config != b.config:
        return a.config
    if a.generic != b.generic:
        return not a.generic
    if more_specific(a.when, b.when) or more_specific(b.when, a.when):
        return more_specific(a.when, b.when)
    for x, y in (
        (a.guard is not None, b.guard is not None),
        (a.priority, b.priority),
        (a.layer, b.layer),
        (not a.config, not b.config),
    ):
        if x != y:
            return x > y
    return False


def options_known(site: Site, *names: tuple[str, int]) -> bool:
    """Whether options, given as (name, position), are compile-time objects where they are given at all."""
    return all(isinstance(s, Static) for s in (site.option(*n) for n in names) if s is not None)
