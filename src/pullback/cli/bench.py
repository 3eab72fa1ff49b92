"""`pullback bench`: gradients verified, then timed, beside other libraries'."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from pullback.bench import plot as picture
from pullback.bench import record as records
from pullback.bench import report
from pullback.bench.compare import TOLERANCE, compare
from pullback.bench.contender import PLAIN
from pullback.bench.errors import BenchError
from pullback.bench.peers import PEERS, TARGETS
from pullback.bench.session import Options, Session, contenders
from pullback.bench.suite import SIZES, Kernel, cases, find, shipped
from pullback.bench.terminal import show, show_comparison
from pullback.cli.output import console, guarded, interrupted, note

STDOUT = Path("-")


@click.command(
    epilog="\b\nExamples:\n"
    "  pullback bench micro --peers autograd,jax\n"
    "  pullback bench micro npbench --size S --json new.json --plot new.png\n"
    "  pullback bench npbench --kernel atax --kernel lu --size M\n"
    "  pullback bench npbench --compare old.json\n"
    "  pullback bench --suites my_benchmarks --list"
)
@click.argument("suites", nargs=-1, metavar="[SUITE]...")
@click.option("--kernel", "kernels", multiple=True, metavar="NAME", help="Only this kernel; may be repeated.")
@click.option("--peers", metavar="NAMES", help=f"Of {', '.join(PEERS)}; with commas.  [those installed]")
@click.option(
    "--size", type=click.Choice(SIZES), default="S", show_default=True, help="Preset of the kernels."
)
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True, help="For each contender.")
@click.option(
    "--target",
    type=click.Choice(TARGETS),
    help="Of pullback; without it PULLBACK_TARGET says, or both by --peers pullback:numpy,pullback:native.",
)
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path), metavar="F", help="Write the record; - is stdout."
)
@click.option(
    "--plot", "plot_file", type=click.Path(path_type=Path), metavar="F", help="Draw it: .png, .svg or .pdf."
)
@click.option(
    "--compare",
    "old_file",
    type=click.Path(path_type=Path),
    metavar="OLD",
    help="Exit 1 if slower than this record.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0),
    default=TOLERANCE,
    show_default=True,
    help="How much slower --compare allows.",
)
@click.option(
    "--suites",
    "folder",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Where suites are.  [our own]",
)
@click.option(
    "--budget",
    type=click.FloatRange(1),
    default=Options.budget,
    show_default=True,
    help="Seconds; slow kernels get fewer rounds.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.1),
    default=Options.timeout,
    show_default=True,
    help="Seconds for the first call of a case.",
)
@click.option("--no-compile-times", is_flag=True, help="Leave out compile times, which need fresh processes.")
@click.option("--list", "listing", is_flag=True, help="Say which suites and kernels there are.")
@guarded
def command(
    suites: Sequence[str],
    kernels: Sequence[str],
    peers: str | None,
    size: str,
    threads: int,
    target: str | None,
    json_file: Path | None,
    plot_file: Path | None,
    old_file: Path | None,
    tolerance: float,
    folder: Path | None,
    budget: float,
    timeout: float,
    no_compile_times: bool,
    listing: bool,
) -> int:
    """Verify gradients of benchmark kernels, then time them, beside other libraries' and the plain function.

    Each contender runs in a process of its own.  A gradient is compared with differences of the plain function and with
    the other contenders' before it is timed; one that is wrong, or that they do not settle, is reported, never timed,
    and makes the exit code 1; so does a plain function that fails.
    """
    chosen = find(folder or shipped(), suites, kernels)
    if listing:
        return _list(chosen, size)
    names = contenders(
        [name.strip() for name in peers.split(",") if name.strip()] if peers is not None else None
    )
    for path in (json_file, plot_file):
        _writable(path)
    if plot_file is not None:
        picture.check(plot_file)
    old = records.read(old_file) if old_file is not None else None
    options = Options(size, threads, timeout, budget, compile_times=not no_compile_times, target=target)
    session, record = _run(options, names, chosen)
    shown = Console(stderr=True) if json_file == STDOUT else console()
    show(record, shown)
    if json_file == STDOUT:
        click.echo(record.to_json(), nl=False)
    elif json_file is not None:
        records.write(record, json_file)
    if plot_file is not None:
        picture.draw(record, plot_file)
    failed = bool(report.verification(record))
    for case in record.cases:
        plain = case.entries[PLAIN]
        if plain.status not in ("ok", "skipped"):
            note(f"pullback: the plain function of {case.suite}/{case.kernel} {plain.status}: {plain.reason}")
            failed = True
    if old is not None:
        comparison = compare(old, record, tolerance)
        show_comparison(comparison, shown)
        failed = failed or comparison.slower
    return interrupted() if session.interrupted else 1 if failed else 0


def _list(chosen: Sequence[Kernel], size: str) -> int:
    for suite in dict.fromkeys(kernel.suite for kernel in chosen):
        click.echo(f"{suite}:")
        for kernel in (k for k in chosen if k.suite == suite):
            sizes = [str(case.sizes) for case in cases([kernel], size)]
            several = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else sizes[0]
            click.echo(f"  {kernel.name:<24} {kernel.preset(size)} {several}".replace("'", ""))
    return 0


def _writable(path: Path | None) -> None:
    """Find out now, not after the run."""
    if path is None or path == STDOUT:
        return
    if path.is_dir():
        raise BenchError(f"{path} is a folder", hint="name a file")
    if not path.absolute().parent.is_dir():
        raise BenchError(f"there is no folder {path.parent} to write {path.name} into", hint="make it first")
    with path.open("a"):
        pass
    if not path.stat().st_size:
        path.unlink()


def _run(options: Options, names: list[str], chosen: list[Kernel]) -> tuple[Session, records.Record]:
    """The session, behind a progress bar."""
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(cases(chosen, options.size)))
        session = Session(options, names, lambda text: progress.update(task, description=text))
        return session, session.run(chosen, lambda: progress.advance(task))
