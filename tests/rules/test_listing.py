"""The rule table in the docs is the one that the registry generates."""

from __future__ import annotations

from pathlib import Path

from pullback.rules.listing import markdown

DOCS = Path(__file__).parents[2] / "docs" / "rules.md"


def test_the_docs_are_fresh() -> None:
    assert DOCS.read_text() == markdown(), "run: python -m pullback.rules.listing > docs/rules.md"
