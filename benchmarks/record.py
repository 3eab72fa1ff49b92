"""Run the suites, keep the record, and write docs/performance.md anew: `python benchmarks/record.py`.

    python benchmarks/record.py --peers autograd,jax --size S
    python benchmarks/record.py --page          only the page and the plot, from the newest record

The record is `benchmarks/results/<date>-<commit>.json`.  Commit first: a record of changed files says so.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pullback.bench import plot, record
from pullback.bench.page import markdown
from pullback.bench.peers import TARGETS
from pullback.bench.record import Record
from pullback.bench.session import Options, Session, contenders
from pullback.bench.suite import SIZES, find
from pullback.errors import PullbackError

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results"
DOCS = FOLDER.parent / "docs"
PAGE, PICTURE = DOCS / "performance.md", DOCS / "performance.png"
SUITES = ("micro", "npbench", "adbench", "language")


def newest() -> tuple[str, Record] | None:
    """The name and the content of the newest record."""
    found = [(path.name, record.read(path)) for path in sorted(RESULTS.glob("*.json"))]
    return max(found, key=lambda item: (item[1].about["date"], item[1].about["time"]), default=None)


def page() -> str:
    """What docs/performance.md should hold."""
    latest = newest()
    if latest is None:
        return "# Performance\n\nNothing has been recorded yet: run `python benchmarks/record.py`.\n"
    name, found = latest
    origin = (
        f"Generated from [{name}](../benchmarks/results/{name}) by `python docs/generate.py`; do not edit. "
        "`make record` runs the suites and records them anew."
    )
    return markdown(found, PICTURE.name, origin)


def write_page() -> None:
    """Bring the page and its plot up to date."""
    PAGE.write_text(page(), encoding="utf-8")
    latest = newest()
    if latest is not None:
        plot.draw(latest[1], PICTURE)


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suites", nargs="*", default=list(SUITES), help="which suites; all by default")
    parser.add_argument("--peers", help="names with commas; by default those that are installed")
    parser.add_argument("--size", choices=SIZES, default="S")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--target", choices=TARGETS, help="of pullback")
    parser.add_argument("--budget", type=float, default=1800.0, help="seconds")
    parser.add_argument(
        "--timeout", type=float, default=Options.timeout, help="seconds for the first call of a case"
    )
    parser.add_argument(
        "--remark", default="", help="a sentence for the page: what a reader should know of this run"
    )
    parser.add_argument("--page", action="store_true", help="run nothing; write the page and its plot")
    given = parser.parse_args()
    try:
        if not given.page:
            _run(given)
        write_page()
    except PullbackError as error:
        print(f"record.py: error: {error}", file=sys.stderr)
        return 2
    return 0


def _run(given: argparse.Namespace) -> None:
    names = contenders(given.peers.split(",") if given.peers else None)
    kernels = find(FOLDER, given.suites)
    options = Options(given.size, given.threads, given.timeout, given.budget, target=given.target)
    found = Session(options, names, lambda text: print(text, flush=True)).run(kernels)
    found.about["remark"] = given.remark
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{found.about['date']}-{found.about['commit'] or 'unknown'}.json"
    record.write(found, path)
    print(f"wrote {path.relative_to(FOLDER.parent)}")


if __name__ == "__main__":
    sys.exit(main())
