"""The rule table in the docs is the one that the registry generates."""

from __future__ import annotations

from pathlib import Path

from pullback.rules.listing import markdown

DOCS = Path(__file__).parents[2] / "docs" / "rules.md"


def test_the_docs_are_fresh() -> None:
    """Older Pythons and NumPys have fewer functions: every line of theirs is there."""
    missing = set(markdown().splitlines()) - set(DOCS.read_text().splitlines())
    assert not missing, f"run: python -m pullback.rules.listing > docs/rules.md ({sorted(missing)[:3]})"
