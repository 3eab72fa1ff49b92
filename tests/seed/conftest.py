"""Rules that a seed test registers go when it ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pullback.rules import registry


@pytest.fixture(autouse=True)
def clean_rules() -> Iterator[None]:
    before = set(map(id, registry.all_rules()))
    yield
    for added in [r for r in registry.all_rules() if id(r) not in before]:
        registry.remove(added)
