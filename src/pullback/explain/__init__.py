"""What the compiler decided, as data and as text: the rule of each call and why, target, copies, values saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pullback.explain.saved import AgainReport, SavedReport, saved_by
from pullback.explain.target import NUMPY, KernelReport, TargetReport
from pullback.passes.fuse import kernels_of
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
    file: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The same as dicts, lists, texts and numbers."""
        trace = [
            {"hop": t.hop, "candidates": [{"rule": str(c.rule), "verdict": c.verdict} for c in t.candidates]}
            for t in self.trace
        ]
        plain = ("site", "line", "file", "text", "hop", "rule", "path")
        return {**{k: getattr(self, k) for k in plain}, "rejected": list(self.rejected), "trace": trace}

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
    """All decisions of one compilation; `str` is the report, `as_dict` what JSON can hold.

    sites   the rule of each call
    copies  the array copies that were inserted (in the joint form)
    saved   what is saved for the pullback (in the pair)
    again   what the pullback computes or reads again instead
    lengths the letters in the styles of what is saved, as they are in the call that was asked about
    target  which target serves the joint form and why, and what runs as one loop
    blocks  what NumPy does in blocks where arrays are large (in the joint form)
    """

    function: str
    sites: tuple[SiteReport, ...]
    copies: tuple[CopyReport, ...]
    saved: tuple[SavedReport, ...] = ()
    again: tuple[AgainReport, ...] = ()
    lengths: Mapping[str, int] = field(default_factory=dict)
    target: TargetReport = NUMPY
    blocks: tuple[KernelReport, ...] = ()

    @property
    def size(self) -> int | None:
        """The bytes saved for the pullback in the call that was asked about; None where that is not known."""
        sizes = [s.size for s in self.saved]
        return None if None in sizes else sum(x for x in sizes if x is not None)

    def as_dict(self) -> dict[str, Any]:
        """The same as dicts, lists, texts and numbers."""
        return {
            "function": self.function,
            "sites": [s.as_dict() for s in self.sites],
            "copies": [asdict(c) for c in self.copies],
            "saved": [asdict(s) for s in self.saved],
            "again": [asdict(a) for a in self.again],
            "lengths": dict(self.lengths),
            "size": self.size,
            "target": self.target.as_dict(),
            "blocks": [asdict(b) for b in self.blocks],
        }

    def __str__(self) -> str:
        rows = [("line", "call", "hop", "path", "rule")]
        rows += [(str(s.line), s.site, s.hop, s.path, s.rule or "none") for s in self.sites]
        lines = _table(rows)
        rejected = [f"line {s.line}: {s.site}: {why}" for s in self.sites for why in s.rejected]
        if rejected:
            lines += ["", "looked at and not used:", *(f"  {text}" for text in rejected)]
        lines += [
            "",
            *self.target.lines(),
            "",
            *self._saved(),
            "",
            *([str(c) for c in self.copies] or ["no array is copied"]),
        ]
        if self.blocks:
            lines += [
                "",
                "done in blocks where arrays are large, by NumPy:",
                *(f"  {b}" for b in self.blocks),
            ]
        return "\n".join(lines)

    def _saved(self) -> list[str]:
        """The lines on what is saved."""
        if not self.saved:
            return ["nothing is saved for the pullback"]
        size = "" if self.size is None else f", {self.size:,} bytes"
        lengths = ", ".join(f"{name} = {n}" for name, n in self.lengths.items())
        lines = [f"saved for the pullback{size}" + (f" ({lengths}):" if lengths else ":")]
        lines += [f"  {s}" for s in self.saved]
        if self.again:
            lines += ["not saved:", *(f"  {a}" for a in self.again)]
        return lines


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows in columns."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return [lines[0], *sorted(lines[1:], key=lambda line: int(line.split()[0]))]


def explanation(
    compiled: Compiled,
    values: Sequence[Any] = (),
    residuals: Sequence[Any] | None = None,
    target: TargetReport = NUMPY,
) -> Explanation:
    """The explanation of a compilation; `values` and `residuals` of a call tell the sizes of what is saved."""
    generated = compiled.generated("value_and_grad")
    copies = tuple(CopyReport(c.loc.line, c.reason, c.name) for c in generated.copies)
    descents = compiled.lowered.environment.descents.values()
    decisions = [*descents, *compiled.chosen.decisions.values()]
    saved = saved_by(compiled, values, residuals)
    sites = tuple(_report(d) for d in decisions)
    blocks = tuple(
        KernelReport(k.name, k.loc.line, k.operations, k.space, k.loc.file)
        for function in generated.functions
        for k in kernels_of(function)
    )
    return Explanation(compiled.name, sites, copies, saved.saved, saved.again, saved.lengths, target, blocks)


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
        file=decision.site.loc.file,
    )
