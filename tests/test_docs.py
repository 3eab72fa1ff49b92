"""The documentation tells the truth: generated tables are fresh, examples run and print what the page shows."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import pullback

ROOT = Path(__file__).parent.parent

_spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
assert _spec is not None and _spec.loader is not None
generate = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(generate)

FILES = [*generate.TABLES, *generate.pages()]
SAME_EVERYWHERE = [
    p for p in FILES if p.name != "rules.md"
]  # Python's `math` grows; tests/rules holds that page


@pytest.mark.parametrize("path", SAME_EVERYWHERE, ids=lambda p: str(p.relative_to(ROOT)))
def test_page_is_up_to_date(path: Path) -> None:
    assert path.read_text() == generate.current(path), "run `make docs`"


@pytest.mark.parametrize(
    "path", [*FILES, *sorted((ROOT / "docs" / "decisions").glob("*.md"))], ids=lambda p: p.name
)
def test_links_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text())
    missing = [t for t in targets if not (path.parent / t).exists()]
    assert not missing


def test_every_stage_is_in_the_tour() -> None:
    tour = (ROOT / "docs" / "architecture.md").read_text()
    rooms = [
        p.name for p in (ROOT / "src" / "pullback").iterdir() if p.is_dir() and not p.name.startswith("_")
    ]
    assert [r for r in rooms if f"`{r}/`" not in tour] == []


@pytest.mark.parametrize("name", pullback.__all__)
def test_public_names_are_documented_and_tested(name: str) -> None:
    assert re.search(rf"`{name}\b", (ROOT / "docs" / "api.md").read_text())
    tests = [p.read_text() for p in (ROOT / "tests").glob("**/test_*.py") if p.name != "test_docs.py"]
    assert any(re.search(rf"\b{name}\b", text) for text in tests)
    assert getattr(pullback, name).__doc__
