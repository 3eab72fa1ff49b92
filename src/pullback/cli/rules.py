"""`pullback rules`: what is covered."""

from __future__ import annotations

import click
from rich.table import Table

from pullback.cli.loading import with_json
from pullback.cli.output import console, print_json
from pullback.rules.listing import Entry, entries, find

FEW = 5  # functions that are shown in full


@click.command(
    epilog="\b\nExamples:\n  pullback rules\n  pullback rules np.tanh\n  pullback rules tanh --json",
)
@click.argument("name", required=False)
@with_json
def command(name: str | None, as_json: bool) -> None:
    """What is covered: the functions with a rule, or all that is known of one of them.

    NAME is that of a function, with or without its module, np.linalg.inv or inv; or that of a module, np.linalg.
    """
    found = find(name) if name else entries()
    if as_json:
        print_json({"rules": [entry.as_dict() for entry in found]})
    elif len({entry.name for entry in found}) > FEW:
        console().print(_overview(found))
        console().print(f"{len({e.name for e in found})} functions; `pullback rules NAME` says more of one")
    else:
        for entry in found:
            console().print(_detail(entry))


def _overview(found: list[Entry]) -> Table:
    table = Table("function", "kind", "hop", "operands", "result", box=None, pad_edge=False)
    for entry in found:
        table.add_row(entry.name, entry.kind, entry.hop, entry.operands, entry.alias)
    return table


def _detail(entry: Entry) -> Table:
    table = Table(title=f"{entry.name}: {entry.kind}", title_justify="left", show_header=False, box=None)
    rows = {
        "hop": entry.hop,
        "operands": entry.operands or "any numbers",
        "derivative": "\n".join(entry.derivative) or "none",
        "options": ", ".join(entry.options),
        "domain": entry.domain,
        "complex": entry.complex,
        "forward mode": entry.forward,
        "result": entry.alias,
        "defined in": entry.origin,
    }
    for label, text in rows.items():
        if text:
            table.add_row(label, text)
    return table
