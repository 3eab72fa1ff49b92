"""`pullback cache`: what it shows, and that it clears."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pullback.backend.native import build, cache, toolchain
from pullback.errors import NoCompiler

Run = Callable[..., Any]
TEXT = "int value(void) { return 5; }\n"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PULLBACK_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "300")
    return cache.place()


def test_an_empty_cache(pullback: Run, place: Path) -> None:
    result = pullback("cache")
    assert result.exit_code == 0
    assert str(place) in result.stdout and "0, 0 B of 512 MB" in result.stdout


def test_entries_are_shown_and_cleared(pullback: Run, place: Path) -> None:
    try:
        toolchain.find()
    except NoCompiler:
        pytest.skip("no C compiler")
    library = build.shared_library(TEXT, name="loss")
    shown = pullback("cache").stdout
    assert "loss" in shown and toolchain.find().version in shown and "now" in shown
    document = json.loads(pullback("cache", "--json").stdout)
    assert (document["place"], document["number"], document["temporary"]) == (str(place), 1, False)
    assert document["entries"][0]["library"] == library.name
    assert document["bytes"] >= library.stat().st_size
    assert document["compiler"]["command"]
    cleared = pullback("cache", "clear")
    assert cleared.exit_code == 0 and "1 entry" in cleared.stdout
    assert not library.exists()
    assert json.loads(pullback("cache", "clear", "--json").stdout) == {"place": str(place), "removed": 0}


def test_without_a_compiler(pullback: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/nonexistent")
    result = pullback("cache")
    assert result.exit_code == 0 and "none: the C compiler that CC names does not work" in result.stdout
    assert json.loads(pullback("cache", "--json").stdout)["compiler"]["command"] is None


def test_a_cache_that_is_temporary(pullback: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULLBACK_CACHE_SIZE", "0")
    assert "temporary" in pullback("cache").stdout


def test_another_word(pullback: Run) -> None:
    result = pullback("cache", "empty")
    assert result.exit_code == 2 and "pullback: error:" in result.stderr
