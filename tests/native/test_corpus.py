"""Every program of the corpus by the native target, against the NumPy one.

`--long` tries every layout, single precision and other lengths of every program; else a quarter of them.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import numpy as np
import pytest
from tests.native.against import LAYOUTS, Both, cut, single
from tests.native.subjects import need_compiler

from programs import Program, all_programs, leaves
from pullback.backend.native.emit.errors import Untaken
from pullback.errors import UnsupportedError

need_compiler()
PROGRAMS = [p for p in all_programs() if not p.refused]
CHUNKS = 8
TAKEN = 0.9  # at least this share of the corpus is compiled to C
LEAVES = {
    "broadcasting.computed_lengths",
    "lists.items_of_different_lengths_meet",
    "lists.pieces_of_a_comprehension_meet",
    "lists.windows_that_grow_are_kept",
}  # equal lengths are taken for granted


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Native where it is asked for, compiled quickly."""
    monkeypatch.delenv("PULLBACK_TARGET", raising=False)
    monkeypatch.setenv("PULLBACK_CFLAGS", os.environ.get("PULLBACK_CFLAGS", "-O0"))


def run(program: Program, thorough: bool, counts: Counter[str]) -> None:
    """Compare a program in every way."""
    both = Both(program.fn, program.wrt)
    try:
        left = both.compare(program.args)
    except Untaken as untaken:
        counts["not taken"] += 1
        counts[f"not taken: {untaken.reason}"] += 1
        return
    counts["taken"] += 1
    assert not left or program.name in LEAVES, f"left to NumPy: {left}"
    if thorough:
        other_lengths(both, program.args)
        other_layouts(both, program.args)
        other_precision(both, program.args)


def other_lengths(both: Both, args: tuple[Any, ...]) -> None:
    """All lengths halved, or none; and one array alone: what NumPy refuses, native leaves."""
    arrays = [x for x in leaves(args) if isinstance(x, np.ndarray)]
    for lengths in (lambda n: (n + 1) // 2, lambda n: 0):
        for which in (None, *range(len(arrays))):
            compare(both, cut(args, lengths, which))


def other_layouts(both: Both, args: tuple[Any, ...]) -> None:
    """The same numbers, otherwise in memory."""
    for layout in LAYOUTS.values():
        compare(both, args, layout)


def other_precision(both: Both, args: tuple[Any, ...]) -> None:
    """In single precision."""
    compare(both, single(args))


def compare(both: Both, args: tuple[Any, ...], *layout: Any) -> None:
    """Compare where the compiler takes arguments like these."""
    try:
        both.compare(args, *layout)
    except (Untaken, UnsupportedError):
        return


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_corpus(chunk: int, pytestconfig: pytest.Config) -> None:
    """Programs that are compiled to C give what NumPy gives; the share that is compiled does not fall."""
    counts: Counter[str] = Counter()
    faults = []
    for number, program in enumerate(PROGRAMS[chunk::CHUNKS]):
        try:
            run(program, pytestconfig.getoption("long") or number % 4 == 0, counts)
        except Exception as error:
            faults.append(f"{program.name}: {type(error).__name__}: {str(error)[:400]}")
    print(dict(counts))
    assert not faults, "\n".join(faults)
    assert counts["taken"] >= TAKEN * len(PROGRAMS[chunk::CHUNKS]) - 3, counts
