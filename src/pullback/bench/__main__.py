"""`python -m pullback.bench`: verify and time kernels, with a plain table."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pullback.bench.errors import BenchError
from pullback.bench.session import Options, Session, contenders
from pullback.bench.suite import SIZES, find, shipped


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m pullback.bench", description=__doc__)
    parser.add_argument("suites", nargs="*")
    parser.add_argument("--kernel", action="append", default=[])
    parser.add_argument("--peers")
    parser.add_argument("--size", choices=SIZES, default="S")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--budget", type=float, default=780.0)
    parser.add_argument("--no-compile-times", action="store_true")
    parser.add_argument("--suites", dest="folder", type=Path, default=shipped())
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    try:
        kernels = find(given.folder, given.suites, given.kernel)
        names = contenders(given.peers.split(",") if given.peers else None)
    except BenchError as error:
        print(f"pullback: error: {error}", file=sys.stderr)
        return 2
    options = Options(
        given.peers, given.size, given.threads, given.timeout, given.budget, not given.no_compile_times
    )
    record = Session(options, names).run(kernels)
    for case in record.cases:
        for name, entry in case.entries.items():
            ratio = case.ratio(name)
            shown = (
                f"{1e3 * entry.seconds:10.4f} ms {ratio or 0:8.2f}x  off {entry.error or 0:.1e}"
                f"  {(entry.memory or 0) / 1e6:.1f} MB  compile {entry.compile_cold} {entry.compile_cached}"
                if entry.seconds
                else f"{entry.status}: {entry.reason}"
            )
            print(f"{case.key:40} {name:10} {shown}", flush=True)
    if given.json:
        given.json.write_text(record.to_json())
    return 1 if any(e.status == "wrong" for c in record.cases for e in c.entries.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
