"""The report in a terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from pullback.bench import report
from pullback.bench.compare import Comparison
from pullback.bench.record import Record

STYLES = {"wrong": "bold red", "unverified": "red", "crashed": "red", "hung": "red", "raised": "yellow"}


def show(record: Record, console: Console) -> None:
    """Print a record."""
    console.print(report.setting(record), style="dim")
    for suite in record.suites:
        console.print(
            _table(f"{suite}: value and gradient, ms (over plain NumPy)", report.times_table(record, suite))
        )
    for title, table in (
        ("geometric means", report.means_table(record)),
        ("beside the best library", report.groups_table(record)),
        ("throughput", report.elements_table(record)),
        ("call overhead", report.overhead_table(record)),
        ("compile time", report.compile_table(record)),
        ("peak memory of a call, MB", report.memory_table(record)),
    ):
        if table.rows:
            console.print(_table(title, table))
    if elsewhere := report.targets_text(record):
        console.print(Text(elsewhere, style="dim"))
    if behind := report.slower_text(record):
        console.print(Text(behind, style="dim"))
    for place, name, status, reason in report.problems(record):
        console.print(Text.assemble((status, STYLES.get(status, "")), f" {place}: {name}: {reason}"))
    failed = report.verification(record)
    if failed:
        console.print(Text(failed, style="bold red"))
    for place, note in report.notes(record):
        console.print(Text(f"note {place}: {note}", style="dim"))


def _table(title: str, table: report.Table) -> RichTable:
    shown = RichTable(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for number, name in enumerate(table.head):
        words = number < 2
        shown.add_column(name, justify="left" if words else "right", no_wrap=not words)
    for row in table.rows:
        shown.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
    return shown


def show_comparison(comparison: Comparison, console: Console) -> None:
    """Print a comparison with an older record."""
    table = report.Table(["case", "old", "new", "new over old"], comparison.rows())
    console.print(_table("pullback over plain NumPy, beside the older record", table))
    verdict = "slower than allowed" if comparison.slower else "within the tolerance"
    console.print(
        f"geometric mean of new over old: {comparison.mean:.3f} over {len(comparison.ratios)} cases, {verdict}",
        style="red" if comparison.slower else "",
    )
