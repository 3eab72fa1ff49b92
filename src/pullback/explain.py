"""What the compiler decided, as data and as text: the rule of each call and why, the copies that were inserted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pullback.pipeline import Compiled
from pullback.rules.lookup import Decision, HopTrace


@dataclass(frozen=True, slots=True)
class SiteReport:
    """One call site: where it is, and how its rule was found.

    site      the operation and the form of the call, as in "np.tanh (ufunc)"
    line      the user's line, and its text
    hop       where the search ended: "H0" to "H3", or "call" for what is not elementwise
    rule      the rule that serves, and where it was registered; "" for none
    path      "rule", or the path of the generic rule: "trivial", "scalar", "partials", "own source", "opaque"
    trace     each hop with the rules looked at
    rejected  the rules looked at and not used, each with the reason
    """

    site: str
    line: int
    hop: str
    rule: str
    path: str
    trace: tuple[HopTrace, ...]
    rejected: tuple[str, ...]
    text: str = ""

    def __str__(self) -> str:
        head = f"line {self.line}: {self.site}: {self.hop} {self.path}".rstrip()
        return "\n".join(
            [head + (f" by {self.rule}" if self.rule else ""), *(f"    {t}" for t in self.trace)]
        )


@dataclass(frozen=True, slots=True)
class CopyReport:
    """An array copy that was inserted: the array, the user's line, the reason."""

    line: int
    reason: str
    name: str = ""

    def __str__(self) -> str:
        return f"line {self.line}: copy of {self.name or 'a value'}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """All decisions of one compilation; `str` is the report."""

    sites: tuple[SiteReport, ...]
    copies: tuple[CopyReport, ...]

    def __str__(self) -> str:
        rows = [("line", "call", "hop", "path", "rule")]
        rows += [(str(s.line), s.site, s.hop, s.path, s.rule or "none") for s in self.sites]
        lines = _table(rows)
        rejected = [f"line {s.line}: {s.site}: {why}" for s in self.sites for why in s.rejected]
        if rejected:
            lines += ["", "looked at and not used:", *(f"  {text}" for text in rejected)]
        lines += ["", *([str(c) for c in self.copies] or ["no array is copied"])]
        return "\n".join(lines)


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows in columns."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return [lines[0], *sorted(lines[1:], key=lambda line: int(line.split()[0]))]


def explanation(compiled: Compiled) -> Explanation:
    """The explanation of a compilation (its joint form)."""
    generated = compiled.generated("value_and_grad")
    copies = tuple(CopyReport(c.loc.line, c.reason, c.name) for c in generated.copies)
    descents = compiled.lowered.environment.descents.values()
    decisions = [*descents, *compiled.chosen.decisions.values()]
    return Explanation(tuple(_report(d) for d in decisions), copies)


def _report(decision: Decision) -> SiteReport:
    rejected = tuple(str(c) for t in decision.trace for c in t.candidates if c.verdict != "chosen")
    return SiteReport(
        site=str(decision.site),
        line=decision.site.loc.line,
        hop=decision.hop,
        rule="" if decision.rule is None else str(decision.rule),
        path=decision.path,
        trace=decision.trace,
        rejected=rejected,
        text=decision.site.loc.text.strip(),
    )
