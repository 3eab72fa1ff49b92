"""`pullback cache`: the compiled objects on disk."""

from __future__ import annotations

import shlex
from typing import Any

import click
from rich.table import Table

from pullback.backend.native import cache, toolchain
from pullback.cli.loading import with_json
from pullback.cli.output import console, print_json
from pullback.errors import NoCompiler

MANY = 30  # entries that are listed, unless all are asked for
_TIMES = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))
_SIZES = ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB"))


@click.command(
    epilog="\b\nExamples:\n  pullback cache\n  pullback cache --json\n  pullback cache clear",
)
@click.argument("action", type=click.Choice(["clear"]), required=False, metavar="[clear]")
@click.option("--all", "show_all", is_flag=True, help=f"List all entries, not only the {MANY} used last.")
@with_json
def command(action: str | None, show_all: bool, as_json: bool) -> None:
    """The compiled objects on disk: where they are, how many, their size, when they were used, and the C compiler.

    `pullback cache clear` removes them: they are compiled anew when they are needed.
    """
    if action == "clear":
        _clear(as_json)
    elif as_json:
        print_json(_document())
    else:
        _show(show_all)


def _clear(as_json: bool) -> None:
    removed, place = cache.clear(), cache.place()
    if as_json:
        print_json({"place": str(place), "removed": removed})
    else:
        console().print(f"removed: {removed} {_plural(removed)} from {place}")


def _document() -> dict[str, Any]:
    entries = cache.entries()
    return {
        "place": str(cache.place()),
        "temporary": cache.is_temporary(),
        "number": len(entries),
        "bytes": sum(entry.size for entry in entries),
        "limit": cache.limit(),
        "compiler": _compiler(),
        "entries": [
            {
                "name": entry.name,
                "library": entry.library.name,
                "bytes": entry.size,
                "seconds_since_use": round(entry.age, 3),
                "compiler": entry.compiler,
            }
            for entry in entries
        ],
    }


def _compiler() -> dict[str, Any]:
    """What is known of the compiler; where there is none, why."""
    try:
        found = toolchain.find()
    except NoCompiler as error:
        return {"command": None, "problem": error.reason}
    return {
        "command": shlex.join(found.command),
        "version": found.version,
        "openmp": found.openmp,
        "vectorised_maths": found.mvec,
        "python_headers": bool(toolchain.python_headers()),
    }


def _show(show_all: bool) -> None:
    document = _document()
    temporary = " (temporary: it goes with this process)" if document["temporary"] else ""
    rows = {
        "place": f"{document['place']}{temporary}",
        "entries": f"{document['number']}, {_size(document['bytes'])} of {_size(document['limit'])}",
        **_about_compiler(document["compiler"]),
    }
    about = Table(show_header=False, box=None, pad_edge=False)
    for label, text in rows.items():
        about.add_row(label, text)
    console().print(about)
    entries = cache.entries()
    if entries:
        shown = entries if show_all else entries[:MANY]
        table = Table("last used", "size", "name", "compiler", box=None, pad_edge=False)
        for entry in shown:
            table.add_row(_age(entry.age), _size(entry.size), entry.name or entry.key[:16], entry.compiler)
        console().print()
        console().print(table)
        if len(shown) < len(entries):
            console().print(f"and {len(entries) - len(shown)} more (--all lists them)")


def _about_compiler(compiler: dict[str, Any]) -> dict[str, str]:
    if compiler["command"] is None:
        return {"compiler": f"none: {compiler['problem']}"}
    has = [
        f"{'with' if compiler[key] else 'without'} {name}"
        for key, name in (
            ("openmp", "OpenMP"),
            ("vectorised_maths", "libmvec"),
            ("python_headers", "Python's headers"),
        )
    ]
    return {"compiler": f"{compiler['command']} ({compiler['version']})", "": ", ".join(has)}


def _plural(number: int) -> str:
    return "entry" if number == 1 else "entries"


def _size(number: int) -> str:
    for unit, name in _SIZES:
        if number >= unit:
            return f"{number / unit:.3g} {name}"
    return f"{number} B"


def _age(seconds: float) -> str:
    """How long ago, in the largest unit of which there is one."""
    for unit, name in _TIMES:
        if seconds >= unit:
            return f"{seconds / unit:.0f} {name} ago"
    return "now"
