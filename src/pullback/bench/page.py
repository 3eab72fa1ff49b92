"""The report as a page of the documentation."""

from __future__ import annotations

import textwrap

from pullback.bench import report
from pullback.bench.record import Record
from pullback.bench.verify import RTOL, RTOL_SINGLE

WORDS = {
    "wrong": "its gradient, or value, is wrong: not timed",
    "unverified": "neither differences nor other contenders settle it: not timed",
    "raised": "it raised an error, or refused the function",
    "crashed": "its process died",
    "hung": "no answer in time",
    "skipped": "not run",
    "-": "the suite has no version for it",
}


def markdown(record: Record, picture: str | None = None, origin: str = "") -> str:
    """The page.

    picture  the file of a plot, beside the page
    origin   what the page is made from, and how
    """
    parts = ["# Performance", *([origin] if origin else []), _introduction(record)]
    if picture:
        parts.append(f"![gradients over plain NumPy functions, each suite]({picture})")
    parts += ["## Geometric means", _table(report.means_table(record))]
    parts.append(
        "A column of cases says over how many a mean is taken: those that both sides have. Contenders that take few "
        "kernels have a mean over few, often the easier ones."
    )
    parts += _section("## Beside the best library", report.groups_table(record), _GROUPS)
    if elsewhere := report.targets_text(record):
        parts.append("\n".join(textwrap.wrap(f"{elsewhere}.", 150)))
    if behind := report.slower_text(record):
        parts.append("\n".join(textwrap.wrap(f"{behind}.", 150)))
    for suite in record.suites:
        parts += [f"## {suite}", _table(report.times_table(record, suite))]
    parts += _section("## Throughput", report.elements_table(record), _THROUGHPUT)
    parts += _section("## Call overhead", report.overhead_table(record), _OVERHEAD)
    parts += _section("## Compile time", report.compile_table(record), _COMPILE)
    parts += _section("## Peak memory", report.memory_table(record), _MEMORY)
    parts += _failures(record)
    notes = [f"- `{place}`: {note}" for place, note in report.notes(record)]
    if notes:
        parts += ["## Notes on kernels", "\n".join(notes)]
    return "\n\n".join(parts) + "\n"


_GROUPS = (
    "How many times as fast as the fastest library at each case: geometric means over kinds of kernels, and the least. "
    "What is written by hand, and the bound that memory sets, are no libraries."
)
_THROUGHPUT = (
    "Chains of elementwise functions on many numbers. *memory* is a loop in C that reads the arguments once and writes "
    "as much as the gradient: no value and gradient can be had faster. *reused* is into the same arrays in each call, "
    "for contenders that can do that; the others make fresh ones."
)
_OVERHEAD = "A call on a single number, where nearly all is overhead."
_COMPILE = (
    "The first call of a kernel in a fresh process, less a steady call; *cached* is the same in a second process that "
    "finds what the first one kept on disk. Contenders that do not compile are left out."
)
_MEMORY = (
    "By how many MB resident memory rises at most in one call, for each kernel's longest case: of the plain function, "
    "and of value and gradient."
)


def _introduction(record: Record) -> str:
    bound = (
        record.about["options"].get("bound") and " Every process is bound to as many cores as it has threads."
    )
    text = (
        f"{report.setting(record)}.",
        *([record.about["remark"]] if record.about.get("remark") else []),
        "Times are of value and gradient together, in milliseconds: medians of interleaved rounds. In brackets: that "
        "time over the plain NumPy function's own. A gradient is timed only after it agreed with differences of the "
        f"plain function (to {RTOL:g} of its size; {RTOL_SINGLE:g} in single precision) and, entry by entry, with the "
        "others'.",
        "Arguments are brought into a library's own arrays before the clock starts, and JAX's results are waited for. "
        "pullback takes the natural NumPy form as it stands; autograd and advect do too, with NumPy's import replaced; "
        "JAX and torch have versions of their own, written for them; JAX's are compiled. *hand* and *c* are gradients "
        f"written by hand, in NumPy and in C.{bound or ''}",
    )
    return "\n\n".join("\n".join(textwrap.wrap(part, 150)) for part in text)


def _section(title: str, table: report.Table, text: str) -> list[str]:
    return [title, text, _table(table)] if table.rows else []


def _failures(record: Record) -> list[str]:
    problems = report.problems(record)
    if not problems:
        return []
    legend = "; ".join(f"*{word}*: {meaning}" for word, meaning in WORDS.items())
    rows = [[f"`{place}`", name, status, f"`{_plain(reason)}`"] for place, name, status, reason in problems]
    return [
        "## What was not timed, and why",
        f"{legend}. What is *ok* was timed, with a remark.",
        _table(report.Table(["case", "contender", "status", "what it said"], rows)),
    ]


def _plain(text: str) -> str:
    return text.replace("`", "'")


def _table(table: report.Table) -> str:
    lines = [table.head, ["---"] * len(table.head), *table.rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
