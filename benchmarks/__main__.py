"""`python -m benchmarks [--only WORD ...] [--json FILE]`: run the benchmarks and print a table."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np

from benchmarks.limits import against_autograd, compile_time, running_time
from benchmarks.limits.measure import Line

SETS: dict[str, Callable[[], Iterator[Line]]] = {
    "import": compile_time.import_time,
    "corpus": compile_time.corpus,
    "long": compile_time.long_function,
    "call": running_time.call_overhead,
    "loops": running_time.loops,
    "autograd": against_autograd.ratios,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=SETS, default=list(SETS), help="run some of the sets")
    parser.add_argument("--json", metavar="FILE", help="write the figures there, too")
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}")
    lines: list[Line] = []
    for name in options.only:
        for line in SETS[name]():
            print(line, flush=True)
            lines.append(line)
    missed = [line for line in lines if line.met is False]
    print(f"{len(lines)} figures, {len(missed)} over target")
    if options.json:
        Path(options.json).write_text(
            json.dumps([{**asdict(x), "met": x.met} for x in lines], indent=2) + "\n"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
