"""The command line: `pullback compile`, `source`, `explain`, `check`, `rules`, `bench`.

Its libraries are an extra, so nothing of them is imported before `main` runs.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

NEEDED = ("click", "rich")


def main() -> int:
    """Run the command line on the arguments of the process; returns or exits with its exit code."""
    if not all(find_spec(name) for name in NEEDED):
        print(
            "pullback: error: the command line needs its extra (pip install 'pullback[cli]')", file=sys.stderr
        )
        return 2
    from pullback.cli.app import app

    app.main()
    return 0
