"""The command line: `pullback compile`, `source`, `explain`, `check`, `rules`, `cache`, `bench`.

Its libraries are an extra, so nothing of them is imported before `main` runs.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

NEEDED = ("click", "rich", *(("tomli",) if sys.version_info < (3, 11) else ()))


def main() -> int:
    """Run the command line on the arguments of the process; returns or exits with its exit code."""
    if not all(map(_is_there, NEEDED)):
        print(
            "pullback: error: the command line needs its extra (pip install 'pullback[cli]')", file=sys.stderr
        )
        return 2
    from pullback.cli.app import app

    app.main()
    return 0


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False
