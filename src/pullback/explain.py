"""What the compiler decided, as data and as text: rules by site, copies, what is saved."""

from __future__ import annotations

from dataclasses import dataclass

from pullback.pipeline import Compiled
from pullback.rules.lookup import Decision, HopTrace


@dataclass(frozen=True, slots=True)
class SiteReport:
    """One call site: where it is, and how its rule was found."""

    site: str
    line: int
    hop: str
    rule: str
    path: str
    trace: tuple[HopTrace, ...]
    rejected: tuple[str, ...]

    def __str__(self) -> str:
        head = f"line {self.line}: {self.site}: {self.hop} {self.path}".rstrip()
        return "\n".join(
            [head + (f" by {self.rule}" if self.rule else ""), *(f"    {t}" for t in self.trace)]
        )


@dataclass(frozen=True, slots=True)
class CopyReport:
    """An array copy that was inserted, with the user's line and the reason."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: copy: {self.reason}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """All decisions of one compilation; `str` is the report."""

    sites: tuple[SiteReport, ...]
    copies: tuple[CopyReport, ...]

    def __str__(self) -> str:
        lines = [str(s) for s in self.sites]
        lines += [str(c) for c in self.copies] or ["no array is copied"]
        return "\n".join(lines)


def explanation(compiled: Compiled) -> Explanation:
    """The explanation of a compilation (its joint form)."""
    generated = compiled.generated("value_and_grad")
    copies = tuple(CopyReport(c.loc.line, c.reason) for c in generated.copies)
    return Explanation(tuple(_report(d) for d in compiled.chosen.decisions.values()), copies)


def _report(decision: Decision) -> SiteReport:
    rejected = tuple(str(c) for t in decision.trace for c in t.candidates if c.verdict != "chosen")
    rule = "" if decision.rule is None else str(decision.rule)
    return SiteReport(
        str(decision.site),
        decision.site.loc.line,
        decision.hop,
        rule,
        decision.path,
        decision.trace,
        rejected,
    )
