"""Write what is generated in the documentation: tables of rules, refusals and times, and the output below examples.

    python docs/generate.py            write the files anew
    python docs/generate.py --check    only say which are stale

In every page a block fenced as `python` is run, in the order of the page and in one namespace; a first line such as
`# model.py` names the file it is taken to be.  A block fenced as `text` or `python output` that follows it is what it
printed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import linecache
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("PULLBACK_TARGET", "numpy")  # what pages show is the same on every machine
DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))  # for `benchmarks`, where this file is run as a script

from benchmarks import record  # noqa: E402

from pullback.frontend.refusals import REFUSALS  # noqa: E402
from pullback.rules import listing  # noqa: E402

README = DOCS.parent / "README.md"
FENCE = re.compile(r"^```(python output|python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def refusals() -> str:
    """The page of everything that is refused."""
    lines = [
        "# Refusals",
        "",
        "Generated from `src/pullback/frontend/refusals.py` by `python docs/generate.py`; do not edit.",
        "",
        "Each is a `pullback.UnsupportedError` at compile time, with the file, the line, the text, and the way out.",
        "",
        "| construct | message | way out |",
        "|---|---|---|",
    ]
    for row in REFUSALS.values():
        cells = (row.what, row.message, row.hint)
        lines.append("| " + " | ".join(c.replace("|", "\\|").replace("{}", "...") for c in cells) + " |")
    return "\n".join(lines) + "\n"


TABLES = {
    DOCS / "rules.md": listing.markdown,
    DOCS / "refusals.md": refusals,
    DOCS / "performance.md": record.page,
}


def pages() -> list[Path]:
    """The pages with examples."""
    written = [p for p in sorted(DOCS.glob("*.md")) if p not in TABLES]
    return [README, *written]


def rerun(text: str, folder: Path) -> str:
    """A page with the output of its examples brought up to date."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed = ""

    def refresh(match: re.Match[str]) -> str:
        nonlocal printed
        kind, body = match.groups()
        if kind == "python":
            printed = run(body, folder, namespace)
            return match.group()
        return f"```{kind}\n{printed}```"

    return FENCE.sub(refresh, text)


def run(body: str, folder: Path, namespace: dict[str, Any]) -> str:
    """Run an example as a file of its own; returns what it printed."""
    named = re.match(r"# (\w+\.py)\n", body)
    path = folder / (named.group(1) if named else "example.py")
    path.write_text(body)
    linecache.checkcache(str(path))
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(body, str(path), "exec"), namespace)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().rstrip().splitlines())


def current(path: Path) -> str:
    """What a file should hold now."""
    if path in TABLES:
        return TABLES[path]()
    with tempfile.TemporaryDirectory() as folder:
        return rerun(path.read_text(), Path(folder))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file is stale")
    check = parser.parse_args().check
    stale = [path for path in (*TABLES, *pages()) if not path.exists() or current(path) != path.read_text()]
    for path in stale:
        print(f"{'stale' if check else 'wrote'} {path.relative_to(DOCS.parent)}")
        if not check:
            path.write_text(current(path))
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
